/*
 * The ids of a table on one core, sorted by shard and row: digit by digit, the lowest first, so that ids of one row
 * keep their order. The ids are read twice, once to count the digits of all passes and once to put them where the
 * first pass has them. Part of partition_csr.c.
 */
#ifndef TE_CSR_SORTED_IDS_H
#define TE_CSR_SORTED_IDS_H

#include "csr_run.h"

#define MOST_PASSES 4
#define WIDE_DIGIT 10
#define NARROW_DIGIT 8
#define NARROW_BELOW 8192 /* entries for which the counters of a wide digit cost more than another pass */
#define COUNTERS (1 << WIDE_DIGIT)

/* How keys are cut into digits, and how often each one occurs. */
typedef struct digits {
  int32_t passes;
  int32_t width;
  uint32_t mask;
  int32_t* counters; /* [passes, COUNTERS] */
} digits;

/* How an id becomes a key. */
typedef struct key_form {
  uint32_t rotation, mask, limit;
  int32_t shard_bits, row_bits;
} key_form;

TE_INLINE uint32_t key_for(uint32_t id, const key_form* k) {
  return ((id + k->rotation) & k->mask) << k->row_bits | id >> k->shard_bits;
}

static key_form key_form_of(const run* r, const te_csr_feature* f, const table* t) {
  const uint32_t mask = (uint32_t)r->csr->shards - 1;
  const uint32_t rotation = (uint32_t)f->rotation + (uint32_t)t->first_shard;
  const key_form k = {rotation, mask, (uint32_t)f->rows, r->shard_bits, t->row_bits};
  return k;
}

static digits digits_of(int64_t count, int32_t bits, int32_t* counters) {
  const int32_t widest = count < NARROW_BELOW ? NARROW_DIGIT : WIDE_DIGIT;
  digits d;
  d.passes = (bits + widest - 1) / widest;
  d.width = d.passes == 0 ? 0 : (bits + d.passes - 1) / d.passes;
  d.mask = ((uint32_t)1 << d.width) - 1;
  d.counters = counters;
  for (int32_t p = 0; p < d.passes; p++) te_fill(counters + p * COUNTERS, 0, ((size_t)d.mask + 1) * sizeof(int32_t));
  return d;
}

/* ---- counting ---- */

TE_INLINE void count_key(uint32_t key, const digits* d, int32_t passes) {
  for (int32_t p = 0; p < passes; p++) d->counters[p * COUNTERS + (key >> (p * d->width) & d->mask)]++;
}

/* Counts the digits of so many ids; returns whether one is out of range. */
TE_INLINE int count_values(const int32_t* values, int64_t count, const key_form* form, const digits* given,
                           int32_t passes) {
  const key_form k = *form;
  const digits d = *given;
  int is_bad = 0;
  for (int64_t i = 0; i < count; i++) {
    const uint32_t id = (uint32_t)values[i];
    is_bad |= id >= k.limit;
    count_key(key_for(id, &k), &d, passes);
  }
  return is_bad;
}

/* The same where an id that repeats the one before it in its sample is left out; `kept`: how many remain. */
static int count_kept(const part* p, const key_form* k, const digits* d, int64_t* kept) {
  const int32_t* values = p->feature->values;
  int is_bad = 0;
  for (int32_t s = 0; s < p->samples; s++) {
    for (int64_t i = p->splits[s]; i < p->splits[s + 1]; i++) {
      const uint32_t id = (uint32_t)values[i];
      is_bad |= id >= k->limit;
      if (i > p->splits[s] && values[i - 1] == values[i]) continue;
      count_key(key_for(id, k), d, d->passes);
      (*kept)++;
    }
  }
  return is_bad;
}

/* Counts the ids of a feature on a core; returns whether one is out of range. */
static int count_part(const part* p, int is_weighted, const key_form* k, const digits* d, int64_t* kept) {
  if (is_weighted) return count_kept(p, k, d, kept);
  const int32_t* values = p->feature->values + p->splits[0];
  const int64_t count = p->splits[p->samples] - p->splits[0];
  *kept += count;
  switch (d->passes) {
    case 0: return count_values(values, count, k, d, 0);
    case 1: return count_values(values, count, k, d, 1);
    case 2: return count_values(values, count, k, d, 2);
    case 3: return count_values(values, count, k, d, 3);
    default: return count_values(values, count, k, d, MOST_PASSES);
  }
}

/* ---- writing ---- */

/* Where the first pass puts its entries: by a digit, or one after another where there is no pass. */
typedef struct target {
  list to;
  int32_t* places; /* NULL: one after another */
  int32_t shift;
  uint32_t mask;
  int64_t next;
} target;

TE_INLINE int64_t place_in(target* t, uint32_t key) {
  return t->places == NULL ? t->next++ : t->places[key >> t->shift & t->mask]++;
}

static void write_values(const part* p, const key_form* form, target* given) {
  const int32_t* values = p->feature->values;
  const key_form k = *form;
  target t = *given;
  for (int32_t s = 0; s < p->samples; s++) {
    const int64_t first = p->splits[s], end = p->splits[s + 1];
    const entry sample = (uint32_t)(p->first_sample + s);
    uint32_t before = UINT32_MAX;
    for (int64_t i = first; i < end; i++) {
      const uint32_t id = (uint32_t)values[i], key = key_for(id, &k);
      t.to.entries[place_in(&t, key)] = (entry)key << 32 | (id == before ? REPEATS : 0) | sample;
      before = id;
    }
  }
  given->next = t.next;
}

TE_INLINE float weight_of(const te_csr_feature* f, int64_t i) { return f->weights == NULL ? 1.0f : f->weights[i]; }

static void write_weighted(const part* p, const key_form* k, target* t) {
  const te_csr_feature* f = p->feature;
  for (int32_t s = 0; s < p->samples; s++) {
    const int64_t first = p->splits[s], end = p->splits[s + 1];
    const float scale = scale_of(f, first, end);
    for (int64_t i = first; i < end;) {
      const int32_t id = f->values[i];
      float weight = weight_of(f, i);
      for (i++; i < end && f->values[i] == id; i++) weight += weight_of(f, i);
      const uint32_t key = key_for((uint32_t)id, k);
      const int64_t place = place_in(t, key);
      t->to.entries[place] = (entry)key << 32 | (uint32_t)(p->first_sample + s);
      t->to.gains[place] = weight * scale;
    }
  }
}

/* ---- sorting ---- */

/* Counts become places. */
static void place_digits(int32_t* counters, uint32_t mask) {
  int32_t sum = 0;
  for (uint32_t digit = 0; digit <= mask; digit++) {
    const int32_t of_digit = counters[digit];
    counters[digit] = sum;
    sum += of_digit;
  }
}

static void scatter(list from, list to, int64_t count, int32_t* places, int32_t shift, uint32_t mask) {
  const int32_t in_entry = shift + 32;
  if (from.gains == NULL) {
    for (int64_t i = 0; i < count; i++) {
      const entry e = from.entries[i];
      to.entries[places[(uint32_t)(e >> in_entry) & mask]++] = e;
    }
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    const entry e = from.entries[i];
    const int32_t place = places[(uint32_t)(e >> in_entry) & mask]++;
    to.entries[place] = e;
    to.gains[place] = from.gains[i];
  }
}

/* Sorts a table's ids of a core into `to`; returns how many entries there are, or -1 where one is out of range. */
static int64_t sort_table(const run* r, int64_t core, const table* t, const worker_room* room, list to) {
  const te_csr* csr = r->csr;
  int64_t most = 0, count = 0;
  int is_bad = 0;
  for (int32_t o = t->first; o < t->end; o++) {
    const part p = part_of(csr, r->order[o], core);
    most += p.splits[p.samples] - p.splits[0];
  }
  if (most == 0) return 0;
  const digits d = digits_of(most, r->shard_bits + t->row_bits, room->counters);
  for (int32_t o = t->first; o < t->end; o++) {
    const part p = part_of(csr, r->order[o], core);
    const key_form k = key_form_of(r, p.feature, t);
    is_bad |= count_part(&p, csr->is_weighted, &k, &d, &count);
  }
  if (is_bad) return -1;
  target first = {d.passes % 2 == 1 ? to : room->spare, d.passes == 0 ? NULL : d.counters, 0, d.mask, 0};
  if (d.passes == 0) first.to = to;
  for (int32_t p = 0; p < d.passes; p++) place_digits(d.counters + p * COUNTERS, d.mask);
  for (int32_t o = t->first; o < t->end; o++) {
    const part p = part_of(csr, r->order[o], core);
    const key_form k = key_form_of(r, p.feature, t);
    if (csr->is_weighted) {
      write_weighted(&p, &k, &first);
    } else {
      write_values(&p, &k, &first);
    }
  }
  list from = first.to;
  for (int32_t p = 1; p < d.passes; p++) {
    const list next = from.entries == to.entries ? room->spare : to;
    scatter(from, next, count, d.counters + p * COUNTERS, p * d.width, d.mask);
    from = next;
  }
  return count;
}

#endif
