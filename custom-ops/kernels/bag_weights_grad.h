/* Gradient of pooled rows with respect to the weights of ids. */
#include "rows.h"

/* Dots of rows and the gradient become gradients of weights; total: their weighted sum. */
TE_INLINE void te_finish_weights_gradient(const te_bags* bags, int64_t from, int64_t to, double divisor, double total,
                                          float* out) {
  if (bags->combiner == TE_SUM) return;
  for (int64_t i = from; i < to; i++) {
    const double dot = (double)out[i];
    double slope = 0.0;
    if (divisor != 0.0) {
      slope = bags->combiner == TE_MEAN
                  ? (dot - total / divisor) / divisor
                  : dot / divisor - (double)bags->weights[i] * total / (divisor * divisor * divisor);
    }
    out[i] = (float)slope;
  }
}

static void float_weights_gradient(const te_lookup_job* job, int64_t first, int64_t end) {
  const te_bags* bags = job->bags;
  const int64_t dim = job->table.dim;
  for (int64_t b = first; b < end; b++) {
    const int64_t from = bags->row_splits[b], to = bags->row_splits[b + 1];
    const float* gradient = job->gradient + b * dim;
    const double divisor = (double)te_divisor(bags, from, to);
    double total = 0.0; /* weighted sum . gradient: what the divisor takes back when a weight grows */
    for (int64_t i = from; i < to; i++) {
      const uint32_t id = (uint32_t)bags->values[i];
      double dot = 0.0;
      if (id < job->limit) {
        const float* row = te_floats(&job->table) + (int64_t)id * dim;
        dot = te_dot(row, gradient, dim) * te_row_scale(row, dim, bags->max_norm);
      }
      total += (double)bags->weights[i] * dot;
      job->out[i] = (float)dot;
    }
    te_finish_weights_gradient(bags, from, to, divisor, total, job->out);
  }
}
