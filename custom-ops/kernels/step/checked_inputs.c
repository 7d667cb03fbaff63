/* What a batch is checked for before a step, where nothing else would refuse it. */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

int64_t te_first_nan(const float* values, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    uint32_t bits;
    te_copy(&bits, values + i, 4);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return i;
  }
  return -1;
}

int64_t te_whole_ids(const float* numbers, int64_t count, int32_t* ids) {
  for (int64_t i = 0; i < count; i++) {
    if (!(numbers[i] > -16777216.0f && numbers[i] < 16777216.0f)) return i;
    ids[i] = (int32_t)numbers[i];
    uint32_t given, whole;
    const float back = (float)ids[i];
    te_copy(&given, numbers + i, 4);
    te_copy(&whole, &back, 4);
    /* By their bits, but for -0: TensorFlow's threads take the smallest numbers for 0. */
    if (given != whole && given != 0x80000000u) return i;
  }
  return -1;
}

te_status te_feature_rows(const int32_t* ids, int64_t count, const int32_t* sizes, int64_t features, int32_t* rows) {
  int64_t feature = 0;
  int32_t offset = 0;
  for (int64_t i = 0; i < count; i++) {
    if ((uint32_t)ids[i] >= (uint32_t)sizes[feature]) return te_failure(TE_ID_OUT_OF_RANGE, i, ids[i]);
    rows[i] = offset + ids[i];
    offset += sizes[feature];
    if (++feature == features) feature = offset = 0;
  }
  return te_ok();
}

#endif
