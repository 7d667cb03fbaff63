/* Kernels over rows of any codec: those of floats, which are read and stepped where they lie, and those of packed ones. */
#include "packed_rows.h"
#include "packed_update.h"

static int64_t look_up(const te_lookup_job* job, int64_t first, int64_t end) {
  return job->table.codec == TE_FLOAT32 ? forward(job, first, end) : packed_forward(job, first, end);
}

static void weights_gradient(const te_lookup_job* job, int64_t first, int64_t end) {
  if (job->table.codec == TE_FLOAT32) {
    float_weights_gradient(job, first, end);
  } else {
    packed_weights_gradient(job, first, end);
  }
}

static double gradient_squares(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) {
  return job->table.codec == TE_FLOAT32 ? float_gradient_squares(job, first, end, begin, scratch)
                                        : packed_gradient_squares(job, first, end, begin, scratch);
}

static void update_rows(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) {
  if (job->table.codec == TE_FLOAT32) {
    update_float_rows(job, first, end, begin, scratch);
  } else {
    update_packed_rows(job, first, end, begin, scratch);
  }
}

static void step_untouched(const te_update* job, int64_t first, int64_t end, float* w, const float* zeros) {
  if (job->table.codec == TE_FLOAT32) {
    step_untouched_floats(job, first, end, zeros);
  } else {
    step_untouched_packed(job, first, end, w, zeros);
  }
}
