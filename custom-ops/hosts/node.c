/*
 * The C core in Node: functions of typed arrays, through Node-API.
 *
 * Every argument is checked here, whatever JavaScript passes: kind, length (a detached array has length 0), range and
 * overlap of what is written with what is read. No JavaScript runs between the checks and the kernel. Ids and row
 * splits in memory that other threads can write (SharedArrayBuffer) are copied first.
 * The same file is opened by Python as a TensorFlow library, so Node's symbols are weak.
 */
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

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32)
#include <dlfcn.h>
#endif

#include "../kernels/embedding.h"
#include "loans.h"
#include "memory.h"
#include "node_tables.h"

#if defined(TE_WITH_TENSORFLOW)
const char* te_tensorflow_register(void);
#endif

#define MOST_ARGUMENTS 15
#define MOST_RESULT_FLOATS ((uint64_t)1 << 32)
#define KEPT_WORKSPACE ((size_t)64 << 20)

/* One per JavaScript environment (main thread, each worker). */
typedef struct instance {
  void* workspace;
  size_t workspace_bytes;
  int32_t* exit_word; /* set when the environment ends; NULL where nobody watches */
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
  void* copies[3];
  int n_copies;
  bool failed;
} call;

/* ---- errors ---- */

typedef napi_status (*thrower)(napi_env env, const char* code, const char* text);

static void fail(call* c, thrower throw_error, const char* code, const char* argument, const char* text) {
  char message[320];
  if (c->failed) return;
  c->failed = true;
  snprintf(message, sizeof message, "`%s`: %s", argument, text);
  throw_error(c->env, code, message);
}

static void fail_type(call* c, const char* argument, const char* text) {
  fail(c, napi_throw_type_error, "ERR_INVALID_ARG_TYPE", argument, text);
}

/* The TypeScript side makes its own error of "expected ..., received ...". */
static void fail_range(call* c, const char* argument, const char* format, ...) {
  char text[256];
  va_list numbers;
  va_start(numbers, format);
  vsnprintf(text, sizeof text, format, numbers);
  va_end(numbers);
  fail(c, napi_throw_range_error, "ERR_OUT_OF_RANGE", argument, text);
}

static void set_number(napi_env env, napi_value object, const char* name, double number) {
  napi_value value;
  if (napi_create_double(env, number, &value) == napi_ok) napi_set_named_property(env, object, name, value);
}

/* An Error with `status`, `id` and `position`; the TypeScript side makes its own error of it. */
static void fail_status(call* c, te_status status) {
  static const char* const codes[] = {"TE_OK", "TE_ID_OUT_OF_RANGE", "TE_BAD_SPLITS", "TE_BAD_ARGUMENT",
                                      "TE_BAD_WORKSPACE"};
  static const char* const texts[] = {"", "values: an id is out of range", "rowSplits: must start at 0, never fall and end at the number of values",
                                      "a size or an option that cannot be", "workspace too small"};
  napi_value code, text, error;
  if (c->failed || status.code == TE_OK) return;
  c->failed = true;
  const int known = status.code >= 0 && status.code <= TE_BAD_WORKSPACE ? status.code : TE_BAD_ARGUMENT;
  if (napi_create_string_utf8(c->env, codes[known], NAPI_AUTO_LENGTH, &code) != napi_ok ||
      napi_create_string_utf8(c->env, texts[known], NAPI_AUTO_LENGTH, &text) != napi_ok ||
      napi_create_error(c->env, code, text, &error) != napi_ok) {
    napi_throw_error(c->env, codes[known], texts[known]);
    return;
  }
  set_number(c->env, error, "status", (double)status.code);
  set_number(c->env, error, "id", (double)status.id);
  set_number(c->env, error, "position", (double)status.position);
  napi_throw(c->env, error);
}

/* ---- arguments ---- */

static void begin(call* c, napi_env env, napi_callback_info info) {
  size_t count = MOST_ARGUMENTS;
  memset(c, 0, sizeof *c);
  c->env = env;
  if (napi_get_cb_info(env, info, &count, c->arguments, NULL, NULL) != napi_ok) {
    fail_type(c, "arguments", "cannot be read");
  }
}

static void finish(call* c) {
  for (int i = 0; i < c->n_copies; i++) free(c->copies[i]);
  c->n_copies = 0;
}

static bool absent(call* c, int index) {
  napi_valuetype type;
  if (napi_typeof(c->env, c->arguments[index], &type) != napi_ok) return false;
  return type == napi_null || type == napi_undefined;
}

static double number(call* c, int index, const char* name) {
  double value = 0;
  napi_valuetype type;
  if (c->failed) return 0;
  if (napi_typeof(c->env, c->arguments[index], &type) != napi_ok || type != napi_number ||
      napi_get_value_double(c->env, c->arguments[index], &value) != napi_ok) {
    fail_type(c, name, "expected a number");
  }
  return value;
}

static int64_t whole(call* c, int index, const char* name, double least, double most) {
  const double value = number(c, index, name);
  if (c->failed) return 0;
  if (!(value >= least && value <= most) || floor(value) != value) {
    fail_range(c, name, "expected a whole number from %.0f to %.0f, received %.17g", least, most, value);
    return 0;
  }
  return (int64_t)value;
}

static array typed(call* c, int index, const char* name, napi_typedarray_type wanted) {
  array result = {NULL, 0, 0, false};
  napi_typedarray_type type;
  napi_value buffer;
  void* data = NULL;
  size_t length = 0, offset;
  bool is_typed = false, is_plain = false;
  if (c->failed) return result;
  if (napi_is_typedarray(c->env, c->arguments[index], &is_typed) != napi_ok || !is_typed ||
      napi_get_typedarray_info(c->env, c->arguments[index], &type, &length, &data, &buffer, &offset) != napi_ok ||
      type != wanted) {
    fail_type(c, name, wanted == napi_int32_array ? "expected an Int32Array" : "expected a Float32Array");
    return result;
  }
  if (((uintptr_t)data & 3) != 0) fail_type(c, name, "is not aligned to 4 bytes");
  napi_is_arraybuffer(c->env, buffer, &is_plain);
  result.data = data;
  result.length = length;
  result.bytes = length * 4;
  result.shared = !is_plain;
  return result;
}

static array floats(call* c, int index, const char* name, uint64_t length) {
  const array result = typed(c, index, name, napi_float32_array);
  if (!c->failed && (uint64_t)result.length != length) {
    fail_range(c, name, "expected %llu numbers, received %zu", (unsigned long long)length, result.length);
  }
  return result;
}

/* rows x dim as a length; 0 when it cannot be one. */
static uint64_t area(call* c, int64_t rows, int64_t dim, const char* name) {
  if (te_addressable(rows, dim)) return (uint64_t)rows * (uint64_t)dim;
  fail_range(c, name, "expected a size that can be addressed, received %lld x %lld", (long long)rows, (long long)dim);
  return 0;
}

/* Memory that nobody else writes while the kernel runs. */
static array private_copy(call* c, array a, const char* name) {
  if (c->failed || !a.shared || a.bytes == 0) return a;
  void* copy = malloc(a.bytes);
  if (copy == NULL) {
    fail_range(c, name, "expected an array that fits into memory twice, received one of %zu bytes", a.bytes);
    return a;
  }
  memcpy(copy, a.data, a.bytes);
  c->copies[c->n_copies++] = copy;
  a.data = copy;
  return a;
}

static void must_differ(call* c, array written, array other, const char* name) {
  if (te_overlap(written.data, written.bytes, other.data, other.bytes)) {
    fail_range(c, name, "expected memory of its own, received memory of another argument");
  }
}

/* values, rowSplits, weights, combiner, outOfRange, maxNorm: six arguments from `index` on. */
typedef struct bag_arguments {
  te_bags bags;
  array values, splits, weights, starts;
} bag_arguments;

static bag_arguments read_bags(call* c, int index) {
  bag_arguments b;
  memset(&b, 0, sizeof b);
  b.values = private_copy(c, typed(c, index, "values", napi_int32_array), "values");
  b.splits = private_copy(c, typed(c, index + 1, "rowSplits", napi_int32_array), "rowSplits");
  if (!c->failed && b.splits.length < 1) fail_range(c, "rowSplits", "expected at least one split, received none");
  if (!c->failed && !absent(c, index + 2)) {
    b.weights = floats(c, index + 2, "weights", b.values.length);
    b.bags.weights = (const float*)b.weights.data;
  }
  b.bags.values = (const int32_t*)b.values.data;
  b.bags.row_splits = (const int32_t*)b.splits.data;
  b.bags.nnz = (int64_t)b.values.length;
  b.bags.batch = (int64_t)b.splits.length - 1;
  b.bags.combiner = (int32_t)whole(c, index + 3, "combiner", TE_SUM, TE_SQRTN);
  b.bags.out_of_range = (int32_t)whole(c, index + 4, "outOfRange", TE_ERROR, TE_ZERO);
  const double max_norm = number(c, index + 5, "maxNorm");
  b.bags.max_norm = (float)max_norm;
  if (!c->failed && !(max_norm >= 0)) fail_range(c, "maxNorm", "expected a number of at least 0, received %g", max_norm);
  if (max_norm > 0 && b.bags.max_norm == 0) b.bags.max_norm = 1.4012985e-45f;
  return b;
}

static void must_differ_from_bags(call* c, array written, const bag_arguments* b, const char* name) {
  must_differ(c, written, b->values, name);
  must_differ(c, written, b->splits, name);
  must_differ(c, written, b->weights, name);
  must_differ(c, written, b->starts, name);
}

/* table, rows, dim: three arguments from `index` on. */
static te_table read_table(call* c, int index, array* data, bool optional) {
  te_table table = {NULL, 0, 0};
  table.rows = whole(c, index + 1, "rows", 0, 9007199254740991.0);
  table.dim = whole(c, index + 2, "dim", 1, 9007199254740991.0);
  memset(data, 0, sizeof *data);
  const uint64_t length = c->failed ? 0 : area(c, table.rows, table.dim, "rows");
  if (c->failed || (optional && absent(c, index))) return table;
  *data = floats(c, index, "table", length);
  table.data = (float*)data->data;
  return table;
}

static void* workspace_of(call* c, size_t bytes, instance** owner) {
  instance* own = NULL;
  *owner = NULL;
  if (c->failed) return NULL;
  if (napi_get_instance_data(c->env, (void**)&own) != napi_ok || own == NULL) {
    fail_type(c, "workspace", "the addon is being unloaded");
    return NULL;
  }
  if (own->workspace_bytes < bytes) {
    free(own->workspace);
    own->workspace = bytes == SIZE_MAX ? NULL : malloc(bytes);
    own->workspace_bytes = own->workspace == NULL ? 0 : bytes;
  }
  if (own->workspace == NULL) {
    fail_range(c, "values", "expected a batch whose workspace fits into memory, received one that needs %zu bytes",
               bytes);
  }
  *owner = own;
  return own->workspace;
}

static void trim_workspace(instance* own) {
  if (own == NULL || own->workspace_bytes <= KEPT_WORKSPACE) return;
  free(own->workspace);
  own->workspace = NULL;
  own->workspace_bytes = 0;
}

/* ---- functions ---- */

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
  void* probe = length >= MOST_RESULT_FLOATS || length * 4 > (uint64_t)PTRDIFF_MAX ? NULL : malloc((size_t)length * 4 + 1);
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
  const size_t bytes =
      c.failed ? 0 : te_embedding_bag_grad_workspace(b.bags.nnz, b.bags.batch, table.rows, table.dim);
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
  if (!c->failed && starts.length > INT32_MAX) fail_range(c, "useStarts", "expected fewer than 2^31 numbers, received %zu", starts.length);
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

/* sparseApply(table, rows, dim, values, rowSplits, weights, combiner, outOfRange, maxNorm, optimizer, slot0, slot1,
   gradient, hyper, useStarts?) */
static napi_value sparse_apply(napi_env env, napi_callback_info info) {
  static const int slot_counts[] = {0, 1, 1, 2, 2, 2}; /* by te_optimizer */
  call c;
  array data, slots[2];
  float* slot_data[2] = {NULL, NULL};
  te_hyper hyper;
  instance* owner = NULL;
  begin(&c, env, info);
  memset(slots, 0, sizeof slots);
  const te_table table = read_table(&c, 0, &data, false);
  bag_arguments b = read_bags(&c, 3);
  read_uses(&c, 14, &b);
  const int32_t optimizer = (int32_t)whole(&c, 9, "optimizer", TE_SGD, TE_FTRL);
  const int n_slots = slot_counts[optimizer];
  for (int s = 0; s < 2; s++) {
    if (s >= n_slots) {
      if (!c.failed && !absent(&c, 10 + s)) fail_range(&c, "slots", "expected as many as the optimizer has, received more");
      continue;
    }
    slots[s] = floats(&c, 10 + s, "slots",
                      optimizer == TE_ROW_WISE_ADAGRAD ? (uint64_t)table.rows : (uint64_t)data.length);
    slot_data[s] = (float*)slots[s].data;
  }
  const array gradient = floats(&c, 12, "gradient", c.failed ? 0 : area(&c, b.bags.batch, table.dim, "gradient"));
  const array numbers = floats(&c, 13, "hyper", TE_HYPER_FIELDS);
  const array written[3] = {data, slots[0], slots[1]};
  static const char* const names[] = {"table", "slots", "slots"};
  for (int i = 0; i < 3; i++) {
    must_differ_from_bags(&c, written[i], &b, names[i]);
    must_differ(&c, written[i], gradient, names[i]);
    for (int j = i + 1; j < 3; j++) must_differ(&c, written[i], written[j], names[j]);
  }
  const size_t bytes =
      c.failed ? 0 : te_sparse_apply_workspace(optimizer, b.bags.nnz, b.bags.batch, table.rows, table.dim);
  void* workspace = workspace_of(&c, bytes, &owner);
  if (!c.failed) {
    memcpy(&hyper, numbers.data, sizeof hyper);
    fail_status(&c, te_sparse_apply(optimizer, &table, slot_data, n_slots, &b.bags, (const float*)gradient.data,
                                    &hyper, workspace, owner->workspace_bytes));
  }
  trim_workspace(owner);
  finish(&c);
  return NULL;
}

static napi_value new_number(napi_env env, double value) {
  napi_value result = NULL;
  napi_create_double(env, value, &result);
  return result;
}

/* tableOffset(buffer, bytes): where a table of so many bytes should begin in an ArrayBuffer (see node_tables.h). */
static napi_value table_offset_in(napi_env env, napi_callback_info info) {
  call c;
  void* data = NULL;
  size_t room = 0;
  bool is_plain = false;
  begin(&c, env, info);
  const int64_t bytes = whole(&c, 1, "bytes", 0, 9007199254740991.0);
  if (c.failed) return NULL;
  if (napi_is_arraybuffer(env, c.arguments[0], &is_plain) != napi_ok || !is_plain ||
      napi_get_arraybuffer_info(env, c.arguments[0], &data, &room) != napi_ok) {
    fail_type(&c, "buffer", "expected an ArrayBuffer");
    return NULL;
  }
  return new_number(env, (double)table_offset(data, room, (size_t)bytes));
}

static napi_value new_text(napi_env env, const char* text) {
  napi_value result = NULL;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &result);
  return result;
}

static napi_value set_threads(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t threads = whole(&c, 0, "threads", 1, 64);
  return c.failed ? NULL : new_number(env, te_set_threads((int32_t)threads));
}

static napi_value get_threads(napi_env env, napi_callback_info info) {
  (void)info;
  return new_number(env, te_get_threads());
}

/* setOwnThreads(threads): for kernels that are called from this JavaScript thread. */
static napi_value set_own_threads(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t threads = whole(&c, 0, "threads", 0, 64);
  return c.failed ? NULL : new_number(env, te_set_own_threads((int32_t)threads));
}

static void tell_exit(void* word) {
#if defined(_MSC_VER) && !defined(__clang__)
  InterlockedExchange((volatile LONG*)word, 1);
#else
  __atomic_store_n((int32_t*)word, 1, __ATOMIC_SEQ_CST);
#endif
}

/*
 * watchExit(words, index): sets words[index] to 1 when this environment ends, for whatever reason: a worker that
 * exhausts its heap runs no JavaScript any more. The words lie in shared memory. The reference is never given back, so
 * that they outlive the hook: hooks run before references go.
 */
static napi_value watch_exit(napi_env env, napi_callback_info info) {
  call c;
  instance* own = NULL;
  napi_ref kept;
  begin(&c, env, info);
  const array words = typed(&c, 0, "words", napi_int32_array);
  if (!c.failed && !words.shared) fail_type(&c, "words", "expected shared memory");
  const int64_t index = whole(&c, 1, "index", 0, words.length == 0 ? 0 : (double)(words.length - 1));
  if (!c.failed && words.length == 0) fail_range(&c, "words", "must not be empty");
  if (!c.failed && (napi_get_instance_data(env, (void**)&own) != napi_ok || own == NULL || own->exit_word != NULL)) {
    fail_type(&c, "words", "this environment is watched already");
  }
  if (c.failed) return NULL;
  int32_t* word = (int32_t*)words.data + index;
  if (napi_create_reference(env, c.arguments[0], 1, &kept) != napi_ok ||
      napi_add_env_cleanup_hook(env, tell_exit, word) != napi_ok) {
    fail_type(&c, "words", "cannot be watched");
    return NULL;
  }
  own->exit_word = word;
  return NULL;
}

static napi_value instruction_set(napi_env env, napi_callback_info info) {
  (void)info;
  return new_text(env, te_instruction_set());
}

/* Places of the fields of te_hyper, in the order of the names given. Tests compare them with HYPER_FIELDS. */
static napi_value hyper_fields(napi_env env, napi_callback_info info) {
#define FIELD(name) {#name, offsetof(te_hyper, name) / sizeof(float)}
  static const struct {
    const char* name;
    size_t place;
  } fields[] = {FIELD(learning_rate), FIELD(epsilon), FIELD(momentum), FIELD(use_nesterov), FIELD(exponent),
                FIELD(beta1), FIELD(beta2), FIELD(correction1), FIELD(correction2), FIELD(sum_inside_sqrt),
                FIELD(lazy), FIELD(learning_rate_power), FIELD(l1), FIELD(l2), FIELD(beta),
                FIELD(multiply_linear_by_learning_rate), FIELD(clip_gradient_min), FIELD(clip_gradient_max),
                FIELD(clip_norm), FIELD(clip_weight_min), FIELD(clip_weight_max), FIELD(weight_decay),
                FIELD(constraint), FIELD(constraint_min), FIELD(constraint_max), FIELD(constraint_rate)};
#undef FIELD
  napi_value result;
  (void)info;
  if (napi_create_array_with_length(env, TE_HYPER_FIELDS, &result) != napi_ok) return NULL;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    napi_set_element(env, result, (uint32_t)fields[i].place, new_text(env, fields[i].name));
  }
  return result;
}

/* "registered", "already", or why TensorFlow's ops are not there. */
static napi_value register_tensorflow(napi_env env, napi_callback_info info) {
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  return new_text(env, te_tensorflow_register());
#else
  return new_text(env, "built without TensorFlow");
#endif
}

/* loansBook(): tells loans of this library from those of another copy in the process; 0 without TensorFlow. */
static napi_value loans_book(napi_env env, napi_callback_info info) {
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  return new_number(env, (double)(uintptr_t)te_loans_book());
#else
  return new_number(env, 0);
#endif
}

/* loanNumber(): a number that no tensor is lent under. */
static napi_value loan_number(napi_env env, napi_callback_info info) {
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  return new_number(env, te_loan_number());
#else
  napi_throw_error(env, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "built without TensorFlow");
  return NULL;
#endif
}

/* readLoan(number, at, stride, rows, columns, target): copies rows of a tensor that TensorFlow lends. */
static napi_value read_loan(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t loan = whole(&c, 0, "number", 0, INT32_MAX);
  te_loan_rows place;
  place.at = (uint64_t)whole(&c, 1, "at", 0, 9007199254740991.0);
  place.stride = (uint64_t)whole(&c, 2, "stride", 0, 9007199254740991.0);
  const int64_t rows = whole(&c, 3, "rows", 0, 9007199254740991.0);
  const int64_t columns = whole(&c, 4, "columns", 0, 9007199254740991.0);
  place.rows = (uint64_t)rows;
  place.columns = (uint64_t)columns;
  const array target = floats(&c, 5, "target", c.failed ? 0 : area(&c, rows, columns, "rows"));
  if (c.failed) return NULL;
#if defined(TE_WITH_TENSORFLOW)
  switch (te_loan_read((int32_t)loan, &place, target.data)) {
    case TE_LOAN_OK:
      return NULL;
    case TE_LOAN_UNKNOWN:
      fail_range(&c, "number", "nothing is lent under it");
      return NULL;
    case TE_LOAN_SHARED:
      fail_range(&c, "target", "expected memory of its own, received memory of the tensor that is lent");
      return NULL;
    default:
      fail_range(&c, "at", "the rows lie outside the tensor that is lent");
  }
#else
  (void)loan;
  (void)target;
  fail_type(&c, "number", "built without TensorFlow");
#endif
  return NULL;
}

/* endLoan(number): a number that nothing is lent under is no error, as a call may have failed before it was used. */
static napi_value end_loan(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t loan = whole(&c, 0, "number", 0, INT32_MAX);
#if defined(TE_WITH_TENSORFLOW)
  if (!c.failed) te_loan_end((int32_t)loan);
#else
  (void)loan;
#endif
  return NULL;
}

/* ---- module ---- */

static void free_instance(napi_env env, void* data, void* hint) {
  (void)env;
  (void)hint;
  free(((instance*)data)->workspace);
  free(data);
}

/* Threads of the pool outlive the environment that loaded this file, so it must stay in memory. */
static void stay_loaded(void) {
#if defined(_WIN32)
  HMODULE module;
  GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN, (LPCSTR)&stay_loaded,
                     &module);
#else
  static const char here = 0;
  Dl_info self;
  if (dladdr(&here, &self) != 0) dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT int32_t node_api_module_get_api_version_v1(void);
EXPORT int32_t node_api_module_get_api_version_v1(void) { return 8; }

EXPORT napi_value napi_register_module_v1(napi_env env, napi_value exports);
EXPORT napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  static const struct {
    const char* name;
    napi_callback function;
  } functions[] = {{"embeddingBag", embedding_bag},
                   {"embeddingBagGrad", embedding_bag_grad},
                   {"embeddingBagWeightsGrad", embedding_bag_weights_grad},
                   {"sparseApply", sparse_apply},
                   {"tableOffset", table_offset_in},
                   {"setThreads", set_threads},
                   {"getThreads", get_threads},
                   {"setOwnThreads", set_own_threads},
                   {"watchExit", watch_exit},
                   {"instructionSet", instruction_set},
                   {"hyperFields", hyper_fields},
                   {"registerTensorFlow", register_tensorflow},
                   {"loansBook", loans_book},
                   {"loanNumber", loan_number},
                   {"readLoan", read_loan},
                   {"endLoan", end_loan}};
  instance* own = calloc(1, sizeof *own);
  if (own == NULL || napi_set_instance_data(env, own, free_instance, NULL) != napi_ok) {
    free(own);
    napi_throw_error(env, "ERR_MEMORY", "the addon cannot be set up");
    return NULL;
  }
  stay_loaded();
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    napi_value function;
    if (napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function, NULL, &function) !=
            napi_ok ||
        napi_set_named_property(env, exports, functions[i].name, function) != napi_ok) {
      return NULL;
    }
  }
  return exports;
}
