/*
 * The time of one pass over ids: they are read, and a triple of sample, row and gain is written for each, into memory
 * that is fresh every time, as results of a call are; and, as `warmPassMs`, into memory that was written before.
 *   csr_pass <ids> <threads> <repeats>  ->  {"passMs": ..., "passMinMs": ..., "warmPassMs": ...}
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct part {
  const int32_t* ids;
  int32_t *samples, *rows;
  float* gains;
  long first, end;
} part;

static void* pass(void* argument) {
  const part* p = argument;
  for (long i = p->first; i < p->end; i++) {
    p->samples[i] = (int32_t)(i >> 4);
    p->rows[i] = p->ids[i] >> 3;
    p->gains[i] = 1.0f;
  }
  return NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef struct buffers {
  int32_t *samples, *rows;
  float* gains;
} buffers;

static buffers take(long ids) {
  return (buffers){malloc(ids * 4), malloc(ids * 4), malloc(ids * 4)};
}

static void give_back(buffers b) {
  free(b.samples);
  free(b.rows);
  free(b.gains);
}

static int is_whole(buffers b) { return b.samples != NULL && b.rows != NULL && b.gains != NULL; }

/* One pass in so many threads. */
static void run(const int32_t* values, buffers b, long ids, int threads) {
  part parts[64];
  pthread_t own[64];
  for (int t = 0; t < threads; t++) {
    parts[t] = (part){values, b.samples, b.rows, b.gains, ids * t / threads, ids * (t + 1) / threads};
    if (t > 0) pthread_create(&own[t], NULL, pass, &parts[t]);
  }
  pass(&parts[0]);
  for (int t = 1; t < threads; t++) pthread_join(own[t], NULL);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const long ids = atol(argv[1]);
  const int threads = atoi(argv[2]), repeats = atoi(argv[3]);
  if (ids < 1 || threads < 1 || threads > 64 || repeats < 1) return 2;
  int32_t* values = malloc(ids * 4);
  volatile long sum = 0;
  double* taken[2] = {malloc(repeats * sizeof(double)), malloc(repeats * sizeof(double))};
  const buffers kept = take(ids);
  if (values == NULL || taken[0] == NULL || taken[1] == NULL || !is_whole(kept)) return 1;
  for (long i = 0; i < ids; i++) values[i] = (int32_t)(i * 2654435761u >> 1);
  for (int n = -2; n < repeats; n++) {
    for (int is_warm = 0; is_warm < 2; is_warm++) {
      const double start = now();
      const buffers b = is_warm ? kept : take(ids);
      if (!is_whole(b)) return 1;
      run(values, b, ids, threads);
      if (n >= 0) taken[is_warm][n] = now() - start;
      sum += b.samples[ids / 2] + b.rows[ids / 3];
      if (!is_warm) give_back(b);
    }
  }
  for (int is_warm = 0; is_warm < 2; is_warm++) qsort(taken[is_warm], repeats, sizeof(double), ascending);
  printf("{\"passMs\": %g, \"passMinMs\": %g, \"warmPassMs\": %g}\n", taken[0][repeats / 2], taken[0][0],
         taken[1][repeats / 2]);
  return 0;
}
