/* Pooling of packed rows: columns are widened to floats on their way into the sums. */
#include "../rows.h"
#include "simd_packed.h"

#define TE_PACKED_BYTES_AHEAD 10240
#define TE_MOST_PACKED_IDS_AHEAD 64
/* Columns that are widened at once where a row is needed as floats. */
#define TE_WIDENED 64

typedef struct packed_stream {
  const te_lookup_job* job;
  int64_t last;  /* last id of this part: nothing beyond it is fetched */
  int64_t ahead; /* ids */
#if defined(__wasm__)
  int64_t touched;
#else
  int32_t straddles; /* te_straddles */
#endif
} packed_stream;

#define TE_PACKED_BYTES(codec, columns) ((columns) * ((codec) == TE_INT8 ? 1 : 2))
#define TE_PACKED_WORDS(codec, columns) (TE_PACKED_BYTES(codec, columns) / 4)

/* One vector of columns; `column` is a multiple of 4, `n` columns are there. */
TE_INLINE te_v load_packed(const int codec, const int32_t* row, int64_t column, const int part, int n) {
  const int32_t* words = row + TE_PACKED_WORDS(codec, column);
  if (codec == TE_INT8) return part ? v_load_codes_part(words, n) : v_load_codes(words);
  return part ? v_load_halves_part(words, n) : v_load_halves(words);
}

/* Of an int8 row: a column is scale * code + offset, which are the last two words. */
TE_INLINE void row_form(const te_lookup_job* job, const int32_t* row, float* scale, float* offset) {
  te_copy(scale, row + job->row_words - 2, 4);
  te_copy(offset, row + job->row_words - 1, 4);
}

/* Columns [column, column + columns) of a row to come, and with the first of them the form of int8 rows. */
TE_INLINE void fetch_packed(packed_stream* s, int64_t i, const int codec, int64_t column, const int columns) {
  const te_lookup_job* job = s->job;
  const int32_t* values = job->bags->values;
  const int64_t bytes = job->row_words * 4;
#if defined(__wasm__)
  /* WebAssembly cannot prefetch: see bag_forward.h. */
  (void)codec;
  (void)column;
  (void)columns;
  if (i < s->touched) return;
  const int64_t to = te_min(i + 32, s->last + 1);
  int32_t sink = 0;
  for (int64_t k = i; k < to; k++) {
    const uint32_t id = (uint32_t)values[k];
    if (id >= job->limit) continue;
    const char* row = (const char*)(te_words(&job->table) + (int64_t)id * job->row_words);
    for (int64_t at = 0; at < bytes; at += 64) sink ^= *(const int32_t*)(row + at);
  }
  __asm__ volatile("" : : "r"(sink));
  s->touched = to;
#else
  const int64_t next = te_min(i + s->ahead, s->last);
  const uintptr_t row = (uintptr_t)te_words(&job->table) + (uintptr_t)(uint32_t)values[next] * (uintptr_t)bytes;
  const int64_t first = TE_PACKED_BYTES(codec, column);
  const int64_t end = te_min(TE_PACKED_BYTES(codec, column + columns), bytes);
  for (int at = 0; at < TE_PACKED_BYTES(codec, columns); at += 64) te_prefetch(row + (uintptr_t)(first + at));
  if (codec == TE_INT8 && column == 0) te_prefetch(row + (uintptr_t)(bytes - 1));
  if (s->straddles) te_prefetch(row + (uintptr_t)(end - 1));
#endif
}

/* Sums columns [column, column + ...) of the rows of ids from .. to - 1. Returns the first bad position, or -1. */
TE_INLINE int64_t sum_packed(packed_stream* s, int64_t from, int64_t to, int64_t column, float divisor, float* out,
                             const int codec, const int vectors, const int part) {
  const te_lookup_job* job = s->job;
  const int32_t* values = job->bags->values;
  const float* weights = job->bags->weights;
  const int32_t* words = te_words(&job->table);
  const int64_t row_words = job->row_words, skipped = TE_PACKED_WORDS(codec, column);
  const int n = part ? (int)(job->table.dim - column - vectors * TE_LANES) : 0;
  te_v a0, a1, a2, a3, a4, a5, a6, a7, rest = v_zero();
  float offsets = 0.0f;
  int64_t bad = -1;
  a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = rest;
  for (int64_t i = from; i < to; i++) {
    const uint32_t id = (uint32_t)values[i];
    fetch_packed(s, i, codec, column, (vectors + part) * TE_LANES);
    if (TE_UNLIKELY(id >= job->limit)) {
      if (bad < 0) bad = i;
      continue;
    }
    const int32_t* row = words + (int64_t)id * row_words;
    const int32_t* columns = row + skipped; /* of this pass: the others lie at distances known when compiling */
    float factor = weights == NULL ? 1.0f : weights[i];
    if (codec == TE_INT8) {
      float scale, offset;
      row_form(job, row, &scale, &offset);
      offsets += factor * offset;
      factor *= scale;
    }
    const te_v f = v_set(factor);
#define ADD(k) \
  if (vectors > k) a##k = v_fma(f, load_packed(codec, columns, k * TE_LANES, 0, 0), a##k);
    TE_EACH(ADD)
#undef ADD
    if (part) rest = v_fma(f, load_packed(codec, columns, vectors * TE_LANES, 1, n), rest);
  }
  const te_v base = v_set(offsets), d = v_set(divisor);
#define FINISH(a)                           \
  if (codec == TE_INT8) a = v_add(a, base); \
  if (divisor != 1.0f) a = divisor == 0.0f ? v_zero() : v_div(a, d)
#define STORE(k)                                    \
  if (vectors > k) {                                \
    FINISH(a##k);                                   \
    v_store(out + column + k * TE_LANES, a##k);     \
  }
  TE_EACH(STORE)
#undef STORE
  if (part) {
    FINISH(rest);
    v_store_part(out + column + vectors * TE_LANES, v_mask(n), rest);
  }
#undef FINISH
  return bad;
}

static packed_stream packed_stream_of(const te_lookup_job* job, int64_t first, int64_t end) {
  packed_stream s;
  s.job = job;
  s.last = (int64_t)job->bags->row_splits[end] - 1;
  s.ahead = te_max(4, te_min(TE_PACKED_BYTES_AHEAD / (job->row_words * 4), TE_MOST_PACKED_IDS_AHEAD));
#if defined(__wasm__)
  s.touched = job->bags->row_splits[first];
#else
  s.straddles = te_straddles(te_words(&job->table), job->row_words * 4);
  (void)first;
#endif
  return s;
}

#if !defined(__wasm__)
/* Rows of one chunk. */
TE_INLINE int64_t packed_bags(const te_lookup_job* job, int64_t first, int64_t end, const int codec,
                              const int vectors, const int part) {
  const te_bags* bags = job->bags;
  packed_stream s = packed_stream_of(job, first, end);
  for (int64_t b = first; b < end; b++) {
    const int64_t from = bags->row_splits[b], to = bags->row_splits[b + 1];
    const float divisor = te_divisor(bags, from, to);
    float* out = job->pooled + b * job->table.dim;
    const int64_t bad = sum_packed(&s, from, to, 0, divisor, out, codec, vectors, part);
    if (TE_UNLIKELY(bad >= 0) && bags->out_of_range == TE_ERROR) return bad;
  }
  return -1;
}
#endif

/*
 * Rows of several chunks: the ids of a bag are read once per chunk, and each time the same columns of rows to come are
 * fetched. WebAssembly takes narrow rows here too, which keeps the module small; it touches whole rows, once.
 */
TE_INLINE int64_t packed_wide_bags(const te_lookup_job* job, int64_t first, int64_t end, const int codec) {
  const te_bags* bags = job->bags;
  const int64_t dim = job->table.dim;
  packed_stream s = packed_stream_of(job, first, end);
  for (int64_t b = first; b < end; b++) {
    const int64_t from = bags->row_splits[b], to = bags->row_splits[b + 1];
    const float divisor = te_divisor(bags, from, to);
    float* out = job->pooled + b * dim;
    int64_t column = 0, bad = -1;
    for (; column + TE_CHUNK <= dim; column += TE_CHUNK) {
      bad = sum_packed(&s, from, to, column, divisor, out, codec, TE_CHUNK_VECTORS, 0);
    }
#define REST(v)                                                         \
  if (column + v * TE_LANES <= dim) {                                   \
    bad = sum_packed(&s, from, to, column, divisor, out, codec, v, 0); \
    column += v * TE_LANES;                                             \
  }
    REST(4)
    REST(2)
    REST(1)
#undef REST
    if (column < dim) bad = sum_packed(&s, from, to, column, divisor, out, codec, 0, 1);
    if (TE_UNLIKELY(bad >= 0) && bags->out_of_range == TE_ERROR) return bad;
  }
  return -1;
}

/* Columns first .. first + n - 1 of a row as floats, n at most TE_WIDENED; `first` is a multiple of TE_WIDENED. */
static void widen(const te_lookup_job* job, const int32_t* row, int64_t first, int64_t n, float* to) {
  float scale = 1.0f, offset = 0.0f;
  if (job->table.codec == TE_INT8) row_form(job, row, &scale, &offset);
  for (int64_t j = 0; j < n; j++) {
    const int64_t c = first + j;
    if (job->table.codec == TE_INT8) {
      const uint32_t code = ((uint32_t)row[c / 4] >> (8 * (c % 4))) & 0xffu;
      to[j] = scale * (float)(int32_t)code + offset;
    } else {
      to[j] = te_half_value((uint16_t)((uint32_t)row[c / 2] >> (16 * (c % 2))));
    }
  }
}

/* row . other; other NULL: the row itself. */
static double packed_dot(const te_lookup_job* job, const int32_t* row, const float* other) {
  float columns[TE_WIDENED];
  double sum = 0.0;
  for (int64_t c = 0; c < job->table.dim; c += TE_WIDENED) {
    const int64_t n = te_min(TE_WIDENED, job->table.dim - c);
    widen(job, row, c, n, columns);
    sum += te_dot(columns, other == NULL ? columns : other + c, n);
  }
  return sum;
}

static double packed_scale(const te_lookup_job* job, const int32_t* row) {
  const float max_norm = job->bags->max_norm;
  if (!(max_norm > 0.0f)) return 1.0;
  const double norm = te_sqrt(packed_dot(job, row, NULL));
  return norm > (double)max_norm ? (double)max_norm / norm : 1.0;
}

/* Rows longer than max_norm are shortened first. */
static int64_t packed_limited(const te_lookup_job* job, int64_t first, int64_t end) {
  const te_bags* bags = job->bags;
  const int64_t dim = job->table.dim;
  float columns[TE_WIDENED];
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
      const int32_t* row = te_words(&job->table) + (int64_t)id * job->row_words;
      const double weight = bags->weights == NULL ? 1.0 : (double)bags->weights[i];
      const float factor = (float)(weight * packed_scale(job, row));
      for (int64_t c = 0; c < dim; c += TE_WIDENED) {
        const int64_t n = te_min(TE_WIDENED, dim - c);
        widen(job, row, c, n, columns);
        te_add_scaled(out + c, columns, factor, n);
      }
    }
    if (divisor == 1.0f) continue;
    for (int64_t j = 0; j < dim; j++) out[j] = divisor == 0.0f ? 0.0f : out[j] / divisor;
  }
  return -1;
}

static int64_t packed_forward(const te_lookup_job* job, int64_t first, int64_t end) {
  const int64_t dim = job->table.dim;
  const int is_int8 = job->table.codec == TE_INT8;
  if (job->bags->max_norm > 0.0f) return packed_limited(job, first, end);
#if defined(__wasm__)
  (void)dim;
#else
  if (dim <= TE_CHUNK) {
#define CASE(v, p) \
  return is_int8 ? packed_bags(job, first, end, TE_INT8, v, p) : packed_bags(job, first, end, TE_FLOAT16, v, p)
    TE_ONE_CHUNK(dim / TE_LANES, dim % TE_LANES, CASE)
#undef CASE
  }
#endif
  return is_int8 ? packed_wide_bags(job, first, end, TE_INT8) : packed_wide_bags(job, first, end, TE_FLOAT16);
}

/* As weights_gradient in bag_weights_grad.h. */
static void packed_weights_gradient(const te_lookup_job* job, int64_t first, int64_t end) {
  const te_bags* bags = job->bags;
  for (int64_t b = first; b < end; b++) {
    const int64_t from = bags->row_splits[b], to = bags->row_splits[b + 1];
    const float* gradient = job->gradient + b * job->table.dim;
    const double divisor = (double)te_divisor(bags, from, to);
    double total = 0.0;
    for (int64_t i = from; i < to; i++) {
      const uint32_t id = (uint32_t)bags->values[i];
      double dot = 0.0;
      if (id < job->limit) {
        const int32_t* row = te_words(&job->table) + (int64_t)id * job->row_words;
        dot = packed_dot(job, row, gradient) * packed_scale(job, row);
      }
      total += (double)bags->weights[i] * dot;
      job->out[i] = (float)dot;
    }
    te_finish_weights_gradient(bags, from, to, divisor, total, job->out);
  }
}
