/*
 * Packed columns as vectors of floats: bytes (codes of int8 rows) and halves (float16), which lie in int32 words.
 *
 * A part reads whole words and nothing beyond the one that holds its last column; lanes after that column hold anything
 * finite, and are never stored. Threads which flush denormals (TensorFlow's do) see the same values: F16C widens halves
 * whatever is flushed, and what stands in for it uses integers and one product that has no denormal operand.
 */
#ifndef TFJS_EMBEDDINGS_SIMD_PACKED_H_
#define TFJS_EMBEDDINGS_SIMD_PACKED_H_

#include "../simd.h"

/* 112 = 127 - 15: what the exponent of a half lacks to be that of a float. */
#define TE_HALF_BIAS (112 << 23)
#define TE_HALF_UNIT 5.9604644775390625e-08f /* 2^-24, the smallest half */

/* One half as a float; exact, also for denormals, infinity and NaN. */
TE_INLINE float te_half_value(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffu;
  uint32_t bits;
  float value;
  if (magnitude < 0x400u) {
    value = (float)(int32_t)magnitude * TE_HALF_UNIT;
    te_copy(&bits, &value, 4);
  } else {
    bits = (magnitude << 13) + (magnitude >= 0x7c00u ? 2u * TE_HALF_BIAS : (uint32_t)TE_HALF_BIAS);
  }
  bits |= (uint32_t)(half & 0x8000u) << 16;
  te_copy(&value, &bits, 4);
  return value;
}

#if !defined(TE_SCALAR) && defined(__AVX512F__) && defined(__AVX512DQ__)
TE_INLINE te_v v_codes_of(__m128i x) { return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(x)); }
TE_INLINE te_v v_load_codes(const int32_t* p) { return v_codes_of(_mm_loadu_si128((const __m128i*)p)); }
TE_INLINE te_v v_load_codes_part(const int32_t* p, int n) {
  return v_codes_of(_mm512_castsi512_si128(_mm512_maskz_loadu_epi32((__mmask16)((1u << ((n + 3) / 4)) - 1u), p)));
}
TE_INLINE te_v v_load_halves(const int32_t* p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p)); }
TE_INLINE te_v v_load_halves_part(const int32_t* p, int n) {
  const __mmask16 words = (__mmask16)((1u << ((n + 1) / 2)) - 1u);
  return _mm512_cvtph_ps(_mm512_castsi512_si256(_mm512_maskz_loadu_epi32(words, p)));
}

#elif !defined(TE_SCALAR) && defined(__AVX2__)
TE_INLINE te_v v_codes_of(__m128i x) { return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(x)); }
TE_INLINE te_v v_load_codes(const int32_t* p) { return v_codes_of(_mm_loadl_epi64((const __m128i*)p)); }
TE_INLINE te_v v_load_codes_part(const int32_t* p, int n) {
  return n > 4 ? v_load_codes(p) : v_codes_of(_mm_cvtsi32_si128(*p));
}
TE_INLINE te_v v_halves_of(__m128i x) { return _mm256_cvtph_ps(x); }
TE_INLINE te_v v_load_halves(const int32_t* p) { return v_halves_of(_mm_loadu_si128((const __m128i*)p)); }
TE_INLINE te_v v_load_halves_part(const int32_t* p, int n) {
  const __m128i words = _mm_cmpgt_epi32(_mm_set1_epi32((n + 1) / 2), _mm_setr_epi32(0, 1, 2, 3));
  return v_halves_of(_mm_maskload_epi32((const int*)p, words));
}

#elif !defined(TE_SCALAR) && (defined(__SSE2__) || defined(_M_X64))
TE_INLINE te_v v_load_codes(const int32_t* p) {
  const __m128i zero = _mm_setzero_si128();
  return _mm_cvtepi32_ps(_mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(*p), zero), zero));
}
TE_INLINE te_v v_load_codes_part(const int32_t* p, int n) {
  (void)n;
  return v_load_codes(p);
}
TE_INLINE te_v v_halves_of(__m128i x) {
  const __m128i h = _mm_unpacklo_epi16(x, _mm_setzero_si128());
  const __m128i magnitude = _mm_and_si128(h, _mm_set1_epi32(0x7fff));
  const __m128i bias = _mm_set1_epi32(TE_HALF_BIAS);
  const __m128i is_special = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff));
  const __m128 is_small = _mm_castsi128_ps(_mm_cmplt_epi32(magnitude, _mm_set1_epi32(0x400)));
  const __m128i more = _mm_add_epi32(bias, _mm_and_si128(is_special, bias));
  const __m128 normal = _mm_castsi128_ps(_mm_add_epi32(_mm_slli_epi32(magnitude, 13), more));
  const __m128 small = _mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(TE_HALF_UNIT));
  const __m128i sign = _mm_slli_epi32(_mm_and_si128(h, _mm_set1_epi32(0x8000)), 16);
  const __m128 value = _mm_or_ps(_mm_and_ps(is_small, small), _mm_andnot_ps(is_small, normal));
  return _mm_or_ps(value, _mm_castsi128_ps(sign));
}
TE_INLINE te_v v_load_halves(const int32_t* p) { return v_halves_of(_mm_loadl_epi64((const __m128i*)p)); }
TE_INLINE te_v v_load_halves_part(const int32_t* p, int n) {
  return n > 2 ? v_load_halves(p) : v_halves_of(_mm_cvtsi32_si128(*p));
}

#elif !defined(TE_SCALAR) && defined(__wasm_simd128__)
TE_INLINE te_v v_load_codes(const int32_t* p) {
  const v128_t bytes = wasm_v128_load32_zero(p);
  return wasm_f32x4_convert_i32x4(wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(bytes)));
}
TE_INLINE te_v v_load_codes_part(const int32_t* p, int n) {
  (void)n;
  return v_load_codes(p);
}
TE_INLINE te_v v_halves_of(v128_t x) {
  const v128_t h = wasm_u32x4_extend_low_u16x8(x);
  const v128_t magnitude = wasm_v128_and(h, wasm_i32x4_splat(0x7fff));
  const v128_t bias = wasm_i32x4_splat(TE_HALF_BIAS);
  const v128_t is_special = wasm_i32x4_gt(magnitude, wasm_i32x4_splat(0x7bff));
  const v128_t is_small = wasm_i32x4_lt(magnitude, wasm_i32x4_splat(0x400));
  const v128_t more = wasm_i32x4_add(bias, wasm_v128_and(is_special, bias));
  const v128_t normal = wasm_i32x4_add(wasm_i32x4_shl(magnitude, 13), more);
  const v128_t small = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(magnitude), wasm_f32x4_splat(TE_HALF_UNIT));
  const v128_t sign = wasm_i32x4_shl(wasm_v128_and(h, wasm_i32x4_splat(0x8000)), 16);
  return wasm_v128_or(wasm_v128_bitselect(small, normal, is_small), sign);
}
TE_INLINE te_v v_load_halves(const int32_t* p) { return v_halves_of(wasm_v128_load64_zero(p)); }
TE_INLINE te_v v_load_halves_part(const int32_t* p, int n) {
  return n > 2 ? v_load_halves(p) : v_halves_of(wasm_v128_load32_zero(p));
}

#elif !defined(TE_SCALAR)
TE_INLINE te_v v_load_codes(const int32_t* p) {
  const uint8x8_t bytes = vreinterpret_u8_s32(vld1_dup_s32(p));
  return vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))));
}
TE_INLINE te_v v_load_codes_part(const int32_t* p, int n) {
  (void)n;
  return v_load_codes(p);
}
TE_INLINE te_v v_load_halves(const int32_t* p) { return vcvt_f32_f16(vreinterpret_f16_s32(vld1_s32(p))); }
TE_INLINE te_v v_load_halves_part(const int32_t* p, int n) {
  return n > 2 ? v_load_halves(p) : vcvt_f32_f16(vreinterpret_f16_s32(vld1_dup_s32(p)));
}

#else
TE_INLINE te_v v_load_codes_part(const int32_t* p, int n) {
  (void)n;
  TE_EACH_LANE((float)(((uint32_t)*p >> (8 * i)) & 0xffu));
}
TE_INLINE te_v v_load_codes(const int32_t* p) { return v_load_codes_part(p, 4); }
TE_INLINE te_v v_load_halves_part(const int32_t* p, int n) {
  TE_EACH_LANE(i < n ? te_half_value((uint16_t)((uint32_t)p[i / 2] >> (16 * (i % 2)))) : 0.0f);
}
TE_INLINE te_v v_load_halves(const int32_t* p) { return v_load_halves_part(p, 4); }
#endif

#endif
