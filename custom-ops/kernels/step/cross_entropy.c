/*
 * Binary cross-entropy, element by element: the operations of the losses of tfjs and of their gradients, in float32 and
 * in the same order, so that numbers that are not finite come out alike.
 */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */
#include <math.h>

/* Elements that one task goes through. */
#define TASK_NUMBERS 4096

typedef struct {
  const float* labels;
  const float* predictions;
  const float* upstream; /* NULL: losses are asked for */
  const float* limits;   /* NULL: predictions are logits */
  float* out;
  int64_t size;
} te_entropy_job;

/* As TensorFlow has them, numbers that are none pass through. */
static float at_most(float x, float limit) { return x > limit ? limit : x; }
static float at_least(float x, float limit) { return x < limit ? limit : x; }

static float loss_of(float z, float x) { return (at_least(x, 0.0f) - x * z) + log1pf(expf(-fabsf(x))); }

static float logit_gradient(float z, float x, float dy) {
  const float e = expf(-fabsf(x));
  const float of_log = dy / (e + 1.0f) * e;
  /* The slopes of max(x, 0) and |x|; as tfjs has it, that of |x| at 0 is -1. */
  const float above = isnan(x) ? x : x > 0 ? 1.0f : 0.0f;
  const float sign = isnan(x) ? x : x > 0 ? 1.0f : -1.0f;
  return (-dy * z + -of_log * sign) + dy * above;
}

static float probability_gradient(float z, float p, float dy, const float* limits) {
  /* A clipped prediction has none, nor has one that is no number. */
  if (!(p >= limits[0] && p <= limits[1])) return 0.0f;
  const float rest = 1.0f - p;
  const float odds = p / rest;
  const float of_odds = logit_gradient(z, logf(odds), dy) / odds;
  return of_odds / rest + of_odds * p / (rest * rest);
}

static void entropy_task(void* context, int64_t task, int32_t worker) {
  const te_entropy_job* job = context;
  const int64_t end = te_min(job->size, (task + 1) * TASK_NUMBERS);
  (void)worker;
  for (int64_t i = task * TASK_NUMBERS; i < end; i++) {
    const float z = job->labels[i], given = job->predictions[i];
    if (job->upstream != NULL) {
      const float dy = job->upstream[i];
      job->out[i] = job->limits == NULL ? logit_gradient(z, given, dy) : probability_gradient(z, given, dy, job->limits);
      continue;
    }
    if (job->limits == NULL) {
      job->out[i] = loss_of(z, given);
      continue;
    }
    const float p = at_least(at_most(given, job->limits[1]), job->limits[0]);
    job->out[i] = loss_of(z, logf(p / (1.0f - p)));
  }
}

static void run(te_entropy_job job) {
  te_parallel((job.size + TASK_NUMBERS - 1) / TASK_NUMBERS, te_get_threads(), entropy_task, &job);
}

void te_cross_entropy(const float* labels, const float* predictions, int64_t size, const float* limits, float* losses) {
  run((te_entropy_job){labels, predictions, NULL, limits, losses, size});
}

void te_cross_entropy_grad(const float* labels, const float* predictions, const float* upstream, int64_t size,
                           const float* limits, float* gradient) {
  run((te_entropy_job){labels, predictions, upstream, limits, gradient, size});
}

#endif
