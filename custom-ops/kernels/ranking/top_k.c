/*
 * The k rows of a table with the largest products, for each query.
 *
 * Queries are turned into panels of TE_PANEL columns, so that a product of a few rows and a panel stays in the first
 * cache and its lanes are compared with the k-th best product of each query so far. What is above goes into the heap of
 * the query, whose root is the worst that is kept. A few queries have no panels: their products are made row by row, of
 * int8 rows only where a product of whole numbers does not rule it out.
 */
#include "best_rows.h"

/* Queries of a task at most, in panels. */
#define MOST_PANELS 8
/* Up to so many queries have no panels. */
#define FEW_QUERIES 4
/* Rows that a panel is multiplied with at a time, by the floats that they hold. */
#define MOST_BLOCK_ROWS 64
#define LEAST_BLOCK_ROWS 8
#define BLOCK_FLOATS 8192
/* Where there are few queries, rows are shared out; so many make a part. */
#define LEAST_PART_ROWS 4096

/* How the work is shared out. It depends on the sizes and the number of workers; what comes of it on the sizes alone. */
typedef struct top_k_run {
  const te_top_k* job;
  int64_t group;      /* queries of a task */
  int64_t groups;
  int64_t parts;      /* of the rows */
  int64_t block_rows;
  int32_t workers;
  int is_few;
  /* in the workspace */
  float* part_values;    /* [parts - 1, n, k] */
  int32_t* part_indices; /* [parts - 1, n, k] */
  float* scratch;        /* [workers, scratch_floats] */
  int64_t scratch_floats;
} top_k_run;

static int64_t rounded_line(int64_t floats) { return divided_up(floats, 16) * 16; }

/* Returns the floats of the workspace, or -1 where they cannot be counted. */
static int64_t plan_run(const te_top_k* job, top_k_run* run) {
  const int64_t dim = job->table.dim, rows = job->table.rows;
  run->job = job;
  run->workers = te_workers(job->workers);
  run->is_few = job->n <= FEW_QUERIES;
  const int64_t shared = divided_up(te_max(job->n, 1), (int64_t)run->workers * 4);
  run->group = run->is_few ? 1 : te_min(divided_up(shared, TE_PANEL), MOST_PANELS) * TE_PANEL;
  run->groups = divided_up(job->n, run->group);
  const int64_t wanted = run->workers < 2 ? 1 : divided_up(2 * (int64_t)run->workers, te_max(run->groups, 1));
  run->parts = job->only.splits != NULL ? 1 : te_max(1, te_min(wanted, rows / LEAST_PART_ROWS));
  run->block_rows = te_max(LEAST_BLOCK_ROWS, te_min(MOST_BLOCK_ROWS, BLOCK_FLOATS / dim));
  /* Panels, limits, products, widened rows. */
  const int64_t panels = run->is_few ? 0 : run->group;
  run->scratch_floats = rounded_line(panels * dim) + run->group + TE_PANEL + run->block_rows * TE_PANEL +
                        rounded_line(run->block_rows * dim) + 32;
  const double floats = (double)(run->parts - 1) * (double)job->n * (double)job->k * 2.0 +
                        (double)run->workers * (double)run->scratch_floats;
  if (floats > (double)(SIZE_MAX / 8)) return -1;
  return (run->parts - 1) * job->n * job->k * 2 + run->workers * run->scratch_floats + 16;
}

/* The heap of a query in one part of the rows. */
typedef struct heap {
  float* values;
  int32_t* ids;
} heap;

static heap heap_of(const top_k_run* run, int64_t query, int64_t part) {
  const te_top_k* job = run->job;
  const int64_t at = query * job->k;
  heap h = {job->values + at, job->indices + at};
  if (part > 0) {
    h.values = run->part_values + (part - 1) * job->n * job->k + at;
    h.ids = run->part_indices + (part - 1) * job->n * job->k + at;
  }
  return h;
}

static heap begin_heap(const top_k_run* run, int64_t query, int64_t part) {
  const heap h = heap_of(run, query, part);
  if (part == 0) {
    to_heap(h.values, h.ids, run->job->k);
  } else {
    for (int64_t i = 0; i < run->job->k; i++) {
      h.values[i] = -TE_INFINITY;
      h.ids[i] = -1;
    }
  }
  return h;
}

/* Takes a product that is above the worst that is kept, unless its row is excluded. Returns the worst that is kept. */
static float take(const te_top_k* job, heap h, int64_t query, int64_t row, float product) {
  const int32_t id = (int32_t)(job->first_row + row);
  if (job->exclude.splits == NULL || !is_listed(&job->exclude, query, id)) {
    replace_root(h.values, h.ids, job->k, product, id);
  }
  return h.values[0];
}

static void scan_few(const top_k_run* run, int64_t query, int64_t part, int64_t first, int64_t end, float* scratch) {
  const te_top_k* job = run->job;
  const float* q = job->queries + query * job->table.dim;
  const heap h = begin_heap(run, query, part);
  float* limits = scratch;
  float* products = limits + TE_PANEL;
  const int64_t at_once = run->block_rows * TE_PANEL;
  te_coded_query coded;
  int is_coded = code_query(&job->table, q, (int8_t*)(products + at_once), &coded);
  float limit = h.values[0];
  for (int i = 0; i < TE_PANEL; i++) limits[i] = limit;
  for (int64_t row = first; row < end; row += at_once) {
    const int64_t count = te_min(at_once, end - row);
    is_coded = is_coded && TE_KERNEL(row_bounds)(&job->table, &coded, row, row + count, products);
    if (!is_coded) TE_KERNEL(row_dots)(&job->table, q, row, row + count, products);
    for (int64_t i = count; i % 16 != 0; i++) products[i] = -TE_INFINITY;
    for (int64_t i = TE_KERNEL(next_above)(products, limits, 0, count); i < count;
         i = TE_KERNEL(next_above)(products, limits, i + 1, count)) {
      float product = products[i];
      if (is_coded) {
        TE_KERNEL(row_dots)(&job->table, q, row + i, row + i + 1, &product);
        if (!(product > limit)) continue;
      }
      limit = take(job, h, query, row + i, product);
      for (int j = 0; j < TE_PANEL; j++) limits[j] = limit;
    }
  }
  to_list(h.values, h.ids, job->k);
}

/* The rows that a query names. */
static void scan_only(const top_k_run* run, int64_t query) {
  const te_top_k* job = run->job;
  const float* q = job->queries + query * job->table.dim;
  const heap h = begin_heap(run, query, 0);
  const int64_t end = job->only.splits[query + 1];
  for (int64_t i = job->only.splits[query]; i < end; i++) {
    const int64_t row = (int64_t)job->only.values[i] - job->first_row;
    float product;
    if (row < 0 || row >= job->table.rows) continue;
    TE_KERNEL(row_dots)(&job->table, q, row, row + 1, &product);
    if (product > h.values[0]) take(job, h, query, row, product);
  }
  to_list(h.values, h.ids, job->k);
}

/* Queries first_query .. first_query + queries - 1 as panels [dim, TE_PANEL]; zeros beside the last one. */
static void turn_queries(const te_top_k* job, int64_t first_query, int64_t queries, float* panels) {
  const int64_t dim = job->table.dim;
  te_fill(panels, 0, (size_t)(divided_up(queries, TE_PANEL) * TE_PANEL * dim) * sizeof(float));
  for (int64_t i = 0; i < queries; i++) {
    const float* q = job->queries + (first_query + i) * dim;
    float* to = panels + i / TE_PANEL * TE_PANEL * dim + i % TE_PANEL;
    for (int64_t c = 0; c < dim; c++) to[c * TE_PANEL] = q[c];
  }
}

static void scan_group(const top_k_run* run, int64_t group, int64_t part, int64_t first, int64_t end, float* scratch) {
  const te_top_k* job = run->job;
  const int64_t dim = job->table.dim, first_query = group * run->group;
  const int64_t queries = te_min(run->group, job->n - first_query), panels = divided_up(queries, TE_PANEL);
  float* turned = scratch;
  float* limits = turned + rounded_line(run->group * dim);
  float* products = limits + run->group;
  float* widened = products + run->block_rows * TE_PANEL;
  turn_queries(job, first_query, queries, turned);
  for (int64_t i = 0; i < run->group; i++) {
    limits[i] = i < queries ? begin_heap(run, first_query + i, part).values[0] : TE_INFINITY;
  }
  te_product p = {.a = NULL, .a_row = dim, .a_column = 1, .c = products, .k = dim, .n = TE_PANEL, .adds = 0};
  for (int64_t row = first; row < end; row += run->block_rows) {
    p.m = te_min(run->block_rows, end - row);
    p.a = te_floats(&job->table) + row * dim;
    if (job->table.codec != TE_FLOAT32) {
      TE_KERNEL(widen_rows)(&job->table, row, row + p.m, widened);
      p.a = widened;
    }
    for (int64_t panel = 0; panel < panels; panel++) {
      const int64_t count = p.m * TE_PANEL;
      float* limit = limits + panel * TE_PANEL;
      p.b = turned + panel * TE_PANEL * dim;
      TE_KERNEL(product)(&p);
      for (int64_t i = TE_KERNEL(next_above)(products, limit, 0, count); i < count;
           i = TE_KERNEL(next_above)(products, limit, i + 1, count)) {
        const int64_t query = first_query + panel * TE_PANEL + i % TE_PANEL;
        limit[i % TE_PANEL] = take(job, heap_of(run, query, part), query, row + i / TE_PANEL, products[i]);
      }
    }
  }
  for (int64_t i = 0; i < queries; i++) {
    const heap h = heap_of(run, first_query + i, part);
    to_list(h.values, h.ids, job->k);
  }
}

static void scan_task(void* context, int64_t task, int32_t worker) {
  const top_k_run* run = context;
  const te_top_k* job = run->job;
  const int64_t group = task / run->parts, part = task % run->parts, rows = job->table.rows;
  /* Parts begin at whole blocks, so that no product depends on how many there are. */
  const int64_t blocks = divided_up(rows, run->block_rows);
  const int64_t first = te_min(rows, blocks * part / run->parts * run->block_rows);
  const int64_t end = te_min(rows, blocks * (part + 1) / run->parts * run->block_rows);
  float* scratch = run->scratch + worker * run->scratch_floats;
  if (job->only.splits != NULL) {
    for (int64_t q = group * run->group; q < te_min(job->n, (group + 1) * run->group); q++) scan_only(run, q);
  } else if (run->is_few) {
    scan_few(run, group, part, first, end, scratch);
  } else {
    scan_group(run, group, part, first, end, scratch);
  }
}

/* Entries of the other parts into the list of the first. */
static void join_parts(const top_k_run* run, int64_t query) {
  const int64_t k = run->job->k;
  const heap h = heap_of(run, query, 0);
  to_heap(h.values, h.ids, k);
  for (int64_t part = 1; part < run->parts; part++) {
    const heap other = heap_of(run, query, part);
    for (int64_t i = 0; i < k && is_better(other.values[i], other.ids[i], h.values[0], h.ids[0]); i++) {
      replace_root(h.values, h.ids, k, other.values[i], other.ids[i]);
    }
  }
  to_list(h.values, h.ids, k);
}

static te_status check_job(const te_top_k* job) {
  const te_status bad = te_failure(TE_BAD_ARGUMENT, 0, 0);
  if (job->k < 1 || job->n < 0 || job->first_row < 0) return bad;
  if (!te_rows_are_whole(&job->table, 1) || job->table.rows > INT32_MAX - job->first_row) return bad;
  if (!te_fits(job->n, job->k) || !te_fits(job->n, job->table.dim)) return bad;
  if (job->n > 0 && (job->queries == NULL || job->values == NULL || job->indices == NULL)) return bad;
  const int64_t exclude = wrong_split(&job->exclude, job->n), only = wrong_split(&job->only, job->n);
  if (exclude >= 0 || only >= 0) return te_failure(TE_BAD_SPLITS, exclude >= 0 ? exclude : only, 0);
  return te_ok();
}

size_t te_top_k_workspace(const te_top_k* job) {
  top_k_run run;
  if (check_job(job).code != TE_OK) return 64;
  const int64_t floats = plan_run(job, &run);
  return floats < 0 ? SIZE_MAX : (size_t)floats * sizeof(float);
}

te_status te_top_k_rows(const te_top_k* job, void* workspace, size_t workspace_bytes) {
  top_k_run run;
  const te_status status = check_job(job);
  if (status.code != TE_OK) return status;
  if (job->n == 0) return te_ok();
  const int64_t floats = plan_run(job, &run);
  if (floats < 0 || workspace == NULL || workspace_bytes / sizeof(float) < (size_t)floats) {
    return te_failure(TE_BAD_WORKSPACE, 0, 0);
  }
  run.scratch = (float*)te_first_line(workspace);
  run.part_values = run.scratch + run.workers * run.scratch_floats;
  run.part_indices = (int32_t*)(run.part_values + (run.parts - 1) * job->n * job->k);
  te_parallel(run.groups * run.parts, run.workers, scan_task, &run);
  for (int64_t q = 0; run.parts > 1 && q < job->n; q++) join_parts(&run, q);
  return te_ok();
}
