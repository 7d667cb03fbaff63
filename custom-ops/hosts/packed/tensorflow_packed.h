/* Packed rows as TensorFlow ops. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_PACKED_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_PACKED_H_

#include <stdint.h>

#include "../../kernels/embedding.h"
#include "../tensorflow_api.h"
#include "../tensorflow_attributes.h"
#include "../tensorflow_call.h"
#include "../tensorflow/huge_pages.h"
#include "../tensorflow_many.h"
#include "../tensorflow_shapes.h"
#include "../tensorflow_training.h"

namespace te {
namespace {

/* The words of a table, input 0: [rows, te_packed_words]. */
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
  constexpr int kSlots = TE_SLOT_COUNT(kOptimizer);
  constexpr int kAfterSlots = 1 + kSlots;
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  if (attributes.storage != TE_FLOAT16) {
    return call.fail(TF_INVALID_ARGUMENT, "storage: expected float16, received int8");
  }
  const te_packed_table table = packed_table(call, attributes);
  const te_bags bags = call.bags(kAfterSlots + 1, attributes);
  const float* gradient = call.gradient(kAfterSlots, bags.batch, table.dim);
  TF_Tensor* numbers = call.input(kAfterSlots + 4, "hyper", 1);
  if (call.failed()) return;

  te_hyper hyper;
  if (!read_hyper(&call, numbers, &hyper)) return;
  const te_table shape = {nullptr, table.rows, table.dim};
  const size_t words = static_cast<size_t>(te_packed_words(table.storage, table.dim));
  std::vector<Span> written = {{table.words, static_cast<size_t>(table.rows) * words * sizeof(int32_t)}};
  float* slots[TE_MOST_SLOTS] = {nullptr, nullptr};
  for (int i = 0; i < kSlots; ++i) {
    TF_Tensor* slot = slot_of(&call, 1 + i, i, shape, kOptimizer == TE_ROW_WISE_ADAGRAD);
    if (slot == nullptr) return;
    slots[i] = Call::floats(slot);
    written.push_back(span_of(slot));
  }
  if (any_shared(written, spans_of(bags, gradient, table.dim))) {
    return call.fail(TF_INVALID_ARGUMENT, "table and slots must not share memory with another input");
  }

  Workspace workspace(te_sparse_apply_workspace(kOptimizer, bags.nnz, bags.batch, table.rows, table.dim));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  call.check(
      te_packed_apply(kOptimizer, &table, slots, kSlots, &bags, gradient, &hyper, workspace.data(), workspace.bytes()),
      bags, table.rows);
}

/* Rows of float16, input 0, for penalties. */
te_packed_table halves_of(Call& call, const Attributes& attributes) {
  if (attributes.storage != TE_FLOAT16) call.fail(TF_INVALID_ARGUMENT, "storage: expected float16, received int8");
  return packed_table(call, attributes);
}

void compute_packed_row_penalty(void* kernel, TF_OpKernelContext* context) {
  Call call(context);
  const te_packed_table table = halves_of(call, *static_cast<Attributes*>(kernel));
  TF_Tensor* ids = call.input(1, "ids", 1);
  const float* factors = factors_of(&call, 2);
  TF_Tensor* penalty = call.output(0, TF_FLOAT, nullptr, 0, "ids", "penalties");
  if (call.failed()) return;
  te_bags none = {};
  call.check(te_packed_row_penalty(&table, static_cast<const int32_t*>(Call::data(ids)), tf.TF_Dim(ids, 0), factors[0],
                                   factors[1], Call::floats(penalty)),
             none, table.rows);
}

void compute_packed_row_penalty_grad(void* kernel, TF_OpKernelContext* context) {
  Call call(context);
  const te_packed_table table = halves_of(call, *static_cast<Attributes*>(kernel));
  TF_Tensor* ids = call.input(1, "ids", 1);
  const float* factors = factors_of(&call, 2);
  TF_Tensor* upstream = call.input(3, "upstream", 0);
  if (call.failed()) return;
  const int64_t dims[] = {tf.TF_Dim(ids, 0), table.dim};
  TF_Tensor* gradient = call.output(0, TF_FLOAT, dims, 2, "ids", "row gradients");
  if (call.failed()) return;
  te_bags none = {};
  call.check(te_packed_row_penalty_grad(&table, static_cast<const int32_t*>(Call::data(ids)), dims[0], factors[0],
                                        factors[1], *Call::floats(upstream), Call::floats(gradient)),
             none, table.rows);
}

/* Attributes are not seen here, so the number of columns is not known. */
void packed_bag_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(0, 2);
  if (shapes.failed()) return;
  const int64_t batch = shapes.bags(1);
  if (!shapes.failed()) shapes.output(0, shapes.matrix(batch, -1));
}

void packed_row_penalty_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(0, 2);
  const int64_t ids = shapes.failed() ? -1 : shapes.size(shapes.input(1, 1), 0);
  if (!shapes.failed()) shapes.output(0, shapes.matrix(ids, -1));
}

void packed_bag_weights_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(0, 2);
  if (shapes.failed()) return;
  const int64_t batch = shapes.bags(2);
  TF_ShapeHandle* gradient = shapes.failed() ? nullptr : shapes.input(1, 2);
  shapes.same("gradient and row_splits", shapes.size(gradient, 0), batch);
  if (!shapes.failed()) shapes.output(0, shapes.input(2, 1));
}

}  // namespace
}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_PACKED_H_ */
