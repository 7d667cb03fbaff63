/* The rows that a step touches, and the penalty of regularizers on them. */
#include "../core.h"
#include "../codecs/simd_packed.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */
#include <stdlib.h>

static int ascending(const void* a, const void* b) {
  const int32_t x = *(const int32_t*)a;
  const int32_t y = *(const int32_t*)b;
  return (x > y) - (x < y);
}

int64_t te_touched_rows(const int32_t* ids, int64_t count, int64_t rows, int32_t* touched) {
  const uint32_t limit = te_id_limit(rows);
  int64_t kept = 0;
  /* A bit per row is read through in the time that a few ids take to be sorted. */
  const size_t words = (size_t)(rows + 63) / 64;
  uint64_t* seen = rows / 64 <= 8 * count + 64 ? calloc(words == 0 ? 1 : words, sizeof *seen) : NULL;
  if (seen == NULL) {
    for (int64_t i = 0; i < count; i++) {
      if ((uint32_t)ids[i] < limit) touched[kept++] = ids[i];
    }
    qsort(touched, (size_t)kept, sizeof *touched, ascending);
    int64_t unique = 0;
    for (int64_t i = 0; i < kept; i++) {
      if (unique == 0 || touched[unique - 1] != touched[i]) touched[unique++] = touched[i];
    }
    return unique;
  }
  for (int64_t i = 0; i < count; i++) {
    const uint32_t id = (uint32_t)ids[i];
    if (id < limit) seen[id >> 6] |= (uint64_t)1 << (id & 63);
  }
  for (size_t w = 0; w < words; w++) {
    if (seen[w] == 0) continue;
    for (int bit = 0; bit < 64; bit++) {
      if ((seen[w] >> bit & 1) != 0) touched[kept++] = (int32_t)(w * 64 + (size_t)bit);
    }
  }
  free(seen);
  return kept;
}

TE_INLINE int64_t row_bytes(const te_rows* table, const int codec) {
  return te_row_words(codec, table->dim) * 4;
}

TE_INLINE float number_of(const char* row, int64_t column, const int codec) {
  if (codec == TE_FLOAT32) return ((const float*)row)[column];
  const uint32_t word = (uint32_t)((const int32_t*)row)[column / 2];
  return te_half_value((uint16_t)(word >> (16 * (column % 2))));
}

/* First id that names no row, or -1. */
static int64_t first_stray(const te_rows* table, const int32_t* ids, int64_t count) {
  const uint32_t limit = te_id_limit(table->rows);
  for (int64_t i = 0; i < count; i++) {
    if ((uint32_t)ids[i] >= limit) return i;
  }
  return -1;
}

TE_INLINE te_status penalty_on(const te_rows* table, const int32_t* ids, int64_t count, float l1, float l2,
                               float* penalty, const int codec) {
  const int64_t stray = first_stray(table, ids, count);
  if (stray >= 0) return te_failure(TE_ID_OUT_OF_RANGE, stray, ids[stray]);
  const int64_t bytes = row_bytes(table, codec);
  double absolute = 0;
  double squares = 0;
  for (int64_t i = 0; i < count; i++) {
    const char* row = (const char*)table->data + (int64_t)ids[i] * bytes;
    for (int64_t c = 0; c < table->dim; c++) {
      const float w = number_of(row, c, codec);
      absolute += w < 0 ? -(double)w : (double)w;
      squares += (double)w * w;
    }
  }
  *penalty = (float)(l1 * absolute) + (float)(l2 * squares);
  return te_ok();
}

TE_INLINE te_status penalty_grad_on(const te_rows* table, const int32_t* ids, int64_t count, float l1, float l2,
                                    float upstream, float* gradient, const int codec) {
  const int64_t stray = first_stray(table, ids, count);
  if (stray >= 0) return te_failure(TE_ID_OUT_OF_RANGE, stray, ids[stray]);
  const int64_t bytes = row_bytes(table, codec);
  const float slope1 = upstream * l1;
  const float slope2 = upstream * l2;
  for (int64_t i = 0; i < count; i++) {
    const char* row = (const char*)table->data + (int64_t)ids[i] * bytes;
    for (int64_t c = 0; c < table->dim; c++) {
      const float w = number_of(row, c, codec);
      /* As tfjs has it, the slope of |w| at 0 is -1. */
      const float of_absolute = l1 == 0 ? 0.0f : w > 0 ? slope1 : -slope1;
      *gradient++ = of_absolute + slope2 * (w * 2.0f);
    }
  }
  return te_ok();
}

te_status te_row_penalty(const te_rows* table, const int32_t* ids, int64_t count, float l1, float l2,
                         float* penalty) {
  if (!te_trains(table->codec)) return te_failure(TE_BAD_ARGUMENT, 0, 0);
  return table->codec == TE_FLOAT32 ? penalty_on(table, ids, count, l1, l2, penalty, TE_FLOAT32)
                                    : penalty_on(table, ids, count, l1, l2, penalty, TE_FLOAT16);
}

te_status te_row_penalty_grad(const te_rows* table, const int32_t* ids, int64_t count, float l1, float l2,
                              float upstream, float* gradient) {
  if (!te_trains(table->codec)) return te_failure(TE_BAD_ARGUMENT, 0, 0);
  return table->codec == TE_FLOAT32
             ? penalty_grad_on(table, ids, count, l1, l2, upstream, gradient, TE_FLOAT32)
             : penalty_grad_on(table, ids, count, l1, l2, upstream, gradient, TE_FLOAT16);
}

#endif
