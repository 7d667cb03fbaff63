/* Which set of kernels runs: the best one that the processor has, or the one that TFJS_EMBEDDINGS_ISA names. */
#include "instances.h"

#if !defined(__wasm__)
#include <stdlib.h>
#include <string.h>

#if defined(TE_HAS_AVX)
/*
 * Bits of CPUID, and of XGETBV for the state that the system saves. What compilers offer for this brings functions of
 * their own library along, a slow memcpy among them.
 */
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
static void ask_cpu(int leaf, int r[4]) { __cpuidex(r, leaf, 0); }
static int64_t saved_state(void) { return (int64_t)_xgetbv(0); }
#else
#include <cpuid.h>
static void ask_cpu(int leaf, int r[4]) { __cpuid_count(leaf, 0, r[0], r[1], r[2], r[3]); }
static int64_t saved_state(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (int64_t)high << 32 | low;
}
#endif

static int has_avx2(void) {
  int r[4];
  ask_cpu(0, r);
  if (r[0] < 7) return 0;
  ask_cpu(1, r);
  const int wanted = 1 << 12 | 1 << 27 | 1 << 28 | 1 << 29; /* FMA, OSXSAVE, AVX, F16C */
  if ((r[2] & wanted) != wanted || (saved_state() & 6) != 6) return 0;
  ask_cpu(7, r);
  return (r[1] & 1 << 5) != 0;
}
static int has_avx512(void) {
  int r[4];
  if (!has_avx2() || (saved_state() & 0xe6) != 0xe6) return 0;
  ask_cpu(7, r);
  return (r[1] & 1 << 16) != 0 && (r[1] & 1 << 17) != 0; /* AVX512F, AVX512DQ */
}
#endif

static const te_kernels* choose(void) {
  const te_kernels* available[4];
  int count = 0;
#if defined(TE_HAS_AVX)
  if (has_avx512()) available[count++] = &te_kernels_avx512;
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
const te_kernels* te_kernels_of(const te_rows* table) {
  const te_kernels* kernels = te_kernels_in_use();
#if defined(TE_HAS_AVX)
  const int64_t rest = table->dim % 16;
  const int is_narrow = table->codec == TE_FLOAT32 && table->dim < 64;
  if (kernels == &te_kernels_avx512 && is_narrow && rest > 0 && rest <= 8) return &te_kernels_avx2;
#else
  (void)table;
#endif
  return kernels;
}

const char* te_instruction_set(void) { return te_kernels_in_use()->name; }

#endif
