/* Attributes of the TensorFlow ops, read once per kernel object. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_ATTRIBUTES_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_ATTRIBUTES_H_

#include <stdint.h>

#include "../../kernels/embedding.h"
#include "api.h"

namespace te {

struct Attributes {
  int32_t combiner = TE_SUM;
  int32_t out_of_range = TE_ERROR;
  float max_norm = 0;
  int64_t rows = 0;           /* EmbeddingBagGrad and EmbeddingTouchedRows only */
  int32_t codec = TE_FLOAT32; /* ops on packed rows have another one, and columns */
  int64_t dim = 0;
  int32_t transpose_a = 0; /* products only, as is the next */
  int32_t transpose_b = 0;
};

void* create_bag(TF_OpKernelConstruction* context);

void* create_bag_grad(TF_OpKernelConstruction* context);

void* create_packed(TF_OpKernelConstruction* context);

void* create_packed_rows(TF_OpKernelConstruction* context);

void* create_rows(TF_OpKernelConstruction* context);

void* create_product(TF_OpKernelConstruction* context);

void* create_plain(TF_OpKernelConstruction*);

void delete_kernel(void* kernel);

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_ATTRIBUTES_H_ */
