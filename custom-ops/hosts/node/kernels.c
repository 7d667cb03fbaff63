/* The kernels as functions of typed arrays. */
#include "functions.h"
#include "steps.h"

#define MOST_RESULT_FLOATS ((uint64_t)1 << 32)

/* embeddingBag(table, codec, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm, pooled) */
napi_value embedding_bag(napi_env env, napi_callback_info info) {
  call c;
  array data;
  begin(&c, env, info);
  const te_rows table = read_rows(&c, 0, &data, false);
  const bag_arguments b = read_bags(&c, 4);
  const array pooled = floats(&c, 10, "pooled", c.failed ? 0 : area(&c, b.bags.batch, table.dim, "pooled"));
  must_differ(&c, pooled, data, "pooled");
  must_differ_from_bags(&c, pooled, &b, "pooled");
  if (!c.failed) fail_status(&c, te_embedding_bag(&table, &b.bags, (float*)pooled.data));
  finish(&c);
  return NULL;
}

static void fail_no_room(call* c, uint64_t length) {
  fail_range(c, "values", "expected a batch whose result fits into memory, received one that needs %llu numbers",
             (unsigned long long)length);
}

/* A new typed array of `length` elements; `data` points to its memory. */
static napi_value new_array(call* c, napi_typedarray_type type, uint64_t length, void** data) {
  napi_value buffer, result = NULL;
  /* The engine ends the process where memory is short, so ask first. */
  void* probe =
      length >= MOST_RESULT_FLOATS || length * 4 > (uint64_t)PTRDIFF_MAX ? NULL : malloc((size_t)length * 4 + 1);
  free(probe);
  if (probe == NULL) {
    fail_no_room(c, length);
    return NULL;
  }
  if (napi_create_arraybuffer(c->env, (size_t)length * 4, data, &buffer) != napi_ok ||
      napi_create_typedarray(c->env, type, (size_t)length, buffer, 0, &result) != napi_ok) {
    fail_no_room(c, length);
    return NULL;
  }
  return result;
}

/* embeddingBagGrad(gradient, table | null, codec, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm)
   -> [uniqueIds, rowGradients]; of float32 */
napi_value embedding_bag_grad(napi_env env, napi_callback_info info) {
  call c;
  array data;
  instance* owner = NULL;
  napi_value result = NULL, ids, gradients;
  void *ids_data = NULL, *gradients_data = NULL;
  begin(&c, env, info);
  const te_rows table = read_rows(&c, 1, &data, true);
  const bag_arguments b = read_bags(&c, 5);
  const array gradient = floats(&c, 0, "gradient", c.failed ? 0 : area(&c, b.bags.batch, table.dim, "gradient"));
  if (!c.failed && b.bags.max_norm > 0 && data.data == NULL && table.rows > 0) {
    fail_type(&c, "table", "is needed for maxNorm");
  }
  const size_t bytes = c.failed ? 0 : te_embedding_bag_grad_workspace(b.bags.nnz, b.bags.batch, table.rows, table.dim);
  void* workspace = workspace_of(&c, bytes, &owner);
  int64_t unique = 0;
  if (!c.failed) {
    fail_status(&c, te_embedding_bag_grad_group(&table, &b.bags, workspace, owner->workspace_bytes, &unique));
  }
  if (!c.failed) {
    ids = new_array(&c, napi_int32_array, (uint64_t)unique, &ids_data);
    gradients = new_array(&c, napi_float32_array, area(&c, unique, table.dim, "values"), &gradients_data);
  }
  if (!c.failed) {
    fail_status(&c, te_embedding_bag_grad_rows(&table, &b.bags, (const float*)gradient.data, workspace,
                                               owner->workspace_bytes, ids_data, gradients_data));
  }
  if (!c.failed && napi_create_array_with_length(env, 2, &result) == napi_ok) {
    napi_set_element(env, result, 0, ids);
    napi_set_element(env, result, 1, gradients);
  }
  trim_workspace(owner);
  finish(&c);
  return c.failed ? NULL : result;
}

/* embeddingBagWeightsGrad(table, codec, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm, gradient,
   out) */
napi_value embedding_bag_weights_grad(napi_env env, napi_callback_info info) {
  call c;
  array data;
  begin(&c, env, info);
  const te_rows table = read_rows(&c, 0, &data, false);
  const bag_arguments b = read_bags(&c, 4);
  const array gradient = floats(&c, 10, "gradient", c.failed ? 0 : area(&c, b.bags.batch, table.dim, "gradient"));
  const array out = floats(&c, 11, "out", b.values.length);
  if (!c.failed && absent(&c, 6)) fail_type(&c, "weights", "expected a Float32Array");
  must_differ(&c, out, data, "out");
  must_differ(&c, out, gradient, "out");
  must_differ_from_bags(&c, out, &b, "out");
  if (!c.failed) {
    fail_status(&c, te_embedding_bag_weights_grad(&table, &b.bags, (const float*)gradient.data, (float*)out.data));
  }
  finish(&c);
  return NULL;
}

/* sparseApply(...), as read_step has it */
napi_value sparse_apply(napi_env env, napi_callback_info info) {
  call c;
  step_arguments s;
  instance* owner = NULL;
  begin(&c, env, info);
  read_step(&c, &s);
  must_be_apart(&c, &s, &s);
  slots_must_differ(&c, &s, &s);
  void* workspace = workspace_of(&c, c.failed ? 0 : step_workspace(&s), &owner);
  if (!c.failed) {
    fail_status(&c, te_sparse_apply(s.optimizer, &s.step.table, s.step.slots, te_slot_count(s.optimizer), &s.step.bags,
                                    s.step.gradient, &s.step.hyper, workspace, owner->workspace_bytes));
  }
  trim_workspace(owner);
  finish(&c);
  return NULL;
}
