/* Rows of a table beside queries: widened, multiplied, compared. Part of an instance; needs packed_rows.h. */
#ifndef TFJS_EMBEDDINGS_ROW_PRODUCTS_H_
#define TFJS_EMBEDDINGS_ROW_PRODUCTS_H_

#include "../core.h"
#include "../packed/simd_packed.h"

/* One row of a table, of whatever storage; of int8 a column is scale * code + offset. */
typedef struct te_row_at {
  const float* data;
  const int32_t* words;
  float form[2];
} te_row_at;

TE_INLINE te_row_at row_at(const te_rows* table, int64_t row, const int storage) {
  te_row_at at = {NULL, NULL, {1.0f, 0.0f}};
  if (storage == TE_FLOAT32) {
    at.data = table->data + row * table->dim;
  } else {
    at.words = table->words + row * table->row_words;
    if (storage == TE_INT8) te_copy(at.form, at.words + table->row_words - 2, sizeof at.form);
  }
  return at;
}

/* A vector of numbers or codes from `column` on, of which `n` are there; lanes behind them hold anything. */
TE_INLINE te_v row_vector(const te_row_at* at, int64_t column, const int storage, const int part, int n) {
  if (storage == TE_FLOAT32) return part ? v_load_part(at->data + column, v_mask(n)) : v_load(at->data + column);
  return load_packed(storage, at->words, column, part, n);
}

TE_INLINE te_v row_columns(const te_row_at* at, int64_t column, const int storage, const int part, int n) {
  const te_v numbers = row_vector(at, column, storage, part, n);
  return storage == TE_INT8 ? v_fma(v_set(at->form[0]), numbers, v_set(at->form[1])) : numbers;
}

TE_INLINE void widen_each(const te_rows* table, int64_t first, int64_t end, float* to, const int storage) {
  const int64_t dim = table->dim;
  for (int64_t row = first; row < end; row++, to += dim) {
    const te_row_at at = row_at(table, row, storage);
    int64_t c = 0;
    for (; c + TE_LANES <= dim; c += TE_LANES) v_store(to + c, row_columns(&at, c, storage, 0, 0));
    if (c == dim) continue;
    const int n = (int)(dim - c);
    v_store_part(to + c, v_mask(n), row_columns(&at, c, storage, 1, n));
  }
}

/* Rows first .. end - 1 as floats. */
static void widen_rows(const te_rows* table, int64_t first, int64_t end, float* to) {
  if (table->storage == TE_INT8) {
    widen_each(table, first, end, to, TE_INT8);
  } else if (table->storage == TE_FLOAT16) {
    widen_each(table, first, end, to, TE_FLOAT16);
  } else {
    widen_each(table, first, end, to, TE_FLOAT32);
  }
}

TE_INLINE void dots_of(const te_rows* table, const float* query, int64_t first, int64_t end, float* to,
                       const int storage) {
  const int64_t dim = table->dim;
  float sum = 0.0f; /* of the query, which the offset of a row is multiplied with */
  for (int64_t c = 0; storage == TE_INT8 && c < dim; c++) sum += query[c];
  for (int64_t row = first; row < end; row++) {
    const te_row_at at = row_at(table, row, storage);
    te_v s0 = v_zero(), s1 = v_zero();
    int64_t c = 0;
    for (; c + 2 * TE_LANES <= dim; c += 2 * TE_LANES) {
      s0 = v_fma(v_load(query + c), row_vector(&at, c, storage, 0, 0), s0);
      s1 = v_fma(v_load(query + c + TE_LANES), row_vector(&at, c + TE_LANES, storage, 0, 0), s1);
    }
    if (c + TE_LANES <= dim) {
      s0 = v_fma(v_load(query + c), row_vector(&at, c, storage, 0, 0), s0);
      c += TE_LANES;
    }
    float rest = 0.0f;
    if (c < dim) {
      /* Lanes behind the row may hold what no product with 0 makes 0: they are not stored. */
      const int n = (int)(dim - c);
      float products[TE_LANES];
      te_fill(products, 0, sizeof products);
      v_store_part(products, v_mask(n),
                   v_mul(v_load_part(query + c, v_mask(n)), row_vector(&at, c, storage, 1, n)));
      for (int i = 0; i < n; i++) rest += products[i];
    }
    const float product = v_sum(v_add(s0, s1)) + rest;
    *to++ = storage == TE_INT8 ? at.form[0] * product + at.form[1] * sum : product;
  }
}

/* The products of a query with rows first .. end - 1. */
static void row_dots(const te_rows* table, const float* query, int64_t first, int64_t end, float* to) {
  if (table->storage == TE_INT8) {
    dots_of(table, query, first, end, to, TE_INT8);
  } else if (table->storage == TE_FLOAT16) {
    dots_of(table, query, first, end, to, TE_FLOAT16);
  } else {
    dots_of(table, query, first, end, to, TE_FLOAT32);
  }
}

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
