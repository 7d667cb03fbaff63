/*
 * Categorical cross-entropy of probabilities and the gradient of softmax, row by row: tfjs takes thirty passes over
 * matrices as wide as the classes for them.
 */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

#include <math.h>

/* Partial sums of a row. The same on every processor and for any number of threads. */
#define SUMS 16
/* Numbers of a matrix that one task goes through. */
#define TASK_NUMBERS 16384

typedef struct {
  te_classes of;
  const float* upstream;
  const float* y;
  float* out;
  int64_t per_task;
} te_classes_job;

static float total(float sums[SUMS]) {
  for (int64_t half = SUMS / 2; half > 0; half /= 2) {
    for (int64_t k = 0; k < half; k++) sums[k] += sums[k + half];
  }
  return sums[0];
}

static float sum_of(const float* a, int64_t size) {
  float sums[SUMS] = {0};
  int64_t j = 0;
  for (; j + SUMS <= size; j += SUMS) {
    for (int64_t k = 0; k < SUMS; k++) sums[k] += a[j + k];
  }
  for (int64_t k = 0; j + k < size; k++) sums[k] += a[j + k];
  return total(sums);
}

static float dot_of(const float* a, const float* b, int64_t size) {
  float sums[SUMS] = {0};
  int64_t j = 0;
  for (; j + SUMS <= size; j += SUMS) {
    for (int64_t k = 0; k < SUMS; k++) sums[k] += a[j + k] * b[j + k];
  }
  for (int64_t k = 0; j + k < size; k++) sums[k] += a[j + k] * b[j + k];
  return total(sums);
}

/* NaN stays. */
static float clipped(float p, const te_classes* of) {
  return p < of->least ? of->least : p > of->most ? of->most : p;
}

static int32_t is_within(float p, const te_classes* of) { return p >= of->least && p <= of->most; }

/* tfjs clips the probabilities of numbered classes before it adds them up too. */
static float clipped_sum(const te_classes* of, const float* p) {
  float sums[SUMS] = {0};
  int64_t j = 0;
  for (; j + SUMS <= of->classes; j += SUMS) {
    for (int64_t k = 0; k < SUMS; k++) sums[k] += clipped(p[j + k], of);
  }
  for (int64_t k = 0; j + k < of->classes; k++) sums[k] += clipped(p[j + k], of);
  return total(sums);
}

/* The class that a label names, without its fraction; -1: none of them. */
static int64_t class_of(const te_classes* of, int64_t row) {
  const float label = of->labels[row];
  return label >= 0 && label < (float)of->classes ? (int64_t)label : -1;
}

static float loss_of(const te_classes* of, int64_t row) {
  const int64_t classes = of->classes;
  const float* p = of->probabilities + row * classes;
  if (of->is_sparse) {
    const int64_t at = class_of(of, row);
    const float sum = clipped_sum(of, p);
    /* A sum of numbers that are none is none. */
    return at < 0 ? 0 * sum : -logf(clipped(clipped(p[at], of) / sum, of));
  }
  const float sum = sum_of(p, classes);
  const float* label = of->labels + row * classes;
  float sums[SUMS] = {0};
  for (int64_t j = 0; j < classes; j++) {
    const float q = clipped(p[j] / sum, of);
    /* A label of 0 takes no part, but where the other factor is no number. */
    if (label[j] != 0 || q != q) sums[j % SUMS] += label[j] * logf(q);
  }
  return -total(sums);
}

static void losses_task(void* context, int64_t task, int32_t worker) {
  const te_classes_job* job = context;
  const int64_t end = te_min(job->of.rows, (task + 1) * job->per_task);
  (void)worker;
  for (int64_t row = task * job->per_task; row < end; row++) job->out[row] = loss_of(&job->of, row);
}

/* By the probability p / sum, before that is divided by the sum. */
static float inner(const te_classes* of, float label, float upstream, float p, float sum) {
  const float q = p / sum;
  return is_within(q, of) ? -label * upstream / q : 0;
}

static void gradient_of(const te_classes* of, int64_t row, float upstream, float* out) {
  const int64_t classes = of->classes;
  const float* p = of->probabilities + row * classes;
  if (of->is_sparse) {
    const int64_t at = class_of(of, row);
    const float sum = clipped_sum(of, p);
    const float own = at < 0 ? 0 : clipped(p[at], of);
    const float g = at < 0 ? 0 : inner(of, 1, upstream, own, sum);
    const float shared = -(g * own) / (sum * sum);
    for (int64_t j = 0; j < classes; j++) out[j] = is_within(p[j], of) ? shared : 0;
    if (at >= 0 && is_within(p[at], of)) out[at] += g / sum;
    return;
  }
  const float sum = sum_of(p, classes);
  const float* label = of->labels + row * classes;
  for (int64_t j = 0; j < classes; j++) out[j] = inner(of, label[j], upstream, p[j], sum);
  const float shared = -dot_of(out, p, classes) / (sum * sum);
  for (int64_t j = 0; j < classes; j++) out[j] = out[j] / sum + shared;
}

static void gradient_task(void* context, int64_t task, int32_t worker) {
  const te_classes_job* job = context;
  const int64_t end = te_min(job->of.rows, (task + 1) * job->per_task);
  (void)worker;
  for (int64_t row = task * job->per_task; row < end; row++) {
    gradient_of(&job->of, row, job->upstream[row], job->out + row * job->of.classes);
  }
}

static void softmax_task(void* context, int64_t task, int32_t worker) {
  const te_classes_job* job = context;
  const int64_t end = te_min(job->of.rows, (task + 1) * job->per_task), classes = job->of.classes;
  (void)worker;
  for (int64_t row = task * job->per_task; row < end; row++) {
    const float* dy = job->upstream + row * classes;
    const float* y = job->y + row * classes;
    float* out = job->out + row * classes;
    const float dot = dot_of(dy, y, classes);
    for (int64_t j = 0; j < classes; j++) out[j] = y[j] * (dy[j] - dot);
  }
}

static void run(te_classes_job job, te_work work) {
  job.per_task = te_max(1, TASK_NUMBERS / te_max(1, job.of.classes));
  te_parallel((job.of.rows + job.per_task - 1) / job.per_task, te_get_threads(), work, &job);
}

void te_categorical_loss(const te_classes* of, float* losses) {
  run((te_classes_job){*of, 0, 0, losses, 0}, losses_task);
}

void te_categorical_loss_grad(const te_classes* of, const float* upstream, float* gradient) {
  run((te_classes_job){*of, upstream, 0, gradient, 0}, gradient_task);
}

void te_softmax_grad(const float* upstream, const float* y, int64_t rows, int64_t classes, float* gradient) {
  /* There may be any number of rows that hold nothing. */
  const te_classes of = {0, 0, classes == 0 ? 0 : rows, classes, 0, 0, 0};
  run((te_classes_job){of, upstream, y, gradient, 0}, softmax_task);
}

#endif
