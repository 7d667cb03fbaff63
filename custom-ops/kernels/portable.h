/* What differs between compilers: inlining, prefetch, square roots, atomics. Nothing here needs a C library. */
#ifndef TFJS_EMBEDDINGS_PORTABLE_H_
#define TFJS_EMBEDDINGS_PORTABLE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#include <math.h>
#include <string.h>
#define TE_INLINE static __forceinline
#define TE_NOINLINE __declspec(noinline)
#define TE_LIKELY(x) (x)
#define TE_UNLIKELY(x) (x)
#define TE_RESTRICT __restrict
#define te_sqrtf(x) sqrtf(x)
#define te_sqrt(x) sqrt(x)
#define te_copy(to, from, bytes) memcpy((to), (from), (bytes))
#define te_fill(to, byte, bytes) memset((to), (byte), (bytes))
#else
#if !defined(TE_INLINE) /* compilers take minutes to put checks of a sanitizer into bodies that are inlined so often */
#define TE_INLINE static inline __attribute__((always_inline))
#endif
#define TE_NOINLINE __attribute__((noinline))
#define TE_LIKELY(x) __builtin_expect(!!(x), 1)
#define TE_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TE_RESTRICT __restrict__
#define te_sqrtf(x) __builtin_sqrtf(x)
#define te_sqrt(x) __builtin_sqrt(x)
#define te_copy(to, from, bytes) __builtin_memcpy((to), (from), (bytes))
#define te_fill(to, byte, bytes) __builtin_memset((to), (byte), (bytes))
#endif

/*
 * Prefetch takes an address as a number: it may point anywhere, and computing it is never undefined. Lines go to the
 * second cache: many more can be on their way there than to the first, whose few places for lines to come are what
 * random rows would wait for.
 */
#if defined(__wasm__)
#define te_prefetch(address) ((void)(address))
#define te_prefetch_write(address) ((void)(address))
#elif defined(_MSC_VER) && !defined(__clang__)
#if defined(_M_X64)
#define te_prefetch(address) _mm_prefetch((const char*)(address), _MM_HINT_T1)
#define te_prefetch_write(address) _mm_prefetch((const char*)(address), _MM_HINT_T1)
#else
#define te_prefetch(address) __prefetch((const void*)(address))
#define te_prefetch_write(address) __prefetch((const void*)(address))
#endif
#else
#define te_prefetch(address) __builtin_prefetch((const void*)(address), 0, 2)
#if defined(__x86_64__) || defined(__i386__)
/* Its prefetch for writing goes to the first cache. */
#define te_prefetch_write(address) te_prefetch(address)
#else
#define te_prefetch_write(address) __builtin_prefetch((const void*)(address), 1, 2)
#endif
#endif

/* Functions of the core that other files of the core call, and no host. */
#if defined(_WIN32) || defined(__wasm__)
#define TE_INTERNAL
#else
#define TE_INTERNAL __attribute__((visibility("hidden")))
#endif

TE_INLINE int64_t te_min(int64_t a, int64_t b) { return a < b ? a : b; }
TE_INLINE int64_t te_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* The number of the lowest bit that is set; one is. */
TE_INLINE int te_lowest_bit(uint64_t bits) {
#if defined(_MSC_VER) && !defined(__clang__)
  unsigned long index;
  _BitScanForward64(&index, bits);
  return (int)index;
#else
  return __builtin_ctzll(bits);
#endif
}

/* ---- touching ---- */

/*
 * WebAssembly cannot prefetch. Before a block of rows is worked on, a tight loop loads one word of each of their lines:
 * the loads do not wait for one another, and the work then finds the rows in the cache.
 */
#if defined(__wasm__)

/* Functions of their own: engines of WebAssembly give up on registers where one function holds all variants. */
#define TE_APART static __attribute__((noinline, unused))

/* Takes what was loaded: engines leave loads out whose values are not stored. */
typedef volatile int32_t te_sink;

/* Whether each of ids [count] is below the limit. */
TE_INLINE int te_all_below(const int32_t* ids, int32_t count, uint32_t limit) {
  uint32_t highest = 0;
  for (int32_t i = 0; i < count; i++) highest = (uint32_t)ids[i] > highest ? (uint32_t)ids[i] : highest;
  return highest < limit;
}

/*
 * Rows of ids [count]; numbers that name no row are left out. A processor looks so many instructions ahead: the fewer
 * a row takes, the more rows are on their way at a time.
 */
TE_APART void te_touch_rows(const float* table, const int32_t* ids, int32_t count, uint32_t limit, int32_t dim,
                            te_sink* sink) {
  const uint32_t words = (uint32_t)dim;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, i = 0;
  /* Rows that begin inside a line of 64 bytes may end in one line more. */
  const int straddles = (((uint32_t)(uintptr_t)table | words * 4) & 63) != 0;
#define ROW(n) const int32_t* r##n = (const int32_t*)table + (uint32_t)ids[i + n] * words
#define LINE(at) s0 ^= r0[(at)], s1 ^= r1[(at)], s2 ^= r2[(at)], s3 ^= r3[(at)]
  if (te_all_below(ids, count, limit)) {
    if (words == 32 && !straddles) {
      for (; i + 4 <= count; i += 4) {
        ROW(0);
        ROW(1);
        ROW(2);
        ROW(3);
        LINE(0);
        LINE(16);
      }
    }
    for (; i + 4 <= count; i += 4) {
      ROW(0);
      ROW(1);
      ROW(2);
      ROW(3);
      for (uint32_t at = 0; at < words; at += 16) LINE(at);
      if (straddles) LINE(words - 1);
    }
  }
  for (; i < count; i++) {
    if ((uint32_t)ids[i] >= limit) continue;
    ROW(0);
    for (uint32_t at = 0; at < words; at += 16) s0 ^= r0[at];
    if (straddles) s0 ^= r0[words - 1];
  }
#undef ROW
#undef LINE
  *sink = s0 ^ s1 ^ s2 ^ s3;
}

/* Rows of this many columns that a block touches: what stays in the first cache until it is used. */
TE_INLINE int32_t te_touched_at_once(int64_t dim) { return (int32_t)te_max(16, te_min(128, 8192 / te_max(1, dim))); }

#else
#define TE_APART static
#endif

#endif
