/*
 * Categorical cross-entropy of rows of probabilities, its gradient, and the gradient of softmax. Part of an
 * instance; needs simd.h.
 */
#ifndef TFJS_EMBEDDINGS_CLASS_ROWS_H_
#define TFJS_EMBEDDINGS_CLASS_ROWS_H_

#include "../core.h"
#include "../simd.h"
#include "partial_sums.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

#include <math.h>
#include <string.h>

/* Labels that are left out together where all are 0. */
#define BLOCK (16 * SUMS)

static float sum_of(const float* a, int64_t size) {
  float sums[SUMS] = {0};
  int64_t j = 0;
  for (; j + SUMS <= size; j += SUMS) {
    for (int64_t k = 0; k < SUMS; k++) sums[k] += a[j + k];
  }
  for (int64_t k = 0; j + k < size; k++) sums[k] += a[j + k];
  return total(sums);
}

/* NaN stays. */
static float clipped(float p, const te_classes* of) {
  return p < of->least ? of->least : p > of->most ? of->most : p;
}

static int32_t is_within(float p, const te_classes* of) { return p >= of->least && p <= of->most; }

TE_INLINE te_v v_clipped(te_v p, const te_classes* of) { return v_max(v_set(of->least), v_min(v_set(of->most), p)); }

/* tfjs clips the probabilities of numbered classes before it adds them up too. */
static float clipped_sum(const te_classes* of, const float* p) {
  te_v parts[SUMS / TE_LANES];
  float sums[SUMS];
  int64_t j = 0;
  for (int v = 0; v < SUMS / TE_LANES; v++) parts[v] = v_zero();
  for (; j + SUMS <= of->classes; j += SUMS) {
    for (int v = 0; v < SUMS / TE_LANES; v++) {
      parts[v] = v_add(parts[v], v_clipped(v_load(p + j + v * TE_LANES), of));
    }
  }
  for (int v = 0; v < SUMS / TE_LANES; v++) v_store(sums + v * TE_LANES, parts[v]);
  for (int64_t k = 0; j + k < of->classes; k++) sums[k] += clipped(p[j + k], of);
  return total(sums);
}

/* `number` where the probability is not clipped, else 0. */
static void fill_within(const te_classes* of, const float* p, float number, float* out) {
  int64_t j = 0;
  for (; j + TE_LANES <= of->classes; j += TE_LANES) {
    const te_v given = v_load(p + j);
    v_store(out + j, v_if_zero(v_sub(given, v_clipped(given, of)), v_set(number), v_zero()));
  }
  for (; j < of->classes; j++) out[j] = is_within(p[j], of) ? number : 0;
}

/* Whether p / sum is a number for every p that the sum is of. */
static int32_t is_regular(float sum) { return sum != 0 && sum - sum == 0; }

/* Whether numbers are all 0, as most labels are. */
static int32_t are_zeros(const float* a, int64_t count) {
  uint32_t bits = 0;
  for (int64_t k = 0; k < count; k++) {
    uint32_t word;
    memcpy(&word, a + k, sizeof(word));
    bits |= word;
  }
  return (bits << 1) == 0;
}

/* The class that a label names, without its fraction; -1: none of them. */
static int64_t class_of(const te_classes* of, int64_t row) {
  const float label = of->labels[row];
  return label >= 0 && label < (float)of->classes ? (int64_t)label : -1;
}

static float class_loss(const te_classes* of, int64_t row) {
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
  const int32_t skips = is_regular(sum);
  float sums[SUMS] = {0};
  for (int64_t j = 0; j < classes; j += BLOCK) {
    const int64_t count = te_min(BLOCK, classes - j);
    if (skips && are_zeros(label + j, count)) continue;
    for (int64_t k = 0; k < count; k++) {
      const float q = clipped(p[j + k] / sum, of);
      /* A label of 0 takes no part, but where the other factor is no number. */
      if (label[j + k] != 0 || q != q) sums[k % SUMS] += label[j + k] * logf(q);
    }
  }
  return -total(sums);
}

/* By the probability p / sum, before that is divided by the sum. */
static float inner(const te_classes* of, float label, float upstream, float p, float sum) {
  const float q = p / sum;
  return is_within(q, of) ? -label * upstream / q : 0;
}

static void class_gradient(const te_classes* of, int64_t row, float upstream, float* out) {
  const int64_t classes = of->classes;
  const float* p = of->probabilities + row * classes;
  if (of->is_sparse) {
    const int64_t at = class_of(of, row);
    const float sum = clipped_sum(of, p);
    const float own = at < 0 ? 0 : clipped(p[at], of);
    const float g = at < 0 ? 0 : inner(of, 1, upstream, own, sum);
    const float shared = -(g * own) / (sum * sum);
    fill_within(of, p, shared, out);
    if (at >= 0 && is_within(p[at], of)) out[at] += g / sum;
    return;
  }
  const float sum = sum_of(p, classes);
  const float* label = of->labels + row * classes;
  const int32_t skips = is_regular(sum) && upstream - upstream == 0;
  float dots[SUMS] = {0};
  for (int64_t j = 0; j < classes; j += BLOCK) {
    const int64_t count = te_min(BLOCK, classes - j);
    if (skips && are_zeros(label + j, count)) continue;
    for (int64_t k = 0; k < count; k++) out[j + k] = inner(of, label[j + k], upstream, p[j + k], sum);
    for (int64_t k = 0; k < count; k++) dots[k % SUMS] += out[j + k] * p[j + k];
  }
  const float shared = -total(dots) / (sum * sum);
  for (int64_t j = 0; j < classes; j += BLOCK) {
    const int64_t count = te_min(BLOCK, classes - j);
    if (skips && are_zeros(label + j, count)) {
      for (int64_t k = 0; k < count; k++) out[j + k] = shared;
    } else {
      for (int64_t k = 0; k < count; k++) out[j + k] = out[j + k] / sum + shared;
    }
  }
}

static void softmax_gradient(const float* dy, const float* y, int64_t classes, float* out) {
  const float dot = dot_of(dy, y, classes);
  for (int64_t j = 0; j < classes; j++) out[j] = y[j] * (dy[j] - dot);
}

static void class_rows(const te_class_rows* job, int64_t first, int64_t end) {
  const int64_t classes = job->of.classes;
  for (int64_t row = first; row < end; row++) {
    float* out = job->out + row * classes;
    if (job->what == TE_CLASS_LOSSES) {
      job->out[row] = class_loss(&job->of, row);
    } else if (job->what == TE_SOFTMAX_GRADIENTS) {
      softmax_gradient(job->upstream + row * classes, job->of.probabilities + row * classes, classes, out);
    } else {
      class_gradient(&job->of, row, job->upstream[row], out);
      if (job->what == TE_CLASS_SOFTMAX_GRADIENTS) {
        softmax_gradient(out, job->of.probabilities + row * classes, classes, out);
      }
    }
  }
}

#undef BLOCK

#endif
#endif
