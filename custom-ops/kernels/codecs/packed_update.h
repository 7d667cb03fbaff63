/* The fused step of float16 rows: widened, stepped as floats in the cache, and rounded stochastically. After row_update.h. */
#include "simd_packed.h"
#include "stochastic_half.h"

/* The columns of a row as floats. */
static void widen_row(const te_update* job, int64_t row, float* to) {
  const int32_t* words = te_words(&job->table) + row * job->row_words;
  const int64_t dim = job->table.dim;
  int64_t c = 0;
  for (; c + TE_LANES <= dim; c += TE_LANES) v_store(to + c, v_load_halves(words + c / 2));
  if (c < dim) {
    const int rest = (int)(dim - c);
    v_store_part(to + c, v_mask(rest), v_load_halves_part(words + c / 2, rest));
  }
}

TE_APART void round_row(const te_update* job, int64_t row, float* values) {
  te_round_row(values, job->table.dim, job->rounding_key[0], job->rounding_key[1], (uint32_t)row,
               te_words(&job->table) + row * job->row_words);
}

/* Behind the rows of scratch that a gradient takes. */
TE_INLINE float* wide_row(const te_groups* groups, float* scratch) {
  return scratch + groups->scratch_floats / TE_SCRATCH_ROWS * (TE_SCRATCH_ROWS - 1);
}

TE_INLINE void update_packed_rows_with(const int optimizer, const te_update* job, int64_t first, int64_t end,
                                       int64_t begin, float* g) {
  const te_groups* groups = job->groups;
  const te_hyper* h = job->hyper;
  const int64_t dim = job->table.dim;
  const step_extras extras = extras_of(job);
  const int64_t slots = te_slot_count(optimizer) - te_row_slots(optimizer);
  const int64_t bytes = job->row_words * 4 + slots * dim * 4;
  const int64_t ahead = te_max(4, te_min(TE_UPDATE_BYTES_AHEAD / bytes, TE_MOST_ROWS_AHEAD));
  const int64_t last_entry = first < end ? (int64_t)groups->ends[end - 1] - 1 : 0;
  float* w = wide_row(groups, g);
  for (int64_t u = first; u < end; u++) {
    const int64_t row = groups->rows[u];
    const int64_t coming = groups->rows[te_min(u + ahead, end - 1)];
    float* state[TE_MOST_SLOTS] = {NULL};
    fetch_row(te_floats(&job->table), job->row_words, coming, 1);
    for (int s = 0; s < te_slot_count(optimizer); s++) {
      const int64_t slot_dim = te_slot_dim(optimizer, s, dim);
      state[s] = job->slots[s] + row * slot_dim;
      fetch_row(job->slots[s], slot_dim, coming, 1);
    }
    for (int64_t i = begin; i < groups->ends[u]; i++) {
      fetch_gradient(job->gradient, dim, groups->order[te_min(i + TE_GRADIENTS_AHEAD, last_entry)], 1);
    }
    widen_row(job, row, w);
    row_gradient(job, w, begin, groups->ends[u], g);
    begin = groups->ends[u];
    if (extras.scaled) scale_values(g, dim, job->gradient_scale);
    if (extras.clipped) limit_values(g, dim, h->clip_gradient_min, h->clip_gradient_max);
    if (h->weight_decay != 0.0f) {
      for (int64_t j = 0; j < dim; j++) w[j] -= h->weight_decay * w[j];
    }
    step_row(optimizer, h, w, g, state, dim);
    if (extras.limited) limit_row(h, w, dim);
    round_row(job, row, w);
  }
}

/* One function for each optimizer. */
#define UPDATE(optimizer, name, slots, per_row, idle)                                                      \
  TE_APART void update_packed_##optimizer(const te_update* job, int64_t first, int64_t end, int64_t begin, \
                                          float* scratch) {                                                \
    update_packed_rows_with(optimizer, job, first, end, begin, scratch);                                   \
  }
TE_EACH_OPTIMIZER(UPDATE)
#undef UPDATE

static void update_packed_rows(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) {
#define CASE(optimizer, name, slots, per_row, idle)             \
  case optimizer:                                               \
    update_packed_##optimizer(job, first, end, begin, scratch); \
    break;
  switch (job->optimizer) {
    TE_EACH_OPTIMIZER(CASE)
    default:
      break;
  }
#undef CASE
}

static double packed_gradient_squares(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch) {
  const te_groups* groups = job->groups;
  float* w = wide_row(groups, scratch);
  double sum = 0.0;
  for (int64_t u = first; u < end; u++) {
    if (job->max_norm > 0.0f) widen_row(job, groups->rows[u], w);
    row_gradient(job, w, begin, groups->ends[u], scratch);
    begin = groups->ends[u];
    sum += te_dot(scratch, scratch, job->table.dim);
  }
  return sum;
}

/* scratch: one row of zeros, and behind it, as above, room for the row. */
static void step_untouched_packed(const te_update* job, int64_t first, int64_t end, float* w, const float* zeros) {
  for (int64_t row = first; row < end; row++) {
    widen_row(job, row, w);
    switch (job->optimizer) { TE_EACH_OPTIMIZER(TE_IDLE_ROW) }
    round_row(job, row, w);
  }
}
