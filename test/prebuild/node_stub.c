/* As much of Node-API as the kernels need, so that their addon runs where there is no Node. */
#include "replay.h"

static const char* error_code;
static void* instance_data;
static struct {
  const char* name;
  napi_callback function;
} functions[128];
static size_t function_count;

void give_up(const char* what, const char* of) {
  fprintf(stderr, "%s: %s\n", what, of);
  exit(2);
}

/* What was taken since the last call ended. */
static struct {
  void** pieces;
  size_t count, room;
} taken;

void* memory(size_t bytes) {
  if (taken.count == taken.room) {
    taken.room = 2 * taken.room + 64;
    taken.pieces = realloc(taken.pieces, taken.room * sizeof *taken.pieces);
    if (taken.pieces == NULL) give_up("out of memory", "replay");
  }
  /* On a line of the cache, as the package places its arrays. */
  void* piece = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (piece == NULL) give_up("out of memory", "replay");
  taken.pieces[taken.count++] = piece;
  return memset(piece, 0, bytes + 1);
}

void free_memory(void) {
  while (taken.count > 0) free(taken.pieces[--taken.count]);
}

napi_value new_value(int kind) {
  napi_value value = memory(sizeof *value);
  value->kind = kind;
  return value;
}

napi_callback function_named(const char* name) {
  for (size_t i = 0; i < function_count; i++) {
    if (strcmp(functions[i].name, name) == 0) return functions[i].function;
  }
  give_up("the addon has no function", name);
  return NULL;
}

const char* thrown(void) {
  const char* code = error_code;
  error_code = NULL;
  return code;
}

static char* copied(const char* text, size_t length) {
  char* copy = memory(length);
  memcpy(copy, text, length);
  return copy;
}

/* ---- errors ---- */

static napi_status throw_code(napi_env env, const char* code, const char* message) {
  (void)env;
  (void)message;
  error_code = code;
  return napi_ok;
}

napi_status napi_throw_error(napi_env env, const char* code, const char* text) { return throw_code(env, code, text); }
napi_status napi_throw_type_error(napi_env env, const char* code, const char* text) {
  return throw_code(env, code, text);
}
napi_status napi_throw_range_error(napi_env env, const char* code, const char* text) {
  return throw_code(env, code, text);
}
napi_status napi_throw(napi_env env, napi_value error) { return throw_code(env, error->data, NULL); }
napi_status napi_create_error(napi_env env, napi_value code, napi_value message, napi_value* result) {
  (void)env;
  (void)message;
  *result = code;
  return napi_ok;
}

/* ---- values ---- */

napi_status napi_create_double(napi_env env, double number, napi_value* result) {
  (void)env;
  *result = new_value(KIND_NUMBER);
  (*result)->number = number;
  return napi_ok;
}
napi_status napi_get_undefined(napi_env env, napi_value* result) {
  (void)env;
  *result = new_value(KIND_UNDEFINED);
  return napi_ok;
}
napi_status napi_create_string_utf8(napi_env env, const char* text, size_t length, napi_value* result) {
  (void)env;
  *result = new_value(KIND_TEXT);
  (*result)->length = length == NAPI_AUTO_LENGTH ? strlen(text) : length;
  (*result)->data = copied(text, (*result)->length);
  return napi_ok;
}
napi_status napi_get_value_double(napi_env env, napi_value value, double* result) {
  (void)env;
  if (value->kind != KIND_NUMBER) return napi_number_expected;
  *result = value->number;
  return napi_ok;
}
napi_status napi_get_value_string_utf8(napi_env env, napi_value value, char* to, size_t room, size_t* length) {
  (void)env;
  if (value->kind != KIND_TEXT) return napi_string_expected;
  size_t count = value->length;
  if (to != NULL) {
    if (room == 0) return napi_invalid_arg;
    if (count > room - 1) count = room - 1;
    memcpy(to, value->data, count);
    to[count] = 0;
  }
  if (length != NULL) *length = count;
  return napi_ok;
}
napi_status napi_typeof(napi_env env, napi_value value, napi_valuetype* result) {
  (void)env;
  const int kind = value->kind;
  *result = kind == KIND_UNDEFINED  ? napi_undefined
            : kind == KIND_NULL     ? napi_null
            : kind == KIND_NUMBER   ? napi_number
            : kind == KIND_TEXT     ? napi_string
            : kind == KIND_FUNCTION ? napi_function
                                    : napi_object;
  return napi_ok;
}

/* ---- arrays and lists ---- */

napi_status napi_is_array(napi_env env, napi_value value, bool* result) {
  (void)env;
  *result = value->kind == KIND_LIST;
  return napi_ok;
}
napi_status napi_is_typedarray(napi_env env, napi_value value, bool* result) {
  (void)env;
  *result = value->kind == KIND_ARRAY;
  return napi_ok;
}
napi_status napi_is_arraybuffer(napi_env env, napi_value value, bool* result) {
  (void)env;
  *result = value->kind == KIND_BUFFER;
  return napi_ok;
}
napi_status napi_get_typedarray_info(napi_env env, napi_value value, napi_typedarray_type* type, size_t* length,
                                     void** data, napi_value* buffer, size_t* offset) {
  (void)env;
  if (type != NULL) *type = value->type;
  if (length != NULL) *length = value->length;
  if (data != NULL) *data = value->data;
  if (buffer != NULL) *buffer = new_value(KIND_BUFFER);
  if (offset != NULL) *offset = 0;
  return napi_ok;
}
napi_status napi_get_arraybuffer_info(napi_env env, napi_value value, void** data, size_t* bytes) {
  (void)env;
  *data = value->data;
  *bytes = value->length;
  return napi_ok;
}
napi_status napi_create_arraybuffer(napi_env env, size_t bytes, void** data, napi_value* result) {
  (void)env;
  *result = new_value(KIND_BUFFER);
  (*result)->length = bytes;
  *data = (*result)->data = memory(bytes);
  return napi_ok;
}
napi_status napi_create_typedarray(napi_env env, napi_typedarray_type type, size_t length, napi_value buffer,
                                   size_t offset, napi_value* result) {
  (void)env;
  *result = new_value(KIND_ARRAY);
  (*result)->type = type;
  (*result)->length = length;
  (*result)->data = (char*)buffer->data + offset;
  return napi_ok;
}
napi_status napi_create_array_with_length(napi_env env, size_t length, napi_value* result) {
  (void)env;
  *result = new_value(KIND_LIST);
  (*result)->length = length;
  (*result)->items = memory(length * sizeof(napi_value));
  return napi_ok;
}
napi_status napi_get_array_length(napi_env env, napi_value value, uint32_t* result) {
  (void)env;
  *result = (uint32_t)value->length;
  return napi_ok;
}
napi_status napi_get_element(napi_env env, napi_value value, uint32_t index, napi_value* result) {
  if (index >= value->length) return napi_get_undefined(env, result);
  *result = value->items[index];
  return napi_ok;
}
napi_status napi_set_element(napi_env env, napi_value value, uint32_t index, napi_value item) {
  (void)env;
  if (index >= value->length) return napi_invalid_arg;
  value->items[index] = item;
  return napi_ok;
}

/* ---- the module ---- */

napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t* count, napi_value* arguments,
                             napi_value* self, void** data) {
  (void)self;
  (void)data;
  for (size_t i = 0; i < *count; i++) {
    if (i < info->count) arguments[i] = info->arguments[i];
    else napi_get_undefined(env, &arguments[i]);
  }
  *count = info->count;
  return napi_ok;
}
napi_status napi_create_function(napi_env env, const char* name, size_t length, napi_callback function, void* data,
                                 napi_value* result) {
  (void)env;
  (void)name;
  (void)length;
  (void)data;
  *result = new_value(KIND_FUNCTION);
  (*result)->function = function;
  return napi_ok;
}
napi_status napi_set_named_property(napi_env env, napi_value object, const char* name, napi_value value) {
  (void)env;
  (void)object;
  if (value->kind != KIND_FUNCTION) return napi_ok; /* of an error */
  if (function_count == sizeof functions / sizeof *functions) give_up("too many functions", name);
  functions[function_count].name = name;
  functions[function_count++].function = value->function;
  return napi_ok;
}
napi_status napi_set_instance_data(napi_env env, void* data, napi_finalize finalize, void* hint) {
  (void)env;
  (void)finalize;
  (void)hint;
  instance_data = data;
  return napi_ok;
}
napi_status napi_get_instance_data(napi_env env, void** data) {
  (void)env;
  *data = instance_data;
  return napi_ok;
}
