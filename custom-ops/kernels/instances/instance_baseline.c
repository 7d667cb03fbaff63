/* What every machine of the architecture has: SSE2, NEON, WebAssembly's 128-bit vectors. */
#include "instances.h"

#if defined(__wasm__) || defined(TE_HAS_BASELINE)
#define TE_INSTANCE te_kernels_baseline
#define TE_INSTANCE_NAME TE_BASELINE_NAME
#include "instance.h"
#endif
