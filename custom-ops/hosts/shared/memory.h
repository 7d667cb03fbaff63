/* What the hosts check of memory before anything is written: sizes that no product runs over, and buffers apart. */
#ifndef TFJS_EMBEDDINGS_MEMORY_H_
#define TFJS_EMBEDDINGS_MEMORY_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether two buffers share a byte. */
static inline bool te_overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return a_bytes != 0 && b_bytes != 0 && x < y + b_bytes && y < x + a_bytes;
}

/* Whether a x b numbers of 4 bytes can be addressed. */
static inline bool te_addressable(int64_t a, int64_t b) {
  return a >= 0 && b >= 0 && (b == 0 || a <= PTRDIFF_MAX / 4 / b);
}

#endif /* TFJS_EMBEDDINGS_MEMORY_H_ */
