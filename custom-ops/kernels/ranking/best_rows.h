/* The best rows of each query: heaps whose root is the worst that is kept, and queries in whole numbers. */
#ifndef TFJS_EMBEDDINGS_BEST_ROWS_H_
#define TFJS_EMBEDDINGS_BEST_ROWS_H_

#include "../core.h"
#include "ranking.h"

/* Their numbers are coded from -MOST_CODE to MOST_CODE for tables of int8, in sums of 32 bits; of AVX2, pairs in 16. */
#if defined(__wasm_simd128__)
#define MOST_CODE 127
#else
#define MOST_CODE 63
#endif
#define MOST_CODES 65536

static inline int64_t divided_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static inline int is_better(float a, int32_t i, float b, int32_t j) { return a > b || (a == b && (uint32_t)i < (uint32_t)j); }

/* Puts an entry in the place of the root, the worst of a heap of `count`. */
static inline void replace_root(float* values, int32_t* ids, int64_t count, float value, int32_t id) {
  int64_t at = 0;
  for (int64_t child = 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && is_better(values[child], ids[child], values[child + 1], ids[child + 1])) child++;
    if (!is_better(value, id, values[child], ids[child])) break;
    values[at] = values[child];
    ids[at] = ids[child];
    at = child;
  }
  values[at] = value;
  ids[at] = id;
}

/* A list whose best entry is the first becomes a heap. */
static inline void to_heap(float* values, int32_t* ids, int64_t k) {
  for (int64_t i = 0, j = k - 1; i < j; i++, j--) {
    const float value = values[i];
    const int32_t id = ids[i];
    values[i] = values[j];
    ids[i] = ids[j];
    values[j] = value;
    ids[j] = id;
  }
}

static inline void to_list(float* values, int32_t* ids, int64_t k) {
  for (int64_t end = k - 1; end > 0; end--) {
    const float value = values[end];
    const int32_t id = ids[end];
    values[end] = values[0];
    ids[end] = ids[0];
    replace_root(values, ids, end, value, id);
  }
}

static inline int is_listed(const te_id_lists* lists, int64_t query, int32_t id) {
  int64_t first = lists->splits[query], end = lists->splits[query + 1];
  while (first < end) {
    const int64_t middle = first + (end - first) / 2;
    const int32_t found = lists->values[middle];
    if (found == id) return 1;
    if (found < id) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return 0;
}

/* Position of the first split that is wrong, or -1. */
static inline int64_t wrong_split(const te_id_lists* lists, int64_t n) {
  if (lists->splits == NULL) return -1;
  if (lists->splits[0] != 0) return 0;
  for (int64_t i = 1; i <= n; i++) {
    if (lists->splits[i] < lists->splits[i - 1]) return i;
  }
  return lists->splits[n] == lists->count ? -1 : n;
}

/* The query in whole numbers; returns 0 where that bounds no products. `codes`: room for dim, up to a multiple of 32. */
static inline int code_query(const te_rows* table, const float* q, int8_t* codes, te_coded_query* coded) {
  const int64_t dim = table->dim;
  float most = 0.0f;
  double size = 0.0, left = 0.0, left_size = 0.0;
  if (table->codec != TE_INT8 || dim > MOST_CODES) return 0;
  coded->sum = 0.0f;
  for (int64_t c = 0; c < dim; c++) {
    const float number = q[c] < 0.0f ? -q[c] : q[c];
    if (number > most) most = number;
    size += (double)number;
    coded->sum += q[c];
  }
  /* Not so for NaN either. */
  if (!(most > 1e-30f && size < 1e30)) return 0;
  coded->step = most / MOST_CODE;
  te_fill(codes, 0, (size_t)(divided_up(dim, 32) * 32));
  for (int64_t c = 0; c < dim; c++) {
    const float code = q[c] / coded->step + (q[c] < 0.0f ? -0.5f : 0.5f);
    codes[c] = (int8_t)te_max(-MOST_CODE, te_min(MOST_CODE, (int32_t)code));
    const double rest = (double)q[c] - (double)coded->step * (double)codes[c];
    left += rest;
    left_size += rest < 0.0 ? -rest : rest;
  }
  /* Codes of rows are 128 and at most 128 beside it; what rounding may add is that of a sum of dim products. */
  const double rounding = size * (double)(dim + 16) / (double)(1 << 22);
  coded->codes = codes;
  coded->middle = (float)(128.0 * left);
  coded->error = (float)(128.0 * left_size * 1.00001 + 256.0 * rounding);
  coded->sum_error = (float)rounding;
  return 1;
}

#endif
