/*
 * Candidates of each query by their products in double precision, in which each product of two floats is exact: sums go
 * in one order everywhere, so that values and order are the same on every machine.
 */
#include "best_rows.h"

/* Sums that run side by side: column c belongs to sum c % LANES. */
#define LANES 8

typedef struct rank_run {
  const te_rank* job;
  int64_t tasks;
  int32_t workers;
  double* values; /* [workers, k] */
  int32_t* ids;   /* [workers, k] */
  float* row;     /* [workers, dim] a row of codes as floats */
} rank_run;

static double exact_dot(const float* a, const float* b, int64_t dim) {
  double s[LANES] = {0};
  int64_t c = 0;
  for (; c + LANES <= dim; c += LANES) {
    for (int i = 0; i < LANES; i++) s[i] += (double)a[c + i] * (double)b[c + i];
  }
  for (int i = 0; c + i < dim; i++) s[i] += (double)a[c + i] * (double)b[c + i];
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Rows lie anywhere in a large memory: those that come next are fetched while one is multiplied. */
#define AHEAD 6

static void fetch_row(const te_rows* table, int32_t row) {
  if (row < 0) return;
  const int64_t bytes = te_row_words(table->codec, table->dim) * 4;
  const char* at = (const char*)table->data + row * bytes;
  for (int64_t i = 0; i < te_min(bytes, 1024); i += 64) te_prefetch(at + i);
}

/* A row as floats, rounded once from double as in TypeScript. */
static const float* float_row(const te_rows* table, int64_t row, float* to) {
  const int64_t dim = table->dim;
  if (table->codec == TE_FLOAT32) return te_floats(table) + row * dim;
  const int64_t row_words = te_row_words(TE_INT8, dim);
  const int32_t* words = te_words(table) + row * row_words;
  float form[2];
  te_copy(form, words + row_words - 2, sizeof form);
  for (int64_t c = 0; c < dim; c++) {
    const int32_t code = (int32_t)((const uint8_t*)words)[c];
    to[c] = (float)((double)form[0] * (double)code + (double)form[1]);
  }
  return to;
}

/* Puts an entry into a list of `count` at most `most`, the best first. Returns how many there are then. */
static int64_t insert(double* values, int32_t* ids, int64_t count, int64_t most, double value, int32_t id) {
  int64_t at = count;
  while (at > 0 && (value > values[at - 1] || (value == values[at - 1] && id < ids[at - 1]))) at--;
  if (at == most) return count;
  for (int64_t i = te_min(count, most - 1); i > at; i--) {
    values[i] = values[i - 1];
    ids[i] = ids[i - 1];
  }
  values[at] = value;
  ids[at] = id;
  return te_min(count + 1, most);
}

static void rank_task(void* context, int64_t task, int32_t worker) {
  const rank_run* run = context;
  const te_rank* job = run->job;
  const int64_t dim = job->table.dim;
  double* values = run->values + worker * job->k;
  int32_t* ids = run->ids + worker * job->k;
  float* scratch = run->row + worker * dim;
  for (int64_t q = job->n * task / run->tasks; q < job->n * (task + 1) / run->tasks; q++) {
    const int32_t* candidates = job->candidates + q * job->m;
    int64_t count = 0;
    for (int64_t i = 0; i < job->m; i++) {
      const int32_t row = candidates[i];
      if (i + AHEAD < job->m) fetch_row(&job->table, candidates[i + AHEAD]);
      if (row < 0) continue;
      const double value = exact_dot(job->queries + q * dim, float_row(&job->table, row, scratch), dim);
      const int32_t id = job->ids == NULL ? row : job->ids[row];
      if ((float)value > -TE_INFINITY) count = insert(values, ids, count, job->k, value, id);
    }
    for (int64_t i = 0; i < job->k; i++) {
      job->values[q * job->k + i] = i < count ? (float)values[i] : -TE_INFINITY;
      job->indices[q * job->k + i] = i < count ? ids[i] : -1;
    }
  }
}

static te_status check_rank(const te_rank* job) {
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (job->k < 1 || job->m < 0 || job->n < 0) return bad;
  if (!te_rows_are_whole(&job->table, 1) || job->table.rows > INT32_MAX) return bad;
  if (job->table.codec != TE_FLOAT32 && job->table.codec != TE_INT8) return bad;
  if (!te_fits(job->n, job->k) || !te_fits(job->n, job->m) || !te_fits(job->n, job->table.dim)) return bad;
  if (!te_fits(64 * 12, job->k) || !te_fits(64 * 4, job->table.dim)) return bad;
  if (job->n > 0 && (job->queries == NULL || job->values == NULL || job->indices == NULL)) return bad;
  if (job->n * job->m > 0 && job->candidates == NULL) return bad;
  for (int64_t i = 0; i < job->n * job->m; i++) {
    if (job->candidates[i] >= job->table.rows) return te_failure(TE_ID_OUT_OF_RANGE, i, job->candidates[i]);
  }
  return te_ok();
}

static size_t rank_bytes(const rank_run* run) {
  const size_t k = (size_t)run->job->k;
  return (size_t)run->workers * (k * (sizeof(double) + sizeof(int32_t)) + (size_t)run->job->table.dim * sizeof(float));
}

static void plan_rank(const te_rank* job, rank_run* run) {
  run->job = job;
  run->workers = te_workers(job->workers);
  run->tasks = te_min(job->n, run->workers == 1 ? 1 : (int64_t)run->workers * 4);
}

size_t te_rank_workspace(const te_rank* job) {
  rank_run run;
  if (check_rank(job).code != TE_OK) return 64;
  plan_rank(job, &run);
  return rank_bytes(&run) + 64;
}

te_status te_rank_rows(const te_rank* job, void* workspace, size_t workspace_bytes) {
  rank_run run;
  const te_status status = check_rank(job);
  if (status.code != TE_OK) return status;
  if (job->n == 0) return te_ok();
  plan_rank(job, &run);
  if (workspace == NULL || workspace_bytes < rank_bytes(&run) + 64) return te_failure(TE_BAD_WORKSPACE, 0, 0);
  run.values = (double*)te_first_line(workspace);
  run.ids = (int32_t*)(run.values + run.workers * job->k);
  run.row = (float*)(run.ids + run.workers * job->k);
  te_parallel(run.tasks, run.workers, rank_task, &run);
  return te_ok();
}
