/* Products of small matrices, by rows of the second one. Part of an instance; needs simd.h. */
#ifndef TFJS_EMBEDDINGS_PRODUCT_H_
#define TFJS_EMBEDDINGS_PRODUCT_H_

#include "../core.h"
#include "../simd.h"

/* Rows of the result that are summed up side by side, as many as registers hold beside two vectors of columns. */
#define TE_PRODUCT_ROWS (TE_LANES >= 16 ? 8 : 4)

/* `rows` rows of the result from `row` on, and the columns of `vectors` vectors; of the last one only those in `part`. */
TE_INLINE void product_tile(const te_product* p, int64_t row, int64_t column, int rows, int vectors, int whole,
                            te_mask part) {
  te_v sums[TE_PRODUCT_ROWS][2];
  for (int r = 0; r < rows; r++) {
    for (int v = 0; v < vectors; v++) sums[r][v] = v_zero();
  }
  const float* a = p->a + row * p->a_row;
  const float* b = p->b + column;
  for (int64_t k = 0; k < p->k; k++, a += p->a_column, b += p->n) {
    te_v columns[2];
    for (int v = 0; v < vectors; v++) {
      const int cut = !whole && v == vectors - 1;
      columns[v] = cut ? v_load_part(b + v * TE_LANES, part) : v_load(b + v * TE_LANES);
    }
    for (int r = 0; r < rows; r++) {
      const te_v factor = v_set(a[r * p->a_row]);
      for (int v = 0; v < vectors; v++) sums[r][v] = v_fma(factor, columns[v], sums[r][v]);
    }
  }
  for (int r = 0; r < rows; r++) {
    float* c = p->c + (row + r) * p->n + column;
    for (int v = 0; v < vectors; v++) {
      float* to = c + v * TE_LANES;
      const int cut = !whole && v == vectors - 1;
      /* The product is whole before it is added: the sum is that of products made one by one. */
      const te_v before = !p->adds ? v_zero() : cut ? v_load_part(to, part) : v_load(to);
      const te_v sum = p->adds ? v_add(before, sums[r][v]) : sums[r][v];
      if (cut) {
        v_store_part(to, part, sum);
      } else {
        v_store(to, sum);
      }
    }
  }
}

TE_INLINE void product_columns(const te_product* p, int64_t column, int vectors, int whole, te_mask part) {
  int64_t row = 0;
  for (; row + TE_PRODUCT_ROWS <= p->m; row += TE_PRODUCT_ROWS) {
    product_tile(p, row, column, TE_PRODUCT_ROWS, vectors, whole, part);
  }
  for (; row < p->m; row++) product_tile(p, row, column, 1, vectors, whole, part);
}

static void product(const te_product* p) {
  const te_mask all = v_mask(TE_LANES - 1);
  int64_t column = 0;
  for (; column + 2 * TE_LANES <= p->n; column += 2 * TE_LANES) product_columns(p, column, 2, 1, all);
  if (column + TE_LANES <= p->n) {
    product_columns(p, column, 1, 1, all);
    column += TE_LANES;
  }
  if (column < p->n) product_columns(p, column, 1, 0, v_mask((int)(p->n - column)));
}

#endif
