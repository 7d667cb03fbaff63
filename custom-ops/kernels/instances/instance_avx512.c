/* Compiled with AVX-512 F and DQ switched on; run only where dispatch.c finds both. */
#include "instances.h"

#if defined(TE_HAS_AVX)
#define TE_INSTANCE te_kernels_avx512
#define TE_INSTANCE_NAME "avx512"
#include "instance.h"
#endif
