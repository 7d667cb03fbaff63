/* One call of a session: what it is fed, what it asks for, and what became of it. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_RUN_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_RUN_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "../../shared/servers.h"
#include "../api.h"
#include "../named_graph.h"

namespace te {

/* A tensor of its own; texts in it are freed where they were put in by `feed`. */
class OwnTensor {
 public:
  explicit OwnTensor(TF_Tensor* tensor = nullptr, bool holds_texts = false)
      : tensor_(tensor), holds_texts_(holds_texts) {}
  OwnTensor(OwnTensor&& other) noexcept;
  OwnTensor& operator=(OwnTensor&& other) noexcept;
  ~OwnTensor() { drop(); }

  /* A copy of what is given; without a tensor where there is no memory. */
  static OwnTensor feed(const te_feed& given);

  TF_Tensor* get() const { return tensor_; }
  /* Sizes of its dimensions. */
  std::vector<int64_t> sizes() const;
  te_text text(size_t at) const;

 private:
  void drop();

  TF_Tensor* tensor_;
  bool holds_texts_;
};

/* Code 0 with what was fetched, or an error. */
struct Outcome {
  int32_t code = 0;
  std::string message;
  double ms = 0;
  std::vector<OwnTensor> fetched;
  std::vector<std::vector<int64_t>> sizes;
};

class Run {
 public:
  /* Copies what it is fed. `problem` takes what is wrong: names that the graph does not have, no memory. */
  Run(const te_run& given, const NamedGraph& graph, std::string* problem);

  /* Finds the nodes in the graph of the session, which may be another one of the same nodes. */
  bool find_nodes(const NamedGraph& graph);
  /* Calls the session, once. Frees what it was fed. */
  Outcome perform(TF_Session* session);
  /* Of its options; 0: it has no deadline. */
  int64_t timeout_ms() const;

  /* Under the lock of the session. */
  bool settled = false;
  Outcome outcome;

 private:
  std::string options_;
  std::vector<std::string> feed_names_, fetch_names_, target_names_;
  std::vector<TF_Output> feeds_, fetches_;
  std::vector<const TF_Operation*> targets_;
  std::vector<OwnTensor> fed_;
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_RUN_H_ */
