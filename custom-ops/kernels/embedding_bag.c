/* Entry points: pooling, and its gradients with respect to the table and to the weights. */
#include "core.h"

static te_lookup_job job_of(const te_rows* table, const te_bags* bags) {
  te_lookup_job job;
  te_fill(&job, 0, sizeof job);
  job.bags = bags;
  job.table = *table;
  job.row_words = te_row_words(table->codec, table->dim);
  job.limit = te_id_limit(table->rows);
  return job;
}

typedef struct forward_run {
  te_lookup_job job;
  int64_t tasks;
  int64_t bad[TE_MOST_TASKS]; /* per task: first position with an id out of range, or -1 */
} forward_run;

static void forward_task(void* context, int64_t task, int32_t worker) {
  forward_run* run = context;
  const te_bags* bags = run->job.bags;
  (void)worker;
  run->bad[task] = TE_KERNEL_OF(&run->job.table, look_up)(&run->job, te_first_bag(bags, task, run->tasks),
                                                          te_first_bag(bags, task + 1, run->tasks));
}

te_status te_embedding_bag(const te_rows* table, const te_bags* bags, float* pooled) {
  const te_status status = te_check(table, bags, 1);
  if (status.code != TE_OK) return status;
  if (bags->batch == 0) return te_ok();
  if (pooled == NULL) return te_failure(TE_BAD_ARGUMENT, 0, 0);
  const int32_t workers = te_get_threads();
  forward_run run;
  run.job = job_of(table, bags);
  run.job.pooled = pooled;
  run.tasks = te_task_count(bags, table->dim, workers);
  te_parallel(run.tasks, workers, forward_task, &run);
  for (int64_t t = 0; t < run.tasks; t++) {
    if (run.bad[t] >= 0) return te_failure(TE_ID_OUT_OF_RANGE, run.bad[t], bags->values[run.bad[t]]);
  }
  return te_ok();
}

/* ---- gradient with respect to the table ---- */

/* What te_embedding_bag_grad_group leaves at the start of the workspace. */
typedef struct gradient_state {
  uint64_t mark;
  int64_t unique;
  int64_t nnz;
  int64_t rows;
  int64_t dim;
  te_groups groups;
} gradient_state;

#define GRADIENT_MARK 0x7465626167677264ull
#define STATE_BYTES ((sizeof(gradient_state) + 127) / 64 * 64)

static gradient_state* state_of(void* workspace) {
  return (gradient_state*)((char*)workspace + (64 - (uintptr_t)workspace % 64) % 64);
}

size_t te_embedding_bag_grad_workspace(int64_t nnz, int64_t batch, int64_t rows, int64_t dim) {
  const size_t bytes = te_groups_bytes(nnz, dim, te_get_threads());
  (void)batch;
  (void)rows;
  return bytes > SIZE_MAX - STATE_BYTES ? SIZE_MAX : bytes + STATE_BYTES;
}

static void group_task(void* context, int64_t part, int32_t worker) { te_groups_part(context, (int32_t)part, worker); }

te_status te_embedding_bag_grad_group(const te_rows* table, const te_bags* bags, void* workspace,
                                      size_t workspace_bytes, int64_t* unique) {
  te_status status = te_check(table, bags, bags != NULL && bags->max_norm > 0.0f);
  if (status.code != TE_OK) return status;
  if (unique == NULL || table->codec != TE_FLOAT32) return te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (workspace == NULL || workspace_bytes < STATE_BYTES) return te_failure(TE_BAD_WORKSPACE, 0, 0);
  gradient_state* state = state_of(workspace);
  te_groups* g = &state->groups;
  state->mark = 0;
  if (!te_groups_place(g, bags, table->rows, table->dim, (char*)workspace + STATE_BYTES,
                       workspace_bytes - STATE_BYTES)) {
    return te_failure(TE_BAD_WORKSPACE, 0, 0);
  }
  g->ascending = 1;
  status = te_groups_partition(g);
  if (status.code != TE_OK) return status;
  te_parallel(g->parts, g->workers, group_task, g);
  g->offsets[0] = 0;
  for (int32_t b = 0; b < g->buckets; b++) g->offsets[b + 1] = g->offsets[b] + g->uniques[b];
  state->unique = *unique = g->offsets[g->buckets];
  state->nnz = bags->nnz;
  state->rows = table->rows;
  state->dim = table->dim;
  state->mark = GRADIENT_MARK;
  return te_ok();
}

typedef struct gradient_run {
  te_update job;
  int32_t* unique_ids;
} gradient_run;

static void gradient_task(void* context, int64_t part, int32_t worker) {
  const gradient_run* run = context;
  const te_groups* g = run->job.groups;
  const int64_t first = te_part_first(g, part), to = g->offsets[g->part_buckets[part]];
  (void)worker;
  te_copy(run->unique_ids + to, g->rows + first, (size_t)g->part_rows[part] * sizeof(int32_t));
  TE_KERNEL_OF(&run->job.table, gradient_rows)(&run->job, first, first + g->part_rows[part], first,
                                            run->job.row_gradients + to * run->job.table.dim);
}

te_status te_embedding_bag_grad_rows(const te_rows* table, const te_bags* bags, const float* gradient, void* workspace,
                                     size_t workspace_bytes, int32_t* unique_ids, float* row_gradients) {
  const te_status status = te_check(table, bags, bags != NULL && bags->max_norm > 0.0f);
  if (status.code != TE_OK) return status;
  if (workspace == NULL || workspace_bytes < STATE_BYTES) return te_failure(TE_BAD_WORKSPACE, 0, 0);
  gradient_state* state = state_of(workspace);
  if (state->mark != GRADIENT_MARK || state->nnz != bags->nnz || state->rows != table->rows ||
      state->dim != table->dim || table->codec != TE_FLOAT32) {
    return te_failure(TE_BAD_WORKSPACE, 0, 0);
  }
  if (state->unique == 0) return te_ok();
  if (gradient == NULL || unique_ids == NULL || row_gradients == NULL) return te_failure(TE_BAD_ARGUMENT, 0, 0);
  gradient_run run;
  te_fill(&run, 0, sizeof run);
  state->groups.bags = bags;
  run.job.groups = &state->groups;
  run.job.gradient = gradient;
  run.job.table = *table;
  run.job.max_norm = bags->max_norm;
  run.job.row_gradients = row_gradients;
  run.unique_ids = unique_ids;
  te_parallel(state->groups.parts, state->groups.workers, gradient_task, &run);
  return te_ok();
}

/* ---- gradient with respect to the weights ---- */

typedef struct weights_run {
  te_lookup_job job;
  int64_t tasks;
} weights_run;

static void weights_task(void* context, int64_t task, int32_t worker) {
  const weights_run* run = context;
  const te_bags* bags = run->job.bags;
  (void)worker;
  TE_KERNEL_OF(&run->job.table, weights_gradient)(&run->job, te_first_bag(bags, task, run->tasks),
                                                  te_first_bag(bags, task + 1, run->tasks));
}

te_status te_embedding_bag_weights_grad(const te_rows* table, const te_bags* bags, const float* gradient,
                                        float* weights_gradient) {
  const te_status status = te_check(table, bags, 1);
  if (status.code != TE_OK) return status;
  if (bags->nnz == 0) return te_ok();
  if (bags->weights == NULL || gradient == NULL || weights_gradient == NULL) {
    return te_failure(TE_BAD_ARGUMENT, 0, 0);
  }
  weights_run run;
  run.job = job_of(table, bags);
  if (bags->out_of_range == TE_ERROR) {
    for (int64_t i = 0; i < bags->nnz; i++) {
      if ((uint32_t)bags->values[i] >= run.job.limit) return te_failure(TE_ID_OUT_OF_RANGE, i, bags->values[i]);
    }
  }
  const int32_t workers = te_get_threads();
  run.job.gradient = gradient;
  run.job.out = weights_gradient;
  run.tasks = te_task_count(bags, table->dim, workers);
  te_parallel(run.tasks, workers, weights_task, &run);
  return te_ok();
}
