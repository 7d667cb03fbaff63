/*
 * Random words by number: Threefry-2x32 with 20 rounds, as in src/backends/counter_random.ts. Key, row and pair of columns
 * alone decide over them.
 */
#ifndef TFJS_EMBEDDINGS_THREEFRY_H_
#define TFJS_EMBEDDINGS_THREEFRY_H_

#include "portable.h"

#define TE_ROTATED(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
#define TE_MIX(n) \
  a += b;         \
  b = TE_ROTATED(b, n) ^ a;

/* The words of the even and of the odd column of a pair. */
TE_INLINE void te_random_words(uint32_t key0, uint32_t key1, uint32_t row, uint32_t pair, uint32_t words[2]) {
  const uint32_t key2 = key0 ^ key1 ^ 0x1bd11bdau;
  uint32_t a = row + key0, b = pair + key1;
  TE_MIX(13) TE_MIX(15) TE_MIX(26) TE_MIX(6)
  a += key1, b += key2 + 1u;
  TE_MIX(17) TE_MIX(29) TE_MIX(16) TE_MIX(24)
  a += key2, b += key0 + 2u;
  TE_MIX(13) TE_MIX(15) TE_MIX(26) TE_MIX(6)
  a += key0, b += key1 + 3u;
  TE_MIX(17) TE_MIX(29) TE_MIX(16) TE_MIX(24)
  a += key1, b += key2 + 4u;
  TE_MIX(13) TE_MIX(15) TE_MIX(26) TE_MIX(6)
  words[0] = a + key2;
  words[1] = b + key0 + 5u;
}

#undef TE_MIX
#undef TE_ROTATED

#endif
