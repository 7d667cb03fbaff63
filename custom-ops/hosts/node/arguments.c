#include "arguments.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "../shared/memory.h"
#include "tables.h"

#define KEPT_WORKSPACE ((size_t)64 << 20)

/* ---- errors ---- */

void fail(call* c, thrower throw_error, const char* code, const char* argument, const char* text) {
  char message[320];
  if (c->failed) return;
  c->failed = true;
  snprintf(message, sizeof message, "`%s`: %s", argument, text);
  throw_error(c->env, code, message);
}

void fail_type(call* c, const char* argument, const char* text) {
  fail(c, napi_throw_type_error, "ERR_INVALID_ARG_TYPE", argument, text);
}

void fail_range(call* c, const char* argument, const char* format, ...) {
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

void fail_entry(call* c, te_status status, int64_t entry) {
  static const char* const codes[] = {"TE_OK", "TE_ID_OUT_OF_RANGE", "TE_BAD_SPLITS", "TE_BAD_ARGUMENT",
                                      "TE_BAD_WORKSPACE"};
  static const char* const texts[] = {"", "values: an id is out of range",
                                      "rowSplits: must start at 0, never fall and end at the number of values",
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
  if (entry >= 0) set_number(c->env, error, "entry", (double)entry);
  napi_throw(c->env, error);
}

void fail_status(call* c, te_status status) { fail_entry(c, status, -1); }

/* ---- arguments ---- */

void begin(call* c, napi_env env, napi_callback_info info) {
  size_t count = MOST_ARGUMENTS;
  memset(c, 0, sizeof *c);
  c->env = env;
  if (napi_get_cb_info(env, info, &count, c->arguments, NULL, NULL) != napi_ok) {
    fail_type(c, "arguments", "cannot be read");
  }
}

void begin_entry(call* c, call* all, napi_value list, uint32_t entry) {
  napi_value arguments, missing;
  bool is_array = false;
  uint32_t count = 0;
  memset(c, 0, sizeof *c);
  c->env = all->env;
  c->failed = all->failed;
  if (c->failed) return;
  if (napi_get_element(c->env, list, entry, &arguments) != napi_ok ||
      napi_is_array(c->env, arguments, &is_array) != napi_ok || !is_array ||
      napi_get_array_length(c->env, arguments, &count) != napi_ok || count > MOST_ARGUMENTS ||
      napi_get_undefined(c->env, &missing) != napi_ok) {
    fail_type(c, "calls", "expected a list of lists of arguments");
    return;
  }
  for (uint32_t i = 0; i < MOST_ARGUMENTS; i++) {
    c->arguments[i] = missing;
    if (i < count && napi_get_element(c->env, arguments, i, &c->arguments[i]) != napi_ok) {
      fail_type(c, "calls", "cannot be read");
      return;
    }
  }
}

uint32_t entry_count(call* c, int index) {
  uint32_t count = 0;
  bool is_array = false;
  if (c->failed) return 0;
  if (napi_is_array(c->env, c->arguments[index], &is_array) != napi_ok || !is_array ||
      napi_get_array_length(c->env, c->arguments[index], &count) != napi_ok) {
    fail_type(c, "calls", "expected a list of lists of arguments");
    return 0;
  }
  return count;
}

void finish(call* c) {
  for (size_t i = 0; i < c->n_copies; i++) free(c->copies[i]);
  free(c->copies);
  c->copies = NULL;
  c->n_copies = 0;
}

bool absent(call* c, int index) {
  napi_valuetype type;
  if (napi_typeof(c->env, c->arguments[index], &type) != napi_ok) return false;
  return type == napi_null || type == napi_undefined;
}

double real(call* c, int index, const char* name) {
  double value = 0;
  napi_valuetype type;
  if (c->failed) return 0;
  if (napi_typeof(c->env, c->arguments[index], &type) != napi_ok || type != napi_number ||
      napi_get_value_double(c->env, c->arguments[index], &value) != napi_ok) {
    fail_type(c, name, "expected a number");
  }
  return value;
}

int64_t whole(call* c, int index, const char* name, double least, double most) {
  const double value = real(c, index, name);
  if (c->failed) return 0;
  if (!(value >= least && value <= most) || floor(value) != value) {
    fail_range(c, name, "expected a whole number from %.0f to %.0f, received %.17g", least, most, value);
    return 0;
  }
  return (int64_t)value;
}

array typed_value(call* c, napi_value value, const char* name, napi_typedarray_type wanted) {
  array result = {NULL, 0, 0, false};
  napi_typedarray_type type;
  napi_value buffer;
  void* data = NULL;
  size_t length = 0, offset;
  bool is_typed = false, is_plain = false;
  if (c->failed) return result;
  if (napi_is_typedarray(c->env, value, &is_typed) != napi_ok || !is_typed ||
      napi_get_typedarray_info(c->env, value, &type, &length, &data, &buffer, &offset) != napi_ok || type != wanted) {
    fail_type(c, name,
              wanted == napi_bigint64_array ? "expected a BigInt64Array"
              : wanted == napi_int32_array  ? "expected an Int32Array"
                                            : "expected a Float32Array");
    return result;
  }
  const size_t size = wanted == napi_bigint64_array ? 8 : 4;
  if (((uintptr_t)data & (size - 1)) != 0) fail_type(c, name, "is not aligned to its numbers");
  napi_is_arraybuffer(c->env, buffer, &is_plain);
  result.data = data;
  result.length = length;
  result.bytes = length * size;
  result.shared = !is_plain;
  return result;
}

array typed(call* c, int index, const char* name, napi_typedarray_type wanted) {
  return typed_value(c, c->arguments[index], name, wanted);
}

array numbers_value(call* c, napi_value value, const char* name, napi_typedarray_type* kind) {
  static const size_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8}; /* in the order of napi_typedarray_type */
  array result = {NULL, 0, 0, false};
  napi_value buffer;
  void* data = NULL;
  size_t length = 0, offset;
  bool is_typed = false, is_plain = false;
  if (c->failed) return result;
  if (napi_is_typedarray(c->env, value, &is_typed) != napi_ok || !is_typed ||
      napi_get_typedarray_info(c->env, value, kind, &length, &data, &buffer, &offset) != napi_ok ||
      (size_t)*kind >= sizeof sizes / sizeof *sizes) {
    fail_type(c, name, "expected a typed array");
    return result;
  }
  napi_is_arraybuffer(c->env, buffer, &is_plain);
  result.data = data;
  result.length = length;
  result.bytes = length * sizes[*kind];
  result.shared = !is_plain;
  return result;
}

array bytes_value(call* c, napi_value value, const char* name) {
  napi_typedarray_type kind = napi_uint8_array;
  const array result = numbers_value(c, value, name, &kind);
  if (!c->failed && kind == napi_uint8_array) return result;
  fail_type(c, name, "expected a Uint8Array");
  return (array){NULL, 0, 0, false};
}

array byte_array(call* c, int index, const char* name) { return bytes_value(c, c->arguments[index], name); }

array floats(call* c, int index, const char* name, uint64_t length) {
  const array result = typed(c, index, name, napi_float32_array);
  if (!c->failed && (uint64_t)result.length != length) {
    fail_range(c, name, "expected %llu numbers, received %zu", (unsigned long long)length, result.length);
  }
  return result;
}

uint64_t area(call* c, int64_t rows, int64_t dim, const char* name) {
  if (te_addressable(rows, dim)) return (uint64_t)rows * (uint64_t)dim;
  fail_range(c, name, "expected a size that can be addressed, received %lld x %lld", (long long)rows, (long long)dim);
  return 0;
}

char* text_value(call* c, napi_value value, const char* name, size_t* length) {
  size_t bytes = 0;
  if (c->failed) return NULL;
  if (napi_get_value_string_utf8(c->env, value, NULL, 0, &bytes) != napi_ok) {
    fail_type(c, name, "expected a text");
    return NULL;
  }
  char* text = own_memory(c, bytes + 1);
  if (text == NULL || napi_get_value_string_utf8(c->env, value, text, bytes + 1, &bytes) != napi_ok) {
    fail_range(c, name, "cannot be read");
    return NULL;
  }
  if (length != NULL) *length = bytes;
  return text;
}

char* text_argument(call* c, int index, const char* name) { return text_value(c, c->arguments[index], name, NULL); }

void* own_memory(call* c, size_t bytes) {
  void* memory = malloc(bytes);
  void** copies = memory == NULL ? NULL : realloc(c->copies, (c->n_copies + 1) * sizeof *copies);
  if (copies == NULL) {
    free(memory);
    return NULL;
  }
  c->copies = copies;
  c->copies[c->n_copies++] = memory;
  return memory;
}

array private_copy(call* c, array a, const char* name) {
  if (c->failed || !a.shared || a.bytes == 0) return a;
  void* copy = own_memory(c, a.bytes);
  if (copy == NULL) {
    fail_range(c, name, "expected an array that fits into memory twice, received one of %zu bytes", a.bytes);
    return a;
  }
  memcpy(copy, a.data, a.bytes);
  a.data = copy;
  return a;
}

void must_differ(call* c, array written, array other, const char* name) {
  if (te_overlap(written.data, written.bytes, other.data, other.bytes)) {
    fail_range(c, name, "expected memory of its own, received memory of another argument");
  }
}

bag_arguments read_bags(call* c, int index) {
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
  const double max_norm = real(c, index + 5, "maxNorm");
  b.bags.max_norm = (float)max_norm;
  if (!c->failed && !(max_norm >= 0))
    fail_range(c, "maxNorm", "expected a number of at least 0, received %g", max_norm);
  if (max_norm > 0 && b.bags.max_norm == 0) b.bags.max_norm = 1.4012985e-45f;
  return b;
}

void must_differ_from_bags(call* c, array written, const bag_arguments* b, const char* name) {
  must_differ(c, written, b->values, name);
  must_differ(c, written, b->splits, name);
  must_differ(c, written, b->weights, name);
  must_differ(c, written, b->starts, name);
}

te_rows read_rows(call* c, int index, array* data, bool optional) {
  te_rows table = {NULL, 0, 0, TE_FLOAT32};
  table.codec = (int32_t)whole(c, index + 1, "codec", 0, TE_CODECS - 1);
  table.rows = whole(c, index + 2, "rows", 0, 9007199254740991.0);
  table.dim = whole(c, index + 3, "dim", 1, 9007199254740991.0);
  memset(data, 0, sizeof *data);
  const uint64_t length = c->failed ? 0 : area(c, table.rows, te_row_words(table.codec, table.dim), "rows");
  if (c->failed || (optional && absent(c, index))) return table;
  *data = typed(c, index, "table", table.codec == TE_FLOAT32 ? napi_float32_array : napi_int32_array);
  if (!c->failed && (uint64_t)data->length != length) {
    fail_range(c, "table", "expected %llu numbers, received %zu", (unsigned long long)length, data->length);
  }
  table.data = data->data;
  return table;
}

void* workspace_of(call* c, size_t bytes, instance** owner) {
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
    if (own->workspace != NULL) want_huge_pages(own->workspace, bytes);
    own->workspace_bytes = own->workspace == NULL ? 0 : bytes;
  }
  if (own->workspace == NULL) {
    fail_range(c, "values", "expected a batch whose workspace fits into memory, received one that needs %zu bytes",
               bytes);
  }
  *owner = own;
  return own->workspace;
}

void trim_workspace(instance* own) {
  if (own == NULL || own->workspace_bytes <= KEPT_WORKSPACE) return;
  free(own->workspace);
  own->workspace = NULL;
  own->workspace_bytes = 0;
}

napi_value new_number(napi_env env, double value) {
  napi_value result = NULL;
  napi_create_double(env, value, &result);
  return result;
}
