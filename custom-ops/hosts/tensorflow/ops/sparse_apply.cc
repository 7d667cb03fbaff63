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
  Call call(context);
  const te_table table = call.table(0);
  step_table<kOptimizer>(call, *static_cast<Attributes*>(kernel), table, span_of_rows(table), [&](TableStep& step) {
    return te_sparse_apply(kOptimizer, &table, step.slots, step.slot_count, &step.bags, step.gradient, &step.hyper,
                           step.workspace, step.workspace_bytes);
  });
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
OpList sparse_apply_ops() {
  static const Op ops[] = {TE_EACH_OPTIMIZER(TE_SPARSE_APPLY)

  };
  return list_of(ops);
}

}  // namespace te
