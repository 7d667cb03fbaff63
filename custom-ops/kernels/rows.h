/* Whole rows: norms, dot products, scaling. Sums are in double, in an order that depends on the width alone. */
#ifndef TFJS_EMBEDDINGS_ROWS_H_
#define TFJS_EMBEDDINGS_ROWS_H_

#include "core.h"
#include "simd.h"

/* Whether a row of so many bytes, one of an array of them, may lie in one line of 64 bytes more than it must. */
TE_INLINE int te_straddles(const void* rows, int64_t bytes) {
  const uintptr_t unit = (uintptr_t)te_min(bytes, 64);
  return 64 % unit != 0 || (uintptr_t)bytes % unit != 0 || (uintptr_t)rows % unit != 0;
}

TE_INLINE double te_dot(const float* a, const float* b, int64_t dim) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  int64_t j = 0;
  for (; j + 4 <= dim; j += 4) {
    s0 += (double)a[j] * (double)b[j];
    s1 += (double)a[j + 1] * (double)b[j + 1];
    s2 += (double)a[j + 2] * (double)b[j + 2];
    s3 += (double)a[j + 3] * (double)b[j + 3];
  }
  for (; j < dim; j++) s0 += (double)a[j] * (double)b[j];
  return (s0 + s1) + (s2 + s3);
}

/* Sum of squares. Positive terms lose little in float, so lanes add in float and only the lanes in double. */
TE_INLINE double te_sum_of_squares(const float* x, int64_t dim) {
  te_v s0 = v_zero(), s1 = v_zero();
  float lanes[TE_LANES];
  double sums[4] = {0.0, 0.0, 0.0, 0.0};
  int64_t j = 0;
  for (; j + 2 * TE_LANES <= dim; j += 2 * TE_LANES) {
    const te_v a = v_load(x + j), b = v_load(x + j + TE_LANES);
    s0 = v_fma(a, a, s0);
    s1 = v_fma(b, b, s1);
  }
  if (j + TE_LANES <= dim) {
    const te_v a = v_load(x + j);
    s0 = v_fma(a, a, s0);
    j += TE_LANES;
  }
  if (j < dim) {
    const te_v a = v_load_part(x + j, v_mask((int)(dim - j)));
    s1 = v_fma(a, a, s1);
  }
  v_store(lanes, v_add(s0, s1));
  for (int i = 0; i < TE_LANES; i++) sums[i % 4] += (double)lanes[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* What a looked-up row is multiplied by so that its norm is at most max_norm. */
TE_INLINE double te_row_scale(const float* row, int64_t dim, float max_norm) {
  if (!(max_norm > 0.0f)) return 1.0;
  const double norm = te_sqrt(te_dot(row, row, dim));
  return norm > (double)max_norm ? (double)max_norm / norm : 1.0;
}

/* to += factor * row */
TE_INLINE void te_add_scaled(float* to, const float* row, float factor, int64_t dim) {
  const te_v f = v_set(factor);
  int64_t j = 0;
  for (; j + TE_LANES <= dim; j += TE_LANES) v_store(to + j, v_fma(f, v_load(row + j), v_load(to + j)));
  if (j < dim) {
    const te_mask rest = v_mask((int)(dim - j));
    v_store_part(to + j, rest, v_fma(f, v_load_part(row + j, rest), v_load_part(to + j, rest)));
  }
}

/*
 * With s = max_norm / |e|, the looked-up row is s e, and its derivative along g is s (g - e (e . g) / |e|^2): what
 * points along the row is lost, because its length is fixed.
 */
TE_INLINE void te_through_scaling(float* g, const float* row, int64_t dim, float max_norm) {
  const double scale = te_row_scale(row, dim, max_norm);
  if (scale == 1.0) return;
  const double along = te_dot(g, row, dim) / te_dot(row, row, dim);
  for (int64_t j = 0; j < dim; j++) g[j] = (float)(scale * ((double)g[j] - (double)row[j] * along));
}

#define TE_EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)

/* Calls CASE(vectors, part) for a row of one chunk: 0 to 8 whole vectors, and a part of one or not. */
#define TE_ONE_CHUNK(vectors, part, CASE)  \
  switch ((vectors) * 2 + ((part) != 0)) { \
    case 1:                                \
      CASE(0, 1);                          \
    case 2:                                \
      CASE(1, 0);                          \
    case 3:                                \
      CASE(1, 1);                          \
    case 4:                                \
      CASE(2, 0);                          \
    case 5:                                \
      CASE(2, 1);                          \
    case 6:                                \
      CASE(3, 0);                          \
    case 7:                                \
      CASE(3, 1);                          \
    case 8:                                \
      CASE(4, 0);                          \
    case 9:                                \
      CASE(4, 1);                          \
    case 10:                               \
      CASE(5, 0);                          \
    case 11:                               \
      CASE(5, 1);                          \
    case 12:                               \
      CASE(6, 0);                          \
    case 13:                               \
      CASE(6, 1);                          \
    case 14:                               \
      CASE(7, 0);                          \
    case 15:                               \
      CASE(7, 1);                          \
    default:                               \
      CASE(8, 0);                          \
  }

#endif
