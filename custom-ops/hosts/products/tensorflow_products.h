/* TensorFlow kernels that multiply small matrices, many in one op. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_PRODUCTS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_PRODUCTS_H_

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "../../kernels/embedding.h"
#include "../tensorflow_api.h"
#include "../tensorflow_attributes.h"
#include "../tensorflow_call.h"

namespace te {
namespace {

/* Factors number `i` of `count`; the call has failed where they do not fit one another. */
inline te_factors factors_of_product(Call* call, int i, int count, const Attributes& attributes) {
  te_factors f = {};
  TF_Tensor* a = call->input(i, "a", 2);
  TF_Tensor* b = call->input(count + i, "b", 2);
  if (call->failed()) return f;
  f.transpose_a = attributes.transpose_a;
  f.transpose_b = attributes.transpose_b;
  f.a = Call::floats(a);
  f.b = Call::floats(b);
  f.m = tf.TF_Dim(a, f.transpose_a ? 1 : 0);
  f.k = tf.TF_Dim(a, f.transpose_a ? 0 : 1);
  f.n = tf.TF_Dim(b, f.transpose_b ? 0 : 1);
  const int64_t inner = tf.TF_Dim(b, f.transpose_b ? 1 : 0);
  if (inner != f.k) {
    call->fail(TF_INVALID_ARGUMENT, "b: expected %lld numbers to sum over, received %lld", static_cast<long long>(f.k),
               static_cast<long long>(inner));
  }
  return f;
}

/* a: N, b: N -> N products, or their sum. */
template <bool kSum>
void compute_products(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const int count = tf.TF_NumInputs(context) / 2;
  std::vector<te_factors> all(static_cast<size_t>(count));
  int64_t room = 0;
  for (int i = 0; i < count; ++i) {
    const te_factors f = factors_of_product(&call, i, count, attributes);
    if (call.failed()) return;
    if (kSum && (f.m != all[0].m || f.n != all[0].n) && i > 0) {
      return call.fail(TF_INVALID_ARGUMENT, "a: expected products of one shape, received others for number %d", i);
    }
    all[static_cast<size_t>(i)] = f;
    room = std::max(room, te_product_scratch(&f));
  }
  Workspace workspace(static_cast<size_t>(room) * sizeof(float));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  float* scratch = static_cast<float*>(workspace.data());
  float* sum = nullptr;
  for (int i = 0; i < count; ++i) {
    const te_factors& f = all[static_cast<size_t>(i)];
    const int64_t dims[] = {f.m, f.n};
    if (!kSum || i == 0) {
      TF_Tensor* product = call.output(i, TF_FLOAT, dims, 2, "a", "products");
      if (call.failed()) return;
      sum = Call::floats(product);
    }
    te_multiply(&f, kSum && i > 0, scratch, sum);
  }
}

}  // namespace
}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_PRODUCTS_H_ */
