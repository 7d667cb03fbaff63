/* Graphs of captured steps, built and released from JavaScript. */
#include "../shared/graphs.h"
#include "functions.h"

/* buildGraph(definition, feeds, fetches, targets): its number; names each end in a line feed. Throws what is wrong. */
napi_value build_graph(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const array definition = private_copy(&c, byte_array(&c, 0, "definition"), "definition");
#if defined(TE_WITH_TENSORFLOW)
  static const char* const names[] = {"feeds", "fetches", "targets"};
  const char* texts[3] = {NULL, NULL, NULL};
  char problem[2048] = "";
  int32_t number = 0;
  for (int i = 0; i < 3; i++) texts[i] = text_argument(&c, i + 1, names[i]);
  if (!c.failed) {
    number = te_graph_build(definition.data, definition.length, texts[0], texts[1], texts[2], problem, sizeof problem);
  }
  if (!c.failed && number == 0) napi_throw_error(env, "ERR_GRAPH", problem);
  finish(&c);
  return c.failed || number == 0 ? NULL : new_number(env, number);
#else
  (void)definition;
  if (!c.failed) fail_type(&c, "definition", "built without TensorFlow");
  finish(&c);
  return NULL;
#endif
}

/* unsizedPlace(definition, places): the first place whose shape the numbers decide, or -1. Throws what is wrong. */
napi_value unsized_place(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const array definition = private_copy(&c, byte_array(&c, 0, "definition"), "definition");
  const char* places = c.failed ? NULL : text_argument(&c, 1, "places");
  int32_t place = -1;
#if defined(TE_WITH_TENSORFLOW)
  char problem[2048] = "";
  if (!c.failed) place = te_graph_unsized(definition.data, definition.length, places, problem, sizeof problem);
  if (!c.failed && place == -2) napi_throw_error(env, "ERR_GRAPH", problem);
#else
  (void)definition;
  (void)places;
  if (!c.failed) fail_type(&c, "definition", "built without TensorFlow");
#endif
  finish(&c);
  return c.failed || place == -2 ? NULL : new_number(env, place);
}

/* releaseGraph(number): one that is not there is no error. */
napi_value release_graph(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t number = whole(&c, 0, "number", 0, INT32_MAX);
#if defined(TE_WITH_TENSORFLOW)
  if (!c.failed) te_graph_release((int32_t)number);
#else
  (void)number;
#endif
  return NULL;
}

/* graphCount(): how many are there. */
napi_value graph_count(napi_env env, napi_callback_info info) {
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  return new_number(env, te_graph_count());
#else
  return new_number(env, 0);
#endif
}
