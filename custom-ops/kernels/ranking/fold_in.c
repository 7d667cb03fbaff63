/*
 * Rows of users from the rows of their items, by least squares: x of
 * (regularization I + gram + sum w v v^T) x = sum w v, in double, by Cholesky's decomposition.
 */
#include "../core.h"
#include "ranking.h"

typedef struct fold_run {
  const te_fold_in* job;
  int64_t tasks;
  double* scratch; /* [workers, scratch_doubles] */
  int64_t scratch_doubles;
} fold_run;

/* The matrix, the right-hand side, and a row as floats and as doubles. */
static int64_t scratch_of(int64_t dim) { return dim * dim + 3 * dim + 8; }

/* row[i] += factor * v[i] for the first `n`. */
TE_INLINE void add_times(double* restrict row, const double* restrict v, double factor, int64_t n) {
  for (int64_t i = 0; i < n; i++) row[i] += factor * v[i];
}

/* matrix += w v v^T, below and on the diagonal. */
static void add_outer(double* matrix, const double* v, double w, int64_t dim) {
  for (int64_t i = 0; i < dim; i++) add_times(matrix + i * dim, v, w * v[i], i + 1);
}

/*
 * Solves in place; x holds the right-hand side. Not a number where the matrix is not positive definite. Columns are taken
 * from all rows below them as soon as they are known, so that no sum waits for itself; `column` has room for one.
 */
static void solve(double* matrix, double* x, double* column, int64_t dim) {
  for (int64_t c = 0; c < dim; c++) {
    const double pivot = te_sqrt(matrix[c * dim + c]);
    matrix[c * dim + c] = pivot;
    for (int64_t i = c + 1; i < dim; i++) {
      double* row = matrix + i * dim;
      const double factor = row[c] / pivot;
      row[c] = factor;
      column[i] = factor;
      add_times(row + c + 1, column + c + 1, -factor, i - c);
    }
  }
  for (int64_t i = 0; i < dim; i++) {
    const double* row = matrix + i * dim;
    double sum = x[i];
    for (int64_t c = 0; c < i; c++) sum -= row[c] * x[c];
    x[i] = sum / row[i];
  }
  for (int64_t i = dim - 1; i >= 0; i--) {
    x[i] /= matrix[i * dim + i];
    for (int64_t c = 0; c < i; c++) x[c] -= matrix[i * dim + c] * x[i];
  }
}

static void fold_one(const te_fold_in* job, int64_t user, double* scratch) {
  const int64_t dim = job->table.dim, end = job->bags.row_splits[user + 1];
  double* matrix = scratch;
  double* x = matrix + dim * dim;
  double* v = x + dim;
  float* row = (float*)(v + dim);
  float* out = job->out + user * dim;
  te_fill(x, 0, (size_t)dim * sizeof(double));
  if (job->bags.row_splits[user] == end) {
    te_fill(out, 0, (size_t)dim * sizeof(float));
    return;
  }
  for (int64_t i = 0; i < dim; i++) {
    for (int64_t j = 0; j <= i; j++) matrix[i * dim + j] = job->gram == NULL ? 0.0 : (double)job->gram[i * dim + j];
    matrix[i * dim + i] += job->regularization;
  }
  for (int64_t at = job->bags.row_splits[user]; at < end; at++) {
    const int64_t id = job->bags.values[at];
    const double w = job->bags.weights == NULL ? 1.0 : (double)job->bags.weights[at];
    TE_KERNEL(widen_rows)(&job->table, id, id + 1, row);
    for (int64_t c = 0; c < dim; c++) {
      v[c] = (double)row[c];
      x[c] += w * v[c];
    }
    add_outer(matrix, v, w, dim);
  }
  solve(matrix, x, v, dim);
  for (int64_t c = 0; c < dim; c++) out[c] = (float)x[c];
}

static void fold_task(void* context, int64_t task, int32_t worker) {
  const fold_run* run = context;
  const te_bags* bags = &run->job->bags;
  const int64_t end = te_first_bag(bags, task + 1, run->tasks);
  for (int64_t user = te_first_bag(bags, task, run->tasks); user < end; user++) {
    fold_one(run->job, user, run->scratch + worker * run->scratch_doubles);
  }
}

size_t te_fold_in_workspace(const te_fold_in* job) {
  const int64_t dim = job->table.dim;
  if (dim < 1 || !te_fits(dim, dim) || !te_fits(scratch_of(dim), 64 * 2)) return SIZE_MAX;
  return (size_t)(scratch_of(dim) * te_workers(job->workers)) * sizeof(double) + 64;
}

te_status te_fold_in_rows(const te_fold_in* job, void* workspace, size_t workspace_bytes) {
  const te_bags* bags = &job->bags;
  fold_run run = {.job = job};
  const te_status status = te_check(&job->table, bags, 1);
  if (status.code != TE_OK) return status;
  if (bags->batch == 0) return te_ok();
  if (job->out == NULL) return te_failure(TE_BAD_ARGUMENT, 0, 0);
  const uint32_t limit = te_id_limit(job->table.rows);
  for (int64_t i = 0; i < bags->nnz; i++) {
    if ((uint32_t)bags->values[i] >= limit) return te_failure(TE_ID_OUT_OF_RANGE, i, bags->values[i]);
  }
  if (workspace == NULL || workspace_bytes < te_fold_in_workspace(job)) return te_failure(TE_BAD_WORKSPACE, 0, 0);
  run.scratch = (double*)te_first_line(workspace);
  run.scratch_doubles = scratch_of(job->table.dim);
  /* A user costs the square of the columns for each id. */
  run.tasks = te_min(bags->batch, (int64_t)te_workers(job->workers) * TE_TASKS_PER_WORKER);
  te_parallel(run.tasks, te_workers(job->workers), fold_task, &run);
  return te_ok();
}
