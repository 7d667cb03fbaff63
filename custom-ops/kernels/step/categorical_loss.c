/*
 * Categorical cross-entropy of probabilities and the gradient of softmax, row by row: tfjs takes thirty passes over
 * matrices as wide as the classes for them.
 */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

/* Numbers of a matrix that one task goes through. */
#define TASK_NUMBERS 16384

typedef struct {
  te_class_rows rows;
  int64_t per_task;
} te_classes_job;

static void task_of_rows(void* context, int64_t task, int32_t worker) {
  const te_classes_job* job = context;
  (void)worker;
  const int64_t end = te_min(job->rows.of.rows, (task + 1) * job->per_task);
  TE_KERNEL(class_rows)(&job->rows, task * job->per_task, end);
}

static void run(te_class_rows rows) {
  const int64_t per_task = te_max(1, TASK_NUMBERS / te_max(1, rows.of.classes));
  te_classes_job job = {rows, per_task};
  te_parallel((rows.of.rows + per_task - 1) / per_task, te_get_threads(), task_of_rows, &job);
}

void te_categorical_loss(const te_classes* of, float* losses) {
  run((te_class_rows){*of, TE_CLASS_LOSSES, NULL, losses});
}

void te_categorical_loss_grad(const te_classes* of, const float* upstream, int32_t through_softmax, float* gradient) {
  run((te_class_rows){*of, through_softmax ? TE_CLASS_SOFTMAX_GRADIENTS : TE_CLASS_GRADIENTS, upstream, gradient});
}

void te_softmax_grad(const float* upstream, const float* y, int64_t rows, int64_t classes, float* gradient) {
  /* There may be any number of rows that hold nothing. */
  const te_classes of = {NULL, y, classes == 0 ? 0 : rows, classes, 0, 0, 0};
  run((te_class_rows){of, TE_SOFTMAX_GRADIENTS, upstream, gradient});
}

#endif
