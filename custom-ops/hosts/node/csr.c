/* Ids for SparseCores as a function of typed arrays. */
#include "functions.h"

#define CSR_FEATURE_WORDS 6 /* samples, combiner, rows, column_offset, rotation, sample_offset */

static array ints(call* c, int index, const char* name, uint64_t length) {
  const array result = typed(c, index, name, napi_int32_array);
  if (!c->failed && (uint64_t)result.length != length) {
    fail_range(c, name, "expected %llu numbers, received %zu", (unsigned long long)length, result.length);
  }
  return result;
}

/* Takes the values of a list. Its getters run here, so that arrays of the call are looked at afterwards. */
static void list_items(call* c, int index, const char* name, uint32_t count, napi_value* items) {
  uint32_t length = 0;
  bool is_list = false;
  if (c->failed) return;
  if (napi_is_array(c->env, c->arguments[index], &is_list) != napi_ok || !is_list ||
      napi_get_array_length(c->env, c->arguments[index], &length) != napi_ok) {
    fail_type(c, name, "expected a list");
  } else if (length != count) {
    fail_range(c, name, "expected %u entries, one for each feature, received %u", count, length);
  }
  for (uint32_t i = 0; i < count && !c->failed; i++) {
    if (napi_get_element(c->env, c->arguments[index], i, &items[i]) != napi_ok) c->failed = true; /* its getter threw */
  }
}

static bool is_nothing(call* c, napi_value value) {
  napi_valuetype type;
  return napi_typeof(c->env, value, &type) == napi_ok && (type == napi_null || type == napi_undefined);
}

/* Ids, row splits and weights of one feature. */
typedef struct csr_arrays {
  array values, splits, weights;
} csr_arrays;

static csr_arrays read_feature(call* c, napi_value values, napi_value splits, napi_value weights, const int32_t* words,
                               te_csr_feature* to) {
  csr_arrays read;
  memset(&read, 0, sizeof read);
  read.values = private_copy(c, typed_value(c, values, "values", napi_int32_array), "values");
  read.splits = private_copy(c, typed_value(c, splits, "rowSplits", napi_int32_array), "rowSplits");
  if (c->failed) return read;
  if (!is_nothing(c, weights)) {
    read.weights = typed_value(c, weights, "weights", napi_float32_array);
    if (!c->failed && read.weights.length != read.values.length) {
      fail_range(c, "weights", "expected %zu numbers, received %zu", read.values.length, read.weights.length);
    }
    /* Weights of no ids are weights all the same. */
    if (read.weights.data == NULL) read.weights.data = (char*)to;
  }
  if (read.values.length > INT32_MAX) {
    fail_range(c, "values", "expected fewer than 2^31 numbers, received %zu", read.values.length);
  }
  if (words[0] < 0 || read.splits.length != (size_t)words[0] + 1) {
    fail_range(c, "rowSplits", "expected one more than the samples, %d, received %zu", (int)words[0],
               read.splits.length);
  }
  to->values = (const int32_t*)read.values.data;
  to->row_splits = (const int32_t*)read.splits.data;
  to->weights = (const float*)read.weights.data;
  to->nnz = (int32_t)read.values.length;
  to->samples = words[0];
  to->combiner = words[1];
  to->rows = words[2];
  to->column_offset = words[3];
  to->rotation = words[4];
  to->sample_offset = words[5];
  return read;
}

/* partitionCsr(values, rowSplits, weights, features, cores, shards, samples, capacity, rowPointers, sampleIds,
   tokenIds, gains, idCounts, uniqueIdCounts) -> slots in use; the first three are lists of an array per feature */
napi_value partition_csr(napi_env env, napi_callback_info info) {
  static const char* const names[] = {"rowPointers", "sampleIds", "tokenIds", "gains", "idCounts", "uniqueIdCounts"};
  call c;
  te_csr csr;
  array written[6];
  instance* owner = NULL;
  int64_t used = 0;
  begin(&c, env, info);
  memset(&csr, 0, sizeof csr);
  memset(written, 0, sizeof written);
  array words = typed(&c, 3, "features", napi_int32_array);
  if (!c.failed && (words.length % CSR_FEATURE_WORDS != 0 || words.length > INT32_MAX)) {
    fail_range(&c, "features", "expected %d numbers for each, received %zu", CSR_FEATURE_WORDS, words.length);
  }
  const uint32_t count = c.failed ? 0 : (uint32_t)(words.length / CSR_FEATURE_WORDS);
  te_csr_feature* features = c.failed ? NULL : own_memory(&c, ((size_t)count + 1) * sizeof *features);
  csr_arrays* read = c.failed ? NULL : own_memory(&c, ((size_t)count + 1) * sizeof *read);
  napi_value* items = c.failed ? NULL : own_memory(&c, (3 * (size_t)count + 1) * sizeof *items);
  if (!c.failed && (features == NULL || read == NULL || items == NULL)) {
    fail_range(&c, "features", "expected features that fit into memory, received %u", count);
  }
  list_items(&c, 0, "values", count, items);
  list_items(&c, 1, "rowSplits", count, items + count);
  list_items(&c, 2, "weights", count, items + 2 * (size_t)count);
  words = private_copy(&c, typed(&c, 3, "features", napi_int32_array), "features");
  if (!c.failed && words.length / CSR_FEATURE_WORDS != count) {
    fail_range(&c, "features", "expected as many numbers as before, received %zu", words.length);
  }
  for (uint32_t f = 0; f < count && !c.failed; f++) {
    const int32_t* own = (const int32_t*)words.data + (size_t)f * CSR_FEATURE_WORDS;
    read[f] = read_feature(&c, items[f], items[count + f], items[2 * (size_t)count + f], own, &features[f]);
    csr.nnz += (int64_t)read[f].values.length;
    csr.is_weighted |= features[f].weights != NULL;
  }
  csr.features = features;
  csr.n_features = (int32_t)count;
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
    must_differ(&c, written[i], words, names[i]);
    for (uint32_t f = 0; f < count && !c.failed; f++) {
      must_differ(&c, written[i], read[f].values, names[i]);
      must_differ(&c, written[i], read[f].splits, names[i]);
      must_differ(&c, written[i], read[f].weights, names[i]);
    }
    for (int j = i + 1; j < 6; j++) must_differ(&c, written[i], written[j], names[j]);
  }
  void* workspace = workspace_of(&c, c.failed ? 0 : te_partition_csr_workspace(&csr), &owner);
  if (!c.failed) {
    const te_csr_out out = {(int32_t*)written[0].data, (int32_t*)written[1].data, (int32_t*)written[2].data,
                            (float*)written[3].data,   (int32_t*)written[4].data, (int32_t*)written[5].data};
    fail_status(&c, te_partition_csr(&csr, &out, workspace, owner->workspace_bytes, &used));
  }
  trim_workspace(owner);
  finish(&c);
  return c.failed ? NULL : new_number(env, (double)used);
}
