/* The best rows of a table for each query, and rows of users from those of their items. */
#include "../../kernels/ranking/ranking.h"
#include "functions.h"

/* values | null, rowSplits: two arguments from `index` on. */
static te_id_lists read_lists(call* c, int index, int64_t n, const char* name, array* values, array* splits) {
  te_id_lists lists = {NULL, NULL, 0};
  memset(values, 0, sizeof *values);
  memset(splits, 0, sizeof *splits);
  if (c->failed || absent(c, index)) return lists;
  *values = private_copy(c, typed(c, index, name, napi_int32_array), name);
  *splits = private_copy(c, typed(c, index + 1, "rowSplits", napi_int32_array), "rowSplits");
  if (!c->failed && (uint64_t)splits->length != (uint64_t)n + 1) {
    fail_range(c, "rowSplits", "expected %llu numbers, received %zu", (unsigned long long)n + 1, splits->length);
  }
  if (!c->failed && values->length > INT32_MAX) {
    fail_range(c, name, "expected fewer than 2^31 numbers, received %zu", values->length);
  }
  lists.values = (const int32_t*)values->data;
  lists.splits = (const int32_t*)splits->data;
  lists.count = (int64_t)values->length;
  return lists;
}

/* The lists of the best that a call writes. */
typedef struct best_lists {
  array values;
  array indices;
} best_lists;

/* values, indices: two arguments from `index` on, so many numbers each, in memory that nothing else lies in. */
static best_lists read_best(call* c, int index, uint64_t places, array queries, const array* memory, int count) {
  const best_lists best = {floats(c, index, "values", places), typed(c, index + 1, "indices", napi_int32_array)};
  if (!c->failed && (uint64_t)best.indices.length != places) {
    fail_range(c, "indices", "expected %llu numbers, received %zu", (unsigned long long)places, best.indices.length);
  }
  must_differ(c, best.values, best.indices, "values");
  must_differ(c, best.values, queries, "values");
  must_differ(c, best.indices, queries, "indices");
  for (int i = 0; i < count; i++) {
    must_differ(c, best.values, memory[i], "values");
    must_differ(c, best.indices, memory[i], "indices");
  }
  return best;
}

/* topK(table, codec, rows, dim, firstRow, queries, n, k, exclude | null, its rowSplits, only | null, its rowSplits,
   values, indices): brings rows into lists that are there already */
napi_value top_k(napi_env env, napi_callback_info info) {
  call c;
  te_top_k job;
  array memory[5];
  instance* owner = NULL;
  begin(&c, env, info);
  memset(&job, 0, sizeof job);
  job.table = read_rows(&c, 0, &memory[0], false);
  job.first_row = whole(&c, 4, "firstRow", 0, INT32_MAX);
  if (!c.failed && job.table.rows > INT32_MAX - job.first_row) {
    fail_range(&c, "rows", "expected ids below 2^31, received %lld rows from %lld on", (long long)job.table.rows,
               (long long)job.first_row);
  }
  job.n = whole(&c, 6, "n", 0, INT32_MAX);
  job.k = whole(&c, 7, "k", 1, INT32_MAX);
  const array queries = floats(&c, 5, "queries", c.failed ? 0 : area(&c, job.n, job.table.dim, "n"));
  const uint64_t places = c.failed ? 0 : area(&c, job.n, job.k, "k");
  job.exclude = read_lists(&c, 8, job.n, "exclude", &memory[1], &memory[2]);
  job.only = read_lists(&c, 10, job.n, "only", &memory[3], &memory[4]);
  const best_lists best = read_best(&c, 12, places, queries, memory, 5);
  job.queries = (const float*)queries.data;
  job.values = (float*)best.values.data;
  job.indices = (int32_t*)best.indices.data;
  job.workers = te_get_threads();
  void* workspace = workspace_of(&c, c.failed ? 0 : te_top_k_workspace(&job), &owner);
  if (!c.failed) fail_status(&c, te_top_k_rows(&job, workspace, owner->workspace_bytes));
  trim_workspace(owner);
  finish(&c);
  return NULL;
}

/* What rows are called. */
static array read_row_ids(call* c, int index, int64_t rows) {
  const array ids = typed(c, index, "ids", napi_int32_array);
  if (!c->failed && (int64_t)ids.length < rows) {
    fail_range(c, "ids", "expected one for each of %lld rows, received %zu", (long long)rows, ids.length);
  }
  return ids;
}

/* scanLists(table, codec, rows, dim, ids, starts, ends, members, splits, queries, n, k, exclude | null, its rowSplits,
   values, indices): brings rows of lists into the lists of the queries that look at them */
napi_value scan_lists(napi_env env, napi_callback_info info) {
  call c;
  te_list_scan job;
  array memory[8];
  instance* owner = NULL;
  begin(&c, env, info);
  memset(&job, 0, sizeof job);
  memset(memory, 0, sizeof memory);
  job.table = read_rows(&c, 0, &memory[0], false);
  memory[1] = read_row_ids(&c, 4, job.table.rows);
  memory[2] = private_copy(&c, typed(&c, 5, "starts", napi_int32_array), "starts");
  memory[3] = private_copy(&c, typed(&c, 6, "ends", napi_int32_array), "ends");
  if (!c.failed && memory[3].length != memory[2].length) {
    fail_range(&c, "ends", "expected %zu numbers, received %zu", memory[2].length, memory[3].length);
  }
  memory[4] = private_copy(&c, typed(&c, 7, "members", napi_int32_array), "members");
  memory[5] = private_copy(&c, typed(&c, 8, "splits", napi_int32_array), "splits");
  if (!c.failed && memory[5].length != memory[2].length + 1) {
    fail_range(&c, "splits", "expected %zu numbers, received %zu", memory[2].length + 1, memory[5].length);
  }
  job.n = whole(&c, 10, "n", 0, INT32_MAX);
  job.k = whole(&c, 11, "k", 1, INT32_MAX);
  const array queries = floats(&c, 9, "queries", c.failed ? 0 : area(&c, job.n, job.table.dim, "n"));
  const uint64_t places = c.failed ? 0 : area(&c, job.n, job.k, "k");
  job.exclude = read_lists(&c, 12, job.n, "exclude", &memory[6], &memory[7]);
  const best_lists best = read_best(&c, 14, places, queries, memory, 8);
  job.ids = (const int32_t*)memory[1].data;
  job.starts = (const int32_t*)memory[2].data;
  job.ends = (const int32_t*)memory[3].data;
  job.lists = (int64_t)memory[2].length;
  job.members = (const int32_t*)memory[4].data;
  job.splits = (const int32_t*)memory[5].data;
  job.pairs = (int64_t)memory[4].length;
  job.queries = (const float*)queries.data;
  job.values = (float*)best.values.data;
  job.indices = (int32_t*)best.indices.data;
  job.workers = te_get_threads();
  void* workspace = workspace_of(&c, c.failed ? 0 : te_list_scan_workspace(&job), &owner);
  if (!c.failed) fail_status(&c, te_scan_lists(&job, workspace, owner->workspace_bytes));
  trim_workspace(owner);
  finish(&c);
  return NULL;
}

/* rankRows(table, codec, rows, dim, ids | null, queries, n, candidates, m, k, values, indices): writes both lists anew */
napi_value rank_rows(napi_env env, napi_callback_info info) {
  call c;
  te_rank job;
  array memory[3];
  instance* owner = NULL;
  begin(&c, env, info);
  memset(&job, 0, sizeof job);
  memset(memory, 0, sizeof memory);
  job.table = read_rows(&c, 0, &memory[0], false);
  if (!c.failed && !absent(&c, 4)) memory[1] = read_row_ids(&c, 4, job.table.rows);
  job.n = whole(&c, 6, "n", 0, INT32_MAX);
  job.m = whole(&c, 8, "m", 0, INT32_MAX);
  job.k = whole(&c, 9, "k", 1, INT32_MAX);
  const array queries = floats(&c, 5, "queries", c.failed ? 0 : area(&c, job.n, job.table.dim, "n"));
  memory[2] = private_copy(&c, typed(&c, 7, "candidates", napi_int32_array), "candidates");
  const uint64_t candidates = c.failed ? 0 : area(&c, job.n, job.m, "m");
  if (!c.failed && (uint64_t)memory[2].length != candidates) {
    fail_range(&c, "candidates", "expected %llu numbers, received %zu", (unsigned long long)candidates,
               memory[2].length);
  }
  const uint64_t places = c.failed ? 0 : area(&c, job.n, job.k, "k");
  const best_lists best = read_best(&c, 10, places, queries, memory, 3);
  job.ids = (const int32_t*)memory[1].data;
  job.queries = (const float*)queries.data;
  job.candidates = (const int32_t*)memory[2].data;
  job.values = (float*)best.values.data;
  job.indices = (int32_t*)best.indices.data;
  job.workers = te_get_threads();
  void* workspace = workspace_of(&c, c.failed ? 0 : te_rank_workspace(&job), &owner);
  if (!c.failed) fail_status(&c, te_rank_rows(&job, workspace, owner->workspace_bytes));
  trim_workspace(owner);
  finish(&c);
  return NULL;
}

/* foldIn(table, codec, rows, dim, values, rowSplits, weights | null, regularization, gram | null, out) */
napi_value fold_in(napi_env env, napi_callback_info info) {
  call c;
  te_fold_in job;
  array memory[5];
  instance* owner = NULL;
  begin(&c, env, info);
  memset(&job, 0, sizeof job);
  memset(memory, 0, sizeof memory);
  job.table = read_rows(&c, 0, &memory[0], false);
  memory[1] = private_copy(&c, typed(&c, 4, "values", napi_int32_array), "values");
  memory[2] = private_copy(&c, typed(&c, 5, "rowSplits", napi_int32_array), "rowSplits");
  if (!c.failed && memory[2].length < 1) fail_range(&c, "rowSplits", "expected at least one split, received none");
  if (!c.failed && !absent(&c, 6)) memory[3] = floats(&c, 6, "weights", memory[1].length);
  job.regularization = real(&c, 7, "regularization");
  if (!c.failed && !absent(&c, 8)) memory[4] = floats(&c, 8, "gram", area(&c, job.table.dim, job.table.dim, "dim"));
  job.bags.values = (const int32_t*)memory[1].data;
  job.bags.row_splits = (const int32_t*)memory[2].data;
  job.bags.weights = (const float*)memory[3].data;
  job.bags.nnz = (int64_t)memory[1].length;
  job.bags.batch = c.failed ? 0 : (int64_t)memory[2].length - 1;
  job.gram = (const float*)memory[4].data;
  const array out = floats(&c, 9, "out", c.failed ? 0 : area(&c, job.bags.batch, job.table.dim, "out"));
  for (int i = 0; i < 5; i++) must_differ(&c, out, memory[i], "out");
  job.out = (float*)out.data;
  job.workers = te_get_threads();
  void* workspace = workspace_of(&c, c.failed ? 0 : te_fold_in_workspace(&job), &owner);
  if (!c.failed) fail_status(&c, te_fold_in_rows(&job, workspace, owner->workspace_bytes));
  trim_workspace(owner);
  finish(&c);
  return NULL;
}
