/* Dot products of rows, and rows times a number each: tfjs multiplies whole matrices, ones among them, and sums them up. */
#include "../core.h"
#include "partial_sums.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

/* Numbers of a matrix that one task goes through. */
#define TASK_NUMBERS 16384

typedef struct {
  const float* a;
  const float* b;
  float* out;
  int64_t rows, dim, per_task;
} te_rows_job;

static void dots_task(void* context, int64_t task, int32_t worker) {
  const te_rows_job* job = context;
  const int64_t end = te_min(job->rows, (task + 1) * job->per_task), dim = job->dim;
  (void)worker;
  for (int64_t row = task * job->per_task; row < end; row++) {
    job->out[row] = dot_of(job->a + row * dim, job->b + row * dim, dim);
  }
}

static void scale_task(void* context, int64_t task, int32_t worker) {
  const te_rows_job* job = context;
  const int64_t end = te_min(job->rows, (task + 1) * job->per_task), dim = job->dim;
  (void)worker;
  for (int64_t row = task * job->per_task; row < end; row++) {
    const float factor = job->a[row];
    for (int64_t j = 0; j < dim; j++) job->out[row * dim + j] = factor * job->b[row * dim + j];
  }
}

static void run(te_rows_job job, te_work work) {
  job.per_task = te_max(1, TASK_NUMBERS / te_max(1, job.dim));
  te_parallel((job.rows + job.per_task - 1) / job.per_task, te_get_threads(), work, &job);
}

void te_row_dots(const float* a, const float* b, int64_t rows, int64_t dim, float* dots) {
  run((te_rows_job){a, b, dots, rows, dim, 0}, dots_task);
}

void te_scaled_rows(const float* factors, const float* matrix, int64_t rows, int64_t dim, float* scaled) {
  run((te_rows_job){factors, matrix, scaled, rows, dim, 0}, scale_task);
}

#endif
