/*
 * What the memory allows for a lookup of bags and a step, less than which no program takes that does both: random rows
 * are read and summed in bags, then the different ones among them are read and written back in the order of the table,
 * with those of the slots, by one gradient each. Which rows those are is known beforehand, and so is how work is shared.
 *   cc -O3 -march=native -pthread memory_limit.c -o memory_limit
 *   ./memory_limit <rows> <dim> <ids> <ids per bag> <batches> <slots, or -1 for a lookup alone> <threads> <repeats>
 * For each line on standard input prints {"ms"}: the least of all repeats at several distances of fetching ahead, in
 * each of which the next batch comes. dim: one of 8, 16, 32, 64, 128, 256 and 512.
 */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__x86_64__)
#define RELAX() __builtin_ia32_pause()
#else
#define RELAX() __asm__ volatile("" ::: "memory")
#endif
#define MOST_SLOTS 2
#define MOST_THREADS 64

/* The ids of a batch, the different ones in ascending order, and the bag in which each is first. */
typedef struct {
  int32_t *ids, *rows, *bags;
  int64_t count;
} batch;

typedef struct {
  float *table, *pooled, *slots[MOST_SLOTS];
  int64_t dim, ids, per_bag, ahead;
  int slot_count;
  const batch* now;
  int threads;
  /* Steps that were begun and, by thread, how far each has come: two phases a step. */
  atomic_long begun, done[MOST_THREADS];
  atomic_int over;
} machine;

typedef float v8 __attribute__((vector_size(32), aligned(4)));
typedef float v16 __attribute__((vector_size(64), aligned(4)));

/* Vectors that the processor has: compilers take wider ones apart, lane by lane. */
#if defined(__AVX512F__)
typedef v16 widest;
#else
typedef v8 widest;
#endif
#define LANES ((int64_t)(sizeof(widest) / sizeof(float)))

#define FETCH(row, columns, writes) \
  for (int64_t at = 0; at < (columns) * 4; at += 64) __builtin_prefetch((const char*)(row) + at, writes, 3)

/* COLUMNS: as many as eight vectors hold, for which there are registers; wider rows are read in several passes. */
#define KERNELS(D, T, COLUMNS)                                                                     \
  static void gather##D(const machine* m, int64_t first, int64_t end) {                            \
    enum { VECTORS = (COLUMNS) * 4 / sizeof(T) };                                                  \
    const int32_t* ids = m->now->ids;                                                              \
    for (int64_t b = first; b < end; b++) {                                                        \
      for (int64_t column = 0; column < D; column += COLUMNS) {                                    \
        T sum[VECTORS];                                                                            \
        memset(sum, 0, sizeof sum);                                                                \
        for (int64_t i = b * m->per_bag; i < (b + 1) * m->per_bag; i++) {                          \
          const int64_t next = LEAST(i + m->ahead, end * m->per_bag - 1);                          \
          FETCH(m->table + ids[next] * (int64_t)D + column, COLUMNS, 0);                           \
          const T* row = (const T*)(m->table + ids[i] * (int64_t)D + column);                      \
          _Pragma("GCC unroll 32") for (int k = 0; k < VECTORS; k++) sum[k] += row[k];             \
        }                                                                                          \
        memcpy(m->pooled + b * D + column, sum, sizeof sum);                                       \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  static void update##D(const machine* m, int64_t first, int64_t end) {                            \
    const int vectors = D * 4 / (int)sizeof(T);                                                    \
    const batch* now = m->now;                                                                     \
    for (int64_t i = first; i < end; i++) {                                                        \
      const int64_t next = now->rows[LEAST(i + m->ahead, end - 1)] * (int64_t)D;                   \
      const int64_t at_row = now->rows[i] * (int64_t)D;                                            \
      const T* g = (const T*)(m->pooled + now->bags[i] * (int64_t)D);                              \
      FETCH(m->table + next, D, 1);                                                                \
      T* row = (T*)(m->table + at_row);                                                            \
      _Pragma("GCC unroll 8") for (int k = 0; k < vectors; k++) row[k] -= 0.01f * g[k];            \
      for (int s = 0; s < m->slot_count; s++) {                                                    \
        FETCH(m->slots[s] + next, D, 1);                                                           \
        T* slot = (T*)(m->slots[s] + at_row);                                                      \
        _Pragma("GCC unroll 8") for (int k = 0; k < vectors; k++) slot[k] += 0.01f * g[k];         \
      }                                                                                            \
    }                                                                                              \
  }
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
KERNELS(8, v8, 8)
KERNELS(16, widest, 16)
KERNELS(32, widest, 32)
KERNELS(64, widest, 64)
KERNELS(128, widest, LEAST(128, 8 * LANES))
KERNELS(256, widest, 8 * LANES)
KERNELS(512, widest, 8 * LANES)

/* Threads wait without sleeping: what waking takes is no matter of the memory. */
static void wait_for_all(machine* m, int thread, long phase) {
  atomic_store(&m->done[thread], phase);
  for (int t = 0; t < m->threads; t++) {
    while (atomic_load(&m->done[t]) < phase) RELAX();
  }
}

static void take_part(machine* m, int thread) {
  const long step = atomic_load(&m->begun);
  const int64_t bags = m->ids / m->per_bag, t = thread, rows = m->now->count;
  const int64_t first = bags * t / m->threads, end = bags * (t + 1) / m->threads;
  const int64_t first_row = rows * t / m->threads, end_row = rows * (t + 1) / m->threads;
#define CASE(D)                                                        \
  case D:                                                              \
    gather##D(m, first, end);                                          \
    if (m->slot_count < 0) break;                                      \
    wait_for_all(m, thread, 2 * step - 1);                             \
    update##D(m, first_row, end_row);                                  \
    break;
  switch (m->dim) {
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
  wait_for_all(m, thread, 2 * step);
}

typedef struct {
  machine* m;
  int thread;
} place;

static void* help(void* argument) {
  const place* mine = argument;
  machine* m = mine->m;
  for (long known = atomic_load(&m->done[mine->thread]) / 2;;) {
    while (atomic_load(&m->begun) == known && !atomic_load(&m->over)) RELAX();
    if (atomic_load(&m->begun) == known) return NULL;
    known++;
    take_part(m, mine->thread);
  }
}

#define HUGE_PAGE ((size_t)1 << 21)

/* Memory as tables have it: on huge pages where the system has them, since small ones are another limit. */
static float* table_of(int64_t numbers) {
  const size_t whole = ((size_t)numbers * 4 + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  float* table = aligned_alloc(HUGE_PAGE, whole);
  if (table == NULL) exit(3);
#if defined(MADV_HUGEPAGE)
  madvise(table, whole, MADV_HUGEPAGE);
#endif
  for (int64_t i = 0; i < numbers; i++) table[i] = 1e-3f * (float)(i & 1023);
  return table;
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_row(const void* a, const void* b) {
  const int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
  return x < y ? -1 : x > y;
}

static void draw(batch* b, int64_t ids, int64_t per_bag, int64_t rows, int64_t* sorted, uint64_t* random) {
  b->ids = malloc((size_t)ids * 4);
  b->rows = malloc((size_t)ids * 4);
  b->bags = malloc((size_t)ids * 4);
  for (int64_t i = 0; i < ids; i++) {
    *random ^= *random << 13, *random ^= *random >> 7, *random ^= *random << 17;
    b->ids[i] = (int32_t)(*random % (uint64_t)rows);
    sorted[i] = (int64_t)b->ids[i] << 32 | i / per_bag;
  }
  qsort(sorted, (size_t)ids, sizeof *sorted, by_row);
  for (int64_t i = 0; i < ids; i++) {
    const int32_t row = (int32_t)(sorted[i] >> 32);
    if (b->count > 0 && b->rows[b->count - 1] == row) continue;
    b->rows[b->count] = row;
    b->bags[b->count++] = (int32_t)sorted[i];
  }
}

int main(int count, char** words) {
  if (count != 9) return 2;
  static machine m;
  const int64_t rows = atoll(words[1]);
  const int batches = atoi(words[5]), repeats = atoi(words[8]);
  m.dim = atoll(words[2]), m.ids = atoll(words[3]), m.per_bag = atoll(words[4]);
  m.slot_count = atoi(words[6]), m.threads = atoi(words[7]);
  if (m.slot_count > MOST_SLOTS || m.threads > MOST_THREADS) return 2;
  m.table = table_of(rows * m.dim);
  m.pooled = table_of(m.ids / m.per_bag * m.dim);
  for (int s = 0; s < m.slot_count; s++) m.slots[s] = table_of(rows * m.dim);
  batch* all = calloc((size_t)batches, sizeof *all);
  int64_t* sorted = malloc((size_t)m.ids * sizeof *sorted);
  uint64_t random = 0x9E3779B97F4A7C15ull;
  for (int b = 0; b < batches; b++) draw(&all[b], m.ids, m.per_bag, rows, sorted, &random);
  long steps = 0;
  for (int c = getchar(); c != EOF; c = getchar()) {
    if (c != '\n') continue;
    pthread_t helpers[MOST_THREADS];
    place places[MOST_THREADS];
    atomic_store(&m.over, 0);
    for (int t = 1; t < m.threads; t++) {
      places[t] = (place){&m, t};
      pthread_create(&helpers[t], NULL, help, &places[t]);
    }
    double least = 1e30;
    for (m.ahead = 8; m.ahead <= 96; m.ahead += m.ahead < 32 ? 8 : 32) {
      for (int r = -1; r < repeats; r++) {
        m.now = &all[steps++ % batches];
        const double start = now_ms();
        atomic_fetch_add(&m.begun, 1);
        take_part(&m, 0);
        const double ms = now_ms() - start;
        if (r >= 0 && ms < least) least = ms;
      }
    }
    atomic_store(&m.over, 1);
    for (int t = 1; t < m.threads; t++) pthread_join(helpers[t], NULL);
    printf("{\"ms\":%.5f}\n", least);
    fflush(stdout);
  }
  return 0;
}
