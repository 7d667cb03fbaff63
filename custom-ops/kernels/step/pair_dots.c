/* Dot products of all pairs of features, sample by sample, and their gradients: products of small matrices each. */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

/* Numbers that one task reads, or takes for its products. */
#define TASK_NUMBERS 16384

typedef struct {
  const te_pairs* of;
  const float* upstream;
  float* dots;
  float* const* gradients;
  float* scratch;
  int64_t per_task;
} te_pairs_job;

int64_t te_pair_count(const te_pairs* of) { return of->count * (of->count + (of->with_self ? 1 : -1)) / 2; }

/* The features of a sample, the same turned or their gradients, and what all are multiplied with or give. */
int64_t te_pair_scratch(const te_pairs* of) { return of->count * (2 * of->dim + of->count); }

static void take_sample(const te_pairs* of, int64_t sample, float* rows) {
  for (int64_t i = 0; i < of->count; i++) {
    te_copy(rows + i * of->dim, of->features[i] + sample * of->dim, (size_t)of->dim * sizeof(float));
  }
}

static void dots_of(const te_pairs_job* job, int64_t sample, float* rows) {
  const te_pairs* of = job->of;
  const int64_t count = of->count, dim = of->dim;
  float* turned = rows + count * dim;
  float* products = turned + count * dim;
  take_sample(of, sample, rows);
  for (int64_t i = 0; i < count; i++) {
    for (int64_t j = 0; j < dim; j++) turned[j * count + i] = rows[i * dim + j];
  }
  const te_product p = {rows, dim, 1, turned, products, count, dim, count, 0};
  TE_KERNEL(product)(&p);
  float* to = job->dots + sample * te_pair_count(of);
  for (int64_t i = 0; i < count; i++) {
    const int64_t others = of->with_self ? i + 1 : i;
    for (int64_t j = 0; j < others; j++) to[j] = products[i * count + j];
    to += others;
  }
}

static void gradients_of(const te_pairs_job* job, int64_t sample, float* rows) {
  const te_pairs* of = job->of;
  const int64_t count = of->count, dim = of->dim;
  float* gradients = rows + count * dim;
  float* factors = gradients + count * dim;
  take_sample(of, sample, rows);
  const float* from = job->upstream + sample * te_pair_count(of);
  for (int64_t i = 0; i < count; i++) {
    for (int64_t j = 0; j < i; j++) factors[i * count + j] = factors[j * count + i] = *from++;
    const float own = of->with_self ? *from++ : 0;
    factors[i * count + i] = own + own;
  }
  const te_product p = {factors, count, 1, rows, gradients, count, count, dim, 0};
  TE_KERNEL(product)(&p);
  for (int64_t i = 0; i < count; i++) {
    te_copy(job->gradients[i] + sample * dim, gradients + i * dim, (size_t)dim * sizeof(float));
  }
}

static void pairs_task(void* context, int64_t task, int32_t worker) {
  const te_pairs_job* job = context;
  const int64_t end = te_min(job->of->batch, (task + 1) * job->per_task);
  float* rows = job->scratch + worker * te_pair_scratch(job->of);
  for (int64_t sample = task * job->per_task; sample < end; sample++) {
    if (job->upstream != NULL) {
      gradients_of(job, sample, rows);
    } else {
      dots_of(job, sample, rows);
    }
  }
}

static void run(te_pairs_job job, int32_t workers) {
  job.per_task = te_max(1, TASK_NUMBERS / te_max(1, te_pair_scratch(job.of)));
  te_parallel((job.of->batch + job.per_task - 1) / job.per_task, workers, pairs_task, &job);
}

void te_pair_dots(const te_pairs* of, float* scratch, int32_t workers, float* dots) {
  run((te_pairs_job){of, NULL, dots, NULL, scratch, 0}, workers);
}

void te_pair_dots_grad(const te_pairs* of, const float* upstream, float* scratch, int32_t workers,
                       float* const* gradients) {
  run((te_pairs_job){of, upstream, NULL, gradients, scratch, 0}, workers);
}

#endif
