/* Memory of the inputs of an op, which must not be shared where it is written. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_SPANS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_SPANS_H_

#include <stddef.h>

#include <vector>

#include "api.h"

namespace te {

struct Span {
  const void* data;
  size_t bytes;
};

Span span_of(const TF_Tensor* tensor);

/* Whether two spans of `written`, or one of them and one of `read`, share memory. */
bool any_shared(const std::vector<Span>& written, const std::vector<Span>& read);

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_SPANS_H_ */
