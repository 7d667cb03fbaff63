/*
 * Sums of rows by segment: the dense gradient of a table of which rows were gathered. TensorFlow's own op takes
 * microseconds for each row.
 */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

/* Each task reads all ids, so there are few: enough that threads finish together where ids are uneven. */
#define TASKS_PER_THREAD 4
/* Work below this is not worth a second thread. */
#define LEAST_NUMBERS 32768

typedef struct {
  const float* terms;
  const int32_t* ids;
  float* sums;
  int64_t count, segments, dim, per_task;
} te_segment_job;

/* The sums of some segments, whose terms are added in their order: results do not depend on the number of tasks. */
static void segments_task(void* context, int64_t task, int32_t worker) {
  const te_segment_job* job = context;
  const int64_t first = task * job->per_task, dim = job->dim;
  const int64_t end = te_min(job->segments, first + job->per_task);
  (void)worker;
  te_fill(job->sums + first * dim, 0, (size_t)((end - first) * dim) * sizeof(float));
  for (int64_t i = 0; i < job->count; i++) {
    const int64_t id = job->ids[i];
    if (id < first || id >= end) continue;
    const float* term = job->terms + i * dim;
    float* sum = job->sums + id * dim;
    for (int64_t j = 0; j < dim; j++) sum[j] += term[j];
  }
}

te_status te_segment_sum(const float* terms, const int32_t* ids, int64_t count, int64_t segments, int64_t dim,
                         float* sums) {
  for (int64_t i = 0; i < count; i++) {
    if (ids[i] >= segments) return te_failure(TE_ID_OUT_OF_RANGE, i, ids[i]);
  }
  if (segments == 0 || dim == 0) return te_ok();
  te_segment_job job = {terms, ids, sums, count, segments, dim, segments};
  const int32_t threads = te_get_threads();
  const int is_large = (count > segments ? count : segments) > LEAST_NUMBERS / dim;
  if (threads > 1 && is_large) job.per_task = te_max(1, segments / (threads * TASKS_PER_THREAD));
  te_parallel((segments + job.per_task - 1) / job.per_task, threads, segments_task, &job);
  return te_ok();
}

#endif
