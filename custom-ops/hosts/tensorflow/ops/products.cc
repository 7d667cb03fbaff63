/* TensorFlow kernels that multiply small matrices and add tensors up, many in one op. */
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../attributes.h"
#include "../call.h"
#include "../shapes.h"
#include "ops.h"

namespace te {
namespace {

/* The factors of one product, and the shape of what it gives. */
struct Product {
  te_factors factors = {};
  int64_t dims[3] = {1, 0, 0};
  int rank = 2;

  const int64_t* shape() const { return dims + (3 - rank); }
};

/* a and b: matrices, or batches of one matrix each; the call has failed where they do not fit one another. */
Product product_of(Call* call, int of_a, int of_b, const Attributes& attributes) {
  Product product;
  te_factors& f = product.factors;
  TF_Tensor* a = call->input(of_a, "a", -1);
  TF_Tensor* b = call->input(of_b, "b", -1);
  if (call->failed()) return product;
  for (TF_Tensor* each : {a, b}) {
    const int rank = tf.TF_NumDims(each);
    if (rank == 2 || (rank == 3 && tf.TF_Dim(each, 0) == 1)) continue;
    call->fail(TF_INVALID_ARGUMENT, "a and b: expected one matrix each, received a tensor of rank %d", rank);
    return product;
  }
  product.rank = std::max(tf.TF_NumDims(a), tf.TF_NumDims(b));
  const int first_a = tf.TF_NumDims(a) - 2;
  const int first_b = tf.TF_NumDims(b) - 2;
  f.transpose_a = attributes.transpose_a;
  f.transpose_b = attributes.transpose_b;
  f.a = Call::floats(a);
  f.b = Call::floats(b);
  f.m = tf.TF_Dim(a, first_a + (f.transpose_a ? 1 : 0));
  f.k = tf.TF_Dim(a, first_a + (f.transpose_a ? 0 : 1));
  f.n = tf.TF_Dim(b, first_b + (f.transpose_b ? 0 : 1));
  const int64_t inner = tf.TF_Dim(b, first_b + (f.transpose_b ? 1 : 0));
  if (inner != f.k) {
    call->fail(TF_INVALID_ARGUMENT, "b: expected %lld numbers to sum over, received %lld", static_cast<long long>(f.k),
               static_cast<long long>(inner));
  }
  product.dims[1] = f.m;
  product.dims[2] = f.n;
  return product;
}

/* Numbers of scratch that the products need one after the other. */
size_t scratch_bytes(const std::vector<Product>& products) {
  int64_t room = 0;
  for (const Product& each : products) room = std::max(room, te_product_scratch(&each.factors));
  return static_cast<size_t>(room) * sizeof(float);
}

/* a: N, b: N -> N products. */
void compute_products(void* kernel, TF_OpKernelContext* context) {
  Call call(context);
  const int count = tf.TF_NumInputs(context) / 2;
  std::vector<Product> products;
  for (int i = 0; i < count; ++i) {
    products.push_back(product_of(&call, i, count + i, *static_cast<Attributes*>(kernel)));
    if (call.failed()) return;
  }
  Workspace workspace(scratch_bytes(products));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  for (int i = 0; i < count; ++i) {
    const Product& each = products[static_cast<size_t>(i)];
    TF_Tensor* out = call.output(i, TF_FLOAT, each.shape(), each.rank, "a", "products");
    if (call.failed()) return;
    te_multiply(&each.factors, 0, static_cast<float*>(workspace.data()), Call::floats(out));
  }
}

/* start: at most one; a: N, b: N -> start + products, one after the other. */
void compute_product_sum(void* kernel, TF_OpKernelContext* context) {
  Call call(context);
  const int starts = tf.TF_NumInputs(context) % 2;
  const int count = tf.TF_NumInputs(context) / 2;
  std::vector<Product> products;
  for (int i = 0; i < count; ++i) {
    products.push_back(product_of(&call, starts + i, starts + count + i, *static_cast<Attributes*>(kernel)));
    if (call.failed()) return;
    const te_factors& f = products.back().factors;
    if (f.m != products[0].factors.m || f.n != products[0].factors.n) {
      return call.fail(TF_INVALID_ARGUMENT, "a: expected products of one shape, received another for number %d", i);
    }
  }
  const te_factors& first = products[0].factors;
  TF_Tensor* start = starts > 0 ? call.input(0, "start", -1) : nullptr;
  if (start != nullptr && tf.TF_TensorElementCount(start) != first.m * first.n) {
    return call.fail(TF_INVALID_ARGUMENT, "start: expected as many numbers as a product has (%lld), received %lld",
                     static_cast<long long>(first.m * first.n),
                     static_cast<long long>(tf.TF_TensorElementCount(start)));
  }
  TF_Tensor* out = call.output(0, TF_FLOAT, products[0].shape(), products[0].rank, "a", "products");
  Workspace workspace(scratch_bytes(products));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  if (call.failed()) return;
  float* sum = Call::floats(out);
  if (start != nullptr) memcpy(sum, Call::data(start), tf.TF_TensorByteSize(start));
  for (int i = 0; i < count; ++i) {
    te_multiply(&products[static_cast<size_t>(i)].factors, starts > 0 || i > 0, static_cast<float*>(workspace.data()),
                sum);
  }
}

/* terms: N of one size -> their sum, from the first to the last. */
void compute_sum(void*, TF_OpKernelContext* context) {
  Call call(context);
  const int count = tf.TF_NumInputs(context);
  TF_Tensor* first = call.input(0, "terms", -1);
  if (first == nullptr) return;
  const int64_t size = tf.TF_TensorElementCount(first);
  std::vector<const float*> terms = {Call::floats(first)};
  for (int i = 1; i < count; ++i) {
    TF_Tensor* term = call.input(i, "terms", tf.TF_NumDims(first));
    if (term == nullptr) return;
    if (tf.TF_TensorElementCount(term) != size) {
      return call.fail(TF_INVALID_ARGUMENT, "terms: expected all of one shape, received another for number %d", i);
    }
    terms.push_back(Call::floats(term));
  }
  TF_Tensor* sum = call.output_like(first, "terms", "sums");
  if (call.failed()) return;
  te_sum(terms.data(), count, size, Call::floats(sum));
}

}  // namespace

OpList product_ops() {
  static const Op ops[] = {
      {"EmbeddingProducts",
       {"a: N * float", "b: N * float"},
       {"products: N * float"},
       {"N: int >= 1", "transpose_a: int", "transpose_b: int"},
       step_shape,
       create_product,
       compute_products,
       false},
      {"EmbeddingProductSum",
       {"start: S * float", "a: N * float", "b: N * float"},
       {"sum: float"},
       {"S: int >= 0", "N: int >= 1", "transpose_a: int", "transpose_b: int"},
       step_shape,
       create_product,
       compute_product_sum,
       false},
      {"EmbeddingSum",
       {"terms: N * float"},
       {"sum: float"},
       {"N: int >= 2"},
       step_shape,
       create_plain,
       compute_sum,
       false},
  };
  return list_of(ops);
}

}  // namespace te
