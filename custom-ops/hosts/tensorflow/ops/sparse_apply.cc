/* Steps of one table as TensorFlow ops. */
#include "../../../kernels/embedding.h"
#include "../call.h"
#include "../shapes.h"
#include "../table_step.h"
#include "ops.h"

namespace te {
namespace {

template <int kOptimizer>
void compute_sparse_apply(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  if (!te_trains(attributes.codec)) {
    return call.fail(TF_INVALID_ARGUMENT, "storage: expected float32 or float16, received another one");
  }
  step_table<kOptimizer>(call, attributes);
}

}  // namespace

/*
 * The names begin with Embedding because TensorFlow has SparseApplyAdagrad and SparseApplyFtrl of its own. Hyper
 * parameters are a tensor, as every new value of an attribute would make a kernel that is kept for ever. Stateful:
 * graph passes must not drop, merge or reorder ops that write in place.
 */
#define TE_SPARSE_APPLY(optimizer, name, slots, per_row, idle)                                           \
  Op{"EmbeddingSparseApply" name,                                                                        \
     {"table: float", TE_SLOT_INPUTS(slots, "float"), "gradient: float", TE_BAG_INPUTS, "hyper: float"}, \
     {},                                                                                                 \
     {TE_BAG_ATTRIBUTES},                                                                                \
     nothing_shape,                                                                                      \
     create_bag,                                                                                         \
     compute_sparse_apply<optimizer>,                                                                    \
     true},
/* Rows that are packed, in words. */
#define TE_PACKED_APPLY(optimizer, name, slots, per_row, idle)                                           \
  Op{"EmbeddingPackedApply" name,                                                                        \
     {"table: int32", TE_SLOT_INPUTS(slots, "float"), "gradient: float", TE_BAG_INPUTS, "hyper: float"}, \
     {},                                                                                                 \
     {TE_BAG_ATTRIBUTES, TE_PACKED_ATTRIBUTES},                                                          \
     nothing_shape,                                                                                      \
     create_packed,                                                                                      \
     compute_sparse_apply<optimizer>,                                                                    \
     true},
OpList sparse_apply_ops() {
  static const Op ops[] = {TE_EACH_OPTIMIZER(TE_SPARSE_APPLY) TE_EACH_OPTIMIZER(TE_PACKED_APPLY)

  };
  return list_of(ops);
}

}  // namespace te
