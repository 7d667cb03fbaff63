/* Captured steps: graphs by number, each with a session, and the op that runs one as a single call. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "../call.h"
#include "../shapes.h"
#include "../../shared/graphs.h"
#include "../../shared/memory.h"
#include "../api.h"
#include "ops.h"

namespace te {
namespace {

/*
 * A ConfigProto as bytes: inter_op_parallelism_threads -1 runs the graph in the thread that calls, without a pool, and
 * rewrite_options.disable_meta_optimizer leaves the ops as they were recorded, so that results are those of eager runs.
 */
constexpr unsigned char kConfig[] = {0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0xff, 0x01, 0x52, 0x05, 0x52, 0x03, 0x98, 0x01, 0x01};

class Status {
 public:
  Status() : status_(tf.TF_NewStatus()) {}
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  ~Status() { tf.TF_DeleteStatus(status_); }
  TF_Status* get() const { return status_; }
  bool ok() const { return tf.TF_GetCode(status_) == TF_OK; }
  const char* message() const { return tf.TF_Message(status_); }

 private:
  TF_Status* status_;
};

class Graph {
 public:
  Graph() : graph_(session_api.TF_NewGraph()) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    Status status;
    if (session_ != nullptr) {
      session_api.TF_CloseSession(session_, status.get());
      session_api.TF_DeleteSession(session_, status.get());
    }
    session_api.TF_DeleteGraph(graph_);
  }

  /* An empty text, or what is wrong. */
  std::string build(const void* definition, size_t bytes, const char* feeds, const char* fetches, const char* targets) {
    Status status;
    TF_Buffer* buffer = session_api.TF_NewBufferFromString(definition, bytes);
    TF_ImportGraphDefOptions* options = session_api.TF_NewImportGraphDefOptions();
    session_api.TF_GraphImportGraphDef(graph_, buffer, options, status.get());
    session_api.TF_DeleteImportGraphDefOptions(options);
    tf.TF_DeleteBuffer(buffer);
    if (!status.ok()) return status.message();
    std::string unknown;
    for (const std::string& name : lines(feeds)) feeds_.push_back(find(name, &unknown));
    for (const std::string& name : lines(fetches)) fetches_.push_back(find(name, &unknown));
    for (const std::string& name : lines(targets)) targets_.push_back(find(name, &unknown).oper);
    if (!unknown.empty()) return "the graph has no node " + unknown;
    TF_SessionOptions* settings = session_api.TF_NewSessionOptions();
    session_api.TF_SetConfig(settings, kConfig, sizeof(kConfig), status.get());
    if (status.ok()) session_ = session_api.TF_NewSession(graph_, settings, status.get());
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
  static std::vector<std::string> lines(const char* text) {
    std::vector<std::string> found;
    for (const char* end = nullptr; (end = strchr(text, '\n')) != nullptr; text = end + 1) {
      found.emplace_back(text, end);
    }
    return found;
  }

  TF_Output find(const std::string& place, std::string* unknown) const {
    const size_t colon = place.find(':');
    const std::string name = place.substr(0, colon);
    TF_Operation* operation = session_api.TF_GraphOperationByName(graph_, name.c_str());
    if (operation == nullptr) *unknown = name;
    return TF_Output{operation, colon == std::string::npos ? 0 : atoi(place.c_str() + colon + 1)};
  }

  TF_Graph* graph_;
  TF_Session* session_ = nullptr;
  std::vector<TF_Output> feeds_;
  std::vector<TF_Output> fetches_;
  std::vector<const TF_Operation*> targets_;
};

class Graphs {
 public:
  /* Never destroyed: kernels may run while the process ends. */
  static Graphs& book() {
    static Graphs* const instance = new Graphs;
    return *instance;
  }

  int32_t add(std::shared_ptr<const Graph> graph) {
    std::lock_guard<std::mutex> lock(mutex_);
    do {
      next_ = next_ == INT32_MAX ? 1 : next_ + 1;
    } while (graphs_.count(next_) != 0);
    graphs_.emplace(next_, std::move(graph));
    return next_;
  }

  std::shared_ptr<const Graph> find(int32_t number) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = graphs_.find(number);
    return found == graphs_.end() ? nullptr : found->second;
  }

  void release(int32_t number) {
    std::shared_ptr<const Graph> last; /* dies outside of the lock */
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = graphs_.find(number);
    if (found == graphs_.end()) return;
    last = std::move(found->second);
    graphs_.erase(found);
  }

  int32_t count() {
    std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int32_t>(graphs_.size());
  }

 private:
  std::mutex mutex_;
  std::unordered_map<int32_t, std::shared_ptr<const Graph>> graphs_;
  int32_t next_ = 0;
};

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
  const std::shared_ptr<const Graph> graph = Graphs::book().find(number);
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
    if (wrong.empty()) return te::Graphs::book().add(std::move(graph));
  }
  snprintf(problem, room, "%s", wrong.c_str());
  return 0;
}
extern "C" void te_graph_release(int32_t number) { te::Graphs::book().release(number); }
extern "C" int32_t te_graph_count(void) { return te::Graphs::book().count(); }
