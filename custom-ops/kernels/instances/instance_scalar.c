/* Plain C, for architectures without vectors of ours, and to test it anywhere. */

#if !defined(__wasm__)
#define TE_SCALAR
/* Lanes are loops here: with all of them in their callers, a compiler took 45 s where it takes 3. */
#if !defined(TE_INLINE) && !defined(_MSC_VER)
#define TE_INLINE static inline
#endif
#include "instances.h"
#define TE_INSTANCE te_kernels_scalar
#define TE_INSTANCE_NAME "scalar"
#include "instance.h"
#endif
