/* Ids for SparseCores as a function of typed arrays. Part of node.c. */
#ifndef TE_NODE_CSR_H
#define TE_NODE_CSR_H

#include "node_arguments.h"

#define CSR_FEATURE_WORDS (sizeof(te_csr_feature) / sizeof(int32_t))

static array ints(call* c, int index, const char* name, uint64_t length) {
  const array result = typed(c, index, name, napi_int32_array);
  if (!c->failed && (uint64_t)result.length != length) {
    fail_range(c, name, "expected %llu numbers, received %zu", (unsigned long long)length, result.length);
  }
  return result;
}

/* partitionCsr(values, rowSplits, weights, features, cores, shards, samples, capacity, rowPointers, sampleIds, tokenIds,
   gains, idCounts, uniqueIdCounts) -> slots in use */
static napi_value partition_csr(napi_env env, napi_callback_info info) {
  static const char* const names[] = {"rowPointers", "sampleIds", "tokenIds", "gains", "idCounts", "uniqueIdCounts"};
  call c;
  te_csr csr;
  array read[4], written[6];
  instance* owner = NULL;
  int64_t used = 0;
  begin(&c, env, info);
  memset(&csr, 0, sizeof csr);
  memset(read, 0, sizeof read);
  memset(written, 0, sizeof written);
  read[0] = private_copy(&c, typed(&c, 0, "values", napi_int32_array), "values");
  read[1] = private_copy(&c, typed(&c, 1, "rowSplits", napi_int32_array), "rowSplits");
  if (!c.failed && !absent(&c, 2)) read[2] = floats(&c, 2, "weights", read[0].length);
  read[3] = private_copy(&c, typed(&c, 3, "features", napi_int32_array), "features");
  if (!c.failed && read[3].length % CSR_FEATURE_WORDS != 0) {
    fail_range(&c, "features", "expected %d numbers for each, received %zu", (int)CSR_FEATURE_WORDS, read[3].length);
  }
  if (!c.failed && (read[0].length > INT32_MAX || read[1].length > INT32_MAX || read[3].length > INT32_MAX)) {
    fail_range(&c, "values", "expected fewer than 2^31 numbers, received %zu", read[0].length);
  }
  csr.values = (const int32_t*)read[0].data;
  csr.row_splits = (const int32_t*)read[1].data;
  csr.weights = read[2].length == 0 ? NULL : (const float*)read[2].data;
  csr.features = (const te_csr_feature*)read[3].data;
  csr.nnz = (int64_t)read[0].length;
  csr.n_splits = (int64_t)read[1].length;
  csr.n_features = (int32_t)(read[3].length / CSR_FEATURE_WORDS);
  csr.cores = (int32_t)whole(&c, 4, "cores", 1, 4096);
  csr.shards = (int32_t)whole(&c, 5, "shards", 1, 65536);
  csr.samples = (int32_t)whole(&c, 6, "samples", 0, INT32_MAX);
  csr.capacity = whole(&c, 7, "capacity", 0, 9007199254740991.0);
  const uint64_t buckets = c.failed ? 0 : (uint64_t)csr.cores * (uint64_t)csr.shards;
  const uint64_t pointers = c.failed ? 0 : (uint64_t)csr.cores * (((uint64_t)csr.shards + 7) / 8 * 8);
  const uint64_t slots = c.failed ? 0 : (uint64_t)te_partition_csr_slots(&csr);
  written[0] = ints(&c, 8, names[0], pointers);
  written[1] = ints(&c, 9, names[1], slots);
  written[2] = ints(&c, 10, names[2], slots);
  written[3] = floats(&c, 11, names[3], slots);
  written[4] = ints(&c, 12, names[4], buckets);
  written[5] = ints(&c, 13, names[5], buckets);
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 4; j++) must_differ(&c, written[i], read[j], names[i]);
    for (int j = i + 1; j < 6; j++) must_differ(&c, written[i], written[j], names[j]);
  }
  void* workspace = workspace_of(&c, c.failed ? 0 : te_partition_csr_workspace(csr.nnz, csr.cores), &owner);
  if (!c.failed) {
    const te_csr_out out = {(int32_t*)written[0].data, (int32_t*)written[1].data, (int32_t*)written[2].data,
                            (float*)written[3].data,   (int32_t*)written[4].data, (int32_t*)written[5].data};
    fail_status(&c, te_partition_csr(&csr, &out, workspace, owner->workspace_bytes, &used));
  }
  trim_workspace(owner);
  finish(&c);
  return c.failed ? NULL : new_number(env, (double)used);
}

#endif
