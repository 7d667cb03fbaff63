/* Checks of everything that a host passes, and how a batch is cut into parts of equal work. */
#include "core.h"

te_status te_failure(int32_t code, int64_t position, int32_t id) {
  te_status status;
  status.code = code;
  status.id = id;
  status.position = position;
  return status;
}

te_status te_ok(void) { return te_failure(TE_OK, 0, 0); }

uint32_t te_id_limit(int64_t rows) { return rows > 0x80000000ll ? 0x80000000u : (uint32_t)rows; }

/* A WebAssembly memory has 4 GiB, of which one table may fill more than half. */
int te_fits(int64_t a, int64_t b) {
#if defined(__wasm__)
  const uint64_t most = (uint64_t)SIZE_MAX / sizeof(float);
#else
  const uint64_t most = (uint64_t)PTRDIFF_MAX / sizeof(float);
#endif
  return b == 0 || (uint64_t)a <= most / (uint64_t)b;
}

int te_rows_are_whole(const te_rows* table, int need_data) {
  if (table->codec < 0 || table->codec >= TE_CODECS || table->rows < 0 || table->dim < 1) return 0;
  if (!te_fits(table->rows, te_row_words(table->codec, table->dim))) return 0;
  return !need_data || table->rows == 0 || table->data != NULL;
}

static te_status check_splits(const te_bags* bags) {
  const int32_t* splits = bags->row_splits;
  const int64_t batch = bags->batch;
  int32_t falls = 0;
  if (splits[0] != 0) return te_failure(TE_BAD_SPLITS, 0, splits[0]);
  for (int64_t b = 0; b < batch; b++) falls |= splits[b] > splits[b + 1];
  if (falls) {
    int64_t b = 0;
    while (b + 1 < batch && splits[b] <= splits[b + 1]) b++;
    return te_failure(TE_BAD_SPLITS, b + 1, splits[b + 1]);
  }
  if (splits[batch] != bags->nnz) return te_failure(TE_BAD_SPLITS, batch, splits[batch]);
  return te_ok();
}

te_status te_check(const te_rows* table, const te_bags* bags, int need_data) {
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (table == NULL || bags == NULL || !te_rows_are_whole(table, need_data)) return bad;
  if (!te_fits(table->rows, table->dim)) return bad;
  if (bags->nnz < 0 || bags->nnz > INT32_MAX || bags->batch < 0 || bags->batch >= INT32_MAX) return bad;
  if (!te_fits(bags->batch, table->dim)) return bad;
  if (bags->row_splits == NULL || (bags->nnz > 0 && bags->values == NULL)) return bad;
  if (bags->combiner < TE_SUM || bags->combiner > TE_SQRTN) return bad;
  if (bags->out_of_range != TE_ERROR && bags->out_of_range != TE_ZERO) return bad;
  if (!(bags->max_norm >= 0.0f)) return bad;
  return check_splits(bags);
}

te_status te_check_batch(const te_rows* table, const te_bags* bags) {
  const te_status status = te_check(table, bags, 1);
  if (status.code != TE_OK || bags->out_of_range != TE_ERROR) return status;
  const uint32_t limit = te_id_limit(table->rows);
  for (int64_t i = 0; i < bags->nnz; i++) {
    if ((uint32_t)bags->values[i] >= limit) return te_failure(TE_ID_OUT_OF_RANGE, i, bags->values[i]);
  }
  return te_ok();
}

int64_t te_first_bag(const te_bags* bags, int64_t part, int64_t parts) {
  const int64_t work = bags->nnz + bags->batch;
  const int64_t target = work / parts * part + work % parts * part / parts;
  int64_t low = 0, high = bags->batch;
  if (part >= parts) return bags->batch;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (bags->row_splits[middle] + middle < target) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

#define IDS_PER_TASK 1024 /* fewer are not worth a second thread */

int64_t te_task_count(const te_bags* bags, int64_t dim, int32_t workers) {
  const int64_t work = bags->nnz + bags->batch, useful = work / IDS_PER_TASK;
  const int64_t brief = workers < 2 ? 0 : TE_SHORT_TASKS(work, dim);
  const int64_t tasks = te_max(te_min(useful, (int64_t)workers * TE_TASKS_PER_WORKER), te_min(brief, TE_MOST_TASKS));
  return te_max(1, te_min(tasks, bags->batch));
}

float te_divisor(const te_bags* bags, int64_t first, int64_t end) {
  const float* weights = bags->weights;
  double sum = 0.0;
  if (bags->combiner == TE_SUM) return 1.0f;
  if (weights == NULL) {
    const double n = (double)(end - first);
    return (float)(bags->combiner == TE_MEAN ? n : te_sqrt(n));
  }
  if (bags->combiner == TE_MEAN) {
    for (int64_t i = first; i < end; i++) sum += (double)weights[i];
    return (float)sum;
  }
  for (int64_t i = first; i < end; i++) sum += (double)weights[i] * (double)weights[i];
  return (float)te_sqrt(sum);
}
