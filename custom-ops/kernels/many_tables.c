/*
 * Lookups and steps of many tables in one call. Small ones are shared out among the threads table by table; a large one
 * has all threads to itself. Tables do not depend on one another, so results are those of one call after the other.
 */
#include "core.h"

/* Ids that keep all threads busy by themselves. */
#define LARGE 16384

#if !defined(__wasm__) /* whose host goes from lookup to lookup itself */

static void look_up(te_lookup* each) { each->status = te_embedding_bag(&each->table, &each->bags, each->pooled); }

static void look_up_small(void* context, int64_t task, int32_t worker) {
  te_lookup* each = &((te_lookup*)context)[task];
  (void)worker;
  if (each->bags.nnz < LARGE) look_up(each);
}

void te_embedding_bags(te_lookup* lookups, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (lookups[i].bags.nnz >= LARGE) look_up(&lookups[i]);
  }
  te_parallel(count, te_get_threads(), look_up_small, lookups);
}

#endif

typedef struct many_steps {
  te_step* steps;
  int32_t optimizer;
} many_steps;

static void step_small(void* context, int64_t task, int32_t worker) {
  const many_steps* run = context;
  te_step* each = &run->steps[task];
  (void)worker;
  if (each->leads && each->bags.nnz < LARGE) te_apply_linked(run->optimizer, each);
}

/* Rounded up to whole cache lines; SIZE_MAX: too much. */
static size_t plus_lines(size_t sum, size_t bytes) {
  return bytes > SIZE_MAX / 4 || sum > SIZE_MAX / 4 ? SIZE_MAX : sum + (bytes + 127) / 64 * 64;
}

/* Large steps run one after the other, all in one workspace, which so stays in the caches. */
size_t te_place_workspaces(te_step* steps, int64_t count, void* workspace) {
  size_t of_large = 0;
  for (int64_t i = 0; i < count; i++) {
    if (steps[i].bags.nnz >= LARGE && steps[i].workspace_bytes > of_large) of_large = steps[i].workspace_bytes;
  }
  size_t used = plus_lines(0, of_large);
  for (int64_t i = 0; i < count && used != SIZE_MAX; i++) {
    const int large = steps[i].bags.nnz >= LARGE;
    if (workspace != NULL) steps[i].workspace = (char*)workspace + (large ? 0 : used);
    if (!large) used = plus_lines(used, steps[i].workspace_bytes);
  }
  return used;
}

void te_sparse_apply_many(int32_t optimizer, te_step* steps, int64_t count) {
  many_steps run = {steps, optimizer};
  int64_t small = 0;
  te_link_steps(optimizer, steps, count);
  /* Where one cannot be run, none is. */
  for (int64_t i = 0; i < count; i++) {
    if (steps[i].status.code != TE_OK) return;
  }
  for (int64_t i = 0; i < count; i++) small += steps[i].leads && steps[i].bags.nnz < LARGE;
  for (int64_t i = 0; i < count; i++) {
    /* A small one that is alone may have all threads too. */
    if (steps[i].leads && (steps[i].bags.nnz >= LARGE || small == 1)) te_apply_linked(optimizer, &steps[i]);
  }
  if (small > 1) te_parallel(count, te_get_threads(), step_small, &run);
}
