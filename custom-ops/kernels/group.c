/*
 * Grouping of a batch's ids by row, in time and memory that grow with the batch and never with the table.
 *
 * A stable counting pass on the high bits of (id - lowest id) puts the occurrences into buckets; each slice of the
 * batch counts and scatters on its own. Where ids lie close together, each has a bucket to itself, and that is all.
 * Else, inside a bucket, a small table of the row seen last for each id gathers equal ids; it is cleared by walking the
 * rows found. Where the ids of a bucket span more than that table holds, they are sorted instead. Occurrences of a row
 * stay in batch order, so sums do not depend on threads.
 */
#include "core.h"

#define MOST_BUCKET_BITS 10
#define MOST_SINGLE_BITS 14 /* of buckets that hold one id each */
#define LEAST_WINDOW (1 << 15)
#define MOST_WINDOW (1 << 18)
#define FEW_IDS 128        /* sorted at once */
#define IDS_PER_SLICE 2048 /* fewer are not worth a second thread */
#define IDS_PER_PART 8192

/* ---- layout ---- */

static int32_t bucket_bits(int64_t nnz) { return nnz <= FEW_IDS ? 0 : nnz < 2048 ? 7 : MOST_BUCKET_BITS; }

/* The ids of a batch that span at most so many bits have a bucket each. */
static int32_t single_bits(int64_t nnz) {
  int32_t bits = bucket_bits(nnz);
  while (bits < MOST_SINGLE_BITS && ((int64_t)1 << bits) < 2 * nnz) bits++;
  return bits;
}

static int32_t window_size(int64_t nnz) {
  int32_t window = LEAST_WINDOW;
  while (window < MOST_WINDOW && window < nnz) window *= 2;
  return nnz <= FEW_IDS ? 64 : window;
}

static int32_t part_count(int64_t nnz, int64_t dim, int32_t workers) {
  const int64_t brief = workers < 2 ? 0 : TE_SHORT_TASKS(nnz, dim);
  const int64_t parts = te_max(te_max((int64_t)workers * TE_TASKS_PER_WORKER, nnz / IDS_PER_PART), brief);
  return (int32_t)te_min(parts, (int64_t)1 << bucket_bits(nnz));
}

static int32_t useful_workers(int64_t nnz, int32_t threads) {
  return (int32_t)te_max(1, te_min(threads, nnz / IDS_PER_SLICE));
}

/* Hands out pieces of the workspace; without a base it only adds up. */
typedef struct carver {
  char* base;
  uint64_t used;
} carver;

static void* carve(carver* c, uint64_t count, uint64_t size) {
  void* piece = c->base == NULL ? NULL : c->base + c->used;
  c->used = (c->used + count * size + 63) / 64 * 64;
  return piece;
}

static void lay_out(te_groups* g, carver* c, int64_t nnz, int64_t dim, int32_t workers) {
  const uint64_t n = (uint64_t)nnz, w = (uint64_t)workers;
  g->workers = workers;
  g->slices = workers;
  g->bucket_bits = bucket_bits(nnz);
  g->window = window_size(nnz);
  g->parts = part_count(nnz, dim, workers);
  g->scratch_floats = (dim + 31) / 16 * 16 * TE_SCRATCH_ROWS;
  const uint64_t buckets = (uint64_t)1 << single_bits(nnz);
  g->counters = carve(c, w * buckets, sizeof(int32_t));
  g->starts = carve(c, buckets + 1, sizeof(int32_t));
  g->firsts = carve(c, buckets, sizeof(int32_t));
  g->uniques = carve(c, buckets, sizeof(int32_t));
  g->offsets = carve(c, buckets + 1, sizeof(int64_t));
  g->squares = carve(c, buckets, sizeof(double));
  g->part_buckets = carve(c, (uint64_t)g->parts + 1, sizeof(int32_t));
  g->part_rows = carve(c, (uint64_t)g->parts, sizeof(int32_t));
  g->bad = carve(c, w, sizeof(int64_t));
  g->extremes = carve(c, w * 2, sizeof(uint32_t));
  g->entries = carve(c, n, sizeof(te_entry));
  g->coefficients = carve(c, n, sizeof(float));
  g->places = carve(c, n, sizeof(int32_t));
  g->keys = carve(c, n, sizeof(uint64_t));
  g->rows = carve(c, n, sizeof(int32_t));
  g->ends = carve(c, n, sizeof(int32_t));
  g->order = carve(c, n, sizeof(int32_t));
  g->order_weights = carve(c, n, sizeof(float));
  g->last = carve(c, w * (uint64_t)g->window, sizeof(int32_t));
  g->seen = carve(c, w * (uint64_t)g->window / 64, sizeof(uint64_t));
  g->scratch = carve(c, w * (uint64_t)g->scratch_floats, sizeof(float));
}

static uint64_t bytes_for(int64_t nnz, int64_t dim, int32_t workers) {
  te_groups groups;
  carver c = {NULL, 0};
  lay_out(&groups, &c, nnz, dim, workers);
  return c.used + 64; /* the caller's pointer may be unaligned */
}

size_t te_groups_bytes(int64_t nnz, int64_t dim, int32_t threads) {
  if (nnz < 0 || nnz > INT32_MAX || dim < 1 || dim > PTRDIFF_MAX / 1024) return SIZE_MAX;
  const uint64_t bytes = bytes_for(nnz, dim, useful_workers(nnz, threads));
  return bytes > PTRDIFF_MAX ? SIZE_MAX : (size_t)bytes;
}

int te_groups_place(te_groups* g, const te_bags* bags, int64_t rows, int64_t dim, void* workspace, size_t bytes) {
  if (workspace == NULL || dim > PTRDIFF_MAX / 1024) return 0;
  int32_t workers = useful_workers(bags->nnz, te_get_threads());
  while (workers > 0 && bytes_for(bags->nnz, dim, workers) > bytes) workers--;
  if (workers == 0) return 0;
  te_fill(g, 0, sizeof *g);
  carver c = {(char*)workspace + (64 - (uintptr_t)workspace % 64) % 64, 0};
  lay_out(g, &c, bags->nnz, dim, workers);
  g->bags = bags;
  g->limit = te_id_limit(rows);
  g->with_coefficients = bags->weights != NULL || bags->combiner != TE_SUM;
  return 1;
}

/* ---- checking and partition ---- */

static void slice_bags(const te_groups* g, int64_t slice, int64_t* first, int64_t* end) {
  *first = te_first_bag(g->bags, slice, g->slices);
  *end = te_first_bag(g->bags, slice + 1, g->slices);
}

static void check_slice(void* context, int64_t slice, int32_t worker) {
  te_groups* g = context;
  const int32_t* values = g->bags->values;
  int64_t first, end;
  (void)worker;
  slice_bags(g, slice, &first, &end);
  const int64_t last = g->bags->row_splits[end];
  const uint32_t limit = g->limit;
  uint32_t lowest = UINT32_MAX, highest = 0, outside = 0;
  g->bad[slice] = -1;
  for (int64_t i = g->bags->row_splits[first]; i < last; i++) {
    const uint32_t id = (uint32_t)values[i];
    outside |= id >= limit;
    lowest = id < lowest ? id : lowest;
    highest = id > highest ? id : highest;
  }
  if (outside) {
    lowest = UINT32_MAX;
    highest = 0;
    for (int64_t i = last - 1; i >= g->bags->row_splits[first]; i--) {
      const uint32_t id = (uint32_t)values[i];
      if (id >= limit) {
        g->bad[slice] = i;
        continue;
      }
      lowest = id < lowest ? id : lowest;
      highest = id > highest ? id : highest;
    }
  }
  g->extremes[2 * slice] = lowest;
  g->extremes[2 * slice + 1] = highest;
}

static void count_slice(void* context, int64_t slice, int32_t worker) {
  te_groups* g = context;
  const int32_t* values = g->bags->values;
  int32_t* counters = g->counters + slice * g->buckets;
  int64_t first, end;
  (void)worker;
  slice_bags(g, slice, &first, &end);
  te_fill(counters, 0, (size_t)g->buckets * sizeof(int32_t));
  const int64_t last = g->bags->row_splits[end];
  const uint32_t limit = g->limit, lowest = g->lowest;
  const int32_t shift = g->shift;
  for (int64_t i = g->bags->row_splits[first]; i < last; i++) {
    const uint32_t id = (uint32_t)values[i];
    if (TE_LIKELY(id < limit)) counters[(id - lowest) >> shift]++;
  }
}

static void scatter_slice(void* context, int64_t slice, int32_t worker) {
  te_groups* g = context;
  const te_bags* bags = g->bags;
  int32_t* next = g->counters + slice * g->buckets;
  te_entry* entries = g->entries;
  float* coefficients = g->with_coefficients ? g->coefficients : NULL;
  const uint32_t limit = g->limit, lowest = g->lowest;
  const int32_t shift = g->shift;
  int64_t first, end;
  (void)worker;
  slice_bags(g, slice, &first, &end);
  for (int64_t b = first; b < end; b++) {
    const int64_t from = bags->row_splits[b], to = bags->row_splits[b + 1];
    const float divisor = coefficients == NULL ? 1.0f : te_divisor(bags, from, to);
    for (int64_t i = from; i < to; i++) {
      const uint32_t id = (uint32_t)bags->values[i];
      if (TE_UNLIKELY(id >= limit)) continue;
      const int32_t at = next[(id - lowest) >> shift]++;
      entries[at].id = (int32_t)id;
      entries[at].bag = (int32_t)b;
      if (coefficients == NULL) continue;
      const float weight = bags->weights == NULL ? 1.0f : bags->weights[i];
      coefficients[at] = divisor == 0.0f ? 0.0f : weight / divisor;
    }
  }
}

/* Turns counts into places; slices of one bucket follow each other, so batch order is kept. */
static void place_buckets(te_groups* g) {
  int32_t place = 0;
  for (int32_t b = 0; b < g->buckets; b++) {
    g->starts[b] = place;
    for (int32_t s = 0; s < g->slices; s++) {
      int32_t* counter = g->counters + (int64_t)s * g->buckets + b;
      const int32_t count = *counter;
      *counter = place;
      place += count;
    }
  }
  g->starts[g->buckets] = place;
  g->count = place;
  int32_t bucket = 0;
  for (int32_t p = 0; p < g->parts; p++) {
    const int64_t target = (int64_t)place * p / g->parts;
    while (bucket < g->buckets && g->starts[bucket] < target) bucket++;
    g->part_buckets[p] = bucket;
  }
  g->part_buckets[g->parts] = g->buckets;
}

te_status te_groups_partition(te_groups* g) {
  te_parallel(g->slices, g->workers, check_slice, g);
  g->lowest = UINT32_MAX;
  g->highest = 0;
  for (int32_t s = 0; s < g->slices; s++) {
    if (g->bad[s] >= 0 && g->bags->out_of_range == TE_ERROR) {
      return te_failure(TE_ID_OUT_OF_RANGE, g->bad[s], g->bags->values[g->bad[s]]);
    }
    if (g->extremes[2 * s] < g->lowest) g->lowest = g->extremes[2 * s];
    if (g->extremes[2 * s + 1] > g->highest) g->highest = g->extremes[2 * s + 1];
  }
  if (g->lowest > g->highest) { /* nothing is kept */
    g->lowest = g->highest = 0;
    g->buckets = 0;
    g->count = 0;
    g->parts = 0;
    g->starts[0] = 0;
    return te_ok();
  }
  const uint32_t range = g->highest - g->lowest;
  int32_t bits = 0;
  while (bits < 32 && (range >> bits) != 0) bits++;
  g->shift = bits > single_bits(g->bags->nnz) ? bits - g->bucket_bits : 0;
  g->buckets = (int32_t)(range >> g->shift) + 1;
  te_parallel(g->slices, g->workers, count_slice, g);
  place_buckets(g);
  te_parallel(g->slices, g->workers, scatter_slice, g);
  if (((int64_t)1 << g->shift) <= g->window) {
    for (int32_t w = 0; w < g->workers; w++) {
      te_fill(g->last + (int64_t)w * g->window, 0xff, sizeof(int32_t) << g->shift);
      te_fill(g->seen + (int64_t)w * g->window / 64, 0, (((size_t)1 << g->shift) + 63) / 64 * sizeof(uint64_t));
    }
  }
  return te_ok();
}

/* ---- inside a bucket ---- */

static void sift_down(uint64_t* keys, int64_t root, int64_t count) {
  const uint64_t key = keys[root];
  for (int64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && keys[child + 1] > keys[child]) child++;
    if (keys[child] <= key) break;
    keys[root] = keys[child];
    root = child;
  }
  keys[root] = key;
}

/* Keys are distinct. Heap sort needs no memory and has no bad case. */
static void sort_keys(uint64_t* keys, int64_t count) {
  if (count <= 24) {
    for (int64_t i = 1; i < count; i++) {
      const uint64_t key = keys[i];
      int64_t j = i;
      for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
      keys[j] = key;
    }
    return;
  }
  for (int64_t root = count / 2 - 1; root >= 0; root--) sift_down(keys, root, count);
  for (int64_t end = count - 1; end > 0; end--) {
    const uint64_t key = keys[end];
    keys[end] = keys[0];
    keys[0] = key;
    sift_down(keys, 0, end);
  }
}

/* Sorts a bucket by (id, place in the batch). Returns the number of rows; they come ascending. */
static int32_t group_by_sorting(te_groups* g, int64_t start, int64_t end, int64_t row) {
  uint64_t* keys = g->keys + start;
  const te_entry* entries = g->entries;
  const int64_t count = end - start;
  int32_t rows = 0;
  for (int64_t i = 0; i < count; i++) keys[i] = (uint64_t)(uint32_t)entries[start + i].id << 32 | (uint64_t)i;
  sort_keys(keys, count);
  for (int64_t i = 0; i < count; i++) {
    const int64_t entry = start + (int64_t)(keys[i] & 0xffffffffu);
    const int32_t id = entries[entry].id;
    if (i == 0 || g->rows[row + rows - 1] != id) g->rows[row + rows++] = id;
    g->ends[row + rows - 1] = (int32_t)(start + i + 1);
    g->order[start + i] = entries[entry].bag;
    if (g->with_coefficients) g->order_weights[start + i] = g->coefficients[entry];
  }
  return rows;
}

/* Numbers the rows of a bucket in the order of their ids. */
static int32_t number_ascending(te_groups* g, int64_t start, int64_t end, int64_t row, uint32_t base, int32_t* last,
                                uint64_t* seen) {
  const int64_t words = (((int64_t)1 << g->shift) + 63) / 64;
  int32_t rows = 0;
  for (int64_t e = start; e < end; e++) {
    const uint32_t at = (uint32_t)g->entries[e].id - base;
    seen[at / 64] |= (uint64_t)1 << (at % 64);
  }
  for (int64_t w = 0; w < words; w++) {
    for (uint64_t bits = seen[w]; bits != 0; bits &= bits - 1) {
      const uint32_t at = (uint32_t)w * 64 + (uint32_t)te_lowest_bit(bits);
      last[at] = rows;
      g->rows[row + rows] = (int32_t)(base + at);
      g->ends[row + rows++] = 0;
    }
    seen[w] = 0;
  }
  return rows;
}

/* Gathers equal ids of a bucket through the table `last`. Returns the number of rows. */
static int32_t group_by_table(te_groups* g, int64_t start, int64_t end, int64_t row, uint32_t base, int32_t worker) {
  int32_t* last = g->last + (int64_t)worker * g->window;
  int32_t* rows = g->rows + row;
  int32_t* ends = g->ends + row;
  int32_t* places = g->places;
  const te_entry* entries = g->entries;
  int32_t found = 0;
  if (g->ascending) {
    found = number_ascending(g, start, end, row, base, last, g->seen + (int64_t)worker * g->window / 64);
  }
  for (int64_t e = start; e < end; e++) {
    const uint32_t at = (uint32_t)entries[e].id - base;
    int32_t place = last[at];
    if (place < 0) {
      place = last[at] = found++;
      rows[place] = entries[e].id;
      ends[place] = 0;
    }
    ends[place]++;
    places[e] = place;
  }
  int32_t at = (int32_t)start;
  for (int32_t r = 0; r < found; r++) {
    const int32_t count = ends[r];
    ends[r] = at;
    at += count;
    last[(uint32_t)rows[r] - base] = -1;
  }
  if (g->with_coefficients) {
    for (int64_t e = start; e < end; e++) {
      const int32_t to = ends[places[e]]++;
      g->order[to] = entries[e].bag;
      g->order_weights[to] = g->coefficients[e];
    }
  } else {
    for (int64_t e = start; e < end; e++) g->order[ends[places[e]]++] = entries[e].bag;
  }
  return found;
}

int64_t te_part_first(const te_groups* g, int64_t part) { return g->starts[g->part_buckets[part]]; }

/* Buckets of one id each: their entries are in order already. */
static void group_single_ids(te_groups* g, int32_t part) {
  const te_entry* entries = g->entries;
  const int32_t from = g->part_buckets[part], to = g->part_buckets[part + 1];
  const int64_t first = g->starts[from], last = g->starts[to];
  int64_t row = first;
  for (int32_t b = from; b < to; b++) {
    const int32_t end = g->starts[b + 1];
    g->firsts[b] = (int32_t)row;
    g->uniques[b] = end > g->starts[b];
    if (g->uniques[b] == 0) continue;
    g->rows[row] = (int32_t)(g->lowest + (uint32_t)b);
    g->ends[row++] = end;
  }
  for (int64_t e = first; e < last; e++) g->order[e] = entries[e].bag;
  for (int64_t e = first; e < last && g->with_coefficients; e++) g->order_weights[e] = g->coefficients[e];
  g->part_rows[part] = (int32_t)(row - first);
}

void te_groups_part(te_groups* g, int32_t part, int32_t worker) {
  if (g->shift == 0) {
    group_single_ids(g, part);
    return;
  }
  const int64_t width = (int64_t)1 << g->shift;
  const int64_t first = te_part_first(g, part);
  int64_t row = first;
  for (int32_t b = g->part_buckets[part]; b < g->part_buckets[part + 1]; b++) {
    const int64_t start = g->starts[b], end = g->starts[b + 1];
    /* Scanning the bits of a wide, nearly empty bucket would cost more than sorting it. */
    const int table = width <= g->window && (!g->ascending || width / 64 <= 4 * (end - start) + 16);
    const uint32_t base = g->lowest + ((uint32_t)b << g->shift);
    const int32_t rows =
        table ? group_by_table(g, start, end, row, base, worker) : group_by_sorting(g, start, end, row);
    g->firsts[b] = (int32_t)row;
    g->uniques[b] = rows;
    row += rows;
  }
  g->part_rows[part] = (int32_t)(row - first);
}
