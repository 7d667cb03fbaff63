/* Rows of matrices as TensorFlow ops: taken, added up by id, multiplied. */
#include <stdint.h>

#include <numeric>
#include <vector>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../attributes.h"
#include "../call.h"
#include "../shapes.h"
#include "ops.h"

namespace te {
namespace {

/* rows: numbers of rows, sources: N of one type -> taken: N, these rows of each. */
void compute_take_rows(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* given = call.input(0, "rows", 1);
  if (given == nullptr) return;
  const int32_t* rows = static_cast<const int32_t*>(Call::data(given));
  const int64_t count = tf.TF_Dim(given, 0);
  const int sources = tf.TF_NumInputs(context) - 1;
  for (int i = 0; i < sources; ++i) {
    TF_Tensor* source = call.input(i + 1, "sources", -1);
    if (source == nullptr) return;
    constexpr int kMostDims = 8;
    const int rank = tf.TF_NumDims(source);
    if (rank < 1 || rank > kMostDims)
      return call.fail(TF_INVALID_ARGUMENT, "sources: expected 1 to %d dimensions, received %d", kMostDims, rank);
    const int64_t stray = te_stray_row(rows, count, tf.TF_Dim(source, 0));
    if (stray >= 0) {
      return call.fail(TF_OUT_OF_RANGE, "rows[%lld] = %d is not in [0, %lld)", static_cast<long long>(stray),
                       rows[stray], static_cast<long long>(tf.TF_Dim(source, 0)));
    }
    int64_t dims[kMostDims] = {count};
    int64_t width = 1;
    for (int d = 1; d < rank; ++d) width *= dims[d] = tf.TF_Dim(source, d);
    TF_Tensor* taken = call.output(i, tf.TF_TensorType(source), dims, rank, "rows", "rows");
    if (taken == nullptr) return;
    te_take_rows(Call::data(source), width, rows, count, Call::data(taken));
  }
}

/* terms [n, dim], ids [n] -> sums [rows, dim] of the rows of each id. */
void compute_segment_sum(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  TF_Tensor* terms = call.input(0, "terms", 2);
  TF_Tensor* ids = call.input(1, "ids", 1);
  if (call.failed()) return;
  const int64_t count = tf.TF_Dim(ids, 0);
  const int64_t dims[2] = {attributes.rows, tf.TF_Dim(terms, 1)};
  if (tf.TF_Dim(terms, 0) != count) {
    return call.fail(TF_INVALID_ARGUMENT, "ids: expected one per row (%lld), received %lld",
                     static_cast<long long>(tf.TF_Dim(terms, 0)), static_cast<long long>(count));
  }
  TF_Tensor* sums = call.output(0, TF_FLOAT, dims, 2, "rows", "sums");
  if (call.failed()) return;
  const te_status status = te_segment_sum(Call::floats(terms), static_cast<const int32_t*>(Call::data(ids)), count,
                                          dims[0], dims[1], Call::floats(sums));
  if (status.code == TE_OK) return;
  call.fail(TF_INVALID_ARGUMENT, "values[%lld] = %d is not in [0, %lld)", static_cast<long long>(status.position),
            status.id, static_cast<long long>(dims[0]));
}

/* a and b [rows, dim] -> dots [rows]. */
void compute_row_dots(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* a = call.input(0, "a", 2);
  TF_Tensor* b = call.input(1, "b", 2);
  if (call.failed()) return;
  const int64_t rows = tf.TF_Dim(a, 0), dim = tf.TF_Dim(a, 1);
  if (tf.TF_Dim(b, 0) != rows || tf.TF_Dim(b, 1) != dim) {
    return call.fail(TF_INVALID_ARGUMENT, "b: expected shape [%lld, %lld], received [%lld, %lld]",
                     static_cast<long long>(rows), static_cast<long long>(dim), static_cast<long long>(tf.TF_Dim(b, 0)),
                     static_cast<long long>(tf.TF_Dim(b, 1)));
  }
  TF_Tensor* dots = call.output(0, TF_FLOAT, &rows, 1, "a", "products");
  if (call.failed()) return;
  te_row_dots(Call::floats(a), Call::floats(b), rows, dim, Call::floats(dots));
}

/* factors [rows], matrix [rows, dim] -> scaled [rows, dim]. */
void compute_scaled_rows(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* factors = call.input(0, "factors", 1);
  TF_Tensor* matrix = call.input(1, "matrix", 2);
  if (call.failed()) return;
  const int64_t dims[] = {tf.TF_Dim(matrix, 0), tf.TF_Dim(matrix, 1)};
  if (tf.TF_Dim(factors, 0) != dims[0]) {
    return call.fail(TF_INVALID_ARGUMENT, "factors: expected %lld, received %lld", static_cast<long long>(dims[0]),
                     static_cast<long long>(tf.TF_Dim(factors, 0)));
  }
  TF_Tensor* scaled = call.output(0, TF_FLOAT, dims, 2, "matrix", "rows");
  if (call.failed()) return;
  te_scaled_rows(Call::floats(factors), Call::floats(matrix), dims[0], dims[1], Call::floats(scaled));
}

/* rows and gradient [n, dim], that of the rows scaled down to max_norm -> the gradient of the rows as they are. */
void compute_norm_grad(void* kernel, TF_OpKernelContext* context) {
  Call call(context);
  const te_rows table = call.rows(0);
  const float* gradient = call.gradient(1, table.rows, table.dim);
  const int64_t dims[] = {table.rows, table.dim};
  call.at_most_int32("rows", table.rows);
  TF_Tensor* result = call.output(0, TF_FLOAT, dims, 2, "gradient", "row gradients");
  if (call.failed()) return;
  std::vector<int32_t> places(static_cast<size_t>(table.rows) + 1);
  std::iota(places.begin(), places.end(), 0);
  std::vector<int32_t> same(places.size());
  te_bags bags = {}; /* one of each row */
  bags.values = places.data();
  bags.row_splits = places.data();
  bags.nnz = bags.batch = table.rows;
  bags.max_norm = static_cast<Attributes*>(kernel)->max_norm;
  Workspace workspace(te_embedding_bag_grad_workspace(bags.nnz, bags.batch, table.rows, table.dim));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  int64_t unique = 0;
  call.check(te_embedding_bag_grad_group(&table, &bags, workspace.data(), workspace.bytes(), &unique), bags,
             table.rows);
  if (call.failed()) return;
  call.check(te_embedding_bag_grad_rows(&table, &bags, gradient, workspace.data(), workspace.bytes(), same.data(),
                                        Call::floats(result)),
             bags, table.rows);
}

}  // namespace

OpList matrix_row_ops() {
  static const Op ops[] = {
      {"EmbeddingTakeRows",
       {"rows: int32", "sources: N * T"},
       {"taken: N * T"},
       {"N: int >= 1", "T: {float, int32}"},
       step_shape,
       create_plain,
       compute_take_rows,
       false},
      {"EmbeddingSegmentSum",
       {"terms: float", "ids: int32"},
       {"sums: float"},
       {"rows: int"},
       step_shape,
       create_rows,
       compute_segment_sum,
       false},
      {"EmbeddingRowDots",
       {"a: float", "b: float"},
       {"dots: float"},
       {},
       row_dots_shape,
       create_plain,
       compute_row_dots,
       false},
      {"EmbeddingScaledRows",
       {"factors: float", "matrix: float"},
       {"scaled: float"},
       {},
       scaled_rows_shape,
       create_plain,
       compute_scaled_rows,
       false},
      {"EmbeddingNormGrad",
       {"rows: float", "gradient: float"},
       {"row_gradients: float"},
       {TE_BAG_ATTRIBUTES},
       cross_entropy_shape,
       create_bag,
       compute_norm_grad,
       false},
  };
  return list_of(ops);
}

}  // namespace te
