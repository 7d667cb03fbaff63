/*
 * Ids of a stack of tables as SparseCores take them: sorted by shard and row for each core, in buckets of padded slots.
 *
 * Cores are tasks. Each writes the ids of its samples as entries, sorts them by shard and row, digit by digit, and
 * merges equal neighbours; then the places of all buckets are known, and each core copies its own.
 */
#include "core.h"

#define ALIGNMENT 8 /* slots */
#define PADDING 0x7fffffff
#define MOST_DIGITS 4
#define WIDE_DIGIT 11
#define NARROW_DIGIT 8
#define NARROW_BELOW 8192 /* entries for which the counters of a wide digit cost more than another pass */
#define COUNTERS (1 << WIDE_DIGIT)
#define MOST_CORES 4096
#define MOST_SHARDS 65536

typedef struct entry {
  uint32_t key; /* shard, then row of the shard */
  int32_t sample;
  float gain;
} entry;

/* How keys are cut into digits, the lowest first, and how often each one occurs. */
typedef struct digits {
  int32_t passes;
  int32_t width;
  uint32_t mask;
  int32_t* counters; /* [passes, COUNTERS] */
} digits;

/* What is known of one core. */
typedef struct core_state {
  int64_t first; /* of its entries */
  int64_t most;  /* entries that there can be */
  int64_t bad;    /* position of the first id out of range, or -1 */
  int32_t in_second; /* the entries lie in the second array */
} core_state;

typedef struct run {
  const te_csr* csr;
  const te_csr_out* out;
  core_state* cores;
  entry* entries[2];
  int32_t* counters; /* [cores, MOST_DIGITS, COUNTERS] */
  int32_t shard_bits;
  int32_t row_bits;
} run;

static int64_t aligned(int64_t count) { return (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static int32_t bits_of(uint32_t number) {
  int32_t bits = 0;
  while (number != 0) {
    bits++;
    number >>= 1;
  }
  return bits;
}

/* ---- checks ---- */

static int feature_fits(const te_csr* csr, const te_csr_feature* f) {
  const int64_t rows = (f->rows + (int64_t)csr->shards - 1) / csr->shards * csr->shards;
  return f->samples >= 0 && f->samples % csr->cores == 0 && f->sample_offset >= 0 &&
         f->sample_offset % csr->cores == 0 && (int64_t)f->sample_offset + f->samples <= csr->samples && f->rows >= 0 &&
         f->column_offset >= 0 && f->column_offset % csr->shards == 0 && f->column_offset + rows <= INT32_MAX &&
         f->rotation >= 0 && f->combiner >= TE_SUM && f->combiner <= TE_SQRTN;
}

static te_status check(const te_csr* csr) {
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (csr == NULL || csr->n_features < 0 || csr->cores < 1 || csr->shards < 1 || csr->samples < 0) return bad;
  if ((csr->shards & (csr->shards - 1)) != 0 || csr->shards > MOST_SHARDS || csr->cores > MOST_CORES) return bad;
  if (csr->nnz < 0 || csr->nnz > INT32_MAX) return bad;
  if (csr->nnz + ALIGNMENT * ((int64_t)csr->cores * csr->shards + 1) > INT32_MAX) return bad;
  if (csr->capacity < 0 || csr->capacity % ALIGNMENT != 0) return bad;
  if (csr->n_features > 0 && (csr->features == NULL || csr->row_splits == NULL)) return bad;
  if (csr->nnz > 0 && csr->values == NULL) return bad;
  int64_t splits = 0;
  int32_t before = 0;
  for (int32_t f = 0; f < csr->n_features; f++) {
    const int32_t samples = csr->features[f].samples;
    if (!feature_fits(csr, &csr->features[f])) return bad;
    if (csr->n_splits - splits < (int64_t)samples + 1) return bad;
    const int32_t* own = csr->row_splits + splits;
    for (int32_t s = 0; s <= samples; s++) {
      /* A feature begins where the one before it ends. */
      if (s == 0 ? own[s] != before : own[s] < before) return te_failure(TE_BAD_SPLITS, splits + s, own[s]);
      before = own[s];
    }
    splits += (int64_t)samples + 1;
  }
  if (splits != csr->n_splits) return bad;
  if (before != csr->nnz) return te_failure(TE_BAD_SPLITS, splits - 1, before);
  return te_ok();
}

/* ---- memory ---- */

static size_t lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

static size_t counter_bytes(int32_t cores) { return lines((size_t)cores * MOST_DIGITS * COUNTERS * sizeof(int32_t)); }

size_t te_partition_csr_workspace(int64_t nnz, int32_t cores) {
  if (nnz < 0 || nnz > INT32_MAX || cores < 1 || cores > MOST_CORES) return 0;
  return 64 + lines((size_t)cores * sizeof(core_state)) + counter_bytes(cores) + 2 * lines((size_t)nnz * sizeof(entry));
}

static void lay_out(run* r, void* workspace) {
  const te_csr* csr = r->csr;
  char* at = (char*)(((uintptr_t)workspace + 63) / 64 * 64);
  r->cores = (core_state*)at;
  at += lines((size_t)csr->cores * sizeof(core_state));
  r->counters = (int32_t*)at;
  at += counter_bytes(csr->cores);
  r->entries[0] = (entry*)at;
  r->entries[1] = (entry*)(at + lines((size_t)csr->nnz * sizeof(entry)));
}

/* ---- entries ---- */

/* What the rows of a sample are multiplied with, all in float32; 0 where a sum of weights is 0. */
static float scale_of(const te_csr* csr, int32_t combiner, int64_t first, int64_t end) {
  float sum = 0.0f;
  if (combiner == TE_SUM) return 1.0f;
  if (csr->weights == NULL) {
    const int64_t count = te_min(end - first, 1 << 24); /* where adding 1 no longer counts */
    sum = (float)count;
  } else if (combiner == TE_MEAN) {
    for (int64_t i = first; i < end; i++) sum += csr->weights[i];
  } else {
    for (int64_t i = first; i < end; i++) sum += csr->weights[i] * csr->weights[i];
  }
  if (sum == 0.0f) return 0.0f;
  return 1.0f / (combiner == TE_MEAN ? sum : te_sqrtf(sum));
}

/* Writes the entries of one feature's samples on a core; returns how many, or -1 at an id out of range. */
static int64_t write_entries(const run* r, const te_csr_feature* f, const int32_t* splits, int64_t core,
                             const digits* d, entry* to, int64_t* bad) {
  const te_csr* csr = r->csr;
  const int32_t per_core = f->samples / csr->cores;
  const uint32_t mask = (uint32_t)csr->shards - 1, limit = (uint32_t)f->rows;
  const uint32_t rotation = (uint32_t)f->rotation, row_offset = (uint32_t)f->column_offset >> r->shard_bits;
  const int32_t sample_offset = f->sample_offset / csr->cores;
  entry* next = to;
  for (int32_t s = 0; s < per_core; s++) {
    const int64_t row = core * per_core + s;
    const int64_t first = splits[row], end = splits[row + 1];
    const float scale = scale_of(csr, f->combiner, first, end);
    for (int64_t i = first; i < end;) {
      const int32_t id = csr->values[i];
      if (TE_UNLIKELY((uint32_t)id >= limit)) {
        *bad = i;
        return -1;
      }
      float weight = csr->weights == NULL ? 1.0f : csr->weights[i];
      for (i++; i < end && csr->values[i] == id; i++) weight += csr->weights == NULL ? 1.0f : csr->weights[i];
      const uint32_t shard = ((uint32_t)id + rotation) & mask;
      const uint32_t key = shard << r->row_bits | (((uint32_t)id >> r->shard_bits) + row_offset);
      for (int32_t p = 0; p < d->passes; p++) d->counters[p * COUNTERS + (key >> (p * d->width) & d->mask)]++;
      next->key = key;
      next->sample = sample_offset + s;
      next->gain = weight * scale;
      next++;
    }
  }
  return next - to;
}

static digits digits_of(int64_t count, int32_t bits, int32_t* counters) {
  const int32_t widest = count < NARROW_BELOW ? NARROW_DIGIT : WIDE_DIGIT;
  digits d;
  d.passes = (bits + widest - 1) / widest;
  d.width = d.passes == 0 ? 0 : (bits + d.passes - 1) / d.passes;
  d.mask = ((uint32_t)1 << d.width) - 1;
  d.counters = counters;
  te_fill(counters, 0, (size_t)d.passes * COUNTERS * sizeof(int32_t));
  return d;
}

/* Sorts by key; returns the array in which the entries are then, 0 or 1. */
static int32_t sort_entries(entry* const arrays[2], int64_t count, const digits* d) {
  int32_t in = 0;
  for (int32_t p = 0; p < d->passes; p++) {
    int32_t* own = d->counters + p * COUNTERS;
    const int32_t shift = p * d->width;
    const entry* from = arrays[in];
    entry* to = arrays[1 - in];
    int32_t sum = 0;
    if (own[from[0].key >> shift & d->mask] == count) continue; /* all alike in this digit */
    for (uint32_t digit = 0; digit <= d->mask; digit++) {
      const int32_t of_digit = own[digit];
      own[digit] = sum;
      sum += of_digit;
    }
    for (int64_t i = 0; i < count; i++) to[own[from[i].key >> shift & d->mask]++] = from[i];
    in = 1 - in;
  }
  return in;
}

/* Entries of one row and one sample, side by side, become one; counts the ids of each bucket. */
static void merge(const run* r, int64_t core, entry* entries, int64_t count) {
  int32_t* ids = r->out->id_counts + core * r->csr->shards;
  int32_t* unique = r->out->unique_id_counts + core * r->csr->shards;
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++) {
    const entry one = entries[i];
    const int is_new = kept == 0 || entries[kept - 1].key != one.key;
    if (!is_new && entries[kept - 1].sample == one.sample) {
      entries[kept - 1].gain += one.gain;
      continue;
    }
    const uint32_t shard = one.key >> r->row_bits;
    ids[shard]++;
    unique[shard] += is_new;
    if (kept != i) entries[kept] = one;
    kept++;
  }
}

static void core_task(void* context, int64_t core, int32_t worker) {
  const run* r = context;
  const te_csr* csr = r->csr;
  core_state* state = &r->cores[core];
  const int32_t* splits = csr->row_splits;
  const digits d =
      digits_of(state->most, r->shard_bits + r->row_bits, r->counters + core * MOST_DIGITS * COUNTERS);
  entry* const arrays[2] = {r->entries[0] + state->first, r->entries[1] + state->first};
  int64_t count = 0;
  (void)worker;
  for (int32_t f = 0; f < csr->n_features; f++) {
    const te_csr_feature* feature = &csr->features[f];
    const int64_t added = write_entries(r, feature, splits, core, &d, arrays[0] + count, &state->bad);
    if (added < 0) return;
    count += added;
    splits += (int64_t)feature->samples + 1;
  }
  if (count == 0) return;
  state->in_second = sort_entries(arrays, count, &d);
  merge(r, core, arrays[state->in_second], count);
}

/* ---- slots ---- */

/* Places all buckets; returns the slots in use. Ids that do not fit are dropped, and their bucket ends at the capacity. */
static int64_t place_buckets(const run* r) {
  const te_csr* csr = r->csr;
  const int64_t pointers = aligned(csr->shards);
  int64_t at = 0;
  for (int64_t core = 0; core < csr->cores; core++) {
    int32_t* own = r->out->row_pointers + core * pointers;
    for (int64_t shard = 0; shard < csr->shards; shard++) {
      const int64_t end = at + r->out->id_counts[core * csr->shards + shard];
      own[shard] = (int32_t)te_min(end, csr->capacity);
      at = aligned(own[shard]);
    }
    for (int64_t shard = csr->shards; shard < pointers; shard++) own[shard] = (int32_t)at;
  }
  return at;
}

static void slots_task(void* context, int64_t core, int32_t worker) {
  const run* r = context;
  const te_csr* csr = r->csr;
  const core_state* state = &r->cores[core];
  const int64_t pointers = aligned(csr->shards);
  const int32_t* ends = r->out->row_pointers + core * pointers;
  const uint32_t row_mask = ((uint32_t)1 << r->row_bits) - 1;
  const entry* from = r->entries[state->in_second] + state->first;
  int64_t at = core == 0 ? 0 : aligned(ends[-1]);
  (void)worker;
  for (int64_t shard = 0; shard < csr->shards; shard++) {
    const int64_t count = r->out->id_counts[core * csr->shards + shard];
    const int64_t kept = te_min(count, ends[shard] - at);
    for (int64_t i = 0; i < kept; i++) {
      r->out->sample_ids[at + i] = from[i].sample;
      r->out->token_ids[at + i] = (int32_t)(from[i].key & row_mask);
      r->out->gains[at + i] = from[i].gain;
    }
    const int64_t end = aligned(ends[shard]);
    for (at += kept; at < end; at++) {
      r->out->sample_ids[at] = PADDING;
      r->out->token_ids[at] = PADDING;
      r->out->gains[at] = (float)PADDING;
    }
    from += count;
  }
}

int64_t te_partition_csr_slots(const te_csr* csr) {
  return te_min(csr->capacity, aligned(csr->nnz + (ALIGNMENT - 1) * (int64_t)csr->cores * csr->shards));
}

te_status te_partition_csr(const te_csr* csr, const te_csr_out* out, void* workspace, size_t workspace_bytes,
                           int64_t* used) {
  const te_status status = check(csr);
  if (status.code != TE_OK) return status;
  if (out == NULL || used == NULL) return te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (workspace == NULL || workspace_bytes < te_partition_csr_workspace(csr->nnz, csr->cores)) {
    return te_failure(TE_BAD_WORKSPACE, 0, 0);
  }
  run r;
  te_fill(&r, 0, sizeof r);
  r.csr = csr;
  r.out = out;
  lay_out(&r, workspace);
  r.shard_bits = bits_of((uint32_t)csr->shards - 1);
  uint32_t last_row = 0;
  for (int32_t f = 0; f < csr->n_features; f++) {
    const te_csr_feature* feature = &csr->features[f];
    const uint32_t rows = ((uint32_t)feature->column_offset + (uint32_t)feature->rows) >> r.shard_bits;
    if (rows > last_row) last_row = rows;
  }
  r.row_bits = bits_of(last_row);
  if (r.shard_bits + r.row_bits > 32) return te_failure(TE_BAD_ARGUMENT, 0, 0);
  te_fill(out->id_counts, 0, (size_t)csr->cores * (size_t)csr->shards * sizeof(int32_t));
  te_fill(out->unique_id_counts, 0, (size_t)csr->cores * (size_t)csr->shards * sizeof(int32_t));
  int64_t first = 0;
  for (int64_t core = 0; core < csr->cores; core++) {
    const int32_t* splits = csr->row_splits;
    core_state* state = &r.cores[core];
    te_fill(state, 0, sizeof *state);
    state->first = first;
    state->bad = -1;
    for (int32_t f = 0; f < csr->n_features; f++) {
      const int64_t per_core = csr->features[f].samples / csr->cores;
      first += splits[(core + 1) * per_core] - splits[core * per_core];
      splits += (int64_t)csr->features[f].samples + 1;
    }
    state->most = first - state->first;
  }
  const int32_t workers = te_get_threads();
  te_parallel(csr->cores, workers, core_task, &r);
  /* Features lie one after another, so the first position is that of the first feature. */
  int64_t bad = -1;
  for (int64_t core = 0; core < csr->cores; core++) {
    const int64_t found = r.cores[core].bad;
    if (found >= 0 && (bad < 0 || found < bad)) bad = found;
  }
  if (bad >= 0) return te_failure(TE_ID_OUT_OF_RANGE, bad, csr->values[bad]);
  *used = place_buckets(&r);
  te_parallel(csr->cores, workers, slots_task, &r);
  return te_ok();
}
