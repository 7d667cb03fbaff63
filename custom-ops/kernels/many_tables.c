/*
 * Lookups and steps of many tables in one call. Small ones are shared out among the threads table by table; a large one
 * has all threads to itself. Tables do not depend on one another, so results are those of one call after the other.
 */
#include "core.h"

#if !defined(__wasm__) /* whose host goes from table to table itself */

/* Ids that keep all threads busy by themselves. */
#define LARGE 16384

typedef struct many_run {
  te_lookup* lookups; /* one of the two */
  te_step* steps;
  int32_t optimizer;
} many_run;

static void look_up(te_lookup* each) { each->status = te_embedding_bag(&each->table, &each->bags, each->pooled); }

static void step(int32_t optimizer, te_step* each) {
  each->status = te_sparse_apply(optimizer, &each->table, each->slots, TE_SLOT_COUNT(optimizer), &each->bags,
                                 each->gradient, &each->hyper, each->workspace, each->workspace_bytes);
}

static void look_up_small(void* context, int64_t task, int32_t worker) {
  te_lookup* each = &((many_run*)context)->lookups[task];
  (void)worker;
  if (each->bags.nnz < LARGE) look_up(each);
}

static void step_small(void* context, int64_t task, int32_t worker) {
  const many_run* run = context;
  te_step* each = &run->steps[task];
  (void)worker;
  if (each->bags.nnz < LARGE) step(run->optimizer, each);
}

void te_embedding_bags(te_lookup* lookups, int64_t count) {
  many_run run = {.lookups = lookups};
  for (int64_t i = 0; i < count; i++) {
    if (lookups[i].bags.nnz >= LARGE) look_up(&lookups[i]);
  }
  te_parallel(count, te_get_threads(), look_up_small, &run);
}

void te_sparse_apply_many(int32_t optimizer, te_step* steps, int64_t count) {
  many_run run = {.steps = steps, .optimizer = optimizer};
  for (int64_t i = 0; i < count; i++) {
    if (steps[i].bags.nnz >= LARGE) step(optimizer, &steps[i]);
  }
  te_parallel(count, te_get_threads(), step_small, &run);
}

#endif
