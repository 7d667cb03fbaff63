/* Sorted entries as slots: neighbours of one place become one, and buckets are padded. Part of partition_csr.c. */
#ifndef TE_CSR_SLOTS_H
#define TE_CSR_SLOTS_H

#include "csr_run.h"

/* The first entry from `at` on whose key is `key` or above. */
static int64_t first_from(const entry* entries, int64_t at, int64_t end, uint32_t key) {
  if (at == end || key_of(entries[at]) >= key) return at;
  while (end - at > 1) {
    const int64_t middle = at + (end - at) / 2;
    if (key_of(entries[middle]) < key) {
      at = middle;
    } else {
      end = middle;
    }
  }
  return end;
}

/* Counts the entries and the slots of a table for each shard, and adds to those of the core. */
static void count_segments(const run* r, int64_t core, int32_t t, const entry* entries, int64_t count) {
  const int32_t shards = r->csr->shards, row_bits = r->tables[t].row_bits;
  int32_t* ids = r->id_counts + core * shards;
  int32_t* unique_ids = r->out->unique_id_counts + core * shards;
  segment* segments = segments_of(r, core, t);
  int64_t at = 0;
  for (int32_t shard = 0; shard < shards; shard++) {
    const int64_t end = first_from(entries, at, count, (uint32_t)(shard + 1) << row_bits);
    int32_t slots = end > at, unique = end > at;
    for (int64_t i = at + 1; i < end; i++) {
      slots += !same_place(entries[i], entries[i - 1]);
      unique += key_of(entries[i]) != key_of(entries[i - 1]);
    }
    segments[shard].entries = (int32_t)(end - at);
    segments[shard].slots = slots;
    ids[shard] += slots;
    unique_ids[shard] += unique;
    at = end;
  }
}

/* Places all buckets; returns the slots in use. Ids that do not fit are dropped: their bucket ends at the capacity. */
static int64_t place_buckets(const run* r) {
  const te_csr* csr = r->csr;
  const int64_t pointers = aligned(csr->shards);
  int64_t at = 0;
  for (int64_t core = 0; core < csr->cores; core++) {
    int32_t* own = r->ends + core * pointers;
    for (int64_t shard = 0; shard < csr->shards; shard++) {
      const int64_t end = at + r->id_counts[core * csr->shards + shard];
      own[shard] = (int32_t)te_min(end, csr->capacity);
      at = aligned(own[shard]);
    }
    for (int64_t shard = csr->shards; shard < pointers; shard++) own[shard] = (int32_t)at;
  }
  return at;
}

/* The arrays of the result from one slot on. */
typedef struct slots {
  int32_t* samples;
  int32_t* rows;
  float* gains;
} slots;

static slots slots_from(const te_csr_out* out, int64_t at) {
  const slots s = {out->sample_ids + at, out->token_ids + at, out->gains + at};
  return s;
}

/* Entries of which no two are of one place. */
static void write_apart(const entry* entries, int64_t count, uint32_t row_mask, int32_t row_offset, const float* scales,
                        const slots to) {
  for (int64_t i = 0; i < count; i++) {
    to.samples[i] = sample_of(entries[i]);
    to.rows[i] = (int32_t)(key_of(entries[i]) & row_mask) + row_offset;
  }
  if (scales == NULL) {
    for (int64_t i = 0; i < count; i++) to.gains[i] = 1.0f;
  } else {
    for (int64_t i = 0; i < count; i++) to.gains[i] = scales[sample_of(entries[i])];
  }
}

/* Entries without weights, of which some are of one place; `most`: slots that they may take. */
static void write_merged(const entry* entries, int64_t count, int64_t most, uint32_t row_mask, int32_t row_offset,
                         const float* scales, const slots to) {
  int64_t last = -1;
  float scale = 1.0f, times = 1.0f, before = 0.0f;
  for (int64_t i = 0; i < count; i++) {
    const entry e = entries[i];
    if (i == 0 || !same_place(e, entries[i - 1])) {
      if (++last == most) return;
      if (scales != NULL) scale = scales[sample_of(e)];
      to.samples[last] = sample_of(e);
      to.rows[last] = (int32_t)(key_of(e) & row_mask) + row_offset;
      to.gains[last] = scale;
      times = 1.0f;
      before = 0.0f;
      continue;
    }
    /* Repetitions side by side are counted before they are scaled. */
    if (e & REPEATS) {
      times += 1.0f;
    } else {
      before = to.gains[last];
      times = 1.0f;
    }
    to.gains[last] = before + times * scale;
  }
}

static void write_weights(const entry* entries, const float* gains, int64_t count, int64_t most, uint32_t row_mask,
                          int32_t row_offset, const slots to) {
  int64_t last = -1;
  for (int64_t i = 0; i < count; i++) {
    const entry e = entries[i];
    if (i > 0 && same_place(e, entries[i - 1])) {
      to.gains[last] += gains[i];
      continue;
    }
    if (++last == most) return;
    to.samples[last] = sample_of(e);
    to.rows[last] = (int32_t)(key_of(e) & row_mask) + row_offset;
    to.gains[last] = gains[i];
  }
}

/* The factors of a core's samples, where tables have any. */
static void fill_scales(const run* r, int64_t core, float* scales) {
  const te_csr* csr = r->csr;
  for (int32_t f = 0; f < csr->n_features; f++) {
    const part p = part_of(csr, f, core);
    float* own = scales + p.first_sample;
    for (int32_t s = 0; s < p.samples; s++) own[s] = scale_of(p.feature, p.splits[s], p.splits[s + 1]);
  }
}

/* Writes the slots of a core. */
static void write_slots(const run* r, int64_t core, const worker_room* room) {
  const te_csr* csr = r->csr;
  const int32_t* ends = r->ends + core * aligned(csr->shards);
  int64_t at = core == 0 ? 0 : aligned(ends[-1]), first = r->cores[core].first;
  int is_scaled = 0;
  for (int32_t t = 0; t < r->n_tables; t++) {
    const segment* segments = segments_of(r, core, t);
    room->cursors[t] = first;
    for (int32_t shard = 0; shard < csr->shards; shard++) first += segments[shard].entries;
    is_scaled |= r->tables[t].is_scaled;
  }
  if (is_scaled && !csr->is_weighted) fill_scales(r, core, room->scales);
  for (int64_t shard = 0; shard < csr->shards; shard++) {
    for (int32_t t = 0; t < r->n_tables; t++) {
      const table* own = &r->tables[t];
      const segment s = segments_of(r, core, t)[shard];
      const int64_t from = room->cursors[t], count = te_min(s.slots, ends[shard] - at);
      const entry* entries = r->sorted.entries + from;
      const uint32_t mask = ((uint32_t)1 << own->row_bits) - 1;
      const float* scales = own->is_scaled ? room->scales : NULL;
      const slots to = slots_from(r->out, at);
      const int32_t row_offset = own->row_offset + (shard < own->first_shard);
      if (csr->is_weighted) {
        write_weights(entries, r->sorted.gains + from, s.entries, count, mask, row_offset, to);
      } else if (s.slots == s.entries) {
        write_apart(entries, count, mask, row_offset, scales, to);
      } else {
        write_merged(entries, s.entries, count, mask, row_offset, scales, to);
      }
      at += count;
      room->cursors[t] += s.entries;
    }
    for (const int64_t end = aligned(ends[shard]); at < end; at++) {
      r->out->sample_ids[at] = PADDING;
      r->out->token_ids[at] = PADDING;
      r->out->gains[at] = (float)PADDING;
    }
  }
}

#endif
