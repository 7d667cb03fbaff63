/* What a server tells of itself to whoever asks. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <process.h>
#else
#include <unistd.h>
#endif

#include <chrono>

#include "../../../kernels/embedding.h"
#include "../../shared/servers.h"
#include "../api.h"
#include "../call.h"
#include "../shapes.h"
#include "../tables/snapshots.h"
#include "ops.h"
#include "tensorflow/core/platform/ctstring_internal.h"

namespace te {
namespace {

/* Of the list of numbers: a reader knows what it finds at which place. */
constexpr double kVersion = 1;

const auto loaded = std::chrono::steady_clock::now();

/* What the process may use, in bytes; -1: nobody said. */
double memory_limit() {
  const char* text = getenv("TFJS_EMBEDDINGS_SERVER_MEMORY");
  char* end = nullptr;
  const double bytes = text == nullptr ? -1 : strtod(text, &end);
  return text == nullptr || end == text || *end != '\0' || !(bytes >= 0) ? -1 : bytes;
}

/* Bytes of the process that are in memory; -1 where the system does not tell. */
double resident_bytes() {
#if defined(__linux__)
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == nullptr) return -1;
  long long pages = -1;
  const bool read = fscanf(file, "%*d %lld", &pages) == 1;
  fclose(file);
  return read ? static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) : -1;
#else
  return -1;
#endif
}

double process_id() {
#if defined(_WIN32)
  return _getpid();
#else
  return getpid();
#endif
}

/* -> numbers: version, seconds, limit, resident, kernels, threads, process; instruction_set */
void compute_server_info(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* numbers = call.output(0, TF_DOUBLE, &kServerNumbers, 1, "numbers", "numbers");
  TF_Tensor* text = call.output(1, TF_STRING, nullptr, 0, "instruction_set", "texts");
  if (call.failed()) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - loaded;
  const double told[kServerNumbers] = {kVersion,
                                       seconds.count(),
                                       memory_limit(),
                                       resident_bytes(),
                                       static_cast<double>(Call::at_work() - 1), /* others than this one */
                                       static_cast<double>(te_get_threads()),
                                       process_id()};
  memcpy(Call::data(numbers), told, sizeof(told));
  TF_TString* const instruction_set = static_cast<TF_TString*>(tf.TF_TensorData(text));
  TF_TString_Init(instruction_set);
  TF_TString_Copy(instruction_set, te_instruction_set(), strlen(te_instruction_set()));
}

}  // namespace

OpList server_info_ops() {
  static const Op ops[] = {
      {"EmbeddingServerInfo",
       {},
       {"numbers: double", "instruction_set: string"},
       {},
       server_info_shape,
       create_plain,
       compute_server_info,
       true},
  };
  return list_of(ops);
}

}  // namespace te

extern "C" int32_t te_at_work(void) { return te::Call::at_work() + te::Snapshots::count(); }
