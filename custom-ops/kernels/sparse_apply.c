/* Entry point of the optimizers: one exact step in place, over the rows that a batch touches. */
#include "core.h"

#define UNTOUCHED_ROWS_PER_TASK 4096
#define LISTS 64 /* of steps, by where their ids lie */

typedef struct apply_run {
  int32_t optimizer;
  const te_step* steps; /* the leader of those that are linked */
  te_groups groups;
} apply_run;

/* A task for one of the steps. */
typedef struct one_step {
  apply_run* run;
  const te_step* step;
  int grouped;
} one_step;

static float* scratch_of(const te_groups* g, int32_t worker) {
  return g->scratch + (int64_t)worker * g->scratch_floats;
}

size_t te_sparse_apply_workspace(int32_t optimizer, int64_t nnz, int64_t batch, int64_t rows, int64_t dim) {
  (void)optimizer;
  (void)batch;
  (void)rows;
  return te_groups_bytes(nnz, dim, te_get_threads());
}

static te_update update_of(const apply_run* run, const te_step* step) {
  te_update job;
  te_fill(&job, 0, sizeof job);
  job.groups = &run->groups;
  job.gradient = step->gradient;
  job.table = step->table;
  job.row_words = te_row_words(step->table.codec, step->table.dim);
  job.max_norm = step->bags.max_norm;
  job.optimizer = run->optimizer;
  for (int32_t s = 0; s < te_slot_count(run->optimizer); s++) job.slots[s] = step->slots[s];
  job.hyper = &step->hyper;
  job.gradient_scale = step->gradient_scale;
  if (step->table.codec == TE_FLOAT32) return job;
  const te_hyper* h = &step->hyper;
  job.rounding_key[0] = (uint32_t)h->rounding_key0 | (uint32_t)h->rounding_key1 << 16;
  job.rounding_key[1] = (uint32_t)h->rounding_key2 | (uint32_t)h->rounding_key3 << 16;
  return job;
}

static void update_task(void* context, int64_t part, int32_t worker) {
  const apply_run* run = context;
  const te_groups* g = &run->groups;
  const int64_t first = te_part_first(g, part), end = first + g->part_rows[part];
  for (const te_step* step = run->steps; step != NULL; step = step->same) {
    const te_update job = update_of(run, step);
    TE_KERNEL_OF(&job.table, update_rows)(&job, first, end, first, scratch_of(g, worker));
  }
}

static void group_and_update_task(void* context, int64_t part, int32_t worker) {
  te_groups_part(&((apply_run*)context)->groups, (int32_t)part, worker);
  update_task(context, part, worker);
}

/* Squared norm per bucket: buckets do not depend on the number of threads, so neither does their sum. */
static void squares_task(void* context, int64_t part, int32_t worker) {
  const one_step* one = context;
  te_groups* g = &one->run->groups;
  const te_update job = update_of(one->run, one->step);
  if (!one->grouped) te_groups_part(g, (int32_t)part, worker);
  for (int32_t b = g->part_buckets[part]; b < g->part_buckets[part + 1]; b++) {
    const int64_t first = g->firsts[b], end = first + g->uniques[b];
    g->squares[b] =
        TE_KERNEL_OF(&job.table, gradient_squares)(&job, first, end, g->starts[b], scratch_of(g, worker));
  }
}

static void clip_by_norm(apply_run* run, te_step* step, int grouped) {
  const te_groups* g = &run->groups;
  const double most = (double)step->hyper.clip_norm;
  double squares = 0.0;
  one_step one = {run, step, grouped};
  te_parallel(g->parts, g->workers, squares_task, &one);
  for (int32_t b = 0; b < g->buckets; b++) squares += g->squares[b];
  const double norm = te_sqrt(squares);
  /* A norm that is no number spoils the whole gradient, so that it is seen. */
  if (!(norm <= most)) step->gradient_scale = (float)(most / norm);
}

static void step_untouched_rows(const te_update* job, int64_t first, int64_t end, int32_t worker) {
  const te_groups* g = job->groups;
  const float* zeros = g->scratch; /* of the first worker, whose own row is the last one there */
  /* Rows of floats are stepped where they lie, by more workers than have scratch. */
  float* w = job->table.codec == TE_FLOAT32
                 ? NULL
                 : scratch_of(g, worker) + g->scratch_floats / TE_SCRATCH_ROWS * (TE_SCRATCH_ROWS - 1);
  TE_KERNEL_OF(&job->table, step_untouched)(job, first, end, w, zeros);
}

/* Steps the rows of one block that no id has touched, run by run between the touched ones. */
static void untouched_task(void* context, int64_t task, int32_t worker) {
  const one_step* one = context;
  const te_groups* g = &one->run->groups;
  const te_update job = update_of(one->run, one->step);
  int64_t row = task * UNTOUCHED_ROWS_PER_TASK;
  const int64_t end = te_min(row + UNTOUCHED_ROWS_PER_TASK, job.table.rows);
  if (g->count > 0 && end > (int64_t)g->lowest && row <= (int64_t)g->highest) {
    const int64_t from = te_max(row, g->lowest) - g->lowest, to = te_min(end - 1, g->highest) - g->lowest;
    for (int64_t b = from >> g->shift; b <= to >> g->shift; b++) {
      for (int64_t u = g->firsts[b]; u < (int64_t)g->firsts[b] + g->uniques[b]; u++) {
        const int64_t touched = g->rows[u];
        if (touched < row || touched >= end) continue;
        step_untouched_rows(&job, row, touched, worker);
        row = touched + 1;
      }
    }
  }
  step_untouched_rows(&job, row, end, worker);
}

static te_status apply_linked(int32_t optimizer, te_step* leader) {
  apply_run run;
  te_groups* g = &run.groups;
  const te_step* widest = leader;
  int grouped = 0;
  run.optimizer = optimizer;
  run.steps = leader;
  for (te_step* step = leader; step != NULL; step = step->same) {
    step->gradient_scale = 1.0f;
    if (step->table.dim > widest->table.dim) widest = step;
  }
  if (!te_groups_place(g, &leader->bags, leader->table.rows, widest->table.dim, widest->workspace,
                       widest->workspace_bytes)) {
    return te_failure(TE_BAD_WORKSPACE, 0, 0);
  }
  g->ascending = te_steps_all_rows(optimizer, &leader->hyper);
  const te_status status = te_groups_partition(g);
  if (status.code != TE_OK) return status;
  for (te_step* step = leader; step != NULL; step = step->same) {
    if (!(step->hyper.clip_norm > 0.0f)) continue;
    clip_by_norm(&run, step, grouped);
    grouped = 1;
  }
  te_parallel(g->parts, g->workers, grouped ? update_task : group_and_update_task, &run);
  if (!g->ascending) return status;
  te_fill(g->scratch, 0, (size_t)widest->table.dim * sizeof(float));
  for (te_step* step = leader; step != NULL; step = step->same) {
    one_step one = {&run, step, grouped};
    const int64_t tasks = (step->table.rows + UNTOUCHED_ROWS_PER_TASK - 1) / UNTOUCHED_ROWS_PER_TASK;
    /* Packed rows need scratch of their worker, which there is for those of the groups. */
    te_parallel(tasks, step->table.codec == TE_FLOAT32 ? te_get_threads() : g->workers, untouched_task, &one);
  }
  return status;
}

void te_apply_linked(int32_t optimizer, te_step* leader) {
  const te_status status = apply_linked(optimizer, leader);
  for (te_step* step = leader; step != NULL; step = step->same) step->status = status;
}

/* ---- which steps have the same ids ---- */

/* 16 bits as a whole number. */
static int is_key(float part) { return part >= 0.0f && part <= 65535.0f && part == (float)(int32_t)part; }

static int has_key(const te_hyper* h) {
  return is_key(h->rounding_key0) && is_key(h->rounding_key1) && is_key(h->rounding_key2) && is_key(h->rounding_key3);
}

static te_status check_step(int32_t optimizer, const te_step* step) {
  const te_status status = te_check(&step->table, &step->bags, 1);
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (status.code != TE_OK) return status;
  if (optimizer < 0 || optimizer >= TE_OPTIMIZERS || !te_trains(step->table.codec)) return bad;
  if (step->table.codec != TE_FLOAT32 && !has_key(&step->hyper)) return bad;
  for (int32_t s = 0; s < te_slot_count(optimizer); s++) {
    if (step->table.rows > 0 && step->slots[s] == NULL) return bad;
  }
  if (step->bags.batch > 0 && step->gradient == NULL) return bad;
  return te_ok();
}

/* Pooling with max_norm scales the gradient of a row by the table's own rows, after the grouping. */
static int same_ids(int32_t optimizer, const te_step* a, const te_step* b) {
  const te_bags *x = &a->bags, *y = &b->bags;
  return x->values == y->values && x->row_splits == y->row_splits && x->weights == y->weights && x->nnz == y->nnz &&
         x->batch == y->batch && x->combiner == y->combiner && x->out_of_range == y->out_of_range &&
         x->use_starts == y->use_starts && x->more_uses == y->more_uses && a->table.rows == b->table.rows &&
         te_steps_all_rows(optimizer, &a->hyper) == te_steps_all_rows(optimizer, &b->hyper);
}

void te_link_steps(int32_t optimizer, te_step* steps, int64_t count) {
  te_step* lists[LISTS];
  te_fill(lists, 0, sizeof lists);
  for (int64_t i = 0; i < count; i++) {
    te_step* step = &steps[i];
    te_step** list = &lists[((uintptr_t)step->bags.values >> 6) % LISTS];
    te_step* leader = *list;
    step->same = step->next = NULL;
    step->leads = 0;
    step->status = check_step(optimizer, step);
    if (step->status.code != TE_OK) continue;
    while (leader != NULL && !same_ids(optimizer, leader, step)) leader = leader->next;
    if (leader == NULL) {
      step->leads = 1;
      step->next = *list;
      *list = step;
    } else {
      step->same = leader->same;
      leader->same = step;
    }
  }
}

te_status te_sparse_apply(int32_t optimizer, const te_rows* table, float* const* slots, int32_t n_slots,
                          const te_bags* bags, const float* gradient, const te_hyper* hyper, void* workspace,
                          size_t workspace_bytes) {
  te_step step;
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (table == NULL || bags == NULL || hyper == NULL || optimizer < 0 || optimizer >= TE_OPTIMIZERS) return bad;
  if (n_slots != te_slot_count(optimizer) || (n_slots > 0 && slots == NULL)) return bad;
  te_fill(&step, 0, sizeof step);
  step.table = *table;
  for (int32_t s = 0; s < n_slots; s++) step.slots[s] = slots[s];
  step.bags = *bags;
  step.gradient = gradient;
  step.hyper = *hyper;
  step.workspace = workspace;
  step.workspace_bytes = workspace_bytes;
  te_link_steps(optimizer, &step, 1);
  if (step.leads) te_apply_linked(optimizer, &step);
  return step.status;
}
