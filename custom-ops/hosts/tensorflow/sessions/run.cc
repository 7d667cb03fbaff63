#include "run.h"

#include <string.h>

#include <chrono>
#include <memory>
#include <utility>

#include "../../../kernels/embedding.h"
#include "../status.h"
#include "tensorflow/core/platform/ctstring_internal.h"

namespace te {
namespace {

size_t element_bytes(te_tensor_type type) {
  switch (type) {
    case TE_TENSOR_FLOAT64:
    case TE_TENSOR_INT64:
      return 8;
    case TE_TENSOR_HALF:
      return 2;
    case TE_TENSOR_UINT8:
    case TE_TENSOR_BOOL:
      return 1;
    case TE_TENSOR_STRING:
      return sizeof(TF_TString);
    default:
      return 4;
  }
}

TF_TString* texts_of(TF_Tensor* tensor) { return static_cast<TF_TString*>(tf.TF_TensorData(tensor)); }

bool travels(TF_DataType type) {
  return type == TF_FLOAT || type == TF_DOUBLE || type == TF_INT32 || type == TF_UINT8 || type == TF_STRING ||
         type == TF_INT64 || type == TF_BOOL || type == TF_HALF;
}

/*
 * A server gives each run a number, which a new thread draws from a seed of 32 bits, and refuses a number of one of its
 * last 100,000 runs, one in some 43,000, before it runs anything. A run that was really sent twice is refused by its
 * master, in other words ("RunStep (Master)").
 */
constexpr char kNumberIsTaken[] = "The same RunGraph (Worker) request was received twice";
constexpr int kDraws = 8;

bool number_is_taken(const Status& status) {
  return status.code() == TF_ABORTED && std::string(status.message()).find(kNumberIsTaken) != std::string::npos;
}

std::string ask_for(const char* argument, const std::string& unknown) {
  return std::string(argument) + ": expected names of nodes, and the graph has no node " + unknown;
}

}  // namespace

OwnTensor::OwnTensor(OwnTensor&& other) noexcept : tensor_(other.tensor_), holds_texts_(other.holds_texts_) {
  other.tensor_ = nullptr;
}

OwnTensor& OwnTensor::operator=(OwnTensor&& other) noexcept {
  std::swap(tensor_, other.tensor_);
  std::swap(holds_texts_, other.holds_texts_);
  return *this;
}

void OwnTensor::drop() {
  if (tensor_ == nullptr) return;
  if (holds_texts_) {
    const int64_t count = tf.TF_TensorElementCount(tensor_);
    for (int64_t i = 0; i < count; ++i) TF_TString_Dealloc(texts_of(tensor_) + i);
  }
  tf.TF_DeleteTensor(tensor_);
}

OwnTensor OwnTensor::feed(const te_feed& given) {
  std::vector<int64_t> sizes(given.sizes, given.sizes + given.rank);
  const size_t bytes = given.count * element_bytes(given.type);
  TF_Tensor* tensor = tf.TF_AllocateTensor(static_cast<TF_DataType>(given.type), sizes.data(), given.rank, bytes);
  if (tensor == nullptr) return OwnTensor();
  if (given.type == TE_TENSOR_STRING) {
    for (size_t i = 0; i < given.count; ++i) {
      TF_TString* text = texts_of(tensor) + i;
      TF_TString_Init(text);
      TF_TString_Copy(text, given.texts[i].bytes, given.texts[i].length);
    }
  } else if (given.type == TE_TENSOR_HALF) {
    te_floats_to_halves(static_cast<const float*>(given.data), static_cast<int64_t>(given.count),
                        static_cast<uint16_t*>(tf.TF_TensorData(tensor)));
  } else if (bytes > 0) {
    memcpy(tf.TF_TensorData(tensor), given.data, bytes);
  }
  return OwnTensor(tensor, given.type == TE_TENSOR_STRING);
}

std::vector<int64_t> OwnTensor::sizes() const {
  std::vector<int64_t> sizes;
  for (int i = 0; i < tf.TF_NumDims(tensor_); ++i) sizes.push_back(tf.TF_Dim(tensor_, i));
  return sizes;
}

te_text OwnTensor::text(size_t at) const {
  const TF_TString* text = texts_of(tensor_) + at;
  return {TF_TString_GetDataPointer(text), TF_TString_GetSize(text)};
}

Run::Run(const te_run& given, const NamedGraph& graph, std::string* problem)
    : options_(static_cast<const char*>(given.options), given.option_bytes),
      feed_names_(lines_of(given.feeds)),
      fetch_names_(lines_of(given.fetches)),
      target_names_(lines_of(given.targets)) {
  if (feed_names_.size() != given.value_count) {
    *problem = "feeds: expected a name for each of " + std::to_string(given.value_count) + " values, received " +
               std::to_string(feed_names_.size());
    return;
  }
  std::string unknown;
  for (const std::string& name : feed_names_) graph.find(name, &unknown);
  if (!unknown.empty()) *problem = ask_for("feeds", unknown);
  for (const std::string& name : fetch_names_) graph.find(name, &unknown);
  if (!unknown.empty() && problem->empty()) *problem = ask_for("fetches", unknown);
  for (const std::string& name : target_names_) graph.node(name, &unknown);
  if (!unknown.empty() && problem->empty()) *problem = ask_for("targets", unknown);
  for (size_t i = 0; i < given.value_count && problem->empty(); ++i) {
    fed_.push_back(OwnTensor::feed(given.values[i]));
    if (fed_.back().get() == nullptr) {
      *problem = "values: expected some that fit into memory twice, received " + std::to_string(given.values[i].count) +
                 " elements";
    }
  }
}

bool Run::find_nodes(const NamedGraph& graph) {
  std::string unknown;
  for (const std::string& name : feed_names_) feeds_.push_back(graph.find(name, &unknown));
  for (const std::string& name : fetch_names_) fetches_.push_back(graph.find(name, &unknown));
  for (const std::string& name : target_names_) targets_.push_back(graph.node(name, &unknown));
  return unknown.empty();
}

Outcome Run::perform(TF_Session* session) {
  const auto begun = std::chrono::steady_clock::now();
  std::unique_ptr<Status> status;
  std::vector<TF_Tensor*> given;
  for (const OwnTensor& each : fed_) given.push_back(each.get());
  std::vector<TF_Tensor*> fetched(fetches_.size(), nullptr);
  TF_Buffer* options = session_api.TF_NewBufferFromString(options_.data(), options_.size());
  for (int draw = 0; draw < kDraws && (draw == 0 || number_is_taken(*status)); ++draw) {
    status = std::make_unique<Status>();
    session_api.TF_SessionRun(session, options, feeds_.data(), given.data(), static_cast<int>(given.size()),
                              fetches_.data(), fetched.data(), static_cast<int>(fetched.size()), targets_.data(),
                              static_cast<int>(targets_.size()), nullptr, status->get());
  }
  tf.TF_DeleteBuffer(options);
  fed_.clear();
  Outcome outcome;
  outcome.code = status->code();
  outcome.message = status->message();
  for (TF_Tensor* tensor : fetched) {
    if (tensor == nullptr) continue;
    outcome.fetched.emplace_back(tensor);
    outcome.sizes.push_back(outcome.fetched.back().sizes());
    if (outcome.code == TF_OK && !travels(tf.TF_TensorType(tensor))) {
      outcome.code = TF_UNIMPLEMENTED;
      outcome.message = "fetches: expected types of numbers or texts, received type " +
                        std::to_string(tf.TF_TensorType(tensor)) + " of " + fetch_names_[outcome.fetched.size() - 1];
    }
  }
  if (outcome.code != TF_OK) outcome.fetched.clear();
  outcome.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
  return outcome;
}

/* RunOptions.timeout_in_ms is a varint under number 2; fields before it are passed over. */
int64_t Run::timeout_ms() const {
  const auto* at = reinterpret_cast<const unsigned char*>(options_.data());
  const unsigned char* const end = at + options_.size();
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0; at < end && shift < 64; shift += 7) {
      const unsigned char byte = *at++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  int64_t found = 0;
  while (at < end) {
    const uint64_t tag = varint();
    const uint64_t kind = tag & 7;
    if (kind == 0) {
      const uint64_t value = varint();
      if (tag >> 3 == 2) found = static_cast<int64_t>(value);
    } else {
      const uint64_t bytes = kind == 1 ? 8 : kind == 5 ? 4 : kind == 2 ? varint() : UINT64_MAX;
      if (bytes > static_cast<uint64_t>(end - at)) return found; /* TensorFlow refuses the options */
      at += bytes;
    }
  }
  return found;
}

}  // namespace te
