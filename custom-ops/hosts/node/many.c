/* Lookups and steps of many tables in one call: lists of what the functions of one table take. */
#include "functions.h"
#include "steps.h"

static void* rooms(call* c, uint32_t count, size_t bytes) {
  void* room = c->failed ? NULL : calloc(count == 0 ? 1 : count, bytes);
  if (room == NULL && !c->failed) fail_range(c, "calls", "expected a list that fits into memory, received %u", count);
  return room;
}

typedef struct lookup_arguments {
  call c;
  bag_arguments bags;
  array table, pooled;
} lookup_arguments;

static void check_outputs(call* all, lookup_arguments* entries, uint32_t count) {
  for (uint32_t i = 0; i < count && !all->failed; i++) {
    const array pooled = entries[i].pooled;
    for (uint32_t j = 0; j < count; j++) {
      must_differ(all, pooled, entries[j].table, "pooled");
      must_differ_from_bags(all, pooled, &entries[j].bags, "pooled");
      if (j != i) must_differ(all, pooled, entries[j].pooled, "pooled");
    }
  }
}

/* embeddingBags(calls): of each what embeddingBag takes. */
napi_value embedding_bags(napi_env env, napi_callback_info info) {
  call all;
  begin(&all, env, info);
  const uint32_t count = entry_count(&all, 0);
  lookup_arguments* entries = rooms(&all, count, sizeof *entries);
  te_lookup* lookups = rooms(&all, count, sizeof *lookups);
  uint32_t begun = 0;
  for (; begun < count && !all.failed; begun++) {
    begin_entry(&entries[begun].c, &all, all.arguments[0], begun);
    all.failed = entries[begun].c.failed;
  }
  /* Getters have run: from here on no array goes away or moves. */
  for (uint32_t i = 0; i < begun && !all.failed; i++) {
    lookup_arguments* each = &entries[i];
    call* c = &each->c;
    lookups[i].table = read_rows(c, 0, &each->table, false);
    each->bags = read_bags(c, 4);
    const int64_t dim = lookups[i].table.dim;
    each->pooled = floats(c, 10, "pooled", c->failed ? 0 : area(c, each->bags.bags.batch, dim, "pooled"));
    lookups[i].bags = each->bags.bags;
    lookups[i].pooled = (float*)each->pooled.data;
    all.failed = c->failed;
  }
  check_outputs(&all, entries, begun);
  if (!all.failed) te_embedding_bags(lookups, count);
  for (uint32_t i = 0; i < count && !all.failed; i++) fail_entry(&all, lookups[i].status, i);
  for (uint32_t i = 0; i < begun; i++) finish(&entries[i].c);
  free(entries);
  free(lookups);
  finish(&all);
  return NULL;
}

typedef struct many_steps {
  call* calls;
  step_arguments* arguments;
  te_step* steps;
  uint32_t count;
} many_steps;

/* Everything that can be refused is refused before the first row is written. */
static void check_steps(call* all, const many_steps* m) {
  for (uint32_t i = 0; i < m->count && !all->failed; i++) {
    if (m->arguments[i].optimizer != m->arguments[0].optimizer) {
      fail_range(all, "optimizer", "expected the same for all tables, received several");
    }
    for (uint32_t j = 0; j < m->count && !all->failed; j++) {
      must_be_apart(all, &m->arguments[i], &m->arguments[j]);
      if (j >= i) slots_must_differ(all, &m->arguments[i], &m->arguments[j]);
    }
    if (!all->failed) fail_entry(all, te_check_batch(&m->steps[i].table, &m->steps[i].bags), i);
  }
}

static void run_steps(call* all, const many_steps* m) {
  instance* owner = NULL;
  for (uint32_t i = 0; i < m->count; i++) m->steps[i].workspace_bytes = step_workspace(&m->arguments[i]);
  void* workspace = workspace_of(all, te_place_workspaces(m->steps, m->count, NULL), &owner);
  if (all->failed) return;
  te_place_workspaces(m->steps, m->count, workspace);
  if (m->count > 0) te_sparse_apply_many(m->arguments[0].optimizer, m->steps, m->count);
  for (uint32_t i = 0; i < m->count && !all->failed; i++) fail_entry(all, m->steps[i].status, i);
  trim_workspace(owner);
}

/* sparseApplyMany(calls): of each what sparseApply takes, all of one optimizer. */
napi_value sparse_apply_many(napi_env env, napi_callback_info info) {
  call all;
  many_steps m = {0};
  begin(&all, env, info);
  const uint32_t count = entry_count(&all, 0);
  m.calls = rooms(&all, count, sizeof *m.calls);
  m.arguments = rooms(&all, count, sizeof *m.arguments);
  m.steps = rooms(&all, count, sizeof *m.steps);
  for (; m.count < count && !all.failed; m.count++) {
    begin_entry(&m.calls[m.count], &all, all.arguments[0], m.count);
    all.failed = m.calls[m.count].failed;
  }
  /* As in embedding_bags. */
  for (uint32_t i = 0; i < m.count && !all.failed; i++) {
    read_step(&m.calls[i], &m.arguments[i]);
    m.steps[i] = m.arguments[i].step;
    all.failed = m.calls[i].failed;
  }
  check_steps(&all, &m);
  if (!all.failed) run_steps(&all, &m);
  for (uint32_t i = 0; i < m.count; i++) finish(&m.calls[i]);
  free(m.calls);
  free(m.arguments);
  free(m.steps);
  finish(&all);
  return NULL;
}
