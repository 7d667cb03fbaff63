/*
 * A sum over the elements of a table, of its bits, row and column mixed: it adds up over any cut of the table. The same as
 * src/backends/table_checksum.ts.
 */
#include "core.h"

#if !defined(__wasm__) /* JavaScript does it there */

#include <string.h>

#define LEAST_TASK ((int64_t)1 << 16) /* elements */
#define MOST_TASKS 256

/* Of each sum: what rows begin with, and how far columns are apart. */
static const uint32_t ROW_SALT[2] = {0x3c6ef372u, 0x9b05688cu};
static const uint32_t COLUMN_STEP[2] = {0x9e3779b1u, 0xc2b2ae3du};

typedef struct job {
  const float* values;
  const te_filled_part* part;
  int64_t rows_at_once;
  uint32_t sums[MOST_TASKS][2];
} job;

/* Each bit of the result depends on all of the number. The factors are those that Chris Wellons' search found best. */
TE_INLINE uint32_t mixed(uint32_t n) {
  n = (n ^ (n >> 16)) * 0x7feb352du;
  n = (n ^ (n >> 15)) * 0x846ca68bu;
  return n ^ (n >> 16);
}

static uint32_t sum_of_row(const float* values, int64_t count, uint32_t key, uint32_t step) {
  uint32_t sum = 0;
  for (int64_t column = 0; column < count; column++) {
    uint32_t bits;
    memcpy(&bits, values + column, sizeof bits);
    sum += mixed(bits ^ (key + (uint32_t)column * step));
  }
  return sum;
}

static void checksum_task(void* context, int64_t task, int32_t worker) {
  job* j = (job*)context;
  const te_filled_part* part = j->part;
  const int64_t first = task * j->rows_at_once, end = te_min(first + j->rows_at_once, part->rows);
  (void)worker;
  for (int lane = 0; lane < 2; lane++) {
    uint32_t sum = 0;
    for (int64_t row = first; row < end; row++) {
      const uint32_t at = (uint32_t)(part->first_row + part->row_step * row);
      const uint32_t key = mixed(at ^ ROW_SALT[lane]) + (uint32_t)part->first_column * COLUMN_STEP[lane];
      sum += sum_of_row(j->values + row * part->columns, part->columns, key, COLUMN_STEP[lane]);
    }
    j->sums[task][lane] = sum;
  }
}

void te_checksum(const float* values, const te_filled_part* part, uint32_t* sums) {
  sums[0] = sums[1] = 0;
  if (part->rows < 1 || part->columns < 1) return;
  const int64_t least = te_max(1, LEAST_TASK / part->columns);
  job j = {values, part, te_max(least, (part->rows + MOST_TASKS - 1) / MOST_TASKS), {{0}}};
  const int64_t tasks = (part->rows + j.rows_at_once - 1) / j.rows_at_once;
  te_parallel(tasks, te_get_threads(), checksum_task, &j);
  for (int64_t task = 0; task < tasks; task++) {
    sums[0] += j.sums[task][0];
    sums[1] += j.sums[task][1];
  }
}

#endif
