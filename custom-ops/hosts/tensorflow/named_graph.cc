#include "named_graph.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "status.h"

namespace te {

std::vector<std::string> lines_of(const char* text) {
  std::vector<std::string> found;
  for (const char* end = nullptr; (end = strchr(text, '\n')) != nullptr; text = end + 1) found.emplace_back(text, end);
  return found;
}

std::string NamedGraph::import(const void* definition, size_t bytes, const char* mapped) {
  Status status;
  std::string unknown;
  TF_ImportGraphDefOptions* options = session_api.TF_NewImportGraphDefOptions();
  for (const std::string& place : lines_of(mapped)) {
    const TF_Output output = find(place, &unknown);
    if (output.oper == nullptr) continue;
    const std::string name = place.substr(0, place.find(':'));
    session_api.TF_ImportGraphDefOptionsAddInputMapping(options, name.c_str(), output.index, output);
  }
  if (unknown.empty()) {
    TF_Buffer* buffer = session_api.TF_NewBufferFromString(definition, bytes);
    session_api.TF_GraphImportGraphDef(graph_, buffer, options, status.get());
    tf.TF_DeleteBuffer(buffer);
  }
  session_api.TF_DeleteImportGraphDefOptions(options);
  if (!unknown.empty()) return "the graph has no node " + unknown;
  return status.ok() ? std::string() : status.message();
}

TF_Operation* NamedGraph::node(const std::string& name, std::string* unknown) const {
  TF_Operation* operation = session_api.TF_GraphOperationByName(graph_, name.c_str());
  if (operation == nullptr) *unknown = name.empty() ? "without a name" : name;
  return operation;
}

TF_Output NamedGraph::find(const std::string& place, std::string* unknown) const {
  const size_t colon = place.find(':');
  const int index = colon == std::string::npos ? 0 : atoi(place.c_str() + colon + 1);
  TF_Operation* operation = node(place.substr(0, colon), unknown);
  if (operation != nullptr && (index < 0 || index >= session_api.TF_OperationNumOutputs(operation))) {
    *unknown = place;
    operation = nullptr;
  }
  return TF_Output{operation, index};
}

bool NamedGraph::is_sized(TF_Output output) const {
  Status status;
  const int rank = session_api.TF_GraphGetTensorNumDims(graph_, output, status.get());
  if (!status.ok() || rank < 0) return false;
  std::vector<int64_t> sizes(static_cast<size_t>(rank));
  session_api.TF_GraphGetTensorShape(graph_, output, sizes.data(), rank, status.get());
  return status.ok() && std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 0; });
}

}  // namespace te
