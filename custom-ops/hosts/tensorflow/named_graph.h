/* A graph of TensorFlow whose nodes are found by name. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_NAMED_GRAPH_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_NAMED_GRAPH_H_

#include <stddef.h>

#include <string>
#include <vector>

#include "api.h"

namespace te {

/* Texts that each end in a line feed; what follows the last one counts for nothing. */
std::vector<std::string> lines_of(const char* text);

class NamedGraph {
 public:
  NamedGraph() : graph_(session_api.TF_NewGraph()) {}
  NamedGraph(const NamedGraph&) = delete;
  NamedGraph& operator=(const NamedGraph&) = delete;
  ~NamedGraph() { session_api.TF_DeleteGraph(graph_); }

  TF_Graph* get() const { return graph_; }

  /*
   * Adds the nodes of a GraphDef; its inputs of these names, lines of text, are outputs of nodes that are there. Returns
   * an empty text, or what is wrong: then nothing was added.
   */
  std::string import(const void* definition, size_t bytes, const char* mapped);

  TF_Operation* node(const std::string& name, std::string* unknown) const;
  /* An output of a node: `name` or `name:<output>`. Where there is none, `unknown` takes its name. */
  TF_Output find(const std::string& place, std::string* unknown) const;
  /* Whether TensorFlow tells the whole shape of an output without running the graph. */
  bool is_sized(TF_Output output) const;

 private:
  TF_Graph* graph_;
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_NAMED_GRAPH_H_ */
