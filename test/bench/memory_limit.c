/*
 * What the memory allows: random rows read and summed in bags, and random rows read and written back.
 *   cc -O3 -march=native -pthread memory_limit.c -o memory_limit
 *   ./memory_limit <rows> <dim> <ids> <ids per bag> <threads> <repeats>
 * For each line on standard input prints {"gatherMs", "rewriteMs"}: the best of several prefetch distances, of the
 * median over the repeats. dim: 8 or a multiple of 16 of those below.
 */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

typedef struct {
  float *table, *bags;
  const int32_t* ids;
  int64_t first, end, per_bag, dim, ahead;
  int rewrite;
} slice;

typedef float v8 __attribute__((vector_size(32), aligned(4)));
typedef float v16 __attribute__((vector_size(64), aligned(4)));

/* Vectors that the processor has: compilers take wider ones apart, lane by lane. */
#if defined(__AVX512F__)
typedef v16 widest;
#else
typedef v8 widest;
#endif
#define LANES ((int64_t)(sizeof(widest) / sizeof(float)))

/* Columns of a row to come. */
static inline void fetch(const slice* s, int64_t i, int64_t column, int64_t columns) {
  const int64_t next = i + s->ahead < s->end ? i + s->ahead : s->end - 1;
  const char* row = (const char*)(s->table + s->ids[next] * s->dim + column);
  for (int64_t at = 0; at < columns * 4; at += 64) {
    if (s->rewrite) {
      __builtin_prefetch(row + at, 1, 3);
    } else {
      __builtin_prefetch(row + at, 0, 3);
    }
  }
}

/* COLUMNS: as many as eight vectors hold, for which there are registers; wider rows are read in several passes. */
#define GATHER(D, T, COLUMNS)                                                                   \
  static void gather##D(const slice* s) {                                                       \
    enum { VECTORS = (COLUMNS) * 4 / sizeof(T) };                                               \
    for (int64_t b = s->first; b < s->end; b += s->per_bag) {                                   \
      for (int64_t column = 0; column < D; column += COLUMNS) {                                 \
        T sum[VECTORS];                                                                         \
        memset(sum, 0, sizeof sum);                                                             \
        for (int64_t i = b; i < b + s->per_bag; i++) {                                          \
          fetch(s, i, column, COLUMNS);                                                         \
          const T* row = (const T*)(s->table + s->ids[i] * s->dim + column);                    \
          _Pragma("GCC unroll 32") for (int k = 0; k < VECTORS; k++) sum[k] += row[k];          \
        }                                                                                       \
        memcpy(s->bags + b / s->per_bag * s->dim + column, sum, sizeof sum);                    \
      }                                                                                         \
    }                                                                                           \
  }                                                                                             \
  static void rewrite##D(const slice* s) {                                                      \
    for (int64_t i = s->first; i < s->end; i++) {                                               \
      fetch(s, i, 0, D);                                                                        \
      T* row = (T*)(s->table + s->ids[i] * s->dim);                                             \
      const T* g = (const T*)(s->bags + i / s->per_bag * s->dim);                               \
      const int vectors = D * 4 / (int)sizeof(T);                                               \
      _Pragma("GCC unroll 32") for (int k = 0; k < vectors; k++) row[k] -= 0.01f * g[k];        \
    }                                                                                           \
  }
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
GATHER(8, v8, 8)
GATHER(16, widest, 16)
GATHER(32, widest, 32)
GATHER(64, widest, 64)
GATHER(128, widest, LEAST(128, 8 * LANES))
GATHER(256, widest, 8 * LANES)
GATHER(512, widest, 8 * LANES)

static void* work(void* argument) {
  const slice* s = argument;
#define CASE(D)                           \
  case D:                                 \
    (s->rewrite ? rewrite##D : gather##D)(s); \
    break;
  switch (s->dim) {
    CASE(8)
    CASE(16)
    CASE(32)
    CASE(64)
    CASE(128)
    CASE(256)
    CASE(512)
    default:
      break;
  }
  return NULL;
}

#define HUGE_PAGE ((size_t)1 << 21)

/* Memory as tables have it: on huge pages where the system has them, since small ones are another limit. */
static float* table_of(size_t bytes) {
  const size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  float* table = aligned_alloc(HUGE_PAGE, whole);
#if defined(MADV_HUGEPAGE)
  if (table != NULL) madvise(table, whole, MADV_HUGEPAGE);
#endif
  return table;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

int main(int count, char** words) {
  if (count != 7) return 2;
  const int64_t rows = atoll(words[1]), dim = atoll(words[2]), ids = atoll(words[3]), per_bag = atoll(words[4]);
  const int threads = atoi(words[5]), repeats = atoi(words[6]), batches = 16;
  float* table = table_of((size_t)(rows * dim) * 4);
  float* bags = aligned_alloc(64, (size_t)(ids / per_bag * dim) * 4);
  int32_t* values = malloc((size_t)(ids * batches) * 4);
  double* times = malloc(sizeof(double) * (size_t)repeats);
  uint64_t random = 0x9E3779B97F4A7C15ull;
  for (int64_t i = 0; i < rows * dim; i++) table[i] = 1e-3f * (float)(i & 1023);
  memset(bags, 0, (size_t)(ids / per_bag * dim) * 4);
  for (int64_t i = 0; i < ids * batches; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    values[i] = (int32_t)(random % (uint64_t)rows);
  }
  for (int c = getchar(); c != EOF; c = getchar()) {
    if (c != '\n') continue;
    double best[2] = {1e30, 1e30}, least[2] = {1e30, 1e30};
    for (int rewrite = 0; rewrite < 2; rewrite++) {
      for (int64_t ahead = 16; ahead <= 96; ahead += ahead < 32 ? 16 : 32) {
        for (int r = -2; r < repeats; r++) {
          pthread_t helpers[64];
          slice slices[64];
          for (int t = 0; t < threads; t++) {
            const int64_t n = ids / per_bag;
            slices[t] = (slice){table,
                                bags,
                                values + (r + 2) % batches * ids,
                                n * t / threads * per_bag,
                                n * (t + 1) / threads * per_bag,
                                per_bag,
                                dim,
                                ahead,
                                rewrite};
          }
          const double start = now();
          for (int t = 1; t < threads; t++) pthread_create(&helpers[t], NULL, work, &slices[t]);
          work(&slices[0]);
          for (int t = 1; t < threads; t++) pthread_join(helpers[t], NULL);
          if (r >= 0) times[r] = now() - start;
        }
        qsort(times, (size_t)repeats, sizeof(double), by_value);
        if (times[repeats / 2] < best[rewrite]) best[rewrite] = times[repeats / 2];
        if (times[0] < least[rewrite]) least[rewrite] = times[0];
      }
    }
    printf("{\"gatherMs\":%.4f,\"rewriteMs\":%.4f,\"gatherMinMs\":%.4f,\"rewriteMinMs\":%.4f}\n", best[0], best[1],
           least[0], least[1]);
    fflush(stdout);
  }
  return 0;
}
