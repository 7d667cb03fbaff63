/* Entry point of steps of float16 rows. */
#include "../core.h"

/* 16 bits as a whole number. */
static int is_key(float part) { return part >= 0.0f && part <= 65535.0f && part == (float)(int32_t)part; }

te_status te_packed_apply(int32_t optimizer, const te_packed_table* table, float* const* slots, int32_t n_slots,
                          const te_bags* bags, const float* gradient, const te_hyper* hyper, void* workspace,
                          size_t workspace_bytes) {
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (table == NULL || hyper == NULL || table->storage != TE_FLOAT16) return bad;
  if (table->dim < 1 || table->rows < 0 || (table->rows > 0 && table->words == NULL)) return bad;
  if (!is_key(hyper->rounding_key0) || !is_key(hyper->rounding_key1)) return bad;
  if (!is_key(hyper->rounding_key2) || !is_key(hyper->rounding_key3)) return bad;
  te_table as_floats;
  as_floats.data = NULL;
  as_floats.rows = table->rows;
  as_floats.dim = table->dim;
  /* Of a table without rows there is nothing to step, but its ids are checked. */
  int32_t none;
  int32_t* words = table->words == NULL ? &none : table->words;
  return te_apply_rows(optimizer, &as_floats, words, slots, n_slots, bags, gradient, hyper, workspace, workspace_bytes);
}
