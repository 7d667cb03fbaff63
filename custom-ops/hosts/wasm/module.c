/*
 * The WebAssembly host: the C core behind functions of 32-bit numbers, which JavaScript passes without BigInt.
 *
 * One module runs inside any memory: it imports the memory, holds no data of its own (the build checks it), and its
 * stack pointer is exported, so that JavaScript points it at a region that it allocated there.
 */
#include "embedding.h"
#include "ranking/ranking.h"

#define TE_WASM(name) __attribute__((export_name(#name))) name

/* What JavaScript reads after a call: four int32. nnz is below 2^31, so a position always fits. */
typedef struct te_wasm_result {
  int32_t code;
  int32_t id;
  int32_t position;
  int32_t unique;
} te_wasm_result;

static int32_t te_wasm_report(te_status status, te_wasm_result* result) {
  result->code = status.code;
  result->id = status.id;
  result->position = (int32_t)status.position;
  return status.code;
}

static te_bags te_wasm_bags(const int32_t* values, const int32_t* row_splits, const float* weights, int32_t nnz,
                            int32_t batch, int32_t combiner, int32_t out_of_range, float max_norm) {
  te_bags bags = {0};
  bags.values = values;
  bags.row_splits = row_splits;
  bags.weights = weights;
  bags.nnz = nnz;
  bags.batch = batch;
  bags.combiner = combiner;
  bags.out_of_range = out_of_range;
  bags.max_norm = max_norm;
  return bags;
}

static te_rows te_wasm_rows(void* data, int32_t codec, int32_t rows, int32_t dim) {
  te_rows table;
  table.data = data;
  table.rows = rows;
  table.dim = dim;
  table.codec = codec;
  return table;
}

/* A table and the bags that look it up, as every function takes them. */
#define TE_WASM_LOOKUP                                                                                             \
  void *data, int32_t codec, int32_t rows, int32_t dim, const int32_t *values, const int32_t *row_splits,          \
      const float *weights, int32_t nnz, int32_t batch, int32_t combiner, int32_t out_of_range, float max_norm
#define TE_WASM_UNPACK                                         \
  const te_rows table = te_wasm_rows(data, codec, rows, dim); \
  const te_bags bags = te_wasm_bags(values, row_splits, weights, nnz, batch, combiner, out_of_range, max_norm)

/* What a worker of the pool runs; it never returns. */
void TE_WASM(te_wasm_help)(int32_t number) { te_help(number); }

/* Threads that work now: as many as were asked for, of those that have come. */
int32_t TE_WASM(te_wasm_threads)(void) { return te_get_threads(); }

int32_t TE_WASM(te_wasm_bag)(TE_WASM_LOOKUP, float* pooled, te_wasm_result* result) {
  TE_WASM_UNPACK;
  return te_wasm_report(te_embedding_bag(&table, &bags, pooled), result);
}

uint32_t TE_WASM(te_wasm_grad_workspace)(int32_t nnz, int32_t batch, int32_t rows, int32_t dim) {
  return (uint32_t)te_embedding_bag_grad_workspace(nnz, batch, rows, dim);
}

int32_t TE_WASM(te_wasm_grad_group)(TE_WASM_LOOKUP, void* workspace, uint32_t workspace_bytes, te_wasm_result* result) {
  TE_WASM_UNPACK;
  int64_t unique = 0;
  const te_status status = te_embedding_bag_grad_group(&table, &bags, workspace, workspace_bytes, &unique);
  result->unique = (int32_t)unique;
  return te_wasm_report(status, result);
}

int32_t TE_WASM(te_wasm_grad_rows)(TE_WASM_LOOKUP, const float* gradient, void* workspace, uint32_t workspace_bytes,
                                   int32_t* unique_ids, float* row_gradients, te_wasm_result* result) {
  TE_WASM_UNPACK;
  return te_wasm_report(
      te_embedding_bag_grad_rows(&table, &bags, gradient, workspace, workspace_bytes, unique_ids, row_gradients),
      result);
}

int32_t TE_WASM(te_wasm_weights_grad)(TE_WASM_LOOKUP, const float* gradient, float* weights_gradient,
                                      te_wasm_result* result) {
  TE_WASM_UNPACK;
  return te_wasm_report(te_embedding_bag_weights_grad(&table, &bags, gradient, weights_gradient), result);
}

uint32_t TE_WASM(te_wasm_apply_workspace)(int32_t optimizer, int32_t nnz, int32_t batch, int32_t rows, int32_t dim) {
  return (uint32_t)te_sparse_apply_workspace(optimizer, nnz, batch, rows, dim);
}

int32_t TE_WASM(te_wasm_apply)(TE_WASM_LOOKUP, int32_t optimizer, float* slot0, float* slot1, float* slot2,
                               float* slot3, int32_t n_slots, const float* gradient, const te_hyper* hyper, void* workspace,
                               uint32_t workspace_bytes, te_wasm_result* result) {
  TE_WASM_UNPACK;
  float* slots[TE_MOST_SLOTS] = {slot0, slot1, slot2, slot3};
  return te_wasm_report(
      te_sparse_apply(optimizer, &table, slots, n_slots, &bags, gradient, hyper, workspace, workspace_bytes), result);
}

/* ---- many tables: one record of 32-bit words each ---- */

/* A lookup. max_norm lies there as a float. */
typedef struct te_wasm_lookup {
  void* data;
  int32_t codec;
  int32_t rows;
  int32_t dim;
  const int32_t* values;
  const int32_t* row_splits;
  const float* weights;
  int32_t nnz;
  int32_t batch;
  int32_t combiner;
  int32_t out_of_range;
  float max_norm;
  float* pooled; /* of steps: the gradient */
} te_wasm_lookup;

/* A step: its lookup, and what steps take besides. */
typedef struct te_wasm_step {
  te_wasm_lookup lookup;
  float* slots[TE_MOST_SLOTS];
  int32_t n_slots;
  const te_hyper* hyper;
  void* workspace;
  uint32_t workspace_bytes;
  const int32_t* use_starts;
  int32_t more_uses;
} te_wasm_step;

static te_bags te_wasm_bags_of(const te_wasm_lookup* l) {
  return te_wasm_bags(l->values, l->row_splits, l->weights, l->nnz, l->batch, l->combiner, l->out_of_range,
                      l->max_norm);
}

static te_rows te_wasm_rows_of(const te_wasm_lookup* l) { return te_wasm_rows(l->data, l->codec, l->rows, l->dim); }

/* `unique` of the result: the lookup that failed. */
int32_t TE_WASM(te_wasm_bags_many)(const te_wasm_lookup* lookups, int32_t count, te_wasm_result* result) {
  te_status status = {TE_OK, 0, 0};
  for (int32_t i = 0; i < count && status.code == TE_OK; i++) {
    const te_rows table = te_wasm_rows_of(&lookups[i]);
    const te_bags bags = te_wasm_bags_of(&lookups[i]);
    status = te_embedding_bag(&table, &bags, lookups[i].pooled);
    result->unique = i;
  }
  return te_wasm_report(status, result);
}

/* Bytes of the records that te_wasm_apply_many is lent. */
uint32_t TE_WASM(te_wasm_steps_bytes)(int32_t count) { return (uint32_t)count * (uint32_t)sizeof(te_step); }

/* `records`: room for one of each step, in which those with the same ids are linked. */
int32_t TE_WASM(te_wasm_apply_many)(int32_t optimizer, const te_wasm_step* steps, int32_t count, te_step* records,
                                    te_wasm_result* result) {
  te_status status = {TE_OK, 0, 0};
  for (int32_t i = 0; i < count && status.code == TE_OK; i++) {
    /* Every table is checked before the first row is written. */
    const te_wasm_lookup* l = &steps[i].lookup;
    const te_rows table = te_wasm_rows_of(l);
    const te_bags bags = te_wasm_bags_of(l);
    result->unique = i;
    status = te_check_batch(&table, &bags);
    if (status.code == TE_OK && steps[i].n_slots != te_slot_count(optimizer)) status.code = TE_BAD_ARGUMENT;
  }
  if (status.code != TE_OK) return te_wasm_report(status, result);
  for (int32_t i = 0; i < count; i++) {
    const te_wasm_step* s = &steps[i];
    te_step* record = &records[i];
    record->table = te_wasm_rows_of(&s->lookup);
    for (int32_t k = 0; k < TE_MOST_SLOTS; k++) record->slots[k] = s->slots[k];
    record->bags = te_wasm_bags_of(&s->lookup);
    record->bags.use_starts = s->use_starts;
    record->bags.more_uses = s->more_uses;
    record->gradient = s->lookup.pooled;
    record->hyper = *s->hyper;
    record->workspace = s->workspace;
    record->workspace_bytes = s->workspace_bytes;
  }
  te_sparse_apply_many(optimizer, records, count);
  for (int32_t i = 0; i < count && status.code == TE_OK; i++) {
    result->unique = i;
    status = records[i].status;
  }
  return te_wasm_report(status, result);
}

int32_t TE_WASM(te_wasm_matmul)(const float* a, const float* b, const float* bias, float* out, int32_t batch,
                                int32_t batch_a, int32_t batch_b, int32_t m, int32_t n, int32_t k, int32_t transpose_a,
                                int32_t transpose_b, int32_t relu, float* scratch, te_wasm_result* result) {
  const te_matmul job = {a, b, bias, out, batch, batch_a, batch_b, m, n, k, transpose_a, transpose_b, relu};
  return te_wasm_report(te_matrix_product(&job, scratch), result);
}

/* ---- ranking: one record of 32-bit words for each call ---- */

typedef struct te_wasm_ranked {
  void* table;
  int32_t codec;
  int32_t rows;
  int32_t dim;
} te_wasm_ranked;

static te_rows te_wasm_ranked_rows(const te_wasm_ranked* r) { return te_wasm_rows(r->table, r->codec, r->rows, r->dim); }

typedef struct te_wasm_top_k_job {
  te_wasm_ranked table;
  int32_t first_row;
  const float* queries;
  int32_t n;
  int32_t k;
  const int32_t* exclude;
  const int32_t* exclude_splits;
  int32_t exclude_count;
  const int32_t* only;
  const int32_t* only_splits;
  int32_t only_count;
  float* values;
  int32_t* indices;
  int32_t workers;
} te_wasm_top_k_job;

static te_top_k te_wasm_top_k_of(const te_wasm_top_k_job* j) {
  te_top_k job = {0};
  job.table = te_wasm_ranked_rows(&j->table);
  job.first_row = j->first_row;
  job.queries = j->queries;
  job.n = j->n;
  job.k = j->k;
  job.exclude = (te_id_lists){j->exclude, j->exclude_splits, j->exclude_count};
  job.only = (te_id_lists){j->only, j->only_splits, j->only_count};
  job.values = j->values;
  job.indices = j->indices;
  job.workers = j->workers; /* those of the workspace: more may come between the calls */
  return job;
}

uint32_t TE_WASM(te_wasm_top_k_workspace)(const te_wasm_top_k_job* j) {
  const te_top_k job = te_wasm_top_k_of(j);
  return (uint32_t)te_top_k_workspace(&job);
}

int32_t TE_WASM(te_wasm_top_k)(const te_wasm_top_k_job* j, void* workspace, uint32_t bytes, te_wasm_result* result) {
  const te_top_k job = te_wasm_top_k_of(j);
  return te_wasm_report(te_top_k_rows(&job, workspace, bytes), result);
}

typedef struct te_wasm_list_scan_job {
  te_wasm_ranked table;
  const int32_t* ids;
  const int32_t* starts;
  const int32_t* ends;
  int32_t lists;
  const int32_t* members;
  const int32_t* splits;
  int32_t pairs;
  const float* queries;
  int32_t n;
  int32_t k;
  const int32_t* exclude;
  const int32_t* exclude_splits;
  int32_t exclude_count;
  float* values;
  int32_t* indices;
  int32_t workers;
} te_wasm_list_scan_job;

static te_list_scan te_wasm_list_scan_of(const te_wasm_list_scan_job* j) {
  te_list_scan job = {0};
  job.table = te_wasm_ranked_rows(&j->table);
  job.ids = j->ids;
  job.starts = j->starts;
  job.ends = j->ends;
  job.lists = j->lists;
  job.members = j->members;
  job.splits = j->splits;
  job.pairs = j->pairs;
  job.queries = j->queries;
  job.n = j->n;
  job.k = j->k;
  job.exclude = (te_id_lists){j->exclude, j->exclude_splits, j->exclude_count};
  job.values = j->values;
  job.indices = j->indices;
  job.workers = j->workers; /* those of the workspace: more may come between the calls */
  return job;
}

uint32_t TE_WASM(te_wasm_list_scan_workspace)(const te_wasm_list_scan_job* j) {
  const te_list_scan job = te_wasm_list_scan_of(j);
  return (uint32_t)te_list_scan_workspace(&job);
}

int32_t TE_WASM(te_wasm_scan_lists)(const te_wasm_list_scan_job* j, void* workspace, uint32_t bytes,
                                    te_wasm_result* result) {
  const te_list_scan job = te_wasm_list_scan_of(j);
  return te_wasm_report(te_scan_lists(&job, workspace, bytes), result);
}

typedef struct te_wasm_fold_in_job {
  te_wasm_ranked table;
  const int32_t* values;
  const int32_t* row_splits;
  const float* weights;
  int32_t nnz;
  int32_t batch;
  const float* gram;
  float* out;
  int32_t workers;
} te_wasm_fold_in_job;

static te_fold_in te_wasm_fold_in_of(const te_wasm_fold_in_job* j, double regularization) {
  te_fold_in job = {0};
  job.table = te_wasm_ranked_rows(&j->table);
  job.bags = te_wasm_bags(j->values, j->row_splits, j->weights, j->nnz, j->batch, TE_SUM, TE_ERROR, 0.0f);
  job.regularization = regularization;
  job.gram = j->gram;
  job.out = j->out;
  job.workers = j->workers; /* those of the workspace: more may come between the calls */
  return job;
}

uint32_t TE_WASM(te_wasm_fold_in_workspace)(const te_wasm_fold_in_job* j) {
  const te_fold_in job = te_wasm_fold_in_of(j, 0.0);
  return (uint32_t)te_fold_in_workspace(&job);
}

int32_t TE_WASM(te_wasm_fold_in)(const te_wasm_fold_in_job* j, double regularization, void* workspace, uint32_t bytes,
                                 te_wasm_result* result) {
  const te_fold_in job = te_wasm_fold_in_of(j, regularization);
  return te_wasm_report(te_fold_in_rows(&job, workspace, bytes), result);
}

uint32_t TE_WASM(te_wasm_csr_workspace)(int32_t nnz, int32_t n_features, int32_t is_weighted, int32_t cores,
                                        int32_t shards, int32_t samples) {
  te_csr csr = {0};
  csr.nnz = nnz;
  csr.n_features = n_features;
  csr.is_weighted = is_weighted;
  csr.cores = cores;
  csr.shards = shards;
  csr.samples = samples;
  return (uint32_t)te_partition_csr_workspace(&csr);
}

/* `unique` of the result: the slots in use. Each feature is a te_csr_feature, ten words here. */
int32_t TE_WASM(te_wasm_csr)(const te_csr_feature* features, int32_t nnz, int32_t n_features, int32_t is_weighted,
                             int32_t cores, int32_t shards, int32_t samples, int32_t capacity, int32_t* row_pointers,
                             int32_t* sample_ids, int32_t* token_ids, float* gains, int32_t* id_counts,
                             int32_t* unique_id_counts, void* workspace, uint32_t workspace_bytes,
                             te_wasm_result* result) {
  te_csr csr;
  te_csr_out out;
  int64_t used = 0;
  csr.features = features;
  csr.nnz = nnz;
  csr.capacity = capacity;
  csr.n_features = n_features;
  csr.is_weighted = is_weighted;
  csr.cores = cores;
  csr.shards = shards;
  csr.samples = samples;
  out.row_pointers = row_pointers;
  out.sample_ids = sample_ids;
  out.token_ids = token_ids;
  out.gains = gains;
  out.id_counts = id_counts;
  out.unique_id_counts = unique_id_counts;
  const te_status status = te_partition_csr(&csr, &out, workspace, workspace_bytes, &used);
  result->unique = (int32_t)used;
  return te_wasm_report(status, result);
}
