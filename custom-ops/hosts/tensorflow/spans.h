/* Memory of the inputs of an op, which must not be shared where it is written. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_SPANS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_SPANS_H_

#include <stddef.h>

#include <vector>

#include "../../kernels/embedding.h"
#include "../tensorflow_api.h"

namespace te {
namespace {

struct Span {
  const void* data;
  size_t bytes;
};

inline Span span_of(const TF_Tensor* tensor) { return {tf.TF_TensorData(tensor), tf.TF_TensorByteSize(tensor)}; }

/* Whether two spans of `written`, or one of them and one of `read`, share memory. */
inline bool any_shared(const std::vector<Span>& written, const std::vector<Span>& read) {
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

}  // namespace
}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_SPANS_H_ */
