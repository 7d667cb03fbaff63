/* Packed rows as functions of typed arrays. */
#include "functions.h"
#include "steps.h"

/* words, storage, rows, dim: four arguments from `index` on. */
static te_packed_table read_packed_table(call* c, int index, array* words) {
  te_packed_table table = {NULL, 0, 0, 0};
  table.storage = (int32_t)whole(c, index + 1, "storage", TE_FLOAT16, TE_INT8);
  table.rows = whole(c, index + 2, "rows", 0, 9007199254740991.0);
  table.dim = whole(c, index + 3, "dim", 1, 9007199254740991.0);
  memset(words, 0, sizeof *words);
  const uint64_t length = c->failed ? 0 : area(c, table.rows, te_packed_words(table.storage, table.dim), "rows");
  *words = typed(c, index, "table", napi_int32_array);
  if (!c->failed && (uint64_t)words->length != length) {
    fail_range(c, "table", "expected %llu numbers, received %zu", (unsigned long long)length, words->length);
  }
  table.words = (int32_t*)words->data;
  return table;
}

/* packedBag(words, storage, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm, pooled) */
napi_value packed_bag(napi_env env, napi_callback_info info) {
  call c;
  array words;
  begin(&c, env, info);
  const te_packed_table table = read_packed_table(&c, 0, &words);
  const bag_arguments b = read_bags(&c, 4);
  const array pooled = floats(&c, 10, "pooled", c.failed ? 0 : area(&c, b.bags.batch, table.dim, "pooled"));
  must_differ(&c, pooled, words, "pooled");
  must_differ_from_bags(&c, pooled, &b, "pooled");
  if (!c.failed) fail_status(&c, te_packed_bag(&table, &b.bags, (float*)pooled.data));
  finish(&c);
  return NULL;
}

/* packedBagWeightsGrad(words, storage, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm, gradient,
   out) */
napi_value packed_bag_weights_grad(napi_env env, napi_callback_info info) {
  call c;
  array words;
  begin(&c, env, info);
  const te_packed_table table = read_packed_table(&c, 0, &words);
  const bag_arguments b = read_bags(&c, 4);
  const array gradient = floats(&c, 10, "gradient", c.failed ? 0 : area(&c, b.bags.batch, table.dim, "gradient"));
  const array out = floats(&c, 11, "out", b.values.length);
  if (!c.failed && absent(&c, 6)) fail_type(&c, "weights", "expected a Float32Array");
  must_differ(&c, out, words, "out");
  must_differ(&c, out, gradient, "out");
  must_differ_from_bags(&c, out, &b, "out");
  if (!c.failed) {
    fail_status(&c, te_packed_bag_weights_grad(&table, &b.bags, (const float*)gradient.data, (float*)out.data));
  }
  finish(&c);
  return NULL;
}

/* packedApply(words, storage, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm, optimizer, slot0
   to slot2, gradient, hyper): a step of rows of float16 */
napi_value packed_apply(napi_env env, napi_callback_info info) {
  call c;
  step_arguments s;
  instance* owner = NULL;
  begin(&c, env, info);
  memset(&s, 0, sizeof s);
  const te_packed_table table = read_packed_table(&c, 0, &s.written[0]);
  if (!c.failed && table.storage != TE_FLOAT16) fail_range(&c, "storage", "expected float16, received int8");
  s.step.table.rows = table.rows;
  s.step.table.dim = table.dim;
  read_rest_of_step(&c, &s, 4);
  must_be_apart(&c, &s, &s);
  slots_must_differ(&c, &s, &s);
  void* workspace = workspace_of(&c, c.failed ? 0 : step_workspace(&s), &owner);
  if (!c.failed) {
    fail_status(&c, te_packed_apply(s.optimizer, &table, s.step.slots, te_slot_count(s.optimizer), &s.step.bags,
                                    s.step.gradient, &s.step.hyper, workspace, owner->workspace_bytes));
  }
  trim_workspace(owner);
  finish(&c);
  return NULL;
}
