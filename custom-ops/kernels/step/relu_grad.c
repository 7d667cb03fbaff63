/* The gradient of relu: tfjs takes five passes for it, and matrices of ones and zeros. */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

/* Numbers that one task goes through. */
#define TASK_NUMBERS 16384

typedef struct {
  const float* upstream;
  const float* x;
  float* out;
  int64_t size;
} te_relu_job;

static void relu_task(void* context, int64_t task, int32_t worker) {
  const te_relu_job* job = context;
  const int64_t end = te_min(job->size, (task + 1) * TASK_NUMBERS);
  (void)worker;
  for (int64_t i = task * TASK_NUMBERS; i < end; i++) {
    const float x = job->x[i];
    const float slope = x > 0 ? 1.0f : 0.0f;
    /* A product, as tfjs has it: 0 times infinity is no number. */
    job->out[i] = job->upstream[i] * (x != x ? x : slope);
  }
}

void te_relu_grad(const float* upstream, const float* x, int64_t size, float* gradient) {
  te_relu_job job = {upstream, x, gradient, size};
  te_parallel((size + TASK_NUMBERS - 1) / TASK_NUMBERS, te_get_threads(), relu_task, &job);
}

#endif
