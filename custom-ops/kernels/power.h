/* x to the power p in double, accurate to about 1e-14, without a C library and without tables. */
#ifndef TFJS_EMBEDDINGS_POWER_H_
#define TFJS_EMBEDDINGS_POWER_H_

#include "portable.h"

TE_INLINE double te_from_bits(uint64_t bits) {
  double x;
  te_copy(&x, &bits, sizeof x);
  return x;
}

/* log2 of a positive, finite number: exponent, and 2 atanh((m - 1) / (m + 1)) for the rest, 0.7 < m < 1.42. */
TE_INLINE double te_log2(double x) {
  double exponent = 0.0;
  if (x < 2.2250738585072014e-308) { /* subnormal */
    x *= 18014398509481984.0;
    exponent = -54.0;
  }
  uint64_t bits;
  te_copy(&bits, &x, sizeof bits);
  int64_t e = (int64_t)(bits >> 52) - 1023;
  double m = te_from_bits((bits & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    e++;
  }
  exponent += (double)e;
  const double t = (m - 1.0) / (m + 1.0), s = t * t;
  double sum = 1.0 / 23.0;
  sum = sum * s + 1.0 / 21.0;
  sum = sum * s + 1.0 / 19.0;
  sum = sum * s + 1.0 / 17.0;
  sum = sum * s + 1.0 / 15.0;
  sum = sum * s + 1.0 / 13.0;
  sum = sum * s + 1.0 / 11.0;
  sum = sum * s + 1.0 / 9.0;
  sum = sum * s + 1.0 / 7.0;
  sum = sum * s + 1.0 / 5.0;
  sum = sum * s + 1.0 / 3.0;
  sum = sum * s + 1.0;
  return exponent + 2.0 * t * sum * 1.4426950408889634;
}

/* 2 to the power y, |y| < 2000: whole part into the exponent, Taylor for the rest. */
TE_INLINE double te_exp2(double y) {
  const int64_t n = (int64_t)(y + (y < 0.0 ? -0.5 : 0.5));
  const double z = (y - (double)n) * 0.6931471805599453;
  double sum = 1.0;
  for (int k = 14; k >= 1; k--) sum = sum * z / (double)k + 1.0;
  /* In two halves, so that results below the normal range and above the largest number come out right. */
  const int64_t half = n / 2;
  sum *= te_from_bits((uint64_t)(half + 1023) << 52);
  return sum * te_from_bits((uint64_t)(n - half + 1023) << 52);
}

/* As pow(x, p) for x >= 0; NaN for x < 0. */
TE_INLINE double te_power(double x, double p) {
  if (p == 0.5) return te_sqrt(x);
  if (p == -0.5) return 1.0 / te_sqrt(x);
  if (p == 0.0) return 1.0;
  if (p == 1.0) return x;
  if (!(x >= 0.0) || p != p) return x - x + (0.0 * p) + te_sqrt(-1.0);
  const double infinity = te_from_bits(0x7ff0000000000000ull);
  if (x == 1.0) return 1.0;
  if (x == 0.0) return p > 0.0 ? 0.0 : infinity;
  if (x == infinity) return p > 0.0 ? infinity : 0.0;
  const double y = p * te_log2(x);
  if (y > 1100.0) return infinity;
  if (y < -1200.0) return 0.0;
  return te_exp2(y);
}

#endif
