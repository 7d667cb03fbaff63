/* Products of matrices for dense layers, where the host has no fast ones of its own. */
#include "../core.h"

/* Multiplications that are worth waking a thread for. */
#define LEAST_WORK ((int64_t)1 << 20)
#define ROWS_PER_TASK 8

typedef struct rows_run {
  te_product product;
  const te_matmul* job;
  int64_t tasks;
} rows_run;

/* After the sums come bias and activation, while the rows are in the cache. */
static void finish_rows(const te_matmul* job, float* rows, int64_t count) {
  for (int64_t i = 0; i < count; i++, rows += job->n) {
    if (job->bias != NULL) {
      for (int64_t j = 0; j < job->n; j++) rows[j] += job->bias[j];
    }
    if (!job->relu) continue;
    for (int64_t j = 0; j < job->n; j++) rows[j] = rows[j] <= 0.0f ? 0.0f : rows[j]; /* NaN stays */
  }
}

static void rows_task(void* context, int64_t task, int32_t worker) {
  const rows_run* run = context;
  const int64_t blocks = (run->job->m + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
  const int64_t first = blocks * task / run->tasks * ROWS_PER_TASK;
  const int64_t end = te_min(run->job->m, blocks * (task + 1) / run->tasks * ROWS_PER_TASK);
  te_product part = run->product;
  (void)worker;
  part.a += first * part.a_row;
  part.c += first * part.n;
  part.m = end - first;
  TE_KERNEL(product)(&part);
  finish_rows(run->job, part.c, part.m);
}

/* Whether `a` * `b` * `c` floats can be addressed. */
static int fits(int64_t a, int64_t b, int64_t c) {
  const uint64_t most = (uint64_t)SIZE_MAX / 2 / sizeof(float);
  if (a < 0 || b < 0 || c < 0) return 0;
  if (a == 0 || b == 0 || c == 0) return 1;
  return (uint64_t)a <= most / (uint64_t)b && (uint64_t)(a * b) <= most / (uint64_t)c;
}

static int is_turned(const te_matmul* job) { return job->transpose_b && job->k > 1 && job->n > 1; }

size_t te_matrix_product_scratch(const te_matmul* job) {
  if (!fits(1, job->k, job->n)) return SIZE_MAX;
  return is_turned(job) ? (size_t)(job->k * job->n) * sizeof(float) : 0;
}

static void turn(const te_matmul* job, const float* b, float* turned) {
  for (int64_t p = 0; p < job->k; p++) {
    for (int64_t j = 0; j < job->n; j++) turned[p * job->n + j] = b[j * job->k + p];
  }
}

te_status te_matrix_product(const te_matmul* job, float* scratch) {
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (!fits(job->batch, job->m, job->n) || !fits(job->batch_a, job->m, job->k) || !fits(job->batch_b, job->k, job->n)) {
    return bad;
  }
  if (job->batch_a != 1 && job->batch_a != job->batch) return bad;
  if (job->batch_b != 1 && job->batch_b != job->batch) return bad;
  if (job->batch == 0 || job->m == 0 || job->n == 0) return te_ok();
  if (job->out == NULL || (job->k > 0 && (job->a == NULL || job->b == NULL))) return bad;
  if (is_turned(job) && scratch == NULL) return te_failure(TE_BAD_WORKSPACE, 0, 0);
  const int32_t workers = te_get_threads();
  const double work = (double)job->m * (double)job->n * (double)job->k;
  rows_run run = {.job = job, .tasks = 1};
  if (work >= 2.0 * LEAST_WORK) {
    const int64_t blocks = (job->m + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    run.tasks = te_min(te_min((int64_t)(work / LEAST_WORK), blocks), (int64_t)workers * TE_TASKS_PER_WORKER);
  }
  run.product.m = job->m;
  run.product.k = job->k;
  run.product.n = job->n;
  run.product.adds = 0;
  run.product.a_row = job->transpose_a ? 1 : job->k;
  run.product.a_column = job->transpose_a ? job->m : 1;
  for (int64_t item = 0; item < job->batch; item++) {
    const float* b = job->b + (job->batch_b == 1 ? 0 : item * job->k * job->n);
    if (is_turned(job) && (item == 0 || job->batch_b != 1)) turn(job, b, scratch);
    run.product.a = job->a + (job->batch_a == 1 ? 0 : item * job->m * job->k);
    run.product.b = is_turned(job) ? scratch : b;
    run.product.c = job->out + item * job->m * job->n;
    te_parallel(run.tasks, workers, rows_task, &run);
  }
  return te_ok();
}
