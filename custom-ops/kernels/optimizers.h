/* The optimizers, one vector of columns at a time. Each operation is rounded by itself: no fused multiply-add. */
#include "power.h"
#include "rows.h"

/* The square root where p is one half, as it nearly always is; else element by element. */
TE_INLINE te_v v_power(te_v a, double p) {
  if (p == 0.5) return v_sqrt(a);
  float x[TE_LANES];
  v_store(x, a);
  for (int i = 0; i < TE_LANES; i++) x[i] = (float)te_power((double)x[i], p);
  return v_load(x);
}

TE_INLINE te_v step_momentum(const te_hyper* h, te_v w, te_v g, te_v* m) {
  const te_v momentum = v_set(h->momentum), step = v_mul(v_set(h->learning_rate), g);
  *m = v_sub(v_mul(momentum, *m), step);
  return v_add(w, h->use_nesterov != 0.0f ? v_sub(v_mul(momentum, *m), step) : *m);
}

TE_INLINE te_v step_adagrad(const te_hyper* h, te_v w, te_v g, te_v* a) {
  *a = v_add(*a, v_mul(g, g));
  const te_v root = v_sqrt(v_add(*a, v_set(h->epsilon)));
  return v_sub(w, v_mul(v_set(h->learning_rate), v_div_or_zero(g, root)));
}

TE_INLINE te_v step_adagrad_momentum(const te_hyper* h, te_v w, te_v g, te_v* a, te_v* m) {
  const te_v momentum = v_set(h->momentum), square = v_mul(g, g);
  if (h->beta2 == 1.0f) {
    *a = v_add(*a, square);
  } else {
    *a = v_add(v_mul(v_set(h->beta2), *a), v_mul(v_set(1.0f - h->beta2), square));
  }
  const te_v step = v_div_or_zero(g, v_power(v_add(*a, v_set(h->epsilon)), 1.0 / (double)h->exponent));
  *m = v_add(v_mul(momentum, *m), step);
  const te_v update = h->use_nesterov != 0.0f ? v_add(v_mul(momentum, *m), step) : *m;
  return v_sub(w, v_mul(v_set(h->learning_rate), update));
}

/* `most`: NULL, or the largest second moment so far, which AMSGrad divides by. */
TE_INLINE te_v step_adam(const te_hyper* h, te_v w, te_v g, te_v* m, te_v* v, te_v* most) {
  *m = v_add(v_mul(v_set(h->beta1), *m), v_mul(v_set(1.0f - h->beta1), g));
  *v = v_add(v_mul(v_set(h->beta2), *v), v_mul(v_set(1.0f - h->beta2), v_mul(g, g)));
  const te_v mean = v_div(*m, v_set(h->correction1));
  if (most != NULL) *most = v_max(*most, *v);
  const te_v square = v_div(most != NULL ? *most : *v, v_set(h->correction2));
  const te_v root = h->sum_inside_sqrt != 0.0f ? v_sqrt(v_add(square, v_set(h->epsilon * h->epsilon)))
                                               : v_add(v_sqrt(square), v_set(h->epsilon));
  return v_sub(w, v_mul(v_set(h->learning_rate), v_div_or_zero(mean, root)));
}

TE_INLINE te_v step_ftrl(const te_hyper* h, te_v w, te_v g, te_v* a, te_v* linear) {
  /* Its state is in units of 1 / rate: a step at rate 0, where warm-ups start, leaves everything as it is. */
  if (h->learning_rate == 0.0f) return w;
  const double p = -(double)h->learning_rate_power;
  const te_v rate = v_set(h->learning_rate);
  const te_v before = v_power(*a, p);
  *a = v_add(*a, v_mul(g, g));
  const te_v after = v_power(*a, p);
  const te_v moved = v_mul(v_sub(after, before), w);
  te_v bound, denominator;
  if (h->multiply_linear_by_learning_rate != 0.0f) {
    *linear = v_add(*linear, v_sub(v_mul(rate, g), moved));
    bound = v_set(h->learning_rate * h->l1);
    denominator = v_add(v_add(after, v_set(2.0f * h->learning_rate * h->l2)), v_set(h->beta));
  } else {
    *linear = v_add(*linear, v_sub(g, v_div(moved, rate)));
    bound = v_set(h->l1);
    denominator = v_add(v_div(v_add(after, v_set(h->beta)), rate), v_set(2.0f * h->l2));
  }
  const te_v limited = v_min(bound, v_max(v_sub(v_zero(), bound), *linear));
  /* A denominator of 0 means that no gradient has ever reached the element: it keeps still. */
  return v_if_zero(denominator, w, v_div(v_sub(limited, *linear), denominator));
}

/* `mean`, `momenta`: NULL where it is not centered, or has no momentum. Its decay lies in beta2. */
TE_INLINE te_v step_rmsprop(const te_hyper* h, te_v w, te_v g, te_v* v, te_v* mean, te_v* momenta) {
  const te_v rho = v_set(h->beta2), rest = v_set(1.0f - h->beta2);
  *v = v_add(v_mul(rho, *v), v_mul(rest, v_mul(g, g)));
  te_v square = *v;
  if (mean != NULL) {
    *mean = v_add(v_mul(rho, *mean), v_mul(rest, g));
    square = v_max(v_zero(), v_sub(square, v_mul(*mean, *mean)));
  }
  te_v step = v_mul(v_set(h->learning_rate), v_div_or_zero(g, v_sqrt(v_add(square, v_set(h->epsilon)))));
  if (momenta != NULL) step = *momenta = v_add(v_mul(v_set(h->momentum), *momenta), step);
  return v_sub(w, step);
}

/* One vector of columns; slots that the optimizer lacks are ignored. `optimizer` is known when compiling. */
TE_INLINE te_v step_columns(const int optimizer, const te_hyper* h, te_v w, te_v g, te_v* a, te_v* b, te_v* c) {
  (void)c;
  switch (optimizer) {
    case TE_SGD:
      return v_sub(w, v_mul(v_set(h->learning_rate), g));
    case TE_MOMENTUM:
      return step_momentum(h, w, g, a);
    case TE_ADAGRAD:
      return step_adagrad(h, w, g, a);
    case TE_ADAGRAD_MOMENTUM:
      return step_adagrad_momentum(h, w, g, a, b);
    case TE_ADAM:
    case TE_ADAM_BY_ROW:
    case TE_ADAM_W_BY_ROW:
      return step_adam(h, w, g, a, b, NULL);
    case TE_AMSGRAD:
    case TE_AMSGRAD_BY_ROW:
      return step_adam(h, w, g, a, b, c);
    case TE_RMSPROP:
      return step_rmsprop(h, w, g, a, NULL, NULL);
    case TE_RMSPROP_MOMENTUM:
      return step_rmsprop(h, w, g, a, NULL, b);
    case TE_RMSPROP_CENTERED:
      return step_rmsprop(h, w, g, a, b, NULL);
    case TE_RMSPROP_CENTERED_MOMENTUM:
      return step_rmsprop(h, w, g, a, b, c);
    default:
      return step_ftrl(h, w, g, a, b);
  }
}

/*
 * Gradients come as sums, or as the one row that a sum would be of. Sums begin at 0, so that none is -0: neither is
 * what is loaded here.
 */
TE_INLINE te_v load_gradient(const float* g) { return v_add(v_zero(), v_load(g)); }
TE_INLINE te_v load_gradient_part(const float* g, te_mask m) { return v_add(v_zero(), v_load_part(g, m)); }

/* Row-wise Adagrad: one accumulator for the row, which keeps still where that is 0. */
TE_INLINE void step_row_wise(const te_hyper* h, float* w, const float* g, float* accumulator, int64_t dim) {
  *accumulator += (float)(te_sum_of_squares(g, dim) / (double)dim);
  const float root = te_sqrtf(*accumulator + h->epsilon);
  const te_v rate = v_set(root == 0.0f ? 0.0f : h->learning_rate / root);
  int64_t j = 0;
  for (; j + TE_LANES <= dim; j += TE_LANES) {
    v_store(w + j, v_sub(v_load(w + j), v_mul(rate, load_gradient(g + j))));
  }
  if (j < dim) {
    const te_mask rest = v_mask((int)(dim - j));
    v_store_part(w + j, rest, v_sub(v_load_part(w + j, rest), v_mul(rate, load_gradient_part(g + j, rest))));
  }
}

/* Adam whose corrections go by the steps that a row has had, which its last slot counts. */
TE_CONSTANT int counts_steps(int optimizer) {
  return optimizer == TE_ADAM_BY_ROW || optimizer == TE_ADAM_W_BY_ROW || optimizer == TE_AMSGRAD_BY_ROW;
}

/* A count of steps as a whole number; of floats, where one more is the same number from here on. */
#define MOST_STEPS 16777216

TE_INLINE uint32_t whole_steps(float steps) {
  return !(steps > 1.0f) ? 1u : steps < (float)MOST_STEPS ? (uint32_t)steps : (uint32_t)MOST_STEPS;
}

/* 1 - beta^steps by squarings of what is left of 1, which is exact where beta^steps is near 1, and needs no library. */
TE_INLINE double correction_at(float beta, uint32_t steps) {
  double part = 1.0 - (double)beta, found = 0.0;
  for (; steps != 0; steps >>= 1) {
    found += steps & 1 ? part * (1.0 - found) : 0.0;
    part *= 2.0 - part;
  }
  return found;
}

/* The numbers of the next step of a row. Epsilons of Keras stand beside the root before its correction. */
TE_INLINE te_hyper of_own_steps(const int optimizer, const te_hyper* h, float* steps) {
  te_hyper own = *h;
  *steps += 1.0f;
  const uint32_t count = whole_steps(*steps);
  const double square = correction_at(h->beta2, count);
  own.correction1 = (float)correction_at(h->beta1, count);
  own.correction2 = (float)square;
  if (optimizer != TE_ADAM_BY_ROW) own.epsilon = (float)((double)h->epsilon / te_sqrt(square));
  return own;
}

/* One row by the numbers of its step, and where its slots begin. */
TE_INLINE void step_columns_of_row(const int optimizer, const te_hyper* h, float* w, const float* g,
                                   float* const* slots, int64_t dim) {
  const int matrices = te_slot_count(optimizer) - te_row_slots(optimizer);
  const int has_a = matrices > 0, has_b = matrices > 1, has_c = matrices > 2;
  float* const a = slots[0];
  float* const b = slots[1];
  float* const c = slots[2];
  int64_t j = 0;
  for (; j + TE_LANES <= dim; j += TE_LANES) {
    te_v x = has_a ? v_load(a + j) : v_zero(), y = has_b ? v_load(b + j) : v_zero();
    te_v z = has_c ? v_load(c + j) : v_zero();
    v_store(w + j, step_columns(optimizer, h, v_load(w + j), load_gradient(g + j), &x, &y, &z));
    if (has_a) v_store(a + j, x);
    if (has_b) v_store(b + j, y);
    if (has_c) v_store(c + j, z);
  }
  if (j < dim) {
    const te_mask rest = v_mask((int)(dim - j));
    te_v x = has_a ? v_load_part(a + j, rest) : v_zero(), y = has_b ? v_load_part(b + j, rest) : v_zero();
    te_v z = has_c ? v_load_part(c + j, rest) : v_zero();
    v_store_part(w + j, rest,
                 step_columns(optimizer, h, v_load_part(w + j, rest), load_gradient_part(g + j, rest), &x, &y, &z));
    if (has_a) v_store_part(a + j, rest, x);
    if (has_b) v_store_part(b + j, rest, y);
    if (has_c) v_store_part(c + j, rest, z);
  }
}

/* One row, and where its slots begin. */
TE_INLINE void step_row(const int optimizer, const te_hyper* h, float* w, const float* g, float* const* slots,
                        int64_t dim) {
  if (optimizer == TE_ROW_WISE_ADAGRAD) {
    step_row_wise(h, w, g, slots[0], dim);
    return;
  }
  if (counts_steps(optimizer)) {
    const te_hyper own = of_own_steps(optimizer, h, slots[te_slot_count(optimizer) - 1]);
    step_columns_of_row(optimizer, &own, w, g, slots, dim);
  } else {
    step_columns_of_row(optimizer, h, w, g, slots, dim);
  }
}
