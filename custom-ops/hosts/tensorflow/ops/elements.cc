/* Dropout and the gradient of relu as TensorFlow ops: each element by itself. */
#include <stdint.h>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../call.h"
#include "../shapes.h"
#include "ops.h"

namespace te {
namespace {

void compute_dropout(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* x = call.input(0, "x", -1);
  TF_Tensor* rate = call.input(1, "rate", 0);
  TF_Tensor* seed = call.input(2, "seed", 1);
  if (call.failed()) return;
  const float share = *Call::floats(rate);
  if (!(share >= 0 && share < 1))
    return call.fail(TF_INVALID_ARGUMENT, "rate: expected a number in [0, 1), received %g", static_cast<double>(share));
  if (tf.TF_Dim(seed, 0) != 2) {
    return call.fail(TF_INVALID_ARGUMENT, "seed: expected two numbers, received %lld",
                     static_cast<long long>(tf.TF_Dim(seed, 0)));
  }
  TF_Tensor* y = call.output_like(x, "x", "numbers");
  if (call.failed()) return;
  te_dropout(Call::floats(x), tf.TF_TensorElementCount(x), share, static_cast<const int32_t*>(Call::data(seed)),
             Call::floats(y));
}

/* upstream and x of one shape -> the gradient of relu(x). */
void compute_relu_grad(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* upstream = call.input(0, "upstream", -1);
  TF_Tensor* x = call.input(1, "x", -1);
  if (call.failed()) return;
  const int64_t size = tf.TF_TensorElementCount(x);
  if (tf.TF_TensorElementCount(upstream) != size) {
    return call.fail(TF_INVALID_ARGUMENT, "upstream: expected %lld numbers, received %lld",
                     static_cast<long long>(size), static_cast<long long>(tf.TF_TensorElementCount(upstream)));
  }
  TF_Tensor* gradient = call.output_like(x, "x", "numbers");
  if (call.failed()) return;
  te_relu_grad(Call::floats(upstream), Call::floats(x), size, Call::floats(gradient));
}

}  // namespace

OpList element_ops() {
  static const Op ops[] = {
      {"EmbeddingDropout",
       {"x: float", "rate: float", "seed: int32"},
       {"y: float"},
       {},
       copy_shape,
       create_plain,
       compute_dropout,
       false},
      {"EmbeddingReluGrad",
       {"upstream: float", "x: float"},
       {"gradient: float"},
       {},
       cross_entropy_shape,
       create_plain,
       compute_relu_grad,
       false},
  };
  return list_of(ops);
}

}  // namespace te
