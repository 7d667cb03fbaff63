/*
 * Ids of a stack of tables as SparseCores take them: sorted by shard and row for each core, in buckets of padded slots.
 *
 * Cores are tasks. Each sorts the ids of its samples table by table, and counts what becomes one slot; then the places
 * of all buckets are known, and each core writes its own.
 */
#include "csr_run.h"
#include "slots.h"
#include "sorted_ids.h"

/* ---- checks ---- */

static int feature_fits(const te_csr* csr, const te_csr_feature* f) {
  const int64_t rows = (f->rows + (int64_t)csr->shards - 1) / csr->shards * csr->shards;
  return f->samples >= 0 && f->samples % csr->cores == 0 && f->sample_offset >= 0 &&
         f->sample_offset % csr->cores == 0 && (int64_t)f->sample_offset + f->samples <= csr->samples && f->rows >= 0 &&
         f->column_offset >= 0 && f->column_offset + rows <= INT32_MAX && f->rotation >= 0 &&
         f->combiner >= TE_SUM && f->combiner <= TE_SQRTN;
}

/* Splits that start at 0, never fall and end at the number of ids; else the first that is wrong. */
static int64_t wrong_split(const te_csr_feature* f) {
  if (f->row_splits[0] != 0) return 0;
  for (int64_t s = 1; s <= f->samples; s++) {
    if (f->row_splits[s] < f->row_splits[s - 1]) return s;
  }
  return f->row_splits[f->samples] == f->nnz ? -1 : f->samples;
}

static int has_sizes(const te_csr* csr) {
  return csr != NULL && csr->n_features >= 0 && csr->cores >= 1 && csr->cores <= MOST_CORES && csr->shards >= 1 &&
         csr->shards <= MOST_SHARDS && csr->samples >= 0 && csr->nnz >= 0 && csr->nnz <= INT32_MAX;
}

static te_status check(const te_csr* csr) {
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  int64_t splits = 0, nnz = 0;
  if (!has_sizes(csr) || (csr->shards & (csr->shards - 1)) != 0) return bad;
  if (csr->nnz + ALIGNMENT * ((int64_t)csr->cores * csr->shards + 1) > INT32_MAX) return bad;
  if (csr->capacity < 0 || csr->capacity % ALIGNMENT != 0) return bad;
  if (csr->n_features > 0 && csr->features == NULL) return bad;
  for (int32_t i = 0; i < csr->n_features; i++) {
    const te_csr_feature* f = &csr->features[i];
    if (!feature_fits(csr, f) || f->nnz < 0 || f->row_splits == NULL || (f->nnz > 0 && f->values == NULL)) return bad;
    if (f->weights != NULL && !csr->is_weighted) return bad;
    const int64_t wrong = wrong_split(f);
    if (wrong >= 0) return te_failure(TE_BAD_SPLITS, splits + wrong, f->row_splits[wrong]);
    splits += (int64_t)f->samples + 1;
    nnz += f->nnz;
  }
  return nnz == csr->nnz ? te_ok() : bad;
}

/* ---- memory ---- */

static size_t lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* A run of memory that is handed out in lines; `base` NULL only measures. */
typedef struct arena {
  char* base;
  size_t used;
} arena;

static void* take(arena* a, size_t count, size_t bytes) {
  void* taken = a->base == NULL ? NULL : a->base + a->used;
  a->used += lines(count * bytes);
  return taken;
}

static list take_list(arena* a, size_t count, int with_gains) {
  list l;
  l.entries = take(a, count, sizeof(entry));
  l.gains = with_gains ? take(a, count, sizeof(float)) : NULL;
  return l;
}

/* Row splits that are not checked yet lead to no more than all ids. */
static int64_t ids_of_core(const te_csr* csr, int64_t core) {
  int64_t ids = 0;
  for (int32_t f = 0; f < csr->n_features; f++) {
    const part p = part_of(csr, f, core);
    ids += te_max(0, te_min((int64_t)p.splits[p.samples] - p.splits[0], csr->nnz));
  }
  return te_min(ids, csr->nnz);
}

static int64_t most_of_a_core(const te_csr* csr) {
  int64_t most = 0;
  if (csr->features == NULL) return csr->nnz;
  for (int64_t core = 0; core < csr->cores; core++) most = te_max(most, ids_of_core(csr, core));
  return most;
}

/* Lays the run out for so many workers; returns the bytes that takes. */
static size_t lay_out(run* r, char* workspace, int32_t workers) {
  const te_csr* csr = r->csr;
  const size_t features = (size_t)csr->n_features, cores = (size_t)csr->cores;
  const size_t samples = (size_t)(csr->samples / csr->cores);
  const int with_gains = csr->is_weighted;
  arena a = {workspace, 0};
  r->order = take(&a, features, sizeof(int32_t));
  r->tables = take(&a, features, sizeof(table));
  r->cores = take(&a, cores, sizeof(core_state));
  r->segments = take(&a, cores * features * (size_t)csr->shards, sizeof(segment));
  r->id_counts = take(&a, cores * (size_t)csr->shards, sizeof(int32_t));
  r->ends = take(&a, cores * (size_t)aligned(csr->shards), sizeof(int32_t));
  r->rooms = take(&a, (size_t)workers, sizeof(worker_room));
  r->sorted = take_list(&a, (size_t)csr->nnz, with_gains);
  for (int32_t w = 0; w < workers; w++) {
    worker_room room;
    room.counters = take(&a, MOST_PASSES * COUNTERS, sizeof(int32_t));
    room.scales = take(&a, with_gains ? 0 : samples, sizeof(float));
    room.cursors = take(&a, features, sizeof(int64_t));
    room.spare = take_list(&a, (size_t)r->most, with_gains);
    if (workspace != NULL) r->rooms[w] = room;
  }
  return a.used;
}

static int32_t workers_of(const te_csr* csr) { return (int32_t)te_min(te_get_threads(), csr->cores); }

size_t te_partition_csr_workspace(const te_csr* csr) {
  run r;
  if (!has_sizes(csr)) return 64; /* the call will say what is wrong */
  for (int32_t f = 0; csr->features != NULL && f < csr->n_features; f++) {
    if (csr->features[f].samples < 0 || csr->features[f].row_splits == NULL) return 64;
  }
  te_fill(&r, 0, sizeof r);
  r.csr = csr;
  r.most = most_of_a_core(csr);
  return 64 + lay_out(&r, NULL, workers_of(csr));
}

/* ---- tables ---- */

/* Finds the tables of the stack: features by column offset, those of one table in their own order. */
static void find_tables(run* r) {
  const te_csr* csr = r->csr;
  for (int32_t f = 0; f < csr->n_features; f++) {
    const int32_t offset = csr->features[f].column_offset;
    int32_t at = f;
    for (; at > 0 && csr->features[r->order[at - 1]].column_offset > offset; at--) r->order[at] = r->order[at - 1];
    r->order[at] = f;
  }
  for (int32_t o = 0; o < csr->n_features; o++) {
    const te_csr_feature* f = &csr->features[r->order[o]];
    const int is_next = o == 0 || csr->features[r->order[o - 1]].column_offset != f->column_offset;
    table* t = &r->tables[is_next ? r->n_tables++ : r->n_tables - 1];
    if (is_next) {
      te_fill(t, 0, sizeof *t);
      t->first = o;
      t->row_offset = f->column_offset >> r->shard_bits;
      t->first_shard = f->column_offset & (csr->shards - 1);
    }
    t->end = o + 1;
    t->is_scaled |= f->combiner != TE_SUM;
    const int32_t bits = f->rows == 0 ? 0 : bits_of((uint32_t)(f->rows - 1) >> r->shard_bits);
    if (bits > t->row_bits) t->row_bits = bits;
  }
}

/* ---- tasks ---- */

static void sort_task(void* context, int64_t core, int32_t worker) {
  const run* r = context;
  int64_t at = r->cores[core].first;
  for (int32_t t = 0; t < r->n_tables; t++) {
    const list to = {r->sorted.entries + at, r->sorted.gains == NULL ? NULL : r->sorted.gains + at};
    const int64_t count = sort_table(r, core, &r->tables[t], &r->rooms[worker], to);
    if (count < 0) {
      r->cores[core].is_bad = 1;
      return;
    }
    count_segments(r, core, t, to.entries, count);
    at += count;
  }
}

static void slots_task(void* context, int64_t core, int32_t worker) {
  const run* r = context;
  write_slots(r, core, &r->rooms[worker]);
}

/* The first id out of range of the first feature that has one. */
static te_status first_bad(const te_csr* csr) {
  int64_t before = 0;
  for (int32_t f = 0; f < csr->n_features; f++) {
    const te_csr_feature* feature = &csr->features[f];
    for (int64_t i = 0; i < feature->nnz; i++) {
      if ((uint32_t)feature->values[i] >= (uint32_t)feature->rows) {
        return te_failure(TE_ID_OUT_OF_RANGE, before + i, feature->values[i]);
      }
    }
    before += feature->nnz;
  }
  return te_failure(TE_BAD_ARGUMENT, 0, 0);
}

int64_t te_partition_csr_slots(const te_csr* csr) {
  return te_min(csr->capacity, aligned(csr->nnz + (ALIGNMENT - 1) * (int64_t)csr->cores * csr->shards));
}

te_status te_partition_csr(const te_csr* csr, const te_csr_out* out, void* workspace, size_t workspace_bytes,
                           int64_t* used) {
  const te_status status = check(csr);
  if (status.code != TE_OK) return status;
  if (out == NULL || used == NULL) return te_failure(TE_BAD_ARGUMENT, 0, 0);
  run r;
  te_fill(&r, 0, sizeof r);
  r.csr = csr;
  r.out = out;
  r.most = most_of_a_core(csr);
  int32_t workers = workers_of(csr);
  /* As many as there is room for: the number of threads may have changed since the room was measured. */
  while (workers > 1 && 64 + lay_out(&r, NULL, workers) > workspace_bytes) workers--;
  if (workspace == NULL || 64 + lay_out(&r, NULL, workers) > workspace_bytes) {
    return te_failure(TE_BAD_WORKSPACE, 0, 0);
  }
  lay_out(&r, te_first_line(workspace), workers);
  r.shard_bits = bits_of((uint32_t)csr->shards - 1);
  find_tables(&r);
  const size_t buckets = (size_t)csr->cores * (size_t)csr->shards;
  te_fill(r.id_counts, 0, buckets * sizeof(int32_t));
  te_fill(out->unique_id_counts, 0, buckets * sizeof(int32_t));
  te_fill(r.segments, 0, buckets * (size_t)r.n_tables * sizeof(segment));
  int64_t first = 0;
  for (int64_t core = 0; core < csr->cores; core++) {
    r.cores[core].first = first;
    r.cores[core].is_bad = 0;
    first += ids_of_core(csr, core);
  }
  te_parallel(csr->cores, workers, sort_task, &r);
  for (int64_t core = 0; core < csr->cores; core++) {
    if (r.cores[core].is_bad) return first_bad(csr);
  }
  *used = place_buckets(&r);
  te_copy(out->id_counts, r.id_counts, buckets * sizeof(int32_t));
  te_copy(out->row_pointers, r.ends, (size_t)csr->cores * (size_t)aligned(csr->shards) * sizeof(int32_t));
  te_parallel(csr->cores, workers, slots_task, &r);
  return te_ok();
}
