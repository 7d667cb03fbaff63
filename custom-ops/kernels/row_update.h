/* The fused step: the gradient of a row is summed, limited and applied while the row is in the cache. */
#include "optimizers.h"
#include "row_gradient.h"

/* Rows to come are fetched this many bytes ahead, slots counted in; what is fetched too early is gone when it is due. */
#define TE_UPDATE_BYTES_AHEAD 32768
#define TE_MOST_ROWS_AHEAD 20
#define TE_GRADIENTS_AHEAD 8

/* Each value limited to [low, high]; NaN stays NaN. */
static void limit_values(float* x, int64_t dim, float low, float high) {
  for (int64_t j = 0; j < dim; j++) {
    const float v = x[j] < low ? low : x[j];
    x[j] = v > high ? high : v;
  }
}

static void scale_values(float* x, int64_t dim, float factor) {
  for (int64_t j = 0; j < dim; j++) x[j] *= factor;
}

/* Limits on weights, then the constraint. */
static void limit_row(const te_hyper* h, float* w, int64_t dim) {
  limit_values(w, dim, h->clip_weight_min, h->clip_weight_max);
  if (h->constraint == 1.0f) {
    for (int64_t j = 0; j < dim; j++) w[j] = w[j] < 0.0f ? 0.0f : w[j];
  }
  if (h->constraint != 2.0f) return;
  const double norm = te_sqrt(te_dot(w, w, dim)), rate = (double)h->constraint_rate;
  double limited = norm < (double)h->constraint_min ? (double)h->constraint_min : norm;
  if (limited > (double)h->constraint_max) limited = (double)h->constraint_max;
  const double wanted = rate * limited + (1.0 - rate) * norm;
  for (int64_t j = 0; j < dim; j++) w[j] = (float)((double)w[j] * wanted / (1e-7 + norm));
}

/* Every line of a row. */
TE_INLINE void fetch_row(const float* table, int64_t dim, int64_t row) {
  const uintptr_t from = (uintptr_t)table + (uintptr_t)row * (uintptr_t)(dim * 4);
  for (uintptr_t line = from & ~(uintptr_t)63; line < from + (uintptr_t)dim * 4; line += 64) te_prefetch_write(line);
}

TE_INLINE void fetch_gradient(const float* gradient, int64_t dim, int64_t bag) {
  const uintptr_t from = (uintptr_t)gradient + (uintptr_t)bag * (uintptr_t)(dim * 4);
  for (uintptr_t line = from & ~(uintptr_t)63; line < from + (uintptr_t)dim * 4; line += 64) te_prefetch(line);
}

TE_INLINE void update_rows_with(const int optimizer, const te_update* job, int64_t first, int64_t end, int64_t begin,
                                float* g) {
  const te_groups* groups = job->groups;
  const te_hyper* h = job->hyper;
  const int64_t dim = job->dim, slot_dim = optimizer == TE_ROW_WISE_ADAGRAD ? 1 : dim;
  const float infinity = (float)te_from_bits(0x7ff0000000000000ull);
  const int scaled = job->gradient_scale != 1.0f;
  const int clipped = h->clip_gradient_min > -infinity || h->clip_gradient_max < infinity;
  const int limited = h->clip_weight_min > -infinity || h->clip_weight_max < infinity || h->constraint != 0.0f;
  const int64_t arrays = 1 + (optimizer == TE_ROW_WISE_ADAGRAD ? 0 : TE_SLOT_COUNT(optimizer));
  const int64_t ahead = te_max(4, te_min(TE_UPDATE_BYTES_AHEAD / (arrays * dim * 4), TE_MOST_ROWS_AHEAD));
  const int64_t last_entry = first < end ? (int64_t)groups->ends[end - 1] - 1 : 0;
#if defined(__wasm__)
  const int32_t block = te_touched_at_once((arrays + 1) * dim);
  const uint32_t bags = (uint32_t)groups->bags->batch;
  te_sink sink;
  int64_t touched_rows = first, touched_entries = begin;
#endif
  for (int64_t u = first; u < end; u++) {
#if defined(__wasm__)
    for (; touched_rows <= u; touched_rows += block) {
      const int32_t count = (int32_t)te_min(block, end - touched_rows);
      const int32_t* ids = groups->rows + touched_rows;
      te_touch_rows(job->table, ids, count, groups->limit, (int32_t)dim, &sink);
      if (TE_SLOT_COUNT(optimizer) > 0) {
        te_touch_rows(job->slot0, ids, count, groups->limit, (int32_t)slot_dim, &sink);
      }
      if (TE_SLOT_COUNT(optimizer) > 1) te_touch_rows(job->slot1, ids, count, groups->limit, (int32_t)dim, &sink);
    }
    for (; touched_entries < groups->ends[u]; touched_entries += block) {
      const int32_t count = (int32_t)te_min(block, last_entry + 1 - touched_entries);
      te_touch_rows(job->gradient, groups->order + touched_entries, count, bags, (int32_t)dim, &sink);
    }
#endif
    const int64_t row = groups->rows[u];
    const int64_t coming = groups->rows[te_min(u + ahead, end - 1)];
    float* w = job->table + row * dim;
    float* a = TE_SLOT_COUNT(optimizer) == 0 ? NULL : job->slot0 + row * slot_dim;
    float* b = job->slot1 == NULL ? NULL : job->slot1 + row * dim;
    fetch_row(job->table, dim, coming);
    if (a != NULL) fetch_row(job->slot0, slot_dim, coming);
    if (b != NULL) fetch_row(job->slot1, dim, coming);
    for (int64_t i = begin; i < groups->ends[u]; i++) {
      fetch_gradient(job->gradient, dim, groups->order[te_min(i + TE_GRADIENTS_AHEAD, last_entry)]);
    }
    row_gradient(job, u, begin, groups->ends[u], g);
    begin = groups->ends[u];
    if (scaled) scale_values(g, dim, job->gradient_scale);
    if (clipped) limit_values(g, dim, h->clip_gradient_min, h->clip_gradient_max);
    if (h->weight_decay != 0.0f) {
      for (int64_t j = 0; j < dim; j++) w[j] -= h->weight_decay * w[j];
    }
    step_row(optimizer, h, w, g, a, b, dim);
    if (limited) limit_row(h, w, dim);
  }
}

/* One function for each optimizer. */
#define UPDATE(optimizer)                                                                                             \
  TE_APART void update_##optimizer(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) { \
    update_rows_with(optimizer, job, first, end, begin, scratch);                                                     \
  }
UPDATE(TE_SGD)
UPDATE(TE_ADAGRAD)
UPDATE(TE_ROW_WISE_ADAGRAD)
UPDATE(TE_ADAGRAD_MOMENTUM)
UPDATE(TE_ADAM)
UPDATE(TE_FTRL)
#undef UPDATE

static void update_rows(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) {
#define CASE(optimizer)                                  \
  case optimizer:                                        \
    update_##optimizer(job, first, end, begin, scratch); \
    break;
  switch (job->optimizer) {
    CASE(TE_SGD)
    CASE(TE_ADAGRAD)
    CASE(TE_ROW_WISE_ADAGRAD)
    CASE(TE_ADAGRAD_MOMENTUM)
    CASE(TE_ADAM)
    CASE(TE_FTRL)
    default:
      break;
  }
#undef CASE
}

static void step_untouched(const te_update* job, int64_t first, int64_t end, const float* zeros) {
  const int64_t dim = job->dim;
  for (int64_t row = first; row < end; row++) {
    float *w = job->table + row * dim, *a = job->slot0 + row * dim, *b = job->slot1 + row * dim;
    if (job->optimizer == TE_ADAM) {
      step_row(TE_ADAM, job->hyper, w, zeros, a, b, dim);
    } else {
      step_row(TE_ADAGRAD_MOMENTUM, job->hyper, w, zeros, a, b, dim);
    }
  }
}
