/* Entry point of the optimizers: one exact step in place, over the rows that a batch touches. */
#include "core.h"

#define UNTOUCHED_ROWS_PER_TASK 4096

typedef struct apply_run {
  te_update job;
  te_groups groups;
} apply_run;

static float* scratch_of(const te_groups* g, int32_t worker) {
  return g->scratch + (int64_t)worker * g->scratch_floats;
}

size_t te_sparse_apply_workspace(int32_t optimizer, int64_t nnz, int64_t batch, int64_t rows, int64_t dim) {
  (void)optimizer;
  (void)batch;
  (void)rows;
  return te_groups_bytes(nnz, dim, te_get_threads());
}

static void update_part(apply_run* run, int64_t part, int32_t worker) {
  const te_groups* g = &run->groups;
  const int64_t first = te_part_first(g, part);
  TE_KERNEL(update_rows)(&run->job, first, first + g->part_rows[part], first, scratch_of(g, worker));
}

static void update_task(void* context, int64_t part, int32_t worker) { update_part(context, part, worker); }

static void group_task(void* context, int64_t part, int32_t worker) {
  te_groups_part(&((apply_run*)context)->groups, (int32_t)part, worker);
}

static void group_and_update_task(void* context, int64_t part, int32_t worker) {
  group_task(context, part, worker);
  update_part(context, part, worker);
}

/* Squared norm per bucket: buckets do not depend on the number of threads, so neither does their sum. */
static void squares_task(void* context, int64_t part, int32_t worker) {
  apply_run* run = context;
  te_groups* g = &run->groups;
  group_task(context, part, worker);
  for (int32_t b = g->part_buckets[part]; b < g->part_buckets[part + 1]; b++) {
    const int64_t first = g->firsts[b];
    g->squares[b] =
        TE_KERNEL(gradient_squares)(&run->job, first, first + g->uniques[b], g->starts[b], scratch_of(g, worker));
  }
}

static void clip_by_norm(apply_run* run) {
  const te_groups* g = &run->groups;
  const double most = (double)run->job.hyper->clip_norm;
  double squares = 0.0;
  te_parallel(g->parts, g->workers, squares_task, run);
  for (int32_t b = 0; b < g->buckets; b++) squares += g->squares[b];
  const double norm = te_sqrt(squares);
  /* A norm that is no number spoils the whole gradient, so that it is seen. */
  if (!(norm <= most)) run->job.gradient_scale = (float)(most / norm);
}

/* Steps the rows of one block that no id has touched, run by run between the touched ones. */
static void untouched_task(void* context, int64_t task, int32_t worker) {
  const apply_run* run = context;
  const te_groups* g = &run->groups;
  const float* zeros = g->scratch;
  (void)worker;
  int64_t row = task * UNTOUCHED_ROWS_PER_TASK;
  const int64_t end = te_min(row + UNTOUCHED_ROWS_PER_TASK, run->job.rows);
  if (g->count > 0 && end > (int64_t)g->lowest && row <= (int64_t)g->highest) {
    const int64_t from = te_max(row, g->lowest) - g->lowest, to = te_min(end - 1, g->highest) - g->lowest;
    for (int64_t b = from >> g->shift; b <= to >> g->shift; b++) {
      for (int64_t u = g->firsts[b]; u < (int64_t)g->firsts[b] + g->uniques[b]; u++) {
        const int64_t touched = g->rows[u];
        if (touched < row || touched >= end) continue;
        TE_KERNEL(step_untouched)(&run->job, row, touched, zeros);
        row = touched + 1;
      }
    }
  }
  TE_KERNEL(step_untouched)(&run->job, row, end, zeros);
}

static te_status check_step(int32_t optimizer, const te_table* table, float* const* slots, int32_t n_slots,
                            const te_bags* bags, const float* gradient, const te_hyper* hyper) {
  const te_status status = te_check(table, bags, 1);
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (status.code != TE_OK) return status;
  if (optimizer < TE_SGD || optimizer > TE_FTRL || hyper == NULL) return bad;
  if (n_slots != TE_SLOT_COUNT(optimizer) || (n_slots > 0 && slots == NULL)) return bad;
  for (int32_t s = 0; s < n_slots; s++) {
    if (table->rows > 0 && slots[s] == NULL) return bad;
  }
  if (bags->batch > 0 && gradient == NULL) return bad;
  return te_ok();
}

te_status te_sparse_apply(int32_t optimizer, const te_table* table, float* const* slots, int32_t n_slots,
                          const te_bags* bags, const float* gradient, const te_hyper* hyper, void* workspace,
                          size_t workspace_bytes) {
  te_status status = check_step(optimizer, table, slots, n_slots, bags, gradient, hyper);
  if (status.code != TE_OK) return status;
  apply_run run;
  te_fill(&run.job, 0, sizeof run.job);
  te_groups* g = &run.groups;
  if (!te_groups_place(g, bags, table->rows, table->dim, workspace, workspace_bytes)) {
    return te_failure(TE_BAD_WORKSPACE, 0, 0);
  }
  const int all_rows = hyper->lazy == 0.0f && (optimizer == TE_ADAM || optimizer == TE_ADAGRAD_MOMENTUM);
  g->ascending = all_rows;
  run.job.groups = g;
  run.job.gradient = gradient;
  run.job.table = table->data;
  run.job.rows = table->rows;
  run.job.dim = table->dim;
  run.job.max_norm = bags->max_norm;
  run.job.optimizer = optimizer;
  run.job.slot0 = n_slots > 0 ? slots[0] : NULL;
  run.job.slot1 = n_slots > 1 ? slots[1] : NULL;
  run.job.hyper = hyper;
  run.job.gradient_scale = 1.0f;
  status = te_groups_partition(g);
  if (status.code != TE_OK) return status;
  if (hyper->clip_norm > 0.0f) {
    clip_by_norm(&run);
    te_parallel(g->parts, g->workers, update_task, &run);
  } else {
    te_parallel(g->parts, g->workers, group_and_update_task, &run);
  }
  if (all_rows) {
    const int64_t tasks = (table->rows + UNTOUCHED_ROWS_PER_TASK - 1) / UNTOUCHED_ROWS_PER_TASK;
    te_fill(g->scratch, 0, (size_t)table->dim * sizeof(float));
    te_parallel(tasks, te_get_threads(), untouched_task, &run);
  }
  return te_ok();
}
