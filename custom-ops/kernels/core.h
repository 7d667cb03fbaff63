/* What the files of the core share. Hosts include embedding.h only. */
#ifndef TFJS_EMBEDDINGS_CORE_H_
#define TFJS_EMBEDDINGS_CORE_H_

#include "embedding.h"
#include "portable.h"

/* The rows of a table as what they are. */
static inline float* te_floats(const te_rows* table) { return (float*)table->data; }
static inline int32_t* te_words(const te_rows* table) { return (int32_t*)table->data; }

/* ---- checks.c ---- */

TE_INTERNAL te_status te_ok(void);
TE_INTERNAL te_status te_failure(int32_t code, int64_t position, int32_t id);
/* Whether a * b floats can be addressed. */
TE_INTERNAL int te_fits(int64_t a, int64_t b);
/* Whether codec, sizes and pointer of rows belong together. need_data: their values will be read. */
TE_INTERNAL int te_rows_are_whole(const te_rows* table, int need_data);
/* Sizes, pointers, enums and row splits. need_data: the table's values will be read. */
TE_INTERNAL te_status te_check(const te_rows* table, const te_bags* bags, int need_data);
/* Ids below this number name a row. */
TE_INTERNAL uint32_t te_id_limit(int64_t rows);
/* First bag of part `part` of `parts` parts of nearly equal work (ids and bags); monotonous in `part`. */
TE_INTERNAL int64_t te_first_bag(const te_bags* bags, int64_t part, int64_t parts);
/*
 * Parts of a batch for `workers` workers, at most TE_TASKS_PER_WORKER each. A worker of WebAssembly can not be told from
 * one that stands still but by how long it takes: its tasks are short, and more of them the wider the rows.
 */
#if defined(__wasm__)
#define TE_TASKS_PER_WORKER 16
#define TE_SHORT_TASKS(ids, dim) ((ids) * (dim) >> 16)
#else
#define TE_TASKS_PER_WORKER 4
#define TE_SHORT_TASKS(ids, dim) ((void)(dim), 0)
#endif
#define TE_MOST_TASKS (64 * TE_TASKS_PER_WORKER)
TE_INTERNAL int64_t te_task_count(const te_bags* bags, int64_t dim, int32_t workers);
/* What the weighted sum of a bag is divided by. */
TE_INTERNAL float te_divisor(const te_bags* bags, int64_t first, int64_t end);

/* ---- threads.c, threads_wasm.c ---- */

/* Runs work(context, task, worker) for every task; worker < te_get_threads() at the time of the call, and < workers. */
typedef void (*te_work)(void* context, int64_t task, int32_t worker);
TE_INTERNAL void te_parallel(int64_t tasks, int32_t workers, te_work work, void* context);

/* How many workers a job that asks for so many gets room for. */
TE_INLINE int32_t te_workers(int32_t asked) { return (int32_t)te_max(1, te_min(asked, 64)); }
/* Where the first whole line of the cache begins in a workspace, which has 64 bytes more than its parts. */
TE_INLINE char* te_first_line(void* workspace) { return (char*)(((uintptr_t)workspace + 63) & ~(uintptr_t)63); }

/* ---- group.c ---- */

/* One occurrence of an id. */
typedef struct te_entry {
  int32_t id;
  int32_t bag;
} te_entry;

/*
 * Ids of a batch, partitioned by their high bits, then grouped by row. `order` lists the bags of each row's
 * occurrences in batch order: row u of a part owns order[end of u - 1 .. end of u).
 */
typedef struct te_groups {
  const te_bags* bags;
  uint32_t limit;
  int32_t with_coefficients; /* 0: every coefficient is 1 */
  int32_t ascending;         /* rows of a bucket are in the order of their ids */
  int32_t workers;
  int32_t slices;  /* parts of the batch that are scattered side by side */
  int32_t parts;   /* runs of buckets that are grouped and updated by one worker each */
  int32_t shift;   /* bucket of an id: (id - lowest) >> shift */
  int32_t buckets; /* in use */
  int32_t bucket_bits;
  int32_t window; /* most ids in a bucket for which the table of last occurrences is used */
  uint32_t lowest;
  uint32_t highest;
  int64_t count; /* occurrences kept: ids out of range are dropped */

  /* in the workspace */
  int32_t* counters;      /* [slices, buckets] */
  int32_t* starts;        /* [buckets + 1]: first entry */
  int32_t* firsts;        /* [buckets]: first row, at its place in rows */
  int32_t* uniques;       /* [buckets]: rows in the bucket */
  int64_t* offsets;       /* [buckets + 1]: rows before the bucket, over the whole batch */
  double* squares;        /* [buckets]: squared norm of the bucket's gradients */
  int32_t* part_buckets;  /* [parts + 1] */
  int32_t* part_rows;     /* [parts]: rows in the part */
  int64_t* bad;           /* [slices]: first id out of range, or -1 */
  uint32_t* extremes;     /* [slices, 2] */
  te_entry* entries;      /* [count] */
  float* coefficients;    /* [count] */
  int32_t* places;        /* [count]: row of an entry within its bucket */
  uint64_t* keys;         /* [count]: for sorting */
  int32_t* rows;          /* [count]: ids */
  int32_t* ends;          /* [count] */
  int32_t* order;         /* [count]: bags */
  float* order_weights;   /* [count] */
  int32_t* last;          /* [workers, window]: row seen last for an id, or -1 */
  uint64_t* seen;         /* [workers, window / 64] */
  float* scratch;         /* [workers, scratch_floats] */
  int64_t scratch_floats; /* TE_SCRATCH_ROWS rows, each with room for a vector more */
} te_groups;

/* The gradient of a row, that of one of its uses, and the row itself where it is packed. */
#define TE_SCRATCH_ROWS 3

/* Bytes for `workers` workers; 0 if it cannot be expressed. */
TE_INTERNAL size_t te_groups_bytes(int64_t nnz, int64_t dim, int32_t workers);
/* Lays the workspace out for as many workers as fit; 0 if not even one does. */
TE_INTERNAL int te_groups_place(te_groups* groups, const te_bags* bags, int64_t rows, int64_t dim, void* workspace,
                                size_t bytes);
/* Checks the ids and partitions them. Nothing but the workspace is written. */
TE_INTERNAL te_status te_groups_partition(te_groups* groups);
/* Groups the buckets of one part. */
TE_INTERNAL void te_groups_part(te_groups* groups, int32_t part, int32_t worker);
/* Place of the first row of a part, in rows and ends; its occurrences begin at the same place in order. */
TE_INTERNAL int64_t te_part_first(const te_groups* groups, int64_t part);

/* ---- steps with the same ids ---- */

/* Checks each step, and links those with the same ids to the first of them, their leader. */
TE_INTERNAL void te_link_steps(int32_t optimizer, te_step* steps, int64_t count);
/* Runs a leader and all that are linked to it. */
TE_INTERNAL void te_apply_linked(int32_t optimizer, te_step* leader);

/* ---- kernels, one set per instruction set (instance_*.c) ---- */

/* Lookups: pooling, or the gradient of weights. */
typedef struct te_lookup_job {
  const te_bags* bags;
  te_rows table;
  int64_t row_words;
  uint32_t limit;
  float* pooled;
  const float* gradient;
  float* out;
} te_lookup_job;

/* Sums of pooled gradients per row, and what is done with them. */
typedef struct te_update {
  const te_groups* groups;
  const float* gradient; /* [batch, dim] */
  te_rows table;
  int64_t row_words;
  float max_norm;
  int32_t optimizer;
  float* slots[TE_MOST_SLOTS]; /* those that the optimizer lacks are NULL */
  const te_hyper* hyper;
  float gradient_scale; /* from clip_norm */
  float* row_gradients; /* te_gradient_rows: [unique, dim] */
  uint32_t rounding_key[2];
} te_update;

/* c [m, n] = a b, or c plus that: a [m, k] by the distances of its rows and columns, b [k, n] row after row. */
typedef struct te_product {
  const float* a;
  int64_t a_row;
  int64_t a_column;
  const float* b;
  float* c;
  int64_t m;
  int64_t k;
  int64_t n;
  int32_t adds;
} te_product;

/* Queries side by side in a panel: columns of two vectors of 16, four of 8, eight of 4. */
#define TE_PANEL 32
#define TE_INFINITY (1e38f * 1e38f)

/* What is computed of rows of probabilities; the last has no labels. */
enum { TE_CLASS_LOSSES, TE_CLASS_GRADIENTS, TE_CLASS_SOFTMAX_GRADIENTS, TE_SOFTMAX_GRADIENTS };
typedef struct te_class_rows {
  te_classes of;
  int32_t what;
  const float* upstream; /* [rows], or [rows, classes] for the gradient of softmax alone */
  float* out;            /* [rows] for losses, else [rows, classes] */
} te_class_rows;

/* A query as whole numbers, and how far products of rows of int8 may be from those of the numbers. */
typedef struct te_coded_query {
  const int8_t* codes; /* from -63 to 63, zeros from dim up to a multiple of 32 */
  float step;          /* a number is code * step and what that leaves out */
  float middle;        /* 128 * the sum of what is left out */
  float error;         /* of a product with codes of a row */
  float sum;           /* of the numbers */
  float sum_error;
} te_coded_query;

typedef struct te_kernels {
  const char* name;
  /* Pools bags first .. end - 1. Returns the first position with an id out of range, or -1. */
  int64_t (*look_up)(const te_lookup_job* job, int64_t first, int64_t end);
  void (*weights_gradient)(const te_lookup_job* job, int64_t first, int64_t end);
  /* Rows first .. end - 1 of the groups, whose occurrences begin at order[begin]; `to`: where the first of them goes. */
  void (*gradient_rows)(const te_update* job, int64_t first, int64_t end, int64_t begin, float* to);
  double (*gradient_squares)(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch);
  void (*update_rows)(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch);
  /* Steps table rows first .. end - 1 with a zero gradient; zeros [dim]; w [dim + 1]: room for a row that is packed. */
  void (*step_untouched)(const te_update* job, int64_t first, int64_t end, float* w, const float* zeros);
  void (*product)(const te_product* product);
  void (*class_rows)(const te_class_rows* job, int64_t first, int64_t end);
  /* Rows first .. end - 1 as floats, and their products with a query. */
  void (*widen_rows)(const te_rows* table, int64_t first, int64_t end, float* to);
  void (*row_dots)(const te_rows* table, const float* query, int64_t first, int64_t end, float* to);
  /*
   * Numbers that the products of a query with rows of int8 do not exceed, at a fraction of their cost. Returns 0 where
   * the instruction set has nothing for it, and writes nothing then.
   */
  int (*row_bounds)(const te_rows* table, const te_coded_query* query, int64_t first, int64_t end, float* to);
  /*
   * The first of products from .. count - 1 that is above limits[its place % TE_PANEL], or `count`. The products are
   * there up to a multiple of 16.
   */
  int64_t (*next_above)(const float* products, const float* limits, int64_t from, int64_t count);
} te_kernels;

#if defined(__wasm__)
/* Called directly: a table of functions would need a data segment, and the module is linked without one. */
int64_t te_look_up_wasm(const te_lookup_job* job, int64_t first, int64_t end);
void te_weights_gradient_wasm(const te_lookup_job* job, int64_t first, int64_t end);
void te_gradient_rows_wasm(const te_update* job, int64_t first, int64_t end, int64_t begin, float* to);
double te_gradient_squares_wasm(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch);
void te_update_rows_wasm(const te_update* job, int64_t first, int64_t end, int64_t begin, float* scratch);
void te_step_untouched_wasm(const te_update* job, int64_t first, int64_t end, float* w, const float* zeros);
void te_product_wasm(const te_product* product);
void te_widen_rows_wasm(const te_rows* table, int64_t first, int64_t end, float* to);
void te_row_dots_wasm(const te_rows* table, const float* query, int64_t first, int64_t end, float* to);
int te_row_bounds_wasm(const te_rows* table, const te_coded_query* query, int64_t first, int64_t end, float* to);
int64_t te_next_above_wasm(const float* products, const float* limits, int64_t from, int64_t count);
#define TE_KERNEL(name) te_##name##_wasm
#define TE_KERNEL_OF(table, name) TE_KERNEL(name)
#else
TE_INTERNAL const te_kernels* te_kernels_in_use(void);
/* Of those that the processor has, the set that suits such rows. */
TE_INTERNAL const te_kernels* te_kernels_of(const te_rows* table);
#define TE_KERNEL(name) te_kernels_in_use()->name
#define TE_KERNEL_OF(table, name) te_kernels_of(table)->name
#endif

#endif
