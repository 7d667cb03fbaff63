/* Entry points of packed rows: pooling, and the gradient with respect to the weights. */
#include "../core.h"

int64_t te_packed_words(int32_t storage, int64_t dim) {
  return storage == TE_INT8 ? dim / 4 + (dim % 4 != 0) + 2 : dim / 2 + dim % 2;
}

typedef struct packed_run {
  te_packed_job job;
  int64_t tasks;
  int64_t bad[TE_MOST_TASKS]; /* per task: first position with an id out of range, or -1 */
} packed_run;

/* Checks everything and fills the job. */
static te_status begin(const te_packed_table* table, const te_bags* bags, packed_run* run) {
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (table == NULL || (table->storage != TE_FLOAT16 && table->storage != TE_INT8)) return bad;
  if (table->dim < 1 || table->rows < 0) return bad;
  te_table as_floats;
  as_floats.data = NULL;
  as_floats.rows = table->rows;
  as_floats.dim = table->dim;
  te_status status = te_check(&as_floats, bags, 0);
  if (status.code != TE_OK) return status;
  /* The words too must be addressable: narrow int8 rows take more of them than floats would. */
  as_floats.dim = te_packed_words(table->storage, table->dim);
  status = te_check(&as_floats, bags, 0);
  if (status.code != TE_OK) return status;
  if (table->rows > 0 && table->words == NULL) return bad;
  te_fill(&run->job, 0, sizeof run->job);
  run->job.bags = bags;
  run->job.words = table->words;
  run->job.row_words = as_floats.dim;
  run->job.dim = table->dim;
  run->job.storage = table->storage;
  run->job.limit = te_id_limit(table->rows);
  run->tasks = te_task_count(bags, table->dim, te_get_threads());
  return te_ok();
}

static void forward_task(void* context, int64_t task, int32_t worker) {
  packed_run* run = context;
  const te_bags* bags = run->job.bags;
  (void)worker;
  run->bad[task] = TE_KERNEL(packed_forward)(&run->job, te_first_bag(bags, task, run->tasks),
                                             te_first_bag(bags, task + 1, run->tasks));
}

te_status te_packed_bag(const te_packed_table* table, const te_bags* bags, float* pooled) {
  packed_run run;
  const te_status status = begin(table, bags, &run);
  if (status.code != TE_OK) return status;
  if (bags->batch == 0) return te_ok();
  if (pooled == NULL) return te_failure(TE_BAD_ARGUMENT, 0, 0);
  run.job.pooled = pooled;
  te_parallel(run.tasks, te_get_threads(), forward_task, &run);
  for (int64_t t = 0; t < run.tasks; t++) {
    if (run.bad[t] >= 0) return te_failure(TE_ID_OUT_OF_RANGE, run.bad[t], bags->values[run.bad[t]]);
  }
  return te_ok();
}

static void weights_task(void* context, int64_t task, int32_t worker) {
  const packed_run* run = context;
  const te_bags* bags = run->job.bags;
  (void)worker;
  TE_KERNEL(packed_weights_gradient)(&run->job, te_first_bag(bags, task, run->tasks),
                                     te_first_bag(bags, task + 1, run->tasks));
}

te_status te_packed_bag_weights_grad(const te_packed_table* table, const te_bags* bags, const float* gradient,
                                     float* weights_gradient) {
  packed_run run;
  const te_status status = begin(table, bags, &run);
  if (status.code != TE_OK) return status;
  if (bags->nnz == 0) return te_ok();
  if (bags->weights == NULL || gradient == NULL || weights_gradient == NULL) {
    return te_failure(TE_BAD_ARGUMENT, 0, 0);
  }
  if (bags->out_of_range == TE_ERROR) {
    for (int64_t i = 0; i < bags->nnz; i++) {
      if ((uint32_t)bags->values[i] >= run.job.limit) return te_failure(TE_ID_OUT_OF_RANGE, i, bags->values[i]);
    }
  }
  run.job.gradient = gradient;
  run.job.out = weights_gradient;
  te_parallel(run.tasks, te_get_threads(), weights_task, &run);
  return te_ok();
}
