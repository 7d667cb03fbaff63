/* Plain C, for architectures without vectors of ours, and to test it anywhere. */
#include "instances.h"

#if !defined(__wasm__)
#define TE_SCALAR
#define TE_INSTANCE te_kernels_scalar
#define TE_INSTANCE_NAME "scalar"
#include "instance.h"
#endif
