/*
 * Stochastic rounding of floats to halves: up or down by chance, so that the expectation is the float.
 *
 * The random words are those of threefry.h. Plain loops over integers, which compilers turn into vectors.
 */
#ifndef TFJS_EMBEDDINGS_STOCHASTIC_HALF_H_
#define TFJS_EMBEDDINGS_STOCHASTIC_HALF_H_

#include "../portable.h"
#include "../threefry.h"

#define TE_LEAST_NORMAL_HALF 0x38800000 /* 2^-14, as the bits of a float */
#define TE_FLOAT_INFINITY 0x7f800000
#define TE_LARGEST_HALF 0x7bff /* 65504 */
#define TE_SMALL_UNITS 35184372088832.0f /* 2^45: a unit of halves below 2^-14 is 2^21 of these */

/* All bits, or none: vectors take no branches. */
TE_INLINE int32_t te_all_ones(int condition) { return -(int32_t)condition; }

/*
 * The halves next to a float are those of its bits without the last 13; what the random bits carry into them decides.
 * Below 2^-14 the distance of halves is 2^-24, and 21 bits behind it are looked at. Finite floats beyond 65504 stay 65504;
 * infinity stays, and so does NaN.
 */
TE_INLINE uint32_t te_stochastic_half(float value, uint32_t random) {
  uint32_t bits;
  te_copy(&bits, &value, 4);
  const int32_t magnitude = (int32_t)(bits & 0x7fffffffu);
  const int32_t is_small = te_all_ones(magnitude < TE_LEAST_NORMAL_HALF);
  const int32_t is_special = te_all_ones(magnitude >= TE_FLOAT_INFINITY);
  const int32_t is_nan = te_all_ones(magnitude > TE_FLOAT_INFINITY);
  const int32_t small_bits = magnitude & is_small;
  float small;
  te_copy(&small, &small_bits, 4);
  const uint32_t units = (uint32_t)(int32_t)(small * TE_SMALL_UNITS);
  const int32_t of_small = (int32_t)((units + (random >> 11)) >> 21);
  /* Infinity and NaN go beyond the largest half here, which the last line mends; nothing goes beyond 32 bits. */
  const int32_t carried = (int32_t)(((uint32_t)magnitude + (random >> 19)) >> 13) - (112 << 10);
  const int32_t is_large = te_all_ones(carried > TE_LARGEST_HALF);
  const int32_t of_normal = (TE_LARGEST_HALF & is_large) | (carried & ~is_large);
  const int32_t finite = (of_small & is_small) | (of_normal & ~is_small);
  /* The sign of NaN is not kept: JavaScript does not know it. */
  const int32_t sign = (int32_t)(bits >> 16) & 0x8000 & ~is_nan;
  return (uint32_t)((0x7c00 & is_special) | (0x0200 & is_nan) | (finite & ~is_special) | sign);
}

/* Rounds `count` columns of a row into words, two in each; values has room for one more than an odd count. */
TE_INLINE void te_round_row(float* values, int64_t count, uint32_t key0, uint32_t key1, uint32_t row, int32_t* words) {
  const int64_t pairs = (count + 1) / 2;
  if (count % 2 != 0) values[count] = 0.0f;
  for (int64_t p = 0; p < pairs; p++) {
    uint32_t random[2];
    te_random_words(key0, key1, row, (uint32_t)p, random);
    const uint32_t low = te_stochastic_half(values[2 * p], random[0]);
    const uint32_t high = te_stochastic_half(values[2 * p + 1], random[1]);
    words[p] = (int32_t)(low | (high << 16));
  }
}

#endif
