/* The kernels as functions of typed arrays. Part of node.c. */
#ifndef TE_NODE_KERNELS_H
#define TE_NODE_KERNELS_H

#include "node_arguments.h"

/* embeddingBag(table, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm, pooled) */
static napi_value embedding_bag(napi_env env, napi_callback_info info) {
  call c;
  array data;
  begin(&c, env, info);
  const te_table table = read_table(&c, 0, &data, false);
  const bag_arguments b = read_bags(&c, 3);
  const array pooled = floats(&c, 9, "pooled", c.failed ? 0 : area(&c, b.bags.batch, table.dim, "pooled"));
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

/* embeddingBagGrad(gradient, table | null, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm)
   -> [uniqueIds, rowGradients] */
static napi_value embedding_bag_grad(napi_env env, napi_callback_info info) {
  call c;
  array data;
  instance* owner = NULL;
  napi_value result = NULL, ids, gradients;
  void *ids_data = NULL, *gradients_data = NULL;
  begin(&c, env, info);
  const te_table table = read_table(&c, 1, &data, true);
  const bag_arguments b = read_bags(&c, 4);
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

/* embeddingBagWeightsGrad(table, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm, gradient, out) */
static napi_value embedding_bag_weights_grad(napi_env env, napi_callback_info info) {
  call c;
  array data;
  begin(&c, env, info);
  const te_table table = read_table(&c, 0, &data, false);
  const bag_arguments b = read_bags(&c, 3);
  const array gradient = floats(&c, 9, "gradient", c.failed ? 0 : area(&c, b.bags.batch, table.dim, "gradient"));
  const array out = floats(&c, 10, "out", b.values.length);
  if (!c.failed && absent(&c, 5)) fail_type(&c, "weights", "expected a Float32Array");
  must_differ(&c, out, data, "out");
  must_differ(&c, out, gradient, "out");
  must_differ_from_bags(&c, out, &b, "out");
  if (!c.failed) {
    fail_status(&c, te_embedding_bag_weights_grad(&table, &b.bags, (const float*)gradient.data, (float*)out.data));
  }
  finish(&c);
  return NULL;
}

/* useStarts: numbers of bags, ascending; a call without it is one use. */
static void read_uses(call* c, int index, bag_arguments* b) {
  if (c->failed || absent(c, index)) return;
  const array starts = private_copy(c, typed(c, index, "useStarts", napi_int32_array), "useStarts");
  const int32_t* numbers = (const int32_t*)starts.data;
  int64_t before = 0;
  b->starts = starts;
  if (!c->failed && starts.length > INT32_MAX)
    fail_range(c, "useStarts", "expected fewer than 2^31 numbers, received %zu", starts.length);
  if (c->failed) return;
  for (size_t i = 0; i < starts.length; i++) {
    if (numbers[i] < before || numbers[i] > b->bags.batch) {
      fail_range(c, "useStarts", "expected numbers that ascend within the batch, received %d", numbers[i]);
      return;
    }
    before = numbers[i];
  }
  b->bags.use_starts = numbers;
  b->bags.more_uses = (int32_t)starts.length;
}

/* A step of one table as JavaScript gives it. */
typedef struct step_arguments {
  te_step step;
  bag_arguments bags;
  array written[1 + TE_MOST_SLOTS]; /* table, slots */
  array gradient;
  int32_t optimizer;
} step_arguments;

static const char* const WRITTEN[1 + TE_MOST_SLOTS] = {"table", "slots", "slots", "slots"};

/* values, rowSplits, weights, combiner, outOfRange, maxNorm, optimizer, slot0 to slot2, gradient, hyper from `index` on;
   rows and columns of the table are there already */
static void read_rest_of_step(call* c, step_arguments* s, int index) {
  const uint64_t size = c->failed ? 0 : area(c, s->step.table.rows, s->step.table.dim, "rows");
  s->bags = read_bags(c, index);
  s->optimizer = (int32_t)whole(c, index + 6, "optimizer", 0, TE_OPTIMIZERS - 1);
  const int n_slots = te_slot_count(s->optimizer);
  for (int i = 0; i < TE_MOST_SLOTS; i++) {
    if (i >= n_slots) {
      if (!c->failed && !absent(c, index + 7 + i))
        fail_range(c, "slots", "expected as many as the optimizer has, received more");
      continue;
    }
    const uint64_t length = te_has_row_slots(s->optimizer) ? (uint64_t)s->step.table.rows : size;
    s->written[1 + i] = floats(c, index + 7 + i, "slots", length);
    s->step.slots[i] = (float*)s->written[1 + i].data;
  }
  const te_bags* bags = &s->bags.bags;
  s->gradient = floats(c, index + 7 + TE_MOST_SLOTS, "gradient",
                       c->failed ? 0 : area(c, bags->batch, s->step.table.dim, "gradient"));
  const array numbers = floats(c, index + 8 + TE_MOST_SLOTS, "hyper", TE_HYPER_FIELDS);
  if (c->failed) return;
  memcpy(&s->step.hyper, numbers.data, sizeof s->step.hyper);
  s->step.bags = *bags;
  s->step.gradient = (const float*)s->gradient.data;
}

/* table, rows, dim, as above, useStarts? */
static void read_step(call* c, step_arguments* s) {
  memset(s, 0, sizeof *s);
  s->step.table = read_table(c, 0, &s->written[0], false);
  read_rest_of_step(c, s, 3);
  read_uses(c, 12 + TE_MOST_SLOTS, &s->bags);
  s->step.bags = s->bags.bags;
}

/* What a step writes must be apart from what another one, or it itself, reads. */
static void must_be_apart(call* c, const step_arguments* writer, const step_arguments* reader) {
  for (int i = 0; i < 1 + TE_MOST_SLOTS; i++) {
    must_differ_from_bags(c, writer->written[i], &reader->bags, WRITTEN[i]);
    must_differ(c, writer->written[i], reader->gradient, WRITTEN[i]);
  }
}

static void slots_must_differ(call* c, const step_arguments* a, const step_arguments* b) {
  for (int i = 0; i < 1 + TE_MOST_SLOTS; i++) {
    for (int j = a == b ? i + 1 : 0; j < 1 + TE_MOST_SLOTS; j++) {
      must_differ(c, a->written[i], b->written[j], WRITTEN[j]);
    }
  }
}

static size_t step_workspace(const step_arguments* s) {
  const te_bags* bags = &s->step.bags;
  return te_sparse_apply_workspace(s->optimizer, bags->nnz, bags->batch, s->step.table.rows, s->step.table.dim);
}

/* sparseApply(...), as read_step has it */
static napi_value sparse_apply(napi_env env, napi_callback_info info) {
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

#endif
