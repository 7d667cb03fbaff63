/* Sums of SUMS parts each, however wide vectors are: the same on every processor and for any number of threads. */
#ifndef TFJS_EMBEDDINGS_PARTIAL_SUMS_H_
#define TFJS_EMBEDDINGS_PARTIAL_SUMS_H_

#include "../core.h"

#define SUMS 16

TE_INLINE float total(float sums[SUMS]) {
  for (int64_t half = SUMS / 2; half > 0; half /= 2) {
    for (int64_t k = 0; k < half; k++) sums[k] += sums[k + half];
  }
  return sums[0];
}

TE_INLINE float dot_of(const float* a, const float* b, int64_t size) {
  float sums[SUMS] = {0};
  int64_t j = 0;
  for (; j + SUMS <= size; j += SUMS) {
    for (int64_t k = 0; k < SUMS; k++) sums[k] += a[j + k] * b[j + k];
  }
  for (int64_t k = 0; j + k < size; k++) sums[k] += a[j + k] * b[j + k];
  return total(sums);
}

#endif
