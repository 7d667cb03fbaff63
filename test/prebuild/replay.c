/*
 * Calls of an addon that were recorded elsewhere, once more: `replay ADDON RECORD`. What each returns or throws, and what
 * it leaves in its arguments, must be the same to the bit. Prints how many calls there were and which kernels ran.
 */
#include "replay.h"

#include <dlfcn.h>

static const size_t SIZES[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8}; /* in the order of napi_typedarray_type */

static FILE* record;

static void read_bytes(void* to, size_t bytes) {
  if (bytes > 0 && fread(to, 1, bytes, record) != bytes) give_up("the record ends too early", "replay");
}
static uint32_t read_count(void) {
  uint32_t count;
  read_bytes(&count, sizeof count);
  return count;
}
static char* read_text(uint32_t* length) {
  *length = read_count();
  char* text = memory(*length);
  read_bytes(text, *length);
  return text;
}

static napi_value read_value(void) {
  unsigned char kind, type;
  uint32_t length;
  read_bytes(&kind, 1);
  napi_value value = new_value(kind);
  switch (kind) {
    case KIND_UNDEFINED:
    case KIND_NULL:
      break;
    case KIND_NUMBER:
      read_bytes(&value->number, sizeof value->number);
      break;
    case KIND_TEXT:
      value->data = read_text(&length);
      value->length = length;
      break;
    case KIND_ARRAY:
      read_bytes(&type, 1);
      if (type >= sizeof SIZES / sizeof *SIZES) give_up("unknown", "type of an array");
      value->type = (napi_typedarray_type)type;
      value->length = read_count();
      value->data = memory(value->length * SIZES[type]);
      read_bytes(value->data, value->length * SIZES[type]);
      break;
    case KIND_LIST:
      value->length = read_count();
      value->items = memory(value->length * sizeof *value->items);
      for (size_t i = 0; i < value->length; i++) value->items[i] = read_value();
      break;
    default:
      give_up("unknown", "kind of a value");
  }
  return value;
}

static bool same(napi_value a, napi_value b) {
  if (a->kind != b->kind || a->length != b->length) return false;
  if (a->kind == KIND_NUMBER) return memcmp(&a->number, &b->number, sizeof a->number) == 0;
  if (a->kind == KIND_TEXT) return memcmp(a->data, b->data, a->length) == 0;
  if (a->kind == KIND_ARRAY) return a->type == b->type && memcmp(a->data, b->data, a->length * SIZES[a->type]) == 0;
  for (size_t i = 0; a->kind == KIND_LIST && i < a->length; i++) {
    if (!same(a->items[i], b->items[i])) return false;
  }
  return true;
}

/* An empty text stands for a call that throws nothing. */
static int differs(const char* name, long number) {
  uint32_t length;
  const napi_value arguments = read_value();
  const char* code = read_text(&length);
  const napi_value wanted = read_value(), after = read_value();
  struct napi_callback_info__ info = {arguments->length, arguments->items};
  const napi_value returned = function_named(name)((napi_env)&info, &info);
  const char* error = thrown();
  const char* what = NULL;
  if (strcmp(error == NULL ? "" : error, code) != 0) what = "what it throws";
  else if (!same(arguments, after)) what = "what it writes";
  else if (*code == 0 && !same(returned == NULL ? new_value(KIND_UNDEFINED) : returned, wanted)) what = "its result";
  static int told;
  if (what != NULL && told++ < 5) printf("call %ld, %s: %s differs\n", number, name, what);
  return what != NULL;
}

int main(int count, char** arguments) {
  if (count != 3) give_up("usage", "replay ADDON RECORD");
  void* addon = dlopen(arguments[1], RTLD_NOW);
  if (addon == NULL) give_up("the addon cannot be loaded", dlerror());
  napi_value (*start)(napi_env, napi_value) = (napi_value(*)(napi_env, napi_value))dlsym(addon, "napi_register_module_v1");
  if (start == NULL || start(NULL, new_value(KIND_UNDEFINED)) == NULL) give_up("the addon does not start", arguments[1]);
  record = fopen(arguments[2], "rb");
  if (record == NULL) give_up("cannot be read", arguments[2]);
  long calls = 0, different = 0;
  for (uint32_t length; fread(&length, sizeof length, 1, record) == 1; calls++) {
    char* name = memory(length);
    read_bytes(name, length);
    different += differs(name, calls);
    free_memory();
  }
  struct napi_callback_info__ none = {0, NULL};
  const napi_value kernels = function_named("instructionSet")(NULL, &none);
  printf("%ld calls, %ld differ, %s\n", calls, different, (char*)kernels->data);
  return different == 0 ? 0 : 1;
}
