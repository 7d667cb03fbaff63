/* Which set of kernels runs: the best one that the processor has, or the one that TFJS_EMBEDDINGS_ISA names. */
#include "instances.h"

#if !defined(__wasm__)
#include <stdlib.h>
#include <string.h>

#if defined(TE_HAS_AVX) && defined(_MSC_VER) && !defined(__clang__)
#include <immintrin.h>
static int has_avx2(void) {
  int r[4];
  __cpuid(r, 1);
  /* FMA, OSXSAVE, AVX, F16C; then the state that the system saves; then AVX2. */
  const int wanted = 1 << 12 | 1 << 27 | 1 << 28 | 1 << 29;
  if ((r[2] & wanted) != wanted) return 0;
  if ((_xgetbv(0) & 6) != 6) return 0;
  __cpuidex(r, 7, 0);
  return (r[1] & (1 << 5)) != 0;
}
static int has_avx512(void) {
  int r[4];
  if (!has_avx2() || (_xgetbv(0) & 0xe6) != 0xe6) return 0;
  __cpuidex(r, 7, 0);
  return (r[1] & (1 << 16)) != 0 && (r[1] & (1 << 17)) != 0;
}
#elif defined(TE_HAS_AVX)
#include <cpuid.h>
/* __builtin_cpu_supports knows the name since GCC 11. */
static int has_f16c(void) {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}
static int has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c(); }
static int has_avx512(void) { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); }
#endif

static const te_kernels* choose(void) {
  const te_kernels* available[4];
  int count = 0;
#if defined(TE_HAS_AVX)
#if !defined(_MSC_VER) || defined(__clang__)
  __builtin_cpu_init();
#endif
  if (has_avx2() && has_avx512()) available[count++] = &te_kernels_avx512;
  if (has_avx2()) available[count++] = &te_kernels_avx2;
#endif
#if defined(TE_HAS_BASELINE)
  available[count++] = &te_kernels_baseline;
#endif
  available[count++] = &te_kernels_scalar;
  const char* wanted = getenv("TFJS_EMBEDDINGS_ISA");
  for (int i = 0; wanted != NULL && i < count; i++) {
    if (strcmp(available[i]->name, wanted) == 0) return available[i];
  }
  return available[0];
}

/* Several threads may choose at once; they choose the same. */
const te_kernels* te_kernels_in_use(void) {
#if defined(_MSC_VER) && !defined(__clang__)
  static const te_kernels* volatile chosen;
  if (chosen == NULL) chosen = choose();
  return chosen;
#else
  static const te_kernels* chosen;
  const te_kernels* kernels = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
  if (kernels == NULL) {
    kernels = choose();
    __atomic_store_n(&chosen, kernels, __ATOMIC_RELEASE);
  }
  return kernels;
#endif
}

/*
 * Half a vector of 16 columns, the rest masked, is waited for like a whole one: where it runs over the end of its line of
 * memory, the line behind is fetched too. Narrow rows that end so are taken by vectors of 8.
 */
const te_kernels* te_kernels_of(int64_t dim) {
  const te_kernels* kernels = te_kernels_in_use();
#if defined(TE_HAS_AVX)
  const int64_t rest = dim % 16;
  if (kernels == &te_kernels_avx512 && dim < 64 && rest > 0 && rest <= 8) return &te_kernels_avx2;
#endif
  return kernels;
}

const char* te_instruction_set(void) { return te_kernels_in_use()->name; }

#endif
