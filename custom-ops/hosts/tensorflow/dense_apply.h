/* Steps of dense variables. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_DENSE_APPLY_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_DENSE_APPLY_H_

#include <stdint.h>
#include <string.h>

#include <vector>

#include "../../kernels/embedding.h"
#include "../tensorflow_api.h"
#include "../tensorflow_call.h"
#include "spans.h"

namespace te {
namespace {

constexpr int kDenseSlots[] = {0, 1, 1, 2}; /* by TE_DENSE_... */

/* variables: N, slot0: N, slot1: N, as many as the optimizer has, two powers for Adam, gradients: N, hyper. */
template <int kOptimizer>
void compute_dense_apply(void*, TF_OpKernelContext* context) {
  constexpr int kSlots = kDenseSlots[kOptimizer];
  constexpr int kPowers = kOptimizer == TE_DENSE_ADAM ? 2 : 0;
  Call call(context);
  const int count = (tf.TF_NumInputs(context) - 1 - kPowers) / (2 + kSlots);
  const int inputs = tf.TF_NumInputs(context);
  if (inputs != count * (2 + kSlots) + kPowers + 1) {
    return call.fail(TF_INVALID_ARGUMENT, "slots: expected %d for each variable, received others", kSlots);
  }
  std::vector<te_dense> variables(static_cast<size_t>(count));
  std::vector<Span> written;
  std::vector<Span> read;
  for (int i = 0; i < count; ++i) {
    TF_Tensor* values = call.input(i, "variables", -1);
    TF_Tensor* gradient = call.input(count * (1 + kSlots) + kPowers + i, "gradients", -1);
    if (call.failed()) return;
    te_dense& each = variables[static_cast<size_t>(i)];
    each.values = Call::floats(values);
    each.gradient = Call::floats(gradient);
    each.size = tf.TF_TensorElementCount(values);
    written.push_back(span_of(values));
    read.push_back(span_of(gradient));
    bool fits = tf.TF_TensorElementCount(gradient) == each.size;
    for (int s = 0; s < kSlots; ++s) {
      TF_Tensor* slot = call.input(count * (1 + s) + i, "slots", -1);
      if (call.failed()) return;
      each.slots[s] = Call::floats(slot);
      written.push_back(span_of(slot));
      fits = fits && tf.TF_TensorElementCount(slot) == each.size;
    }
    if (!fits) {
      return call.fail(TF_INVALID_ARGUMENT,
                       "gradients: expected %lld numbers for variable %d and each of its slots, received others",
                       static_cast<long long>(each.size), i);
    }
  }
  float* powers[2] = {nullptr, nullptr};
  for (int i = 0; i < kPowers; ++i) {
    TF_Tensor* power = call.input(count * (1 + kSlots) + i, "powers", 0);
    if (call.failed()) return;
    powers[i] = Call::floats(power);
    written.push_back(span_of(power));
  }
  TF_Tensor* numbers = call.input(inputs - 1, "hyper", 1);
  if (call.failed()) return;
  te_dense_hyper hyper;
  static_assert(sizeof(hyper) == TE_DENSE_HYPER_FIELDS * sizeof(float), "te_dense_hyper holds floats only");
  if (tf.TF_Dim(numbers, 0) != TE_DENSE_HYPER_FIELDS) {
    return call.fail(TF_INVALID_ARGUMENT, "hyper: expected %d numbers, received %lld", TE_DENSE_HYPER_FIELDS,
                     static_cast<long long>(tf.TF_Dim(numbers, 0)));
  }
  memcpy(&hyper, Call::data(numbers), sizeof(hyper));
  if (any_shared(written, read)) {
    return call.fail(TF_INVALID_ARGUMENT,
                     "variables: expected memory of their own, received some that another input shares");
  }
  te_dense_apply(kOptimizer, variables.data(), count, powers, &hyper);
}

}  // namespace
}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_DENSE_APPLY_H_ */
