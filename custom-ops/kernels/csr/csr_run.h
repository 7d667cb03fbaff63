/* What the steps of one call share: tables of the stack, cores, and their memory. Part of partition_csr.c. */
#ifndef TE_CSR_RUN_H
#define TE_CSR_RUN_H

#include "../core.h"

#define ALIGNMENT 8 /* slots */
#define PADDING 0x7fffffff
#define MOST_CORES 4096
#define MOST_SHARDS 65536

/*
 * One id of a sample. From the top: its key, which is the shard and then the row of the table's part there; whether
 * the id repeats the one before it in its sample; the sample within those of the core.
 */
typedef uint64_t entry;
#define REPEATS ((entry)1 << 31)

TE_INLINE uint32_t key_of(entry e) { return (uint32_t)(e >> 32); }
TE_INLINE int32_t sample_of(entry e) { return (int32_t)(e & (REPEATS - 1)); }
/* Whether both are of one row and one sample. */
TE_INLINE int same_place(entry a, entry b) { return ((a ^ b) & ~REPEATS) == 0; }

/* Entries, and their gains where the batch has weights. */
typedef struct list {
  entry* entries;
  float* gains;
} list;

/* The features of one table: those of one column offset. */
typedef struct table {
  int32_t first, end; /* in `order` */
  int32_t row_bits;
  int32_t row_offset; /* rows of a shard before its own, from `first_shard` on; one more on shards below */
  int32_t first_shard;
  int32_t is_scaled;  /* some sample has a factor other than 1 */
} table;

/* The entries of a table on a core that belong to one shard. */
typedef struct segment {
  int32_t entries;
  int32_t slots; /* without those that are merged with others */
} segment;

typedef struct core_state {
  int64_t first; /* of its entries */
  int32_t is_bad; /* an id is out of range */
} core_state;

/* What a worker writes while it has a core. */
typedef struct worker_room {
  list spare;
  int32_t* counters; /* of digits */
  float* scales;     /* by sample of the core */
  int64_t* cursors;  /* by table */
} worker_room;

/*
 * Other threads may write the results meanwhile, where they lie in shared memory: no place in memory follows from what
 * is read there, so that counts and row pointers are made in the workspace and copied.
 */
typedef struct run {
  const te_csr* csr;
  const te_csr_out* out;
  int32_t shard_bits;
  int32_t n_tables;
  int64_t most; /* entries of one core */

  /* in the workspace */
  int32_t* order;        /* [features]: by column offset */
  table* tables;         /* [features], as many as there are */
  core_state* cores;
  segment* segments;  /* [cores, tables, shards] */
  int32_t* id_counts; /* [cores, shards] */
  int32_t* ends;      /* [cores, aligned shards]: the row pointers */
  worker_room* rooms; /* [workers] */
  list sorted;        /* [nnz] */
} run;

/* The samples of a feature on a core. */
typedef struct part {
  const te_csr_feature* feature;
  const int32_t* splits; /* [samples + 1] */
  int32_t samples;
  int32_t first_sample; /* among those of the core */
} part;

TE_INLINE part part_of(const te_csr* csr, int32_t feature, int64_t core) {
  const te_csr_feature* f = &csr->features[feature];
  const int32_t samples = f->samples / csr->cores;
  const part p = {f, f->row_splits + core * samples, samples, f->sample_offset / csr->cores};
  return p;
}

TE_INLINE segment* segments_of(const run* r, int64_t core, int32_t t) {
  return r->segments + (core * r->n_tables + t) * r->csr->shards;
}

TE_INLINE int64_t aligned(int64_t count) { return (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

TE_INLINE int32_t bits_of(uint32_t number) {
  int32_t bits = 0;
  while (number != 0) {
    bits++;
    number >>= 1;
  }
  return bits;
}

/* What the rows of a sample are multiplied with, all in float32; 0 where a sum of weights is 0. */
static float scale_of(const te_csr_feature* f, int64_t first, int64_t end) {
  float sum = 0.0f;
  if (f->combiner == TE_SUM) return 1.0f;
  if (f->weights == NULL) {
    const int64_t count = te_min(end - first, 1 << 24); /* where adding 1 no longer counts */
    sum = (float)count;
  } else if (f->combiner == TE_MEAN) {
    for (int64_t i = first; i < end; i++) sum += f->weights[i];
  } else {
    for (int64_t i = first; i < end; i++) sum += f->weights[i] * f->weights[i];
  }
  if (sum == 0.0f) return 0.0f;
  return 1.0f / (f->combiner == TE_MEAN ? sum : te_sqrtf(sum));
}

#endif
