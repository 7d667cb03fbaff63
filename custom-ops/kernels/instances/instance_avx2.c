/* Compiled with AVX2, FMA and F16C switched on; run only where dispatch.c finds them. */
#include "instances.h"

#if defined(TE_HAS_AVX)
#define TE_INSTANCE te_kernels_avx2
#define TE_INSTANCE_NAME "avx2"
#include "instance.h"
#endif
