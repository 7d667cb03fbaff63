/*
 * The plain loop beside which disk tables are measured: so many threads read rows of a file past the page cache, each the
 * page in which its row lies, one after the other. `read_loop FILE THREADS SEED READS ROWS START BYTES` prints how many
 * rows a second came; `direct` or `buffered`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int file;
static int64_t reads, rows, start, bytes, threads;
static uint64_t seed;

static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

static void* work(void* number) {
  char* page;
  char* row = malloc((size_t)bytes);
  if (row == NULL || posix_memalign((void**)&page, PAGE, 2 * PAGE) != 0) exit(1);
  for (int64_t i = (intptr_t)number; i < reads; i += threads) {
    const int64_t at = start + (int64_t)(mixed(seed + (uint64_t)i) % (uint64_t)rows) * bytes;
    const int64_t from = at / PAGE * PAGE;
    const size_t size = (size_t)((at + bytes - from + PAGE - 1) / PAGE * PAGE);
    if (pread(file, page, size, from) < at + bytes - from) exit(1);
    memcpy(row, page + (at - from), (size_t)bytes);
  }
  free(page);
  free(row);
  return NULL;
}

int main(int count, char** words) {
  pthread_t all[64];
  struct timespec begun, ended;
  if (count != 8) return 2;
  threads = atoll(words[2]);
  seed = strtoull(words[3], NULL, 10);
  reads = atoll(words[4]);
  rows = atoll(words[5]);
  start = atoll(words[6]);
  bytes = atoll(words[7]);
  file = open(words[1], O_RDONLY | O_DIRECT);
  const char* how = "direct";
  if (file < 0) {
    file = open(words[1], O_RDONLY);
    how = "buffered";
  }
  if (file < 0 || threads < 1 || threads > 64 || rows < 1 || bytes < 1 || bytes > PAGE) return 2;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  for (intptr_t i = 0; i < threads; i++) pthread_create(&all[i], NULL, work, (void*)i);
  for (int64_t i = 0; i < threads; i++) pthread_join(all[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &ended);
  const double seconds = (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
  printf("%.0f %s\n", (double)reads / seconds, how);
  return 0;
}
