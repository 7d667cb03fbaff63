/* Packed rows as TensorFlow ops. */
#include <stdint.h>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../attributes.h"
#include "../call.h"
#include "../huge_pages.h"
#include "../shapes.h"
#include "../table_step.h"
#include "ops.h"
#include "packed.h"

namespace te {
namespace {

void compute_packed_bag(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_packed_table table = packed_table(call, attributes);
  const te_bags bags = call.bags(1, attributes);
  const int64_t dims[] = {bags.batch, table.dim};
  TF_Tensor* pooled = call.output(0, TF_FLOAT, dims, 2, "table", kPooledRows);
  if (call.failed()) return;
  call.check(te_packed_bag(&table, &bags, Call::floats(pooled)), bags, table.rows);
  const size_t row = static_cast<size_t>(te_packed_words(table.storage, table.dim)) * sizeof(int32_t);
  looked_up(table.words, static_cast<size_t>(table.rows) * row, static_cast<size_t>(bags.nnz) * row);
}

void compute_packed_bag_weights_grad(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_packed_table table = packed_table(call, attributes);
  const te_bags bags = call.bags(2, attributes, true);
  const float* gradient = call.gradient(1, bags.batch, table.dim);
  TF_Tensor* weights_gradient = call.output(0, TF_FLOAT, &bags.nnz, 1, "values", "gradients of weights");
  if (call.failed()) return;
  call.check(te_packed_bag_weights_grad(&table, &bags, gradient, Call::floats(weights_gradient)), bags, table.rows);
}

/* As compute_sparse_apply, on rows of float16. */
template <int kOptimizer>
void compute_packed_apply(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  if (attributes.storage != TE_FLOAT16) {
    return call.fail(TF_INVALID_ARGUMENT, "storage: expected float16, received int8");
  }
  const te_packed_table table = packed_table(call, attributes);
  const size_t row = static_cast<size_t>(te_packed_words(table.storage, table.dim)) * sizeof(int32_t);
  const Span words = {table.words, static_cast<size_t>(table.rows) * row};
  step_table<kOptimizer>(call, attributes, {nullptr, table.rows, table.dim}, words, [&](TableStep& step) {
    return te_packed_apply(kOptimizer, &table, step.slots, step.slot_count, &step.bags, step.gradient, &step.hyper,
                           step.workspace, step.workspace_bytes);
  });
}

}  // namespace

te_packed_table packed_table(Call& call, const Attributes& attributes) {
  te_packed_table table = {nullptr, 0, attributes.dim, attributes.storage};
  TF_Tensor* words = call.input(0, "table", 2);
  if (words == nullptr) return table;
  const int64_t columns = te_packed_words(table.storage, table.dim);
  if (tf.TF_Dim(words, 1) != columns) {
    call.fail(TF_INVALID_ARGUMENT, "table: expected %lld words for %lld columns, received %lld",
              static_cast<long long>(columns), static_cast<long long>(table.dim),
              static_cast<long long>(tf.TF_Dim(words, 1)));
  }
  table.rows = tf.TF_Dim(words, 0);
  table.words = static_cast<int32_t*>(Call::data(words));
  return table;
}

/* Rows of float16, in words. */
#define TE_PACKED_APPLY(optimizer, name, slots, per_row, idle)                                           \
  Op{"EmbeddingPackedApply" name,                                                                        \
     {"table: int32", TE_SLOT_INPUTS(slots, "float"), "gradient: float", TE_BAG_INPUTS, "hyper: float"}, \
     {},                                                                                                 \
     {TE_BAG_ATTRIBUTES, "storage: string", "dim: int"},                                                 \
     nothing_shape,                                                                                      \
     create_packed,                                                                                      \
     compute_packed_apply<optimizer>,                                                                    \
     true},
OpList packed_ops() {
  static const Op ops[] = {
      TE_EACH_OPTIMIZER(TE_PACKED_APPLY){"EmbeddingPackedBag",
                                         {"table: int32", TE_BAG_INPUTS},
                                         {"pooled: float"},
                                         {TE_BAG_ATTRIBUTES, "storage: string", "dim: int"},
                                         packed_bag_shape,
                                         create_packed,
                                         compute_packed_bag,
                                         false},
      {"EmbeddingPackedBagWeightsGrad",
       {"table: int32", "gradient: float", TE_BAG_INPUTS},
       {"weights_gradient: float"},
       {TE_BAG_ATTRIBUTES, "storage: string", "dim: int"},
       packed_bag_weights_grad_shape,
       create_packed,
       compute_packed_bag_weights_grad,
       false},
  };
  return list_of(ops);
}

}  // namespace te
