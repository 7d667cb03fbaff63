/* The fused step: the gradient of a row is summed, limited and applied while the row is in the cache. */
#include "optimizers.h"
#include "row_gradient.h"

/* Rows to come are fetched this many bytes ahead, slots counted in; what is fetched too early is gone when it is due. */
#define TE_UPDATE_BYTES_AHEAD 16384
#define TE_MOST_ROWS_AHEAD 64
#define TE_GRADIENTS_AHEAD 16

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
TE_INLINE void fetch_row(const float* rows, int64_t dim, int64_t row, int straddling) {
  const uintptr_t from = (uintptr_t)rows + (uintptr_t)row * (uintptr_t)(dim * 4);
  for (int64_t at = 0; at < dim * 4; at += 64) te_prefetch_write(from + (uintptr_t)at);
  if (straddling) te_prefetch_write(from + (uintptr_t)(dim * 4 - 1));
}

TE_INLINE void fetch_gradient(const float* gradient, int64_t dim, int64_t bag, int straddling) {
  const uintptr_t from = (uintptr_t)gradient + (uintptr_t)bag * (uintptr_t)(dim * 4);
  for (int64_t at = 0; at < dim * 4; at += 64) te_prefetch(from + (uintptr_t)at);
  if (straddling) te_prefetch(from + (uintptr_t)(dim * 4 - 1));
}

/* What a step does beside summing gradients and stepping, for all its rows alike. */
typedef struct step_extras {
  int scaled;
  int clipped;
  int limited;
} step_extras;

static step_extras extras_of(const te_update* job) {
  const te_hyper* h = job->hyper;
  const float infinity = (float)te_from_bits(0x7ff0000000000000ull);
  step_extras extras;
  extras.scaled = job->gradient_scale != 1.0f;
  extras.clipped = h->clip_gradient_min > -infinity || h->clip_gradient_max < infinity;
  extras.limited = te_limits_rows(h);
  return extras;
}

/* A plain step is all sums and steps: the gradient of a row that occurs once is a row of `gradient`, used where it is. */
static int is_plain(const te_update* job, const step_extras* extras) {
  return !extras->scaled && !extras->clipped && !extras->limited && job->hyper->weight_decay == 0.0f &&
         !(job->max_norm > 0.0f) && job->groups->bags->more_uses == 0;
}

/* `optimizer`, and mostly `dim` and `plain`, are known when compiling: memory then is all that a step waits for. */
TE_INLINE void update_rows_with(const int optimizer, const int64_t dim, const int plain, const step_extras* extras,
                                const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) {
  const te_groups* groups = job->groups;
  const te_hyper h = *job->hyper; /* a copy of its own, which no row overwrites */
  const int32_t *rows = groups->rows, *ends = groups->ends, *order = groups->order;
  const int64_t arrays = 1 + te_slot_count(optimizer) - te_row_slots(optimizer);
  const int64_t ahead = te_max(4, te_min(TE_UPDATE_BYTES_AHEAD / (arrays * dim * 4), TE_MOST_ROWS_AHEAD));
  const int64_t last_entry = first < end ? (int64_t)ends[end - 1] - 1 : 0;
  const int64_t bytes = dim * 4;
  float* const table = te_floats(&job->table);
  const int table_straddles = te_straddles(table, bytes), gradient_straddles = te_straddles(job->gradient, bytes);
  const int slots = te_slot_count(optimizer);
  int straddles[TE_MOST_SLOTS] = {0};
  for (int s = 0; s < slots; s++) {
    straddles[s] = te_straddles(job->slots[s], te_slot_dim(optimizer, s, dim) * 4);
  }
#if defined(__wasm__)
  const int32_t block = te_touched_at_once((arrays + 1) * dim);
  const uint32_t bags = (uint32_t)groups->bags->batch;
  te_sink sink;
  int64_t touched_rows = first, touched_entries = begin;
#endif
  for (int64_t u = first; u < end; u++) {
    const int64_t to = ends[u];
#if defined(__wasm__)
    for (; touched_rows <= u; touched_rows += block) {
      const int32_t count = (int32_t)te_min(block, end - touched_rows);
      const int32_t* ids = rows + touched_rows;
      te_touch_rows(table, ids, count, groups->limit, (int32_t)dim, &sink);
      for (int s = 0; s < slots; s++) {
        te_touch_rows(job->slots[s], ids, count, groups->limit, (int32_t)te_slot_dim(optimizer, s, dim), &sink);
      }
    }
    for (; touched_entries < to; touched_entries += block) {
      const int32_t count = (int32_t)te_min(block, last_entry + 1 - touched_entries);
      te_touch_rows(job->gradient, order + touched_entries, count, bags, (int32_t)dim, &sink);
    }
#endif
    const int64_t row = rows[u], coming = rows[te_min(u + ahead, end - 1)];
    float* w = table + row * dim;
    float* state[TE_MOST_SLOTS] = {NULL};
    const float* g = scratch;
    fetch_row(table, dim, coming, table_straddles);
    for (int s = 0; s < slots; s++) {
      const int64_t slot_dim = te_slot_dim(optimizer, s, dim);
      state[s] = job->slots[s] + row * slot_dim;
      fetch_row(job->slots[s], slot_dim, coming, straddles[s]);
    }
    for (int64_t i = begin; i < to; i++) {
      fetch_gradient(job->gradient, dim, order[te_min(i + TE_GRADIENTS_AHEAD, last_entry)], gradient_straddles);
    }
    if (plain && to - begin == 1 && !groups->with_coefficients) {
      g = job->gradient + (int64_t)order[begin] * dim;
#if !defined(__wasm__)
    } else if (plain) {
      sum_of_uses(job, dim, begin, to, scratch);
#endif
    } else {
      row_gradient(job, w, begin, to, scratch);
    }
    if (!plain) {
      if (extras->scaled) scale_values(scratch, dim, job->gradient_scale);
      if (extras->clipped) limit_values(scratch, dim, h.clip_gradient_min, h.clip_gradient_max);
      if (h.weight_decay != 0.0f) {
        for (int64_t j = 0; j < dim; j++) w[j] -= h.weight_decay * w[j];
      }
    }
    begin = to;
    step_row(optimizer, &h, w, g, state, dim);
    if (!plain && extras->limited) limit_row(&h, w, dim);
  }
}

/* One function for each optimizer, and one for each of the widths that tables mostly have. */
#define UPDATE(optimizer, name, dim, plain)                                                                           \
  TE_APART void update_##optimizer##name(const te_update* job, const step_extras* extras, int64_t first, int64_t end, \
                                         int64_t begin, float* scratch) {                                             \
    update_rows_with(optimizer, dim, plain, extras, job, first, end, begin, scratch);                                 \
  }
#if defined(__wasm__)
/* Nothing is fetched ahead there, and a module is to be small. */
#define UPDATES(optimizer, name, slots, per_row, idle) UPDATE(optimizer, , job->table.dim, is_plain(job, extras))
#else
#define UPDATES(optimizer, name, slots, per_row, idle)                                                        \
  UPDATE(optimizer, _16, 16, 1)                                                                               \
  UPDATE(optimizer, _32, 32, 1)                                                                               \
  UPDATE(optimizer, _64, 64, 1)                                                                               \
  UPDATE(optimizer, _128, 128, 1)                                                                             \
  UPDATE(optimizer, _plain, job->table.dim, 1)                                                                      \
  UPDATE(optimizer, _any, job->table.dim, 0)                                                                        \
  static void update_##optimizer(const te_update* job, const step_extras* extras, int64_t first, int64_t end, \
                                 int64_t begin, float* scratch) {                                             \
    const int64_t dim = job->table.dim;                                                                             \
    if (!is_plain(job, extras)) {                                                                             \
      update_##optimizer##_any(job, extras, first, end, begin, scratch);                                      \
    } else if (dim == 16) {                                                                                   \
      update_##optimizer##_16(job, extras, first, end, begin, scratch);                                       \
    } else if (dim == 32) {                                                                                   \
      update_##optimizer##_32(job, extras, first, end, begin, scratch);                                       \
    } else if (dim == 64) {                                                                                   \
      update_##optimizer##_64(job, extras, first, end, begin, scratch);                                       \
    } else if (dim == 128) {                                                                                  \
      update_##optimizer##_128(job, extras, first, end, begin, scratch);                                      \
    } else {                                                                                                  \
      update_##optimizer##_plain(job, extras, first, end, begin, scratch);                                    \
    }                                                                                                         \
  }
#endif
TE_EACH_OPTIMIZER(UPDATES)
#undef UPDATES
#undef UPDATE

static void update_float_rows(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) {
  const step_extras extras = extras_of(job);
#define CASE(optimizer, name, slots, per_row, idle)               \
  case optimizer:                                                 \
    update_##optimizer(job, &extras, first, end, begin, scratch); \
    break;
  switch (job->optimizer) {
    TE_EACH_OPTIMIZER(CASE)
    default:
      break;
  }
#undef CASE
}

/*
 * One row that has no ids; g: zeros, or the gradient of a dense variable. `optimizer`, and `idle`, whether it moves such
 * rows, are known when compiling: others only keep them within the limits.
 */
TE_INLINE void step_idle_row(const int optimizer, const int idle, const te_update* job, int64_t row, float* w,
                             const float* g) {
  if (idle) {
    const float decay = job->hyper->idle_decay;
    float* state[TE_MOST_SLOTS] = {NULL};
    for (int s = 0; s < te_slot_count(optimizer); s++) {
      state[s] = job->slots[s] + row * te_slot_dim(optimizer, s, job->table.dim);
    }
    if (decay != 0.0f) {
      for (int64_t j = 0; j < job->table.dim; j++) w[j] -= decay * w[j];
    }
    step_row(optimizer, job->hyper, w, g, state, job->table.dim);
  }
  if (te_limits_rows(job->hyper)) limit_row(job->hyper, w, job->table.dim);
}

/* Cases of a switch over optimizers for rows without ids. */
#define TE_IDLE_ROW(optimizer, name, slots, per_row, idle)   \
  case optimizer:                                            \
    step_idle_row(optimizer, idle, job, row, w, zeros);      \
    break;

static void step_untouched_floats(const te_update* job, int64_t first, int64_t end, const float* zeros) {
  for (int64_t row = first; row < end; row++) {
    float* w = te_floats(&job->table) + row * job->table.dim;
    switch (job->optimizer) { TE_EACH_OPTIMIZER(TE_IDLE_ROW) }
  }
}
