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

#endif
