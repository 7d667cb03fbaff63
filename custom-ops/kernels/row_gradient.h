/* The gradient of one row: the sum of the pooled gradients of its occurrences, in batch order. */
#include "rows.h"

/* order and weights: bags and coefficients of the row's occurrences; weights NULL: all 1. */
TE_INLINE void sum_bags(const float* gradient, int64_t dim, int64_t column, const int32_t* order, const float* weights,
                        int64_t count, float* out, const int vectors, const int part) {
  te_v a0, a1, a2, a3, a4, a5, a6, a7, rest = v_zero();
  const te_mask mask = v_mask(part ? (int)(dim - column - vectors * TE_LANES) : 0);
  a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = rest;
  gradient += column;
  for (int64_t i = 0; i < count; i++) {
    const float* row = gradient + (int64_t)order[i] * dim;
    if (weights != NULL) {
      const te_v w = v_set(weights[i]);
#define ADD(k) \
  if (vectors > k) a##k = v_fma(w, v_load(row + k * TE_LANES), a##k);
      TE_EACH(ADD)
#undef ADD
      if (part) rest = v_fma(w, v_load_part(row + vectors * TE_LANES, mask), rest);
    } else {
#define ADD(k) \
  if (vectors > k) a##k = v_add(a##k, v_load(row + k * TE_LANES));
      TE_EACH(ADD)
#undef ADD
      if (part) rest = v_add(rest, v_load_part(row + vectors * TE_LANES, mask));
    }
  }
#define STORE(k) \
  if (vectors > k) v_store(out + column + k * TE_LANES, a##k);
  TE_EACH(STORE)
#undef STORE
  if (part) v_store_part(out + column + vectors * TE_LANES, mask, rest);
}

/* The sum over occurrences order[begin .. end). `dim` may be known when compiling: registers are then chosen there too. */
TE_INLINE void sum_of_uses(const te_update* job, const int64_t dim, int64_t begin, int64_t end, float* out) {
  const te_groups* groups = job->groups;
  const int32_t* order = groups->order + begin;
  const float* weights = groups->with_coefficients ? groups->order_weights + begin : NULL;
  int64_t column = 0;
  if (dim == 1 && weights == NULL && job->max_norm == 0.0f) { /* as a lane of a vector adds it up */
    float sum = 0.0f;
    for (int64_t i = 0; i < end - begin; i++) sum += job->gradient[order[i]];
    out[0] = sum;
    return;
  }
  for (; column + TE_CHUNK <= dim; column += TE_CHUNK) {
    sum_bags(job->gradient, dim, column, order, weights, end - begin, out, TE_CHUNK_VECTORS, 0);
  }
#define REST(v)                                                                   \
  if (column + v * TE_LANES <= dim) {                                             \
    sum_bags(job->gradient, dim, column, order, weights, end - begin, out, v, 0); \
    column += v * TE_LANES;                                                       \
  }
  REST(4)
  REST(2)
  REST(1)
#undef REST
  if (column < dim) sum_bags(job->gradient, dim, column, order, weights, end - begin, out, 0, 1);
}

/* The row of the groups whose values are w [dim], over its occurrences order[begin .. end). */
static void gradient_of_use(const te_update* job, const float* w, int64_t begin, int64_t end, float* out) {
  sum_of_uses(job, job->table.dim, begin, end, out);
  if (job->max_norm > 0.0f) te_through_scaling(out, w, job->table.dim, job->max_norm);
}

/*
 * The row of values w [dim], whose occurrences are order[begin .. end); w is read where there is a max_norm. With several
 * uses of the table the sum of each is rounded by itself, as if it had been made by itself; `out` then has a second row
 * of scratch behind it.
 */
static void row_gradient(const te_update* job, const float* w, int64_t begin, int64_t end, float* out) {
  const te_groups* groups = job->groups;
  const te_bags* bags = groups->bags;
  if (bags->more_uses == 0) {
    gradient_of_use(job, w, begin, end, out);
    return;
  }
  float* part = out + groups->scratch_floats / TE_SCRATCH_ROWS;
  for (int64_t j = 0; j < job->table.dim; j++) out[j] = 0.0f;
  for (int32_t use = 0; begin < end; use++) {
    int64_t to = end;
    if (use < bags->more_uses && groups->order[end - 1] >= bags->use_starts[use]) {
      for (to = begin; groups->order[to] < bags->use_starts[use];) to++;
    }
    if (to == begin) continue;
    gradient_of_use(job, w, begin, to, part);
    te_add_scaled(out, part, 1.0f, job->table.dim);
    begin = to;
  }
}

/* Where row u of the groups lies. */
TE_INLINE const float* row_of(const te_update* job, int64_t u) {
  return te_floats(&job->table) + (int64_t)job->groups->rows[u] * job->table.dim;
}

static void gradient_rows(const te_update* job, int64_t first, int64_t end, int64_t begin, float* to) {
  for (int64_t u = first; u < end; u++) {
    gradient_of_use(job, row_of(job, u), begin, job->groups->ends[u], to);
    begin = job->groups->ends[u];
    to += job->table.dim;
  }
}

static double float_gradient_squares(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) {
  double sum = 0.0;
  for (int64_t u = first; u < end; u++) {
    row_gradient(job, row_of(job, u), begin, job->groups->ends[u], scratch);
    begin = job->groups->ends[u];
    sum += te_dot(scratch, scratch, job->table.dim);
  }
  return sum;
}
