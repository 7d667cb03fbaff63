/* Products of small matrices: libraries take longer to prepare such a product than to compute it. */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

int64_t te_product_scratch(const te_factors* f) { return f->transpose_b && f->k > 1 && f->n > 1 ? f->k * f->n : 0; }

void te_multiply(const te_factors* f, int32_t adds, float* scratch, float* c) {
  te_product p = {.a = f->a, .b = f->b, .c = c, .m = f->m, .k = f->k, .n = f->n, .adds = adds};
  p.a_row = f->transpose_a ? 1 : f->k;
  p.a_column = f->transpose_a ? f->m : 1;
  if (te_product_scratch(f) > 0) {
    for (int64_t k = 0; k < f->k; k++) {
      for (int64_t j = 0; j < f->n; j++) scratch[k * f->n + j] = f->b[j * f->k + k];
    }
    p.b = scratch;
  }
  TE_KERNEL(product)(&p);
}

/* Numbers that stay in the cache while all terms are added to them. */
#define BLOCK 2048

void te_sum(const float* const* terms, int64_t count, int64_t size, float* sum) {
  for (int64_t first = 0; first < size; first += BLOCK) {
    const int64_t end = te_min(first + BLOCK, size);
    const float* a = terms[0];
    for (int64_t t = 1; t < count; t++) {
      const float* b = terms[t];
      for (int64_t i = first; i < end; i++) sum[i] = a[i] + b[i];
      a = sum;
    }
  }
}

#endif
