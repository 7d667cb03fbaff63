/*
 * How a table begins: values that the seed, their row and their column alone decide, the same to the bit as those of
 * src/backends/fill.ts. Sums and products of doubles in the same order, none of them fused.
 */
#include "core.h"
#include "threefry.h"

#if !defined(__wasm__) /* JavaScript fills tables there */

#define AT_ONCE 1024 /* words, in the first cache */
#define LEAST_TASK ((int64_t)1 << 16)

typedef struct job {
  const te_fill* fill;
  const te_filled_part* part;
  int64_t rows_at_once;
  float* target;
} job;

TE_INLINE uint32_t leading_zeros(uint32_t n) {
#if defined(_MSC_VER) && !defined(__clang__)
  unsigned long highest;
  _BitScanReverse(&highest, n);
  return 31u - (uint32_t)highest;
#else
  return (uint32_t)__builtin_clz(n);
#endif
}

/* As `quantile` of src/backends/normal_quantile.ts. */
TE_INLINE double quantile(const double* table, uint32_t n) {
  const uint32_t positive = n | (n == 0), octave = leading_zeros(positive), leading = positive << octave;
  const double* terms = table + ((octave << 2) | ((leading >> 29) & 3u)) * TE_QUANTILE_TERMS;
  const double s = (double)(int32_t)(leading & 0x1fffffffu) * 3.725290298461914e-09 - 1.0; /* 2^-28 */
  const double upper = terms[3] + s * (terms[4] + s * terms[5]);
  return terms[0] + s * (terms[1] + s * (terms[2] + s * upper));
}

/* A word without its sign, as an odd number: how far the value is from the mean. */
TE_INLINE uint32_t distance(uint32_t word) { return ((word ^ (0u - (word >> 31))) << 1) | 1u; }

static void shape_values(const te_fill* fill, const uint32_t* words, int64_t count, float* values) {
  const double* table = fill->quantiles;
  const double first = fill->numbers[0], second = fill->numbers[1], tail = fill->numbers[2];
  if (fill->kind == TE_FILL_UNIFORM) {
    for (int64_t i = 0; i < count; i++) values[i] = (float)(first + (double)words[i] * second);
  } else if (fill->kind == TE_FILL_NORMAL) {
    for (int64_t i = 0; i < count; i++) {
      const double factor = words[i] >> 31 != 0 ? -second : second;
      values[i] = (float)(first + factor * quantile(table, distance(words[i])));
    }
  } else {
    const double kept = 1.0 - tail / 4294967296.0;
    for (int64_t i = 0; i < count; i++) {
      const double factor = words[i] >> 31 != 0 ? -second : second;
      const double n = tail + (double)distance(words[i]) * kept;
      values[i] = (float)(first + factor * quantile(table, (uint32_t)(uint64_t)n));
    }
  }
}

static void fill_row(const job* j, int64_t row, float* values) {
  const te_filled_part* part = j->part;
  const te_fill* fill = j->fill;
  const uint32_t at = (uint32_t)(part->first_row + part->row_step * row);
  uint32_t words[AT_ONCE + 2];
  for (int64_t column = 0; column < part->columns; column += AT_ONCE) {
    const int64_t count = te_min(AT_ONCE, part->columns - column);
    const uint64_t first = (uint64_t)part->first_column + (uint64_t)column;
    const int64_t odd = (int64_t)(first & 1u); /* two columns share a counter */
    const int64_t pairs = (odd + count + 1) / 2;
    for (int64_t p = 0; p < pairs; p++) {
      te_random_words(fill->key[0], fill->key[1], at, (uint32_t)(first / 2 + (uint64_t)p), words + 2 * p);
    }
    shape_values(fill, words + odd, count, values + column);
  }
}

/* TensorFlow's threads flush numbers that are denormal, JavaScript's do not. */
#if defined(__x86_64__) || defined(_M_X64) || defined(__SSE2__)
#include <xmmintrin.h>
static unsigned float_mode(void) { return _mm_getcsr(); }
static unsigned with_denormals(unsigned mode) { return mode & ~0x8040u; } /* flush to zero, denormals are zero */
static void set_float_mode(unsigned mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__) && !defined(_MSC_VER)
static unsigned float_mode(void) {
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return (unsigned)mode;
}
static unsigned with_denormals(unsigned mode) { return mode & ~(1u << 24); }
static void set_float_mode(unsigned mode) { __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode)); }
#else
static unsigned float_mode(void) { return 0; }
static unsigned with_denormals(unsigned mode) { return mode; }
static void set_float_mode(unsigned mode) { (void)mode; }
#endif

static void fill_task(void* context, int64_t task, int32_t worker) {
  const job* j = (const job*)context;
  const int64_t columns = j->part->columns, first = task * j->rows_at_once;
  const int64_t end = te_min(first + j->rows_at_once, j->part->rows);
  (void)worker;
  if (j->fill->kind == TE_FILL_CONSTANT) {
    const float value = (float)j->fill->numbers[0];
    for (int64_t i = first * columns; i < end * columns; i++) j->target[i] = value;
    return;
  }
  const unsigned mode = float_mode();
  set_float_mode(with_denormals(mode));
  for (int64_t row = first; row < end; row++) fill_row(j, row, j->target + row * columns);
  set_float_mode(mode);
}

typedef struct keyed_job {
  const te_fill* fill;
  const int32_t* keys;
  int64_t count, columns, rows_at_once;
  float* target;
} keyed_job;

static void fill_keyed_task(void* context, int64_t task, int32_t worker) {
  const keyed_job* k = (const keyed_job*)context;
  const int64_t first = task * k->rows_at_once, end = te_min(first + k->rows_at_once, k->count);
  const te_filled_part part = {0, 1, 1, 0, k->columns};
  const unsigned mode = float_mode();
  te_fill own = *k->fill;
  const job j = {&own, &part, 1, NULL};
  (void)worker;
  set_float_mode(with_denormals(mode));
  for (int64_t row = first; row < end; row++) {
    const uint32_t low = (uint32_t)k->keys[2 * row], high = (uint32_t)k->keys[2 * row + 1];
    te_random_words(k->fill->key[0], k->fill->key[1], low, high, own.key);
    fill_row(&j, 0, k->target + row * k->columns);
  }
  set_float_mode(mode);
}

void te_fill_keyed_rows(const te_fill* fill, const int32_t* keys, int64_t count, int64_t columns, float* target) {
  const int64_t rows = te_max(1, LEAST_TASK / 4 / columns);
  keyed_job k = {fill, keys, count, columns, rows, target};
  te_parallel((count + rows - 1) / rows, te_get_threads(), fill_keyed_task, &k);
}

void te_fill_part(const te_fill* fill, const te_filled_part* part, float* target) {
  if (part->rows < 1 || part->columns < 1) return;
  const int64_t rows = te_max(1, LEAST_TASK / part->columns);
  job j = {fill, part, rows, target};
  te_parallel((part->rows + rows - 1) / rows, te_get_threads(), fill_task, &j);
}

#endif
