/* The best rows of a table for each query, rows in lists, and rows of users from those of their items. */
#ifndef TFJS_EMBEDDINGS_RANKING_H_
#define TFJS_EMBEDDINGS_RANKING_H_

#include "../embedding.h"

/* A list of ids for each query, ascending: values[splits[q] .. splits[q + 1]). `splits` NULL: there are no lists. */
typedef struct te_id_lists {
  const int32_t* values; /* [count] */
  const int32_t* splits; /* [n + 1] */
  int64_t count;
} te_id_lists;

typedef struct te_top_k {
  te_rows table;
  int64_t first_row;    /* the id of the first row: a table may come in blocks, ids ascending */
  const float* queries; /* [n, dim] */
  int64_t n;
  int64_t k;
  te_id_lists exclude;
  te_id_lists only;
  float* values;    /* [n, k], best first; -infinity where there is none */
  int32_t* indices; /* [n, k]; -1 where there is none */
  int32_t workers;
} te_top_k;

/*
 * Brings the rows into the lists of each query: the k with the largest products in float32, ties by the lower id. A
 * product that is no number, or minus infinity, is not taken.
 */
size_t te_top_k_workspace(const te_top_k* job);
te_status te_top_k_rows(const te_top_k* job, void* workspace, size_t workspace_bytes);

/* Rows in lists, of which each query looks at some. */
typedef struct te_list_scan {
  te_rows table;          /* rows of all lists, in any order */
  const int32_t* ids;     /* [rows] */
  const int32_t* starts;  /* [lists] the first row of a list */
  const int32_t* ends;    /* [lists] */
  int64_t lists;
  const int32_t* members; /* [pairs] the queries that look at a list, ascending: those of the first list, and so on */
  const int32_t* splits;  /* [lists + 1] */
  int64_t pairs;
  const float* queries;   /* [n, dim] */
  int64_t n;
  int64_t k;
  te_id_lists exclude;
  float* values;    /* [n, k], best first; -infinity where there is none */
  int32_t* indices; /* [n, k] ids; -1 where there is none */
  int32_t workers;
} te_list_scan;

/* Brings the rows of its lists into the list of each query, as te_top_k_rows does with all rows of a table. */
size_t te_list_scan_workspace(const te_list_scan* job);
te_status te_scan_lists(const te_list_scan* job, void* workspace, size_t workspace_bytes);

/* Rows that were found for each query, to be ranked by products in double precision. */
typedef struct te_rank {
  te_rows table;             /* of float32 or int8 */
  const int32_t* ids;        /* [rows], or NULL: a row's number is its id */
  const float* queries;      /* [n, dim] */
  int64_t n;
  const int32_t* candidates; /* [n, m] numbers of rows; negative: none */
  int64_t m;
  int64_t k;
  float* values;             /* [n, k], best first, ties by the lower id; -infinity where there is none */
  int32_t* indices;          /* [n, k] ids; -1 where there is none */
  int32_t workers;
} te_rank;

size_t te_rank_workspace(const te_rank* job);
te_status te_rank_rows(const te_rank* job, void* workspace, size_t workspace_bytes);

typedef struct te_fold_in {
  te_rows table;
  te_bags bags; /* combiner and max_norm are not looked at */
  double regularization;
  const float* gram; /* [dim, dim], or NULL */
  float* out;        /* [batch, dim] */
  int32_t workers;
} te_fold_in;

/* Solves (regularization I + gram + sum w v v^T) x = sum w v for each bag; zeros for an empty one. */
size_t te_fold_in_workspace(const te_fold_in* job);
te_status te_fold_in_rows(const te_fold_in* job, void* workspace, size_t workspace_bytes);

#endif
