/*
 * Pooling of bags. A row's columns are summed in registers whose number is known when compiling; rows to come are
 * fetched ahead along the stream of ids, across the borders of bags.
 */
#include "rows.h"

/* How far ahead rows are fetched: those asked for earlier than the memory needs are only in the way of others. */
#define TE_BYTES_AHEAD 8192
#define TE_LEAST_IDS_AHEAD 8
#define TE_MOST_IDS_AHEAD 64

typedef struct forward_stream {
  const float* table;
  const int32_t* values;
  const float* weights;
  int64_t dim;
  int64_t last;  /* last id of this part: nothing beyond it is fetched */
  int64_t ahead; /* ids */
  uint32_t limit;
  int32_t straddles; /* te_straddles */
} forward_stream;

/* Sums columns [column, column + ...) of the rows of ids from .. to - 1. Returns the first bad position, or -1. */
TE_INLINE int64_t sum_ids(forward_stream* s, int64_t from, int64_t to, int64_t column, float divisor, float* out,
                          const int vectors, const int part, const int weighted, const int fetch) {
  te_v a0, a1, a2, a3, a4, a5, a6, a7, rest = v_zero();
  const te_mask mask = v_mask(part ? (int)(s->dim - column - vectors * TE_LANES) : 0);
  const int64_t dim = s->dim;
  const float* table = s->table + column;
  const int32_t* values = s->values;
  int64_t bad = -1;
  a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = rest;
  for (int64_t i = from; i < to; i++) {
    const uint32_t id = (uint32_t)values[i];
#if !defined(__wasm__)
    if (fetch) {
      const int64_t next = te_min(i + s->ahead, s->last);
      const uintptr_t row = (uintptr_t)table + (uintptr_t)(uint32_t)values[next] * (uintptr_t)(dim * 4);
      for (int at = 0; at < (vectors + part) * TE_LANES * 4; at += 64) te_prefetch(row + (uintptr_t)at);
      if (s->straddles) te_prefetch(row + (uintptr_t)((part ? dim - column : vectors * TE_LANES) * 4 - 1));
    }
#else
    (void)fetch;
#endif
    if (TE_UNLIKELY(id >= s->limit)) {
      if (bad < 0) bad = i;
      continue;
    }
    const float* row = table + (int64_t)id * dim;
    const te_v w = weighted ? v_set(s->weights[i]) : rest;
#define ADD(k)                                            \
  if (vectors > k) {                                      \
    const te_v x = v_load(row + k * TE_LANES);            \
    a##k = weighted ? v_fma(w, x, a##k) : v_add(a##k, x); \
  }
    TE_EACH(ADD)
#undef ADD
    if (part) {
      const te_v x = v_load_part(row + vectors * TE_LANES, mask);
      rest = weighted ? v_fma(w, x, rest) : v_add(rest, x);
    }
  }
  if (divisor != 1.0f) {
    const te_v d = v_set(divisor);
#define DIVIDE(k) \
  if (vectors > k) a##k = divisor == 0.0f ? v_zero() : v_div(a##k, d);
    TE_EACH(DIVIDE)
#undef DIVIDE
    if (part) rest = divisor == 0.0f ? v_zero() : v_div(rest, d);
  }
#define STORE(k) \
  if (vectors > k) v_store(out + column + k * TE_LANES, a##k);
  TE_EACH(STORE)
#undef STORE
  if (part) v_store_part(out + column + vectors * TE_LANES, mask, rest);
  return bad;
}

static forward_stream stream_of(const te_lookup_job* job, int64_t end) {
  const te_bags* bags = job->bags;
  const int64_t dim = job->table.dim;
  forward_stream s;
  s.table = te_floats(&job->table);
  s.values = bags->values;
  s.weights = bags->weights;
  s.dim = dim;
  s.last = (int64_t)bags->row_splits[end] - 1;
  s.ahead = te_max(TE_LEAST_IDS_AHEAD, te_min(TE_BYTES_AHEAD / (dim * 4), TE_MOST_IDS_AHEAD));
  s.limit = job->limit;
  s.straddles = te_straddles(s.table, dim * 4);
  return s;
}

#if defined(__wasm__)

/* The columns that one pass over the ids of a bag sums. */
#define PASS(name, vectors, part, weighted)                                                                       \
  TE_APART int64_t name(forward_stream* s, int64_t from, int64_t to, int64_t column, float divisor, float* out) { \
    return sum_ids(s, from, to, column, divisor, out, vectors, part, weighted, 0);                                \
  }
PASS(sum_8, 8, 0, 0)
PASS(sum_4, 4, 0, 0)
PASS(sum_2, 2, 0, 0)
PASS(sum_1, 1, 0, 0)
PASS(sum_part, 0, 1, 0)
PASS(weighted_8, 8, 0, 1)
PASS(weighted_4, 4, 0, 1)
PASS(weighted_2, 2, 0, 1)
PASS(weighted_1, 1, 0, 1)
PASS(weighted_part, 0, 1, 1)
#undef PASS

static int64_t forward_bags(const te_lookup_job* job, int64_t first, int64_t end) {
  const te_bags* bags = job->bags;
  const int64_t dim = job->table.dim;
  const int weighted = bags->weights != NULL;
  const int32_t block = te_touched_at_once(dim);
  forward_stream s = stream_of(job, end);
  te_sink sink;
  int64_t touched = job->limit == 0 ? INT64_MAX : bags->row_splits[first];
  for (int64_t b = first; b < end; b++) {
    const int64_t from = bags->row_splits[b], to = bags->row_splits[b + 1];
    const float divisor = te_divisor(bags, from, to);
    float* out = job->pooled + b * dim;
    int64_t column = 0, bad = -1;
    for (; touched < to; touched += block) {
      const int64_t count = te_min(block, s.last + 1 - touched);
      te_touch_rows(te_floats(&job->table), bags->values + touched, (int32_t)count, job->limit, (int32_t)dim, &sink);
    }
#define SUM(v)                                                      \
  bad = weighted ? weighted_##v(&s, from, to, column, divisor, out) \
                 : sum_##v(&s, from, to, column, divisor, out)
    for (; column + 8 * TE_LANES <= dim; column += 8 * TE_LANES) SUM(8);
#define REST(v)                       \
  if (column + v * TE_LANES <= dim) { \
    SUM(v);                           \
    column += v * TE_LANES;           \
  }
    REST(4)
    REST(2)
    REST(1)
#undef REST
    if (column < dim) SUM(part);
#undef SUM
    if (TE_UNLIKELY(bad >= 0) && bags->out_of_range == TE_ERROR) return bad;
  }
  return -1;
}

#else

/* Rows of one chunk. */
TE_INLINE int64_t forward_bags(const te_lookup_job* job, int64_t first, int64_t end, const int vectors, const int part,
                               const int weighted) {
  const te_bags* bags = job->bags;
  forward_stream s = stream_of(job, end);
  for (int64_t b = first; b < end; b++) {
    const int64_t from = bags->row_splits[b], to = bags->row_splits[b + 1];
    const float divisor = te_divisor(bags, from, to);
    const int64_t bad = sum_ids(&s, from, to, 0, divisor, job->pooled + b * s.dim, vectors, part, weighted, 1);
    if (TE_UNLIKELY(bad >= 0) && bags->out_of_range == TE_ERROR) return bad;
  }
  return -1;
}

/*
 * Rows of several chunks: the ids of a bag are read once per chunk, and each time the same columns of rows to come are
 * fetched. Asking for whole rows the first time leaves the memory idle the other times.
 */
TE_INLINE int64_t forward_wide_bags(const te_lookup_job* job, int64_t first, int64_t end, const int weighted) {
  const te_bags* bags = job->bags;
  const int64_t dim = job->table.dim;
  forward_stream s = stream_of(job, end);
  for (int64_t b = first; b < end; b++) {
    const int64_t from = bags->row_splits[b], to = bags->row_splits[b + 1];
    const float divisor = te_divisor(bags, from, to);
    float* out = job->pooled + b * dim;
    const int64_t bad = sum_ids(&s, from, to, 0, divisor, out, TE_CHUNK_VECTORS, 0, weighted, 1);
    int64_t column = TE_CHUNK;
    if (TE_UNLIKELY(bad >= 0) && bags->out_of_range == TE_ERROR) return bad;
    while (column + TE_CHUNK <= dim) {
      sum_ids(&s, from, to, column, divisor, out, TE_CHUNK_VECTORS, 0, weighted, 1);
      column += TE_CHUNK;
    }
#define REST(v)                                                     \
  if (column + v * TE_LANES <= dim) {                               \
    sum_ids(&s, from, to, column, divisor, out, v, 0, weighted, 1); \
    column += v * TE_LANES;                                         \
  }
    REST(4)
    REST(2)
    REST(1)
#undef REST
    if (column < dim) sum_ids(&s, from, to, column, divisor, out, 0, 1, weighted, 1);
  }
  return -1;
}

#endif

/* Rows longer than max_norm are shortened first. */
static int64_t forward_limited(const te_lookup_job* job, int64_t first, int64_t end) {
  const te_bags* bags = job->bags;
  const int64_t dim = job->table.dim;
  for (int64_t b = first; b < end; b++) {
    const int64_t from = bags->row_splits[b], to = bags->row_splits[b + 1];
    const float divisor = te_divisor(bags, from, to);
    float* out = job->pooled + b * dim;
    te_fill(out, 0, (size_t)dim * sizeof(float));
    for (int64_t i = from; i < to; i++) {
      const uint32_t id = (uint32_t)bags->values[i];
      if (id >= job->limit) {
        if (bags->out_of_range == TE_ERROR) return i;
        continue;
      }
      const float* row = te_floats(&job->table) + (int64_t)id * dim;
      const double weight = bags->weights == NULL ? 1.0 : (double)bags->weights[i];
      te_add_scaled(out, row, (float)(weight * te_row_scale(row, dim, bags->max_norm)), dim);
    }
    if (divisor == 1.0f) continue;
    for (int64_t j = 0; j < dim; j++) out[j] = divisor == 0.0f ? 0.0f : out[j] / divisor;
  }
  return -1;
}

static int64_t forward(const te_lookup_job* job, int64_t first, int64_t end) {
  if (job->bags->max_norm > 0.0f) return forward_limited(job, first, end);
#if defined(__wasm__)
  return forward_bags(job, first, end);
#else
  const int64_t dim = job->table.dim;
  const int weighted = job->bags->weights != NULL;
  if (dim > TE_CHUNK) {
    return weighted ? forward_wide_bags(job, first, end, 1) : forward_wide_bags(job, first, end, 0);
  }
#define CASE(v, p) return weighted ? forward_bags(job, first, end, v, p, 1) : forward_bags(job, first, end, v, p, 0)
  TE_ONE_CHUNK(dim / TE_LANES, dim % TE_LANES, CASE)
#undef CASE
#endif
}
