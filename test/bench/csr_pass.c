/*
 * The time of one pass over ids: they are read, and a triple of sample, row and gain is written for each, into memory
 * that is fresh every time, as results of a call are.
 *   csr_pass <ids> <threads> <repeats>  ->  {"passMs": ..., "passMinMs": ...}
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

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const long ids = atol(argv[1]);
  const int threads = atoi(argv[2]), repeats = atoi(argv[3]);
  int32_t* values = malloc(ids * 4);
  volatile long sum = 0;
  double* taken = malloc(repeats * sizeof(double));
  if (values == NULL || taken == NULL) return 1;
  for (long i = 0; i < ids; i++) values[i] = (int32_t)(i * 2654435761u >> 1);
  for (int n = -2; n < repeats; n++) {
    part parts[64];
    pthread_t own[64];
    const double start = now();
    int32_t* samples = malloc(ids * 4);
    int32_t* rows = malloc(ids * 4);
    float* gains = malloc(ids * 4);
    if (samples == NULL || rows == NULL || gains == NULL) return 1;
    for (int t = 0; t < threads; t++) {
      parts[t] = (part){values, samples, rows, gains, ids * t / threads, ids * (t + 1) / threads};
      if (t > 0) pthread_create(&own[t], NULL, pass, &parts[t]);
    }
    pass(&parts[0]);
    for (int t = 1; t < threads; t++) pthread_join(own[t], NULL);
    if (n >= 0) taken[n] = now() - start;
    sum += samples[ids / 2] + rows[ids / 3];
    free(samples);
    free(rows);
    free(gains);
  }
  qsort(taken, repeats, sizeof(double), ascending);
  printf("{\"passMs\": %g, \"passMinMs\": %g}\n", taken[repeats / 2], taken[0]);
  return 0;
}
