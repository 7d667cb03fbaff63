/* Rows of a table beside queries: widened, multiplied, compared. Part of an instance; needs packed_rows.h. */
#ifndef TFJS_EMBEDDINGS_ROW_PRODUCTS_H_
#define TFJS_EMBEDDINGS_ROW_PRODUCTS_H_

#include "../core.h"
#include "../codecs/simd_packed.h"

/* One row of a table, of any codec; of int8 a column is scale * code + offset. */
typedef struct te_row_at {
  const float* data;
  const int32_t* words;
  float form[2];
} te_row_at;

TE_INLINE te_row_at row_at(const te_rows* table, int64_t row, int64_t row_words, const int codec) {
  te_row_at at = {NULL, NULL, {1.0f, 0.0f}};
  if (codec == TE_FLOAT32) {
    at.data = te_floats(table) + row * table->dim;
  } else {
    at.words = te_words(table) + row * row_words;
    if (codec == TE_INT8) te_copy(at.form, at.words + row_words - 2, sizeof at.form);
  }
  return at;
}

/* A vector of numbers or codes from `column` on, of which `n` are there; lanes behind them hold anything. */
TE_INLINE te_v row_vector(const te_row_at* at, int64_t column, const int codec, const int part, int n) {
  if (codec == TE_FLOAT32) return part ? v_load_part(at->data + column, v_mask(n)) : v_load(at->data + column);
  return load_packed(codec, at->words, column, part, n);
}

TE_INLINE te_v row_columns(const te_row_at* at, int64_t column, const int codec, const int part, int n) {
  const te_v numbers = row_vector(at, column, codec, part, n);
  return codec == TE_INT8 ? v_fma(v_set(at->form[0]), numbers, v_set(at->form[1])) : numbers;
}

TE_INLINE void widen_each(const te_rows* table, int64_t first, int64_t end, float* to, const int codec) {
  const int64_t dim = table->dim, row_words = te_row_words(codec, dim);
  for (int64_t row = first; row < end; row++, to += dim) {
    const te_row_at at = row_at(table, row, row_words, codec);
    int64_t c = 0;
    for (; c + TE_LANES <= dim; c += TE_LANES) v_store(to + c, row_columns(&at, c, codec, 0, 0));
    if (c == dim) continue;
    const int n = (int)(dim - c);
    v_store_part(to + c, v_mask(n), row_columns(&at, c, codec, 1, n));
  }
}

/* Rows first .. end - 1 as floats. */
static void widen_rows(const te_rows* table, int64_t first, int64_t end, float* to) {
  if (table->codec == TE_INT8) {
    widen_each(table, first, end, to, TE_INT8);
  } else if (table->codec == TE_FLOAT16) {
    widen_each(table, first, end, to, TE_FLOAT16);
  } else {
    widen_each(table, first, end, to, TE_FLOAT32);
  }
}

/* What the offset of a row is multiplied with. */
TE_INLINE float query_sum(const float* query, int64_t dim) {
  te_v sums = v_zero();
  int64_t c = 0;
  for (; c + TE_LANES <= dim; c += TE_LANES) sums = v_add(sums, v_load(query + c));
  float sum = v_sum(sums);
  for (; c < dim; c++) sum += query[c];
  return sum;
}

TE_INLINE void dots_of(const te_rows* table, const float* query, int64_t first, int64_t end, float* to,
                       const int codec) {
  const int64_t dim = table->dim, row_words = te_row_words(codec, dim);
  const float sum = codec == TE_INT8 ? query_sum(query, dim) : 0.0f;
  for (int64_t row = first; row < end; row++) {
    const te_row_at at = row_at(table, row, row_words, codec);
    te_v s0 = v_zero(), s1 = v_zero();
    int64_t c = 0;
    for (; c + 2 * TE_LANES <= dim; c += 2 * TE_LANES) {
      s0 = v_fma(v_load(query + c), row_vector(&at, c, codec, 0, 0), s0);
      s1 = v_fma(v_load(query + c + TE_LANES), row_vector(&at, c + TE_LANES, codec, 0, 0), s1);
    }
    if (c + TE_LANES <= dim) {
      s0 = v_fma(v_load(query + c), row_vector(&at, c, codec, 0, 0), s0);
      c += TE_LANES;
    }
    float rest = 0.0f;
    if (c < dim) {
      /* Lanes behind the row may hold what no product with 0 makes 0: they are not stored. */
      const int n = (int)(dim - c);
      float products[TE_LANES];
      te_fill(products, 0, sizeof products);
      v_store_part(products, v_mask(n),
                   v_mul(v_load_part(query + c, v_mask(n)), row_vector(&at, c, codec, 1, n)));
      for (int i = 0; i < n; i++) rest += products[i];
    }
    const float product = v_sum(v_add(s0, s1)) + rest;
    *to++ = codec == TE_INT8 ? at.form[0] * product + at.form[1] * sum : product;
  }
}

/* The products of a query with rows first .. end - 1. */
static void row_dots(const te_rows* table, const float* query, int64_t first, int64_t end, float* to) {
  if (table->codec == TE_INT8) {
    dots_of(table, query, first, end, to, TE_INT8);
  } else if (table->codec == TE_FLOAT16) {
    dots_of(table, query, first, end, to, TE_FLOAT16);
  } else {
    dots_of(table, query, first, end, to, TE_FLOAT32);
  }
}

/* What no rounding takes away: of a sum of two products, and of numbers without all their bits. */
#define BOUND_PART 9.5367431640625e-07f /* 2^-20 */
#define BOUND_LEAST 1e-37f

#if !defined(TE_SCALAR) && defined(__AVX2__)
/* Sums of pairs of products fit into 16 bits: 2 * 255 * 63. */
TE_INLINE __m256i pairs_of_codes(__m256i sums, const void* row, const int8_t* query) {
  const __m256i codes = _mm256_loadu_si256((const __m256i*)row);
  const __m256i pairs = _mm256_maddubs_epi16(codes, _mm256_loadu_si256((const __m256i*)query));
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

/* Sums of the products of a row's codes with those of a query, in any lanes. */
TE_INLINE __m256i sums_of_codes(const int32_t* words, const int8_t* query, int64_t dim) {
  const uint8_t* row = (const uint8_t*)words;
  __m256i sums = _mm256_setzero_si256();
  int64_t c = 0;
  for (; c + 32 <= dim; c += 32) sums = pairs_of_codes(sums, row + c, query + c);
  if (c < dim) {
    uint8_t rest[32];
    te_fill(rest, 0, sizeof rest);
    te_copy(rest, row + c, (size_t)(dim - c));
    sums = pairs_of_codes(sums, rest, query + c);
  }
  return sums;
}

/* The scales and offsets of two rows: scale, scale, offset, offset. */
TE_INLINE __m128 forms_of(const int32_t* a, const int32_t* b, int64_t row_words) {
  const __m128i first = _mm_loadl_epi64((const __m128i*)(a + row_words - 2));
  const __m128i second = _mm_loadl_epi64((const __m128i*)(b + row_words - 2));
  return _mm_castsi128_ps(_mm_unpacklo_epi32(first, second));
}

/* The bounds of four rows. */
TE_INLINE __m128 bounds_of(const int32_t* const* rows, int64_t row_words, int64_t dim, const te_coded_query* query) {
  const int8_t* codes = query->codes;
  const __m256i ab = _mm256_hadd_epi32(sums_of_codes(rows[0], codes, dim), sums_of_codes(rows[1], codes, dim));
  const __m256i cd = _mm256_hadd_epi32(sums_of_codes(rows[2], codes, dim), sums_of_codes(rows[3], codes, dim));
  const __m256i all = _mm256_hadd_epi32(ab, cd);
  const __m128i sums = _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  const __m128 first = forms_of(rows[0], rows[1], row_words), second = forms_of(rows[2], rows[3], row_words);
  const __m128 scale = _mm_movelh_ps(first, second), offset = _mm_movehl_ps(second, first);
  const __m128 size = _mm_castsi128_ps(_mm_set1_epi32(0x7fffffff));
  const __m128 coded = _mm_mul_ps(_mm_cvtepi32_ps(sums), _mm_set1_ps(query->step));
  const __m128 dot = _mm_add_ps(coded, _mm_set1_ps(query->middle));
  const __m128 of_sum = _mm_mul_ps(offset, _mm_set1_ps(query->sum));
  __m128 error = _mm_add_ps(_mm_mul_ps(_mm_and_ps(of_sum, size), _mm_set1_ps(BOUND_PART)), _mm_set1_ps(BOUND_LEAST));
  error = _mm_add_ps(error, _mm_mul_ps(_mm_and_ps(scale, size), _mm_set1_ps(query->error)));
  error = _mm_add_ps(error, _mm_mul_ps(_mm_and_ps(offset, size), _mm_set1_ps(query->sum_error)));
  const __m128 bound = _mm_add_ps(_mm_add_ps(_mm_mul_ps(scale, dot), of_sum), error);
  /* Of infinite scales it may be no number, which the other operand stands for: the product itself decides. */
  return _mm_min_ps(bound, _mm_set1_ps(TE_INFINITY));
}

static int row_bounds(const te_rows* table, const te_coded_query* query, int64_t first, int64_t end, float* to) {
  const int64_t row_words = te_row_words(TE_INT8, table->dim);
  for (int64_t row = first; row < end; row += 4) {
    const int32_t* rows[4];
    for (int64_t i = 0; i < 4; i++) rows[i] = te_words(table) + te_min(row + i, end - 1) * row_words;
    const __m128 bounds = bounds_of(rows, row_words, table->dim, query);
    if (row + 4 <= end) {
      _mm_storeu_ps(to + (row - first), bounds);
    } else {
      float last[4];
      _mm_storeu_ps(last, bounds);
      te_copy(to + (row - first), last, (size_t)(end - row) * sizeof *last);
    }
  }
  return 1;
}
#elif !defined(TE_SCALAR) && defined(__wasm_simd128__)
/* Adds the products of 16 codes of a row with those of a query, which are widened in two halves. */
TE_INLINE v128_t with_codes(v128_t sums, const uint8_t* row, v128_t low, v128_t high) {
  const v128_t first = wasm_i32x4_dot_i16x8(wasm_u16x8_load8x8(row), low);
  return wasm_i32x4_add(sums, wasm_i32x4_add(first, wasm_i32x4_dot_i16x8(wasm_u16x8_load8x8(row + 8), high)));
}

/*
 * Sums of the products of four rows' codes with those of a query, a lane for each row. Codes of the query behind its last
 * one are 0, so that what lies behind a row does not count; behind `table_end` nothing is read.
 */
TE_INLINE v128_t sums_of_four(const int32_t* const* rows, const int32_t* table_end, const int8_t* query, int64_t dim) {
  v128_t sums[4];
  int32_t c = 0;
  for (int i = 0; i < 4; i++) sums[i] = wasm_i32x4_splat(0);
  /* The last of four is the last of all. */
  const int32_t whole = (int32_t)te_min(dim, (const uint8_t*)table_end - (const uint8_t*)rows[3] - 15);
  for (; c < whole; c += 16) {
    const v128_t low = wasm_i16x8_load8x8(query + c), high = wasm_i16x8_load8x8(query + c + 8);
    sums[0] = with_codes(sums[0], (const uint8_t*)rows[0] + c, low, high);
    sums[1] = with_codes(sums[1], (const uint8_t*)rows[1] + c, low, high);
    sums[2] = with_codes(sums[2], (const uint8_t*)rows[2] + c, low, high);
    sums[3] = with_codes(sums[3], (const uint8_t*)rows[3] + c, low, high);
  }
  for (int i = 0; c < dim && i < 4; i++) {
    uint8_t rest[16];
    te_fill(rest, 0, sizeof rest);
    te_copy(rest, (const uint8_t*)rows[i] + c, (size_t)(dim - c));
    sums[i] = with_codes(sums[i], rest, wasm_i16x8_load8x8(query + c), wasm_i16x8_load8x8(query + c + 8));
  }
  const v128_t ab = wasm_i32x4_add(wasm_i32x4_shuffle(sums[0], sums[1], 0, 4, 1, 5),
                                   wasm_i32x4_shuffle(sums[0], sums[1], 2, 6, 3, 7));
  const v128_t cd = wasm_i32x4_add(wasm_i32x4_shuffle(sums[2], sums[3], 0, 4, 1, 5),
                                   wasm_i32x4_shuffle(sums[2], sums[3], 2, 6, 3, 7));
  return wasm_i32x4_add(wasm_i64x2_shuffle(ab, cd, 0, 2), wasm_i64x2_shuffle(ab, cd, 1, 3));
}

TE_INLINE v128_t bounds_of(const int32_t* const* rows, const te_rows* table, const te_coded_query* query) {
  const int64_t row_words = te_row_words(TE_INT8, table->dim);
  const v128_t sums = sums_of_four(rows, te_words(table) + table->rows * row_words, query->codes, table->dim);
  v128_t forms[4]; /* scale and offset */
  for (int i = 0; i < 4; i++) forms[i] = wasm_v128_load64_zero(rows[i] + row_words - 2);
  const v128_t ab = wasm_i32x4_shuffle(forms[0], forms[1], 0, 4, 1, 5);
  const v128_t cd = wasm_i32x4_shuffle(forms[2], forms[3], 0, 4, 1, 5);
  const v128_t scale = wasm_i64x2_shuffle(ab, cd, 0, 2), offset = wasm_i64x2_shuffle(ab, cd, 1, 3);
  const v128_t dot = v_fma(wasm_f32x4_convert_i32x4(sums), v_set(query->step), v_set(query->middle));
  const v128_t of_sum = v_mul(offset, v_set(query->sum));
  v128_t error = v_fma(wasm_f32x4_abs(of_sum), v_set(BOUND_PART), v_set(BOUND_LEAST));
  error = v_fma(wasm_f32x4_abs(scale), v_set(query->error), error);
  error = v_fma(wasm_f32x4_abs(offset), v_set(query->sum_error), error);
  const v128_t bound = v_add(v_fma(scale, dot, of_sum), error);
  /* Of infinite scales it may be no number: the product itself decides. */
  return wasm_v128_bitselect(bound, v_set(TE_INFINITY), wasm_f32x4_eq(bound, bound));
}

static int row_bounds(const te_rows* table, const te_coded_query* query, int64_t first, int64_t end, float* to) {
  /* Copies, which no store changes. */
  const te_rows of = *table;
  const te_coded_query coded = *query;
  const size_t row_words = (size_t)te_row_words(TE_INT8, of.dim);
  const int32_t* at = te_words(&of) + first * (int64_t)row_words;
  int64_t row = first;
  for (; row + 4 <= end; row += 4, at += 4 * row_words, to += 4) {
    const int32_t* rows[4] = {at, at + row_words, at + 2 * row_words, at + 3 * row_words};
    v_store(to, bounds_of(rows, &of, &coded));
  }
  if (row < end) {
    float last[4];
    const int32_t* rows[4];
    for (int64_t i = 0; i < 4; i++) rows[i] = at + (size_t)te_min(i, end - 1 - row) * row_words;
    v_store(last, bounds_of(rows, &of, &coded));
    te_copy(to, last, (size_t)(end - row) * sizeof *last);
  }
  return 1;
}
#else
static int row_bounds(const te_rows* table, const te_coded_query* query, int64_t first, int64_t end, float* to) {
  (void)table, (void)query, (void)first, (void)end, (void)to;
  return 0;
}
#endif

/* The first of products from .. count - 1 that is above limits[its place % TE_PANEL]; `count` where there is none. */
static int64_t next_above(const float* products, const float* limits, int64_t from, int64_t count) {
  int64_t i = from - from % TE_LANES;
  for (; i < count; i += TE_LANES) {
    if (!v_any_above(v_load(products + i), v_load(limits + i % TE_PANEL))) continue;
    for (int64_t j = te_max(i, from); j < i + TE_LANES && j < count; j++) {
      if (products[j] > limits[j % TE_PANEL]) return j;
    }
  }
  return count;
}

#endif
