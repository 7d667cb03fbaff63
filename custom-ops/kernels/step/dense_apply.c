/* Steps of the stock optimizers on dense variables: the same operations in the same order, so that values are equal. */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */
#include <math.h>

static void step_sgd(const te_dense* v, const te_dense_hyper* h) {
  const float rate = -h->learning_rate;
  for (int64_t i = 0; i < v->size; i++) v->values[i] = rate * v->gradient[i] + v->values[i];
}

static void step_momentum(const te_dense* v, const te_dense_hyper* h) {
  const float rate = -h->learning_rate;
  const float m = h->momentum;
  float* sum = v->slots[0];
  if (h->use_nesterov != 0) {
    for (int64_t i = 0; i < v->size; i++) {
      sum[i] = m * sum[i] + v->gradient[i];
      v->values[i] = rate * (v->gradient[i] + sum[i] * m) + v->values[i];
    }
    return;
  }
  for (int64_t i = 0; i < v->size; i++) {
    sum[i] = m * sum[i] + v->gradient[i];
    v->values[i] = rate * sum[i] + v->values[i];
  }
}

static void step_adagrad(const te_dense* v, const te_dense_hyper* h) {
  const float rate = -h->learning_rate;
  float* squares = v->slots[0];
  for (int64_t i = 0; i < v->size; i++) {
    const float g = v->gradient[i];
    squares[i] = squares[i] + g * g;
    v->values[i] = g / sqrtf(squares[i] + h->epsilon) * rate + v->values[i];
  }
}

static void step_adam(const te_dense* v, const te_dense_hyper* h, float correction1, float correction2) {
  const float rate = -h->learning_rate;
  float* first = v->slots[0];
  float* second = v->slots[1];
  for (int64_t i = 0; i < v->size; i++) {
    const float g = v->gradient[i];
    first[i] = first[i] * h->beta1 + g * h->one_minus_beta1;
    second[i] = second[i] * h->beta2 + g * g * h->one_minus_beta2;
    v->values[i] = first[i] / correction1 / (sqrtf(second[i] / correction2) + h->epsilon) * rate + v->values[i];
  }
}

void te_dense_apply(int32_t optimizer, const te_dense* variables, int64_t count, float* const* powers,
                    const te_dense_hyper* hyper) {
  const float correction1 = optimizer == TE_DENSE_ADAM ? 1.0f - *powers[0] : 1.0f;
  const float correction2 = optimizer == TE_DENSE_ADAM ? 1.0f - *powers[1] : 1.0f;
  for (int64_t i = 0; i < count; i++) {
    switch (optimizer) {
      case TE_DENSE_SGD:
        step_sgd(&variables[i], hyper);
        break;
      case TE_DENSE_MOMENTUM:
        step_momentum(&variables[i], hyper);
        break;
      case TE_DENSE_ADAGRAD:
        step_adagrad(&variables[i], hyper);
        break;
      default:
        step_adam(&variables[i], hyper, correction1, correction2);
    }
  }
  if (optimizer != TE_DENSE_ADAM) return;
  *powers[0] = *powers[0] * hyper->beta1;
  *powers[1] = *powers[1] * hyper->beta2;
}

void te_dense_update(int32_t optimizer, const te_dense* variables, int64_t count, const te_hyper* hyper) {
  for (int64_t i = 0; i < count; i++) {
    const te_dense* v = &variables[i];
    te_update job;
    te_fill(&job, 0, sizeof job);
    job.table.data = v->values;
    job.table.rows = 1;
    job.table.dim = v->size;
    job.optimizer = optimizer;
    for (int s = 0; s < te_slot_count(optimizer); s++) job.slots[s] = v->slots[s];
    job.hyper = hyper;
    TE_KERNEL_OF(&job.table, step_untouched)(&job, 0, 1, NULL, v->gradient);
  }
}

#endif
