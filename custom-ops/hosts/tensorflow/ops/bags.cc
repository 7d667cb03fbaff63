/* Lookups of one table and their gradients as TensorFlow ops; an op has one type of table, so packed rows have ops of their own. */
#include <stdint.h>

#include <vector>

#include "../../../kernels/embedding.h"
#include "../../shared/memory.h"
#include "../attributes.h"
#include "../call.h"
#include "../huge_pages.h"
#include "../shapes.h"
#include "../tables/table_locks.h"
#include "ops.h"

namespace te {
namespace {

void compute_bag(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_rows table = call.rows(0, attributes);
  const te_bags bags = call.bags(1, attributes);
  const int64_t dims[] = {bags.batch, table.dim};
  TF_Tensor* pooled = call.output(0, TF_FLOAT, dims, 2, "table", kPooledRows);
  if (call.failed()) return;
  const TableLock lock({table.data}, TableUse::kRead);
  call.check(te_embedding_bag(&table, &bags, Call::floats(pooled)), bags, table.rows);
  looked_up(table, bags);
}

void compute_bag_grad(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_bags bags = call.bags(1, attributes);
  te_rows table = call.rows(4);
  if (call.failed()) return;
  if (attributes.max_norm > 0) {
    if (table.rows != attributes.rows) {
      return call.fail(TF_INVALID_ARGUMENT, "table: expected %lld rows as max_norm is set, received %lld",
                       static_cast<long long>(attributes.rows), static_cast<long long>(table.rows));
    }
  } else {
    table.data = nullptr;
    table.rows = attributes.rows;
  }
  const float* gradient = call.gradient(0, bags.batch, table.dim);
  if (call.failed()) return;
  if (!te_addressable(table.rows, table.dim)) {
    return call.fail(TF_INVALID_ARGUMENT, "rows: expected at most %lld rows of %lld columns, received %lld",
                     static_cast<long long>(PTRDIFF_MAX / 4 / table.dim), static_cast<long long>(table.dim),
                     static_cast<long long>(table.rows));
  }

  Workspace workspace(te_embedding_bag_grad_workspace(bags.nnz, bags.batch, table.rows, table.dim));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  int64_t unique = 0;
  call.check(te_embedding_bag_grad_group(&table, &bags, workspace.data(), workspace.bytes(), &unique), bags,
             table.rows);
  const int64_t dims[] = {unique, table.dim};
  TF_Tensor* unique_ids = call.output(0, TF_INT32, dims, 1, "values", "unique ids");
  TF_Tensor* row_gradients = call.output(1, TF_FLOAT, dims, 2, "gradient", "row gradients");
  if (call.failed()) return;
  /* Rows of the table are read where max_norm is set, or else none. */
  const TableLock lock(table.data == nullptr ? std::vector<const void*>() : std::vector<const void*>{table.data},
                       TableUse::kRead);
  call.check(te_embedding_bag_grad_rows(&table, &bags, gradient, workspace.data(), workspace.bytes(),
                                        static_cast<int32_t*>(Call::data(unique_ids)), Call::floats(row_gradients)),
             bags, table.rows);
}

void compute_bag_weights_grad(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_rows table = call.rows(0, attributes);
  const te_bags bags = call.bags(2, attributes, true);
  const float* gradient = call.gradient(1, bags.batch, table.dim);
  TF_Tensor* weights_gradient = call.output(0, TF_FLOAT, &bags.nnz, 1, "values", "gradients of weights");
  if (call.failed()) return;
  const TableLock lock({table.data}, TableUse::kRead);
  call.check(te_embedding_bag_weights_grad(&table, &bags, gradient, Call::floats(weights_gradient)), bags, table.rows);
}

void compute_tpu_activations(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* activations = call.input(1, "sliced_activations", -1);
  if (activations != nullptr) call.pass_through(0, activations);
}

}  // namespace

OpList bag_ops() {
  static const Op ops[] = {
      {"EmbeddingBag",
       {"table: float", TE_BAG_INPUTS},
       {"pooled: float"},
       {TE_BAG_ATTRIBUTES},
       bag_shape,
       create_bag,
       compute_bag,
       false},
      {"EmbeddingBagGrad",
       {"gradient: float", TE_BAG_INPUTS, "table: float"},
       {"unique_ids: int32", "row_gradients: float"},
       {TE_BAG_ATTRIBUTES, "rows: int"},
       bag_grad_shape,
       create_bag_grad,
       compute_bag_grad,
       false},
      {"EmbeddingBagWeightsGrad",
       {"table: float", "gradient: float", TE_BAG_INPUTS},
       {"weights_gradient: float"},
       {TE_BAG_ATTRIBUTES},
       bag_weights_grad_shape,
       create_bag,
       compute_bag_weights_grad,
       false},
      {"EmbeddingPackedBag",
       {"table: int32", TE_BAG_INPUTS},
       {"pooled: float"},
       {TE_BAG_ATTRIBUTES, TE_PACKED_ATTRIBUTES},
       packed_bag_shape,
       create_packed,
       compute_bag,
       false},
      {"EmbeddingPackedBagWeightsGrad",
       {"table: int32", "gradient: float", TE_BAG_INPUTS},
       {"weights_gradient: float"},
       {TE_BAG_ATTRIBUTES, TE_PACKED_ATTRIBUTES},
       packed_bag_weights_grad_shape,
       create_packed,
       compute_bag_weights_grad,
       false},
      {"TPUEmbeddingActivations", {}, {}, {}, nullptr, create_plain, compute_tpu_activations, false},
  };
  return list_of(ops);
}

}  // namespace te
