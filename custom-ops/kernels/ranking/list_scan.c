/*
 * The k best rows of the lists that each query looks at.
 *
 * Work goes list by list, so that a list is read once for all queries of a task. Each product is made for one query and
 * one row: what comes of a query does not depend on the others.
 */
#include "best_rows.h"

/* Rows whose products are made at a time. */
#define ROWS_AT_ONCE 512
/* Tasks for each worker. */
#define TASKS 4
/* Limits and products of a worker. */
#define SCRATCH_FLOATS (TE_PANEL + ROWS_AT_ONCE + 32)

typedef struct list_scan_run {
  const te_list_scan* job;
  int64_t tasks;
  int32_t workers;
  int64_t code_bytes;
  /* in the workspace */
  te_coded_query* coded; /* [n] */
  int8_t* codes;         /* [n, code_bytes] */
  float* scratch;        /* [workers, SCRATCH_FLOATS] */
} list_scan_run;

static size_t rounded_bytes(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

static size_t scratch_bytes(const list_scan_run* run) {
  return (size_t)run->workers * SCRATCH_FLOATS * sizeof(float);
}

static size_t scan_bytes(const list_scan_run* run) {
  const size_t n = (size_t)run->job->n;
  return scratch_bytes(run) + rounded_bytes(n * sizeof *run->coded) + n * (size_t)run->code_bytes;
}

static void plan_scan(const te_list_scan* job, list_scan_run* run) {
  run->job = job;
  run->workers = te_workers(job->workers);
  run->tasks = te_min(job->n, run->workers == 1 ? 1 : (int64_t)run->workers * TASKS);
  run->code_bytes = job->table.codec == TE_INT8 ? divided_up(job->table.dim, 32) * 32 : 0;
}

static te_status check_scan(const te_list_scan* job) {
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (job->k < 1 || job->n < 0 || job->lists < 0 || job->pairs < 0) return bad;
  if (!te_rows_are_whole(&job->table, 1) || job->table.rows > INT32_MAX) return bad;
  if (!te_fits(job->n, job->k) || !te_fits(job->n, job->table.dim + 64)) return bad;
  if (job->n > 0 && (job->queries == NULL || job->values == NULL || job->indices == NULL)) return bad;
  if (job->lists > 0 && (job->starts == NULL || job->ends == NULL)) return bad;
  if (job->splits == NULL || (job->table.rows > 0 && job->ids == NULL)) return bad;
  const te_id_lists members = {job->members, job->splits, job->pairs};
  const int64_t split = wrong_split(&members, job->lists), exclude = wrong_split(&job->exclude, job->n);
  if (split >= 0 || exclude >= 0) return te_failure(TE_BAD_SPLITS, split >= 0 ? split : exclude, 0);
  for (int64_t list = 0; list < job->lists; list++) {
    if (job->starts[list] < 0 || job->ends[list] < job->starts[list] || job->ends[list] > job->table.rows) return bad;
    for (int64_t i = job->splits[list]; i < job->splits[list + 1]; i++) {
      if (job->members[i] < 0 || job->members[i] >= job->n) return bad;
      if (i > job->splits[list] && job->members[i] <= job->members[i - 1]) return bad;
    }
  }
  return te_ok();
}

/* The first member of a list from query `least` on. */
static int64_t member_from(const te_list_scan* job, int64_t list, int64_t least) {
  int64_t first = job->splits[list], end = job->splits[list + 1];
  while (first < end) {
    const int64_t middle = first + (end - first) / 2;
    if (job->members[middle] < least) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

/* The float before a number; minus infinity stays. */
static float float_below(float number) {
  int32_t bits;
  if (number == -TE_INFINITY) return number;
  if (number == 0.0f) return -1e-45f;
  te_copy(&bits, &number, sizeof bits);
  bits += number > 0.0f ? -1 : 1;
  te_copy(&number, &bits, sizeof bits);
  return number;
}

/* What is above this may belong into the heap: rows come in any order, so that an equal of the worst may have a lower id. */
static void set_limits(float* limits, float worst) {
  const float limit = float_below(worst);
  for (int i = 0; i < TE_PANEL; i++) limits[i] = limit;
}

static void scan_list(const list_scan_run* run, int64_t query, int64_t first, int64_t end, float* scratch) {
  const te_list_scan* job = run->job;
  const float* q = job->queries + query * job->table.dim;
  float* best = job->values + query * job->k;
  int32_t* best_ids = job->indices + query * job->k;
  float* limits = scratch;
  float* products = limits + TE_PANEL;
  int is_coded = run->coded[query].codes != NULL;
  set_limits(limits, best[0]);
  for (int64_t row = first; row < end; row += ROWS_AT_ONCE) {
    const int64_t count = te_min(ROWS_AT_ONCE, end - row);
    is_coded = is_coded && TE_KERNEL(row_bounds)(&job->table, &run->coded[query], row, row + count, products);
    if (!is_coded) TE_KERNEL(row_dots)(&job->table, q, row, row + count, products);
    for (int64_t i = count; i % 16 != 0; i++) products[i] = -TE_INFINITY;
    for (int64_t i = TE_KERNEL(next_above)(products, limits, 0, count); i < count;
         i = TE_KERNEL(next_above)(products, limits, i + 1, count)) {
      const int32_t id = job->ids[row + i];
      float product = products[i];
      if (is_coded) TE_KERNEL(row_dots)(&job->table, q, row + i, row + i + 1, &product);
      if (!(product > -TE_INFINITY) || !is_better(product, id, best[0], best_ids[0])) continue;
      if (job->exclude.splits != NULL && is_listed(&job->exclude, query, id)) continue;
      replace_root(best, best_ids, job->k, product, id);
      set_limits(limits, best[0]);
    }
  }
}

static void scan_task(void* context, int64_t task, int32_t worker) {
  const list_scan_run* run = context;
  const te_list_scan* job = run->job;
  const int64_t first = job->n * task / run->tasks, end = job->n * (task + 1) / run->tasks;
  float* scratch = run->scratch + worker * SCRATCH_FLOATS;
  for (int64_t query = first; query < end; query++) {
    te_coded_query* coded = &run->coded[query];
    int8_t* codes = run->codes + query * run->code_bytes;
    coded->codes = NULL;
    if (!code_query(&job->table, job->queries + query * job->table.dim, codes, coded)) coded->codes = NULL;
    to_heap(job->values + query * job->k, job->indices + query * job->k, job->k);
  }
  for (int64_t list = 0; list < job->lists; list++) {
    for (int64_t i = member_from(job, list, first); i < job->splits[list + 1] && job->members[i] < end; i++) {
      scan_list(run, job->members[i], job->starts[list], job->ends[list], scratch);
    }
  }
  for (int64_t query = first; query < end; query++) {
    to_list(job->values + query * job->k, job->indices + query * job->k, job->k);
  }
}

size_t te_list_scan_workspace(const te_list_scan* job) {
  list_scan_run run;
  if (check_scan(job).code != TE_OK) return 64;
  plan_scan(job, &run);
  return scan_bytes(&run) + 64;
}

te_status te_scan_lists(const te_list_scan* job, void* workspace, size_t workspace_bytes) {
  list_scan_run run;
  const te_status status = check_scan(job);
  if (status.code != TE_OK) return status;
  if (job->n == 0) return te_ok();
  plan_scan(job, &run);
  if (workspace == NULL || workspace_bytes < scan_bytes(&run) + 64) return te_failure(TE_BAD_WORKSPACE, 0, 0);
  char* at = te_first_line(workspace);
  run.scratch = (float*)at;
  run.coded = (te_coded_query*)(at + scratch_bytes(&run));
  run.codes = (int8_t*)run.coded + rounded_bytes((size_t)job->n * sizeof *run.coded);
  te_parallel(run.tasks, run.workers, scan_task, &run);
  return te_ok();
}
