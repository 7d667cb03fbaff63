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
#define TE_INLINE static inline __attribute__((always_inline))
#define TE_NOINLINE __attribute__((noinline))
#define TE_LIKELY(x) __builtin_expect(!!(x), 1)
#define TE_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TE_RESTRICT __restrict__
#define te_sqrtf(x) __builtin_sqrtf(x)
#define te_sqrt(x) __builtin_sqrt(x)
#define te_copy(to, from, bytes) __builtin_memcpy((to), (from), (bytes))
#define te_fill(to, byte, bytes) __builtin_memset((to), (byte), (bytes))
#endif

/* Prefetch takes an address as a number: it may point anywhere, and computing it is never undefined. */
#if defined(__wasm__)
#define te_prefetch(address) ((void)(address))
#define te_prefetch_write(address) ((void)(address))
#elif defined(_MSC_VER) && !defined(__clang__)
#if defined(_M_X64)
#define te_prefetch(address) _mm_prefetch((const char*)(address), _MM_HINT_T0)
#define te_prefetch_write(address) _mm_prefetch((const char*)(address), _MM_HINT_T0)
#else
#define te_prefetch(address) __prefetch((const void*)(address))
#define te_prefetch_write(address) __prefetch((const void*)(address))
#endif
#else
#define te_prefetch(address) __builtin_prefetch((const void*)(address), 0, 3)
#define te_prefetch_write(address) __builtin_prefetch((const void*)(address), 1, 3)
#endif

/* Functions of the core that other files of the core call, and no host. */
#if defined(_WIN32) || defined(__wasm__)
#define TE_INTERNAL
#else
#define TE_INTERNAL __attribute__((visibility("hidden")))
#endif

TE_INLINE int64_t te_min(int64_t a, int64_t b) { return a < b ? a : b; }
TE_INLINE int64_t te_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- touching ---- */

/*
 * WebAssembly cannot prefetch. Before a block of rows is worked on, a tight loop loads one word of each of their lines:
 * the loads do not wait for one another, and the work then finds the rows in the cache.
 */
#if defined(__wasm__)

/* Functions of their own: engines of WebAssembly give up on registers where one function holds all variants. */
#define TE_APART static __attribute__((noinline, unused))

/* Takes what was loaded: engines leave loads out whose values nobody stores. */
typedef volatile int32_t te_sink;

/* Rows of ids [count]; numbers that name no row stand for row 0, of which there must be one. */
TE_APART void te_touch_rows(const float* table, const int32_t* ids, int32_t count, uint32_t limit, int32_t dim,
                            te_sink* sink) {
  const uint32_t bytes = (uint32_t)dim * 4;
  /* Rows that begin inside a line of 64 bytes may end in one line more. */
  const uint32_t straddles = (((uint32_t)(uintptr_t)table | bytes) & 63) != 0;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int32_t i = 0; i < count; i += 4) {
    const uint32_t a = (uint32_t)ids[i];
    const uint32_t b = i + 1 < count ? (uint32_t)ids[i + 1] : a;
    const uint32_t c = i + 2 < count ? (uint32_t)ids[i + 2] : a;
    const uint32_t d = i + 3 < count ? (uint32_t)ids[i + 3] : a;
    const char* rows = (const char*)table;
    const char* ra = rows + (a < limit ? a : 0) * bytes;
    const char* rb = rows + (b < limit ? b : 0) * bytes;
    const char* rc = rows + (c < limit ? c : 0) * bytes;
    const char* rd = rows + (d < limit ? d : 0) * bytes;
#define TOUCH(at)                     \
  s0 ^= *(const int32_t*)(ra + (at)); \
  s1 ^= *(const int32_t*)(rb + (at)); \
  s2 ^= *(const int32_t*)(rc + (at)); \
  s3 ^= *(const int32_t*)(rd + (at));
    for (uint32_t at = 0; at < bytes; at += 64) {
      TOUCH(at)
    }
    if (straddles) {
      TOUCH(bytes - 4)
    }
#undef TOUCH
  }
  *sink = s0 ^ s1 ^ s2 ^ s3;
}

/* Rows of this many columns that a block touches: what stays in the first cache until it is used. */
TE_INLINE int32_t te_touched_at_once(int64_t dim) { return (int32_t)te_max(16, te_min(128, 8192 / te_max(1, dim))); }

#else
#define TE_APART static
#endif

#endif
