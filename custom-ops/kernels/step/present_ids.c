/* Ids that count, and their weights: padding is left out of its bags. */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

TE_INLINE int is_absent(int32_t id, int32_t skip_zero, int32_t skip_negative) {
  return (skip_zero && id == 0) || (skip_negative && id < 0);
}

te_status te_present_ids(const int32_t* ids, int64_t count, const int32_t* row_splits, int64_t batch, int32_t skip_zero,
                         int32_t skip_negative, int32_t* values, int32_t* splits, int64_t* kept) {
  if (row_splits[0] != 0) return te_failure(TE_BAD_SPLITS, 0, 0);
  int64_t used = 0;
  splits[0] = 0;
  for (int64_t bag = 0; bag < batch; bag++) {
    const int32_t end = row_splits[bag + 1];
    if (end < row_splits[bag] || end > count) return te_failure(TE_BAD_SPLITS, bag + 1, 0);
    for (int32_t i = row_splits[bag]; i < end; i++) {
      if (is_absent(ids[i], skip_zero, skip_negative)) continue;
      values[used++] = ids[i];
    }
    splits[bag + 1] = (int32_t)used;
  }
  if (row_splits[batch] != count) return te_failure(TE_BAD_SPLITS, batch, 0);
  *kept = used;
  return te_ok();
}

int64_t te_present_weights(const int32_t* ids, int64_t count, int32_t skip_zero, int32_t skip_negative,
                           const float* weights, float* present) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!is_absent(ids[i], skip_zero, skip_negative)) present[kept++] = weights[i];
  }
  return kept;
}

int64_t te_spread_weights(const int32_t* ids, int64_t count, int32_t skip_zero, int32_t skip_negative,
                          const float* present, int64_t kept, float* weights) {
  int64_t wanted = 0;
  for (int64_t i = 0; i < count; i++) wanted += !is_absent(ids[i], skip_zero, skip_negative);
  if (wanted != kept) return wanted;
  for (int64_t i = 0; i < count; i++) weights[i] = is_absent(ids[i], skip_zero, skip_negative) ? 0.0f : *present++;
  return wanted;
}

#endif
