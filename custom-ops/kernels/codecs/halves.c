/* Floats to the nearest halves, ties to even, and back; with F16C where the processor has it. */
#include "../core.h"

#include "simd_packed.h"

#if !defined(__wasm__) /* nothing there asks for it */

#if defined(__x86_64__) && !defined(_MSC_VER)
#define TE_HAS_F16C 1
#include <immintrin.h>
#endif

/* The nearest half of a float. NaN loses its sign and what it carries, as in stochastic_half.h. */
static uint16_t nearest_half(float value) {
  uint32_t bits;
  te_copy(&bits, &value, 4);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7e00;
  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* 65520 and more */
  if (magnitude >= 0x38800000u) {                                  /* 2^-14: normal halves */
    const uint32_t odd = (magnitude >> 13) & 1u;
    return (uint16_t)(sign | ((magnitude - TE_HALF_BIAS + 0xfffu + odd) >> 13));
  }
  if (magnitude <= 0x33000000u) return (uint16_t)sign; /* 2^-25: half of the smallest half, a tie to 0 */
  /* The mantissa in units of 2^-24, of which `drop` bits are rounded off. */
  const uint32_t drop = 126u - (magnitude >> 23);
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t kept = mantissa >> drop;
  const uint32_t rest = mantissa & ((1u << drop) - 1u), middle = 1u << (drop - 1u);
  return (uint16_t)(sign | (kept + (rest > middle || (rest == middle && (kept & 1u) != 0))));
}

static void plain_halves(const float* floats, int64_t count, uint16_t* halves) {
  for (int64_t i = 0; i < count; i++) halves[i] = nearest_half(floats[i]);
}

static void plain_floats(const uint16_t* halves, int64_t count, float* floats) {
  for (int64_t i = 0; i < count; i++) floats[i] = te_half_value(halves[i]);
}

#if defined(TE_HAS_F16C)
__attribute__((target("avx,f16c"))) static void f16c_halves(const float* floats, int64_t count, uint16_t* halves) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 some = _mm256_loadu_ps(floats + i);
    /* The instruction keeps the sign of NaN, and the plain version does not. */
    if (_mm256_movemask_ps(_mm256_cmp_ps(some, some, _CMP_UNORD_Q)) != 0) {
      plain_halves(floats + i, 8, halves + i);
    } else {
      _mm_storeu_si128((__m128i*)(halves + i), _mm256_cvtps_ph(some, _MM_FROUND_TO_NEAREST_INT));
    }
  }
  plain_halves(floats + i, count - i, halves + i);
}

__attribute__((target("avx,f16c"))) static void f16c_floats(const uint16_t* halves, int64_t count, float* floats) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(floats + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(halves + i))));
  }
  plain_floats(halves + i, count - i, floats + i);
}

/* Of the instruction sets that were chosen, those that come with it. */
static int has_f16c(void) { return te_kernels_in_use()->name[0] == 'a'; }
#endif

void te_floats_to_halves(const float* floats, int64_t count, uint16_t* halves) {
#if defined(TE_HAS_F16C)
  if (has_f16c()) {
    f16c_halves(floats, count, halves);
    return;
  }
#endif
  plain_halves(floats, count, halves);
}

void te_halves_to_floats(const uint16_t* halves, int64_t count, float* floats) {
#if defined(TE_HAS_F16C)
  if (has_f16c()) {
    f16c_floats(halves, count, floats);
    return;
  }
#endif
  plain_floats(halves, count, floats);
}

#endif
