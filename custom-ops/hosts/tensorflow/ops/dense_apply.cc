/* Steps of dense variables. */
#include <stdint.h>
#include <string.h>

#include <vector>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../call.h"
#include "../shapes.h"
#include "../spans.h"
#include "ops.h"

namespace te {
namespace {

/*
 * variables: N, slot0: N, slot1: N, as many slots as there are, `kPowers` scalars, gradients: N, hyper. Reads and checks
 * them, then applies the step, which writes in place.
 */
template <int kSlots, int kPowers, typename Hyper, typename Apply>
void step_dense(TF_OpKernelContext* context, Apply apply) {
  constexpr int kFields = sizeof(Hyper) / sizeof(float);
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
  Hyper hyper;
  if (tf.TF_Dim(numbers, 0) != kFields) {
    return call.fail(TF_INVALID_ARGUMENT, "hyper: expected %d numbers, received %lld", kFields,
                     static_cast<long long>(tf.TF_Dim(numbers, 0)));
  }
  memcpy(&hyper, Call::data(numbers), sizeof(hyper));
  if (any_shared(written, read)) {
    return call.fail(TF_INVALID_ARGUMENT,
                     "variables: expected memory of their own, received some that another input shares");
  }
  apply(variables.data(), count, powers, hyper);
}

constexpr int kDenseSlots[] = {0, 1, 1, 2}; /* by TE_DENSE_... */

/* A stock optimizer; Adam has two powers. */
template <int kOptimizer>
void compute_dense_apply(void*, TF_OpKernelContext* context) {
  static_assert(sizeof(te_dense_hyper) == TE_DENSE_HYPER_FIELDS * sizeof(float), "te_dense_hyper holds floats only");
  step_dense<kDenseSlots[kOptimizer], kOptimizer == TE_DENSE_ADAM ? 2 : 0, te_dense_hyper>(
      context, [](const te_dense* variables, int64_t count, float* const* powers, const te_dense_hyper& hyper) {
        te_dense_apply(kOptimizer, variables, count, powers, &hyper);
      });
}

/* The update of a table's rows, on whole variables. */
template <int kOptimizer>
void compute_dense_update(void*, TF_OpKernelContext* context) {
  step_dense<te_slot_count(kOptimizer), 0, te_hyper>(
      context, [](const te_dense* variables, int64_t count, float* const*, const te_hyper& hyper) {
        te_dense_update(kOptimizer, variables, count, &hyper);
      });
}

}  // namespace

/* Dense variables, all in one op, in place: as the rows of tables, for updates that step rows without ids and have no slot per row. */
#define TE_DENSE_UPDATE(optimizer, name, slots, per_row, idle)                                             \
  Op{"EmbeddingDenseApplyRows" name,                                                                       \
     {"variables: N * float", TE_SLOT_INPUTS(slots, "N * float"), "gradients: N * float", "hyper: float"}, \
     {},                                                                                                   \
     {"N: int >= 1"},                                                                                      \
     nothing_shape,                                                                                        \
     create_plain,                                                                                         \
     idle && per_row == 0 ? compute_dense_update<optimizer> : nullptr,                                                     \
     true},
/* The same as stock optimizers. */
#define TE_DENSE_APPLY(name, optimizer, ...)                                                               \
  Op {                                                                                                     \
    "EmbeddingDenseApply" name, {"variables: N * float", __VA_ARGS__ "hyper: float"}, {}, {"N: int >= 1"}, \
        nothing_shape, create_plain, compute_dense_apply<optimizer>, true                                  \
  }
OpList dense_apply_ops() {
  static const Op ops[] = {
      TE_EACH_OPTIMIZER(TE_DENSE_UPDATE)  //
      TE_DENSE_APPLY("Sgd", TE_DENSE_SGD, "gradients: N * float", ),
      TE_DENSE_APPLY("Momentum", TE_DENSE_MOMENTUM, "slot0: N * float", "gradients: N * float", ),
      TE_DENSE_APPLY("Adagrad", TE_DENSE_ADAGRAD, "slot0: N * float", "gradients: N * float", ),
      TE_DENSE_APPLY("Adam", TE_DENSE_ADAM, "slot0: N * float", "slot1: N * float", "power1: float", "power2: float",
                     "gradients: N * float", ),
  };
  return list_of(ops);
}

}  // namespace te
