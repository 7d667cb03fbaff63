/*
 * Several callers use the pool of custom-ops/kernels/threads.c at once, while helpers sleep in the middle of tasks, as
 * they do when the system takes them off their core. Each task must run once, by a worker that was invited.
 *   thread_pool <seed> <jobs>      built with -fsanitize=thread
 * Ends with 0, or tells what is wrong and ends with 1; the sanitizer ends it with 66.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core.h"

#define CALLERS 3
#define MOST_TASKS 40
#define MOST_WORKERS 4

typedef struct job {
  uint64_t random;
  int32_t workers;
  int64_t sums[MOST_WORKERS]; /* by worker: no two tasks of one worker run at a time */
  int32_t runs[MOST_TASKS];
  int32_t strangers;
} job;

static uint64_t next(uint64_t* state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

static void work(void* context, int64_t task, int32_t worker) {
  job* j = context;
  uint64_t mixed = j->random + (uint64_t)task * 0x9E3779B97F4A7C15ull;
  if (worker != 0 && next(&mixed) % 16 == 0) {
    const struct timespec nap = {0, 2000000};
    nanosleep(&nap, NULL);
  }
  if (worker < 0 || worker >= j->workers) {
    __atomic_fetch_add(&j->strangers, 1, __ATOMIC_RELAXED);
    return;
  }
  j->runs[task]++;
  for (int i = 0; i < 200; i++) j->sums[worker] += (int64_t)(next(&mixed) & 7);
}

static int64_t jobs;
static int wrong;

static void* call(void* seed) {
  uint64_t state = (uint64_t)(uintptr_t)seed * 0x9E3779B97F4A7C15ull + 1;
  for (int64_t n = 0; n < jobs; n++) {
    job j = {.random = next(&state), .workers = (int32_t)(next(&state) % MOST_WORKERS) + 1};
    const int64_t tasks = (int64_t)(next(&state) % (MOST_TASKS + 1));
    te_parallel(tasks, j.workers, work, &j);
    int faults = j.strangers;
    for (int64_t task = 0; task < MOST_TASKS; task++) faults += j.runs[task] != (task < tasks);
    if (faults > 0) __atomic_store_n(&wrong, 1, __ATOMIC_SEQ_CST);
  }
  return NULL;
}

int main(int count, char** words) {
  if (count != 3) return 2;
  pthread_t callers[CALLERS];
  jobs = atoll(words[2]);
  te_set_threads(MOST_WORKERS);
  for (int i = 0; i < CALLERS; i++) {
    pthread_create(&callers[i], NULL, call, (void*)(uintptr_t)(atoll(words[1]) * CALLERS + i + 1));
  }
  for (int i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
  if (wrong) puts("a task ran twice or never, or by a worker that was not invited");
  return wrong;
}
