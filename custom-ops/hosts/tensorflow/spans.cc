#include "spans.h"

#include "../shared/memory.h"

namespace te {

Span span_of(const TF_Tensor* tensor) { return {tf.TF_TensorData(tensor), tf.TF_TensorByteSize(tensor)}; }

bool any_shared(const std::vector<Span>& written, const std::vector<Span>& read) {
  for (size_t i = 0; i < written.size(); ++i) {
    const Span& a = written[i];
    for (size_t j = 0; j < i; ++j) {
      if (te_overlap(a.data, a.bytes, written[j].data, written[j].bytes)) return true;
    }
    for (const Span& b : read) {
      if (te_overlap(a.data, a.bytes, b.data, b.bytes)) return true;
    }
  }
  return false;
}

}  // namespace te
