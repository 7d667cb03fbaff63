/*
 * One vector of TE_LANES floats, with the same operations on every machine.
 *
 * te_mask selects the first n lanes: a masked load gives zeros elsewhere, a masked store leaves the rest of memory
 * alone, and neither touches memory beyond lane n. Tails go through the same operations as bodies, so a column's value
 * never depends on how wide the table is. Include it once per instance (instance_*.c).
 */
#ifndef TFJS_EMBEDDINGS_SIMD_H_
#define TFJS_EMBEDDINGS_SIMD_H_

#include "portable.h"

#if defined(TE_SCALAR)
/* handled at the end */
#elif defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define TE_LANES 16
typedef __m512 te_v;
typedef __mmask16 te_mask;
TE_INLINE te_mask v_mask(int n) { return (te_mask)((1u << n) - 1u); }
TE_INLINE te_v v_load(const float* p) { return _mm512_loadu_ps(p); }
TE_INLINE void v_store(float* p, te_v a) { _mm512_storeu_ps(p, a); }
TE_INLINE te_v v_load_part(const float* p, te_mask m) { return _mm512_maskz_loadu_ps(m, p); }
TE_INLINE void v_store_part(float* p, te_mask m, te_v a) { _mm512_mask_storeu_ps(p, m, a); }
TE_INLINE te_v v_set(float x) { return _mm512_set1_ps(x); }
TE_INLINE te_v v_add(te_v a, te_v b) { return _mm512_add_ps(a, b); }
TE_INLINE te_v v_sub(te_v a, te_v b) { return _mm512_sub_ps(a, b); }
TE_INLINE te_v v_mul(te_v a, te_v b) { return _mm512_mul_ps(a, b); }
TE_INLINE te_v v_div(te_v a, te_v b) { return _mm512_div_ps(a, b); }
TE_INLINE te_v v_sqrt(te_v a) { return _mm512_sqrt_ps(a); }
TE_INLINE te_v v_fma(te_v a, te_v b, te_v c) { return _mm512_fmadd_ps(a, b, c); }
TE_INLINE te_v v_min(te_v limit, te_v a) { return _mm512_min_ps(limit, a); }
TE_INLINE te_v v_max(te_v limit, te_v a) { return _mm512_max_ps(limit, a); }
TE_INLINE te_v v_if_zero(te_v test, te_v a, te_v b) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(test, _mm512_setzero_ps(), _CMP_EQ_OQ), b, a);
}
TE_INLINE float v_sum(te_v a) { return _mm512_reduce_add_ps(a); }
TE_INLINE int v_any_above(te_v a, te_v b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0; }

#elif defined(__AVX2__) && (defined(__FMA__) || defined(_MSC_VER))
#include <immintrin.h>
#define TE_LANES 8
typedef __m256 te_v;
typedef __m256i te_mask;
TE_INLINE te_mask v_mask(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
TE_INLINE te_v v_load(const float* p) { return _mm256_loadu_ps(p); }
TE_INLINE void v_store(float* p, te_v a) { _mm256_storeu_ps(p, a); }
TE_INLINE te_v v_load_part(const float* p, te_mask m) { return _mm256_maskload_ps(p, m); }
TE_INLINE void v_store_part(float* p, te_mask m, te_v a) { _mm256_maskstore_ps(p, m, a); }
TE_INLINE te_v v_set(float x) { return _mm256_set1_ps(x); }
TE_INLINE te_v v_add(te_v a, te_v b) { return _mm256_add_ps(a, b); }
TE_INLINE te_v v_sub(te_v a, te_v b) { return _mm256_sub_ps(a, b); }
TE_INLINE te_v v_mul(te_v a, te_v b) { return _mm256_mul_ps(a, b); }
TE_INLINE te_v v_div(te_v a, te_v b) { return _mm256_div_ps(a, b); }
TE_INLINE te_v v_sqrt(te_v a) { return _mm256_sqrt_ps(a); }
TE_INLINE te_v v_fma(te_v a, te_v b, te_v c) { return _mm256_fmadd_ps(a, b, c); }
TE_INLINE te_v v_min(te_v limit, te_v a) { return _mm256_min_ps(limit, a); }
TE_INLINE te_v v_max(te_v limit, te_v a) { return _mm256_max_ps(limit, a); }
TE_INLINE te_v v_if_zero(te_v test, te_v a, te_v b) {
  return _mm256_blendv_ps(b, a, _mm256_cmp_ps(test, _mm256_setzero_ps(), _CMP_EQ_OQ));
}
TE_INLINE float v_sum(te_v a) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
TE_INLINE int v_any_above(te_v a, te_v b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)) != 0; }

#elif defined(__SSE2__) || defined(_M_X64) || defined(__ARM_NEON) || defined(_M_ARM64) || defined(__wasm_simd128__)
#define TE_LANES 4
typedef int te_mask;
TE_INLINE te_mask v_mask(int n) { return n; }

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
typedef __m128 te_v;
TE_INLINE te_v v_load(const float* p) { return _mm_loadu_ps(p); }
TE_INLINE void v_store(float* p, te_v a) { _mm_storeu_ps(p, a); }
TE_INLINE te_v v_set(float x) { return _mm_set1_ps(x); }
TE_INLINE te_v v_three(float a, float b, float c) { return _mm_setr_ps(a, b, c, 0.0f); }
TE_INLINE float v_lane0(te_v a) { return _mm_cvtss_f32(a); }
TE_INLINE float v_lane1(te_v a) { return _mm_cvtss_f32(_mm_shuffle_ps(a, a, 1)); }
TE_INLINE float v_lane2(te_v a) { return _mm_cvtss_f32(_mm_movehl_ps(a, a)); }
TE_INLINE te_v v_add(te_v a, te_v b) { return _mm_add_ps(a, b); }
TE_INLINE te_v v_sub(te_v a, te_v b) { return _mm_sub_ps(a, b); }
TE_INLINE te_v v_mul(te_v a, te_v b) { return _mm_mul_ps(a, b); }
TE_INLINE te_v v_div(te_v a, te_v b) { return _mm_div_ps(a, b); }
TE_INLINE te_v v_sqrt(te_v a) { return _mm_sqrt_ps(a); }
TE_INLINE te_v v_fma(te_v a, te_v b, te_v c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
TE_INLINE te_v v_min(te_v limit, te_v a) { return _mm_min_ps(limit, a); }
TE_INLINE te_v v_max(te_v limit, te_v a) { return _mm_max_ps(limit, a); }
TE_INLINE te_v v_if_zero(te_v test, te_v a, te_v b) {
  const te_v zero = _mm_cmpeq_ps(test, _mm_setzero_ps());
  return _mm_or_ps(_mm_and_ps(zero, a), _mm_andnot_ps(zero, b));
}
TE_INLINE float v_sum(te_v a) {
  const __m128 two = _mm_add_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
TE_INLINE int v_any_above(te_v a, te_v b) { return _mm_movemask_ps(_mm_cmpgt_ps(a, b)) != 0; }

#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
typedef v128_t te_v;
TE_INLINE te_v v_load(const float* p) { return wasm_v128_load(p); }
TE_INLINE void v_store(float* p, te_v a) { wasm_v128_store(p, a); }
TE_INLINE te_v v_set(float x) { return wasm_f32x4_splat(x); }
TE_INLINE te_v v_three(float a, float b, float c) { return wasm_f32x4_make(a, b, c, 0.0f); }
TE_INLINE float v_lane0(te_v a) { return wasm_f32x4_extract_lane(a, 0); }
TE_INLINE float v_lane1(te_v a) { return wasm_f32x4_extract_lane(a, 1); }
TE_INLINE float v_lane2(te_v a) { return wasm_f32x4_extract_lane(a, 2); }
TE_INLINE te_v v_add(te_v a, te_v b) { return wasm_f32x4_add(a, b); }
TE_INLINE te_v v_sub(te_v a, te_v b) { return wasm_f32x4_sub(a, b); }
TE_INLINE te_v v_mul(te_v a, te_v b) { return wasm_f32x4_mul(a, b); }
TE_INLINE te_v v_div(te_v a, te_v b) { return wasm_f32x4_div(a, b); }
TE_INLINE te_v v_sqrt(te_v a) { return wasm_f32x4_sqrt(a); }
TE_INLINE te_v v_fma(te_v a, te_v b, te_v c) { return wasm_f32x4_add(wasm_f32x4_mul(a, b), c); }
TE_INLINE te_v v_min(te_v limit, te_v a) { return wasm_f32x4_pmin(a, limit); }
TE_INLINE te_v v_max(te_v limit, te_v a) { return wasm_f32x4_pmax(a, limit); }
TE_INLINE te_v v_if_zero(te_v test, te_v a, te_v b) {
  return wasm_v128_bitselect(a, b, wasm_f32x4_eq(test, wasm_f32x4_splat(0.0f)));
}
TE_INLINE float v_sum(te_v a) { return (v_lane0(a) + v_lane2(a)) + (v_lane1(a) + wasm_f32x4_extract_lane(a, 3)); }
TE_INLINE int v_any_above(te_v a, te_v b) { return wasm_v128_any_true(wasm_f32x4_gt(a, b)); }

#else
#include <arm_neon.h>
typedef float32x4_t te_v;
TE_INLINE te_v v_load(const float* p) { return vld1q_f32(p); }
TE_INLINE void v_store(float* p, te_v a) { vst1q_f32(p, a); }
TE_INLINE te_v v_set(float x) { return vdupq_n_f32(x); }
TE_INLINE te_v v_three(float a, float b, float c) {
  return vsetq_lane_f32(c, vsetq_lane_f32(b, vsetq_lane_f32(a, vdupq_n_f32(0.0f), 0), 1), 2);
}
TE_INLINE float v_lane0(te_v a) { return vgetq_lane_f32(a, 0); }
TE_INLINE float v_lane1(te_v a) { return vgetq_lane_f32(a, 1); }
TE_INLINE float v_lane2(te_v a) { return vgetq_lane_f32(a, 2); }
TE_INLINE te_v v_add(te_v a, te_v b) { return vaddq_f32(a, b); }
TE_INLINE te_v v_sub(te_v a, te_v b) { return vsubq_f32(a, b); }
TE_INLINE te_v v_mul(te_v a, te_v b) { return vmulq_f32(a, b); }
TE_INLINE te_v v_div(te_v a, te_v b) { return vdivq_f32(a, b); }
TE_INLINE te_v v_sqrt(te_v a) { return vsqrtq_f32(a); }
TE_INLINE te_v v_fma(te_v a, te_v b, te_v c) { return vfmaq_f32(c, a, b); }
TE_INLINE te_v v_min(te_v limit, te_v a) { return vbslq_f32(vcltq_f32(limit, a), limit, a); }
TE_INLINE te_v v_max(te_v limit, te_v a) { return vbslq_f32(vcgtq_f32(limit, a), limit, a); }
TE_INLINE te_v v_if_zero(te_v test, te_v a, te_v b) { return vbslq_f32(vceqq_f32(test, vdupq_n_f32(0.0f)), a, b); }
TE_INLINE float v_sum(te_v a) { return vaddvq_f32(a); }
TE_INLINE int v_any_above(te_v a, te_v b) { return vmaxvq_u32(vcgtq_f32(a, b)) != 0; }
#endif

TE_INLINE te_v v_load_part(const float* p, te_mask n) {
  if (n == 1) return v_three(p[0], 0.0f, 0.0f);
  if (n == 2) return v_three(p[0], p[1], 0.0f);
  return v_three(p[0], p[1], p[2]);
}
TE_INLINE void v_store_part(float* p, te_mask n, te_v a) {
  p[0] = v_lane0(a);
  if (n > 1) p[1] = v_lane1(a);
  if (n > 2) p[2] = v_lane2(a);
}

#else
#define TE_SCALAR
#endif

#if defined(TE_SCALAR)
/* Plain C for machines without any of the above. */
#define TE_LANES 4
typedef struct {
  float x[4];
} te_v;
typedef int te_mask;
#define TE_EACH_LANE(expression)                       \
  do {                                                 \
    te_v r;                                            \
    for (int i = 0; i < 4; i++) r.x[i] = (expression); \
    return r;                                          \
  } while (0)
TE_INLINE te_mask v_mask(int n) { return n; }
TE_INLINE te_v v_load(const float* p) { TE_EACH_LANE(p[i]); }
TE_INLINE te_v v_load_part(const float* p, te_mask n) { TE_EACH_LANE(i < n ? p[i] : 0.0f); }
TE_INLINE void v_store_part(float* p, te_mask n, te_v a) {
  for (int i = 0; i < n; i++) p[i] = a.x[i];
}
TE_INLINE void v_store(float* p, te_v a) { v_store_part(p, 4, a); }
TE_INLINE te_v v_set(float x) { TE_EACH_LANE(x); }
TE_INLINE te_v v_add(te_v a, te_v b) { TE_EACH_LANE(a.x[i] + b.x[i]); }
TE_INLINE te_v v_sub(te_v a, te_v b) { TE_EACH_LANE(a.x[i] - b.x[i]); }
TE_INLINE te_v v_mul(te_v a, te_v b) { TE_EACH_LANE(a.x[i] * b.x[i]); }
TE_INLINE te_v v_div(te_v a, te_v b) { TE_EACH_LANE(a.x[i] / b.x[i]); }
TE_INLINE te_v v_sqrt(te_v a) { TE_EACH_LANE(te_sqrtf(a.x[i])); }
TE_INLINE te_v v_fma(te_v a, te_v b, te_v c) { return v_add(v_mul(a, b), c); }
TE_INLINE te_v v_min(te_v limit, te_v a) { TE_EACH_LANE(limit.x[i] < a.x[i] ? limit.x[i] : a.x[i]); }
TE_INLINE te_v v_max(te_v limit, te_v a) { TE_EACH_LANE(limit.x[i] > a.x[i] ? limit.x[i] : a.x[i]); }
TE_INLINE te_v v_if_zero(te_v test, te_v a, te_v b) { TE_EACH_LANE(test.x[i] == 0.0f ? a.x[i] : b.x[i]); }
TE_INLINE float v_sum(te_v a) { return (a.x[0] + a.x[2]) + (a.x[1] + a.x[3]); }
TE_INLINE int v_any_above(te_v a, te_v b) {
  int above = 0;
  for (int i = 0; i < 4; i++) above |= a.x[i] > b.x[i];
  return above;
}
#endif

TE_INLINE te_v v_zero(void) { return v_set(0.0f); }

/* a / b, and 0 where b is 0: a square that is too small for a float must not turn a step into infinity. */
TE_INLINE te_v v_div_or_zero(te_v a, te_v b) { return v_if_zero(b, v_zero(), v_div(a, b)); }

/* Registers that hold one chunk of columns; wider rows are taken chunk by chunk. */
#define TE_CHUNK_VECTORS 8
#define TE_CHUNK (TE_CHUNK_VECTORS * TE_LANES)

#endif
