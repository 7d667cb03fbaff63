/* Values as a record of calls has them, and as the addon sees them through Node-API. */
#ifndef TE_TEST_REPLAY_H
#define TE_TEST_REPLAY_H

#define NAPI_VERSION 8
#define NAPI_EXTERN __attribute__((visibility("default")))
#include <node_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of values in a record; the same numbers as in recorded_calls.ts. */
enum { KIND_UNDEFINED, KIND_NULL, KIND_NUMBER, KIND_ARRAY, KIND_LIST, KIND_TEXT, KIND_BUFFER, KIND_FUNCTION };

struct napi_value__ {
  int kind;
  double number;
  napi_typedarray_type type; /* of an array */
  size_t length;             /* elements of an array or a list, bytes of a text or a buffer */
  void* data;
  napi_value* items;
  napi_callback function;
};

/* The arguments of a call that is going on, and what it has thrown: the code of the error. */
struct napi_callback_info__ {
  size_t count;
  napi_value* arguments;
};

/* Functions of the addon by their names. */
napi_callback function_named(const char* name);

/* The code of the error that was thrown since this was last asked, or NULL. */
const char* thrown(void);

/* Zeros, until `free_memory`. */
void* memory(size_t bytes);
void free_memory(void);

napi_value new_value(int kind);

/* Ends the program with a sentence. */
void give_up(const char* what, const char* of);

#endif
