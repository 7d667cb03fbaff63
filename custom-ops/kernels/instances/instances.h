/* Which sets of kernels this architecture has. */
#ifndef TFJS_EMBEDDINGS_INSTANCES_H_
#define TFJS_EMBEDDINGS_INSTANCES_H_

#include "core.h"

#if defined(__x86_64__) || defined(_M_X64)
#define TE_HAS_AVX 1
#define TE_HAS_BASELINE 1
#define TE_BASELINE_NAME "sse2"
#elif defined(__aarch64__) || defined(_M_ARM64)
#define TE_HAS_BASELINE 1
#define TE_BASELINE_NAME "neon"
#endif

#if !defined(__wasm__)
TE_INTERNAL extern const te_kernels te_kernels_scalar;
#if defined(TE_HAS_BASELINE)
TE_INTERNAL extern const te_kernels te_kernels_baseline;
#endif
#if defined(TE_HAS_AVX)
TE_INTERNAL extern const te_kernels te_kernels_avx2;
TE_INTERNAL extern const te_kernels te_kernels_avx512;
#endif
#endif

#endif
