/* Arguments of a call from JavaScript, checked: kind, length, range and overlap; and the errors for what is wrong. */
#ifndef TE_NODE_ARGUMENTS_H
#define TE_NODE_ARGUMENTS_H

#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#ifndef NAPI_VERSION
#define NAPI_VERSION 8
#endif
#if defined(__linux__)
#define NAPI_EXTERN __attribute__((weak)) __attribute__((visibility("default")))
#endif
#include <node_api.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernels/embedding.h"

#define MOST_ARGUMENTS 18

/* One per JavaScript environment (main thread, each worker). */
typedef struct instance {
  void* workspace;
  size_t workspace_bytes;
  int32_t* exit_word; /* set when the environment ends; NULL where it is not watched */
} instance;

typedef struct array {
  char* data;
  size_t length;
  size_t bytes;
  bool shared;
} array;

/* A call in progress. Once `failed`, an exception is pending and everything else does nothing. */
typedef struct call {
  napi_env env;
  napi_value arguments[MOST_ARGUMENTS];
  void** copies;
  size_t n_copies;
  bool failed;
} call;

/* ---- errors ---- */

typedef napi_status (*thrower)(napi_env env, const char* code, const char* text);

void fail(call* c, thrower throw_error, const char* code, const char* argument, const char* text);
void fail_type(call* c, const char* argument, const char* text);
/* The TypeScript side makes its own error of "expected ..., received ...". */
void fail_range(call* c, const char* argument, const char* format, ...);
/* An Error with `status`, `id`, `position` and, of a list, `entry`; the TypeScript side makes its own error of it. */
void fail_entry(call* c, te_status status, int64_t entry);
void fail_status(call* c, te_status status);

/* ---- arguments ---- */

/* values, rowSplits, weights, combiner, outOfRange, maxNorm: six arguments from `index` on. */
typedef struct bag_arguments {
  te_bags bags;
  array values, splits, weights, starts;
} bag_arguments;

void begin(call* c, napi_env env, napi_callback_info info);
/* The arguments of one call out of a list of many, for functions that take an array of arrays. */
void begin_entry(call* c, call* all, napi_value list, uint32_t entry);
/* The length of a list of calls. */
uint32_t entry_count(call* c, int index);
void finish(call* c);
bool absent(call* c, int index);
double real(call* c, int index, const char* name);
int64_t whole(call* c, int index, const char* name, double least, double most);
array typed_value(call* c, napi_value value, const char* name, napi_typedarray_type wanted);
array typed(call* c, int index, const char* name, napi_typedarray_type wanted);
/* A Uint8Array. */
array byte_array(call* c, int index, const char* name);
array bytes_value(call* c, napi_value value, const char* name);
/* A typed array of any kind. */
array numbers_value(call* c, napi_value value, const char* name, napi_typedarray_type* kind);
array floats(call* c, int index, const char* name, uint64_t length);
/* rows x dim as a length; 0 when it cannot be one. */
uint64_t area(call* c, int64_t rows, int64_t dim, const char* name);
/* A text that `finish` frees, and its length where `length` is not NULL; NULL after an error. */
char* text_value(call* c, napi_value value, const char* name, size_t* length);
char* text_argument(call* c, int index, const char* name);
/* Memory that `finish` frees; NULL where there is none. */
void* own_memory(call* c, size_t bytes);
/* Memory that other threads do not write while the kernel runs. */
array private_copy(call* c, array a, const char* name);
void must_differ(call* c, array written, array other, const char* name);
bag_arguments read_bags(call* c, int index);
void must_differ_from_bags(call* c, array written, const bag_arguments* b, const char* name);
/* table, codec, rows, dim: four arguments from `index` on. */
te_rows read_rows(call* c, int index, array* data, bool optional);
void* workspace_of(call* c, size_t bytes, instance** owner);
void trim_workspace(instance* own);
napi_value new_number(napi_env env, double value);

#endif
