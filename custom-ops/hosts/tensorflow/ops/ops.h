/* What an op of TensorFlow is made of, and the ops of each file. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_OPS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_OPS_H_

#include <stddef.h>

#include "../api.h"
#include "../attributes.h"
#include "../shapes.h"

namespace te {

using ShapeFunction = void (*)(TF_ShapeInferenceContext*, TF_Status*);
using CreateFunction = void* (*)(TF_OpKernelConstruction*);
using ComputeFunction = void (*)(void*, TF_OpKernelContext*);

constexpr int kMostSpecs = 12;
struct Op {
  const char* name;
  const char* inputs[kMostSpecs];
  const char* outputs[3];
  const char* attributes[5];
  ShapeFunction shape; /* nullptr: TensorFlow declares the op, and only a kernel is missing */
  CreateFunction create;
  ComputeFunction compute; /* nullptr: there is no such op */
  bool stateful;
};

struct OpList {
  const Op* ops;
  size_t count;
};

template <size_t kCount>
OpList list_of(const Op (&ops)[kCount]) {
  return {ops, kCount};
}

OpList bag_ops();
OpList sparse_apply_ops();
OpList many_ops();
OpList dense_apply_ops();
OpList row_penalty_ops();
OpList matrix_row_ops();
OpList present_id_ops();
OpList checked_input_ops();
OpList element_ops();
OpList loss_ops();
OpList pair_dot_ops();
OpList product_ops();
OpList table_ops();
OpList graph_ops();
OpList shared_tensor_ops();
OpList server_table_ops();
OpList server_save_ops();
OpList server_info_ops();

/* No defaults: TensorFlow ignores a misspelt attribute, and only a missing one is an error. */
#define TE_BAG_ATTRIBUTES "combiner: string", "out_of_range: string", "max_norm: float"
#define TE_PACKED_ATTRIBUTES "storage: string", "dim: int"
#define TE_BAG_INPUTS "values: int32", "row_splits: int32", "weights: float"
/* As many as the optimizer has; the others are left out. */
#define TE_SLOT_INPUTS(slots, type) \
  slots > 0 ? "slot0: " type : nullptr, slots > 1 ? "slot1: " type : nullptr, \
      slots > 2 ? "slot2: " type : nullptr, slots > 3 ? "slot3: " type : nullptr

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_OPS_H_ */
