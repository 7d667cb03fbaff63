/* Captured steps: graphs by number, each with a session, and the op that runs one as a single call. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <memory>
#include <string>
#include <vector>

#include "../call.h"
#include "../shapes.h"
#include "../../shared/graphs.h"
#include "../../shared/memory.h"
#include "../api.h"
#include "../named_graph.h"
#include "../sessions/numbered.h"
#include "../status.h"
#include "ops.h"

namespace te {
namespace {

/*
 * A ConfigProto as bytes: inter_op_parallelism_threads -1 runs the graph in the thread that calls, without a pool, and
 * rewrite_options.disable_meta_optimizer leaves the ops as they were recorded, so that results are those of eager runs.
 */
constexpr unsigned char kConfig[] = {0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0xff, 0x01, 0x52, 0x05, 0x52, 0x03, 0x98, 0x01, 0x01};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    Status status;
    if (session_ != nullptr) {
      session_api.TF_CloseSession(session_, status.get());
      session_api.TF_DeleteSession(session_, status.get());
    }
  }

  /* An empty text, or what is wrong. */
  std::string build(const void* definition, size_t bytes, const char* feeds, const char* fetches, const char* targets) {
    const std::string problem = graph_.import(definition, bytes, "");
    if (!problem.empty()) return problem;
    std::string unknown;
    for (const std::string& name : lines_of(feeds)) feeds_.push_back(graph_.find(name, &unknown));
    for (const std::string& name : lines_of(fetches)) fetches_.push_back(graph_.find(name, &unknown));
    for (const std::string& name : lines_of(targets)) targets_.push_back(graph_.node(name, &unknown));
    if (!unknown.empty()) return "the graph has no node " + unknown;
    Status status;
    TF_SessionOptions* settings = session_api.TF_NewSessionOptions();
    session_api.TF_SetConfig(settings, kConfig, sizeof(kConfig), status.get());
    if (status.ok()) session_ = session_api.TF_NewSession(graph_.get(), settings, status.get());
    session_api.TF_DeleteSessionOptions(settings);
    return status.ok() ? std::string() : status.message();
  }

  size_t feeds() const { return feeds_.size(); }
  size_t fetches() const { return fetches_.size(); }

  void run(TF_Tensor* const* inputs, TF_Tensor** outputs, TF_Status* status) const {
    session_api.TF_SessionRun(session_, nullptr, feeds_.data(), inputs, static_cast<int>(feeds_.size()),
                              fetches_.data(), outputs, static_cast<int>(fetches_.size()), targets_.data(),
                              static_cast<int>(targets_.size()), nullptr, status);
  }

 private:
  NamedGraph graph_;
  TF_Session* session_ = nullptr;
  std::vector<TF_Output> feeds_;
  std::vector<TF_Output> fetches_;
  std::vector<const TF_Operation*> targets_;
};

/* Never destroyed: kernels may run while the process ends. */
Numbered<const Graph>& graphs() {
  static auto* const instance = new Numbered<const Graph>;
  return *instance;
}

/* Whether an output lies in the memory of an input: then the input could not be stepped in place any more. */
bool lies_in(TF_Tensor* output, const std::vector<TF_Tensor*>& inputs) {
  const void* data = tf.TF_TensorData(output);
  const size_t bytes = tf.TF_TensorByteSize(output);
  for (TF_Tensor* input : inputs) {
    if (te_overlap(data, bytes, tf.TF_TensorData(input), tf.TF_TensorByteSize(input))) return true;
  }
  return false;
}

/* The graph's number is an input, because TensorFlow keeps a kernel for every value of an attribute for ever. */
void compute_step(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* given = call.input(0, "graph", 0);
  if (given == nullptr) return;
  const int32_t number = *static_cast<const int32_t*>(Call::data(given));
  const std::shared_ptr<const Graph> graph = graphs().find(number);
  if (graph == nullptr)
    return call.fail(TF_INVALID_ARGUMENT, "graph: expected one that was built, received %d", number);
  std::vector<TF_Tensor*> inputs(static_cast<size_t>(tf.TF_NumInputs(context) - 1));
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = call.input(static_cast<int>(i) + 1, "feeds", -1);
  if (call.failed()) return;
  const size_t outputs = static_cast<size_t>(tf.TF_NumOutputs(context));
  if (inputs.size() != graph->feeds() || outputs != graph->fetches()) {
    return call.fail(TF_INVALID_ARGUMENT, "graph: expected %zu feeds and %zu fetches, received %zu and %zu",
                     graph->feeds(), graph->fetches(), inputs.size(), outputs);
  }
  std::vector<TF_Tensor*> results(outputs);
  Status status;
  graph->run(inputs.data(), results.data(), status.get());
  if (!status.ok()) {
    call.report(status.get());
    return;
  }
  for (size_t i = 0; i < outputs; ++i) {
    if (lies_in(results[i], inputs)) {
      call.fail(TF_INTERNAL, "fetches: number %zu shares memory with a feed", i);
    } else {
      call.pass_through(static_cast<int>(i), results[i]);
    }
  }
  for (TF_Tensor* result : results) tf.TF_DeleteTensor(result);
}

}  // namespace

OpList graph_ops() {
  static const Op ops[] = {
      {"EmbeddingStep",
       {"graph: int32", "floats: N * float", "ints: M * int32"},
       {"fetched: K * float"},
       {"N: int >= 0", "M: int >= 0", "K: int >= 1"},
       step_shape,
       create_plain,
       compute_step,
       true},
  };
  return list_of(ops);
}

}  // namespace te

extern "C" int32_t te_graph_build(const void* definition, size_t bytes, const char* feeds, const char* fetches,
                                  const char* targets, char* problem, size_t room) {
  std::string wrong;
  if (!te::has_sessions) {
    wrong = "the loaded TensorFlow has no sessions";
  } else {
    auto graph = std::make_shared<te::Graph>();
    wrong = graph->build(definition, bytes, feeds, fetches, targets);
    if (wrong.empty()) return te::graphs().add(std::move(graph));
  }
  snprintf(problem, room, "%s", wrong.c_str());
  return 0;
}
extern "C" int32_t te_graph_unsized(const void* definition, size_t bytes, const char* places, char* problem,
                                    size_t room) {
  std::string wrong = "the loaded TensorFlow has no sessions";
  int32_t place = -1;
  if (te::has_sessions) {
    te::NamedGraph graph;
    wrong = graph.import(definition, bytes, "");
    for (const std::string& name : te::lines_of(places)) {
      if (!wrong.empty()) break;
      const TF_Output output = graph.find(name, &wrong);
      ++place;
      if (wrong.empty() && !graph.is_sized(output)) return place;
    }
  }
  snprintf(problem, room, "%s", wrong.c_str());
  return wrong.empty() ? -1 : -2;
}
extern "C" void te_graph_release(int32_t number) { te::graphs().take(number); }
extern "C" int32_t te_graph_count(void) { return te::graphs().count(); }
