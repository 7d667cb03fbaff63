/* Servers of TensorFlow and sessions on them, made and closed from JavaScript. */
#include "servers.h"

#include "functions.h"

#if defined(TE_WITH_TENSORFLOW)
void fail_problem(call* c, const te_problem* problem, const char* unknown) {
  if (c->failed) return;
  if (problem->is_unknown) {
    fail_range(c, unknown, "%s", problem->text);
  } else {
    c->failed = true;
    napi_throw_error(c->env, "ERR_TENSORFLOW", problem->text);
  }
}
#else
void fail_without_tensorflow(call* c, const char* argument) { fail_type(c, argument, "built without TensorFlow"); }
#endif

/* startServer(definition): the target of a server, which lives as long as the process. Throws what TensorFlow says. */
napi_value start_server(napi_env env, napi_callback_info info) {
  call c;
  napi_value result = NULL;
  begin(&c, env, info);
  const array definition = byte_array(&c, 0, "definition");
#if defined(TE_WITH_TENSORFLOW)
  char target[512] = "";
  te_problem problem;
  if (!c.failed && !te_server_start(definition.data, definition.length, target, sizeof target, &problem)) {
    fail_problem(&c, &problem, "definition");
  }
  if (!c.failed) napi_create_string_utf8(env, target, NAPI_AUTO_LENGTH, &result);
#else
  (void)definition;
  fail_without_tensorflow(&c, "definition");
#endif
  finish(&c);
  return result;
}

/* openSession(target, config, graph, host, port): its number. Nothing is contacted. */
napi_value open_session(napi_env env, napi_callback_info info) {
  call c;
  int32_t number = 0;
  begin(&c, env, info);
  const char* target = text_argument(&c, 0, "target");
  const char* host = text_argument(&c, 3, "host");
  const int64_t port = whole(&c, 4, "port", 1, 65535);
  const array config = byte_array(&c, 1, "config");
  const array graph = byte_array(&c, 2, "graph");
  /* Other targets are sessions within this process. */
  if (!c.failed && strncmp(target, "grpc://", 7) != 0) {
    fail_range(&c, "target", "expected grpc://host:port, received %.100s", target);
  }
#if defined(TE_WITH_TENSORFLOW)
  te_problem problem;
  if (!c.failed) {
    number =
        te_session_open(target, config.data, config.length, graph.data, graph.length, host, (int32_t)port, &problem);
    if (number == 0) fail_problem(&c, &problem, "target");
  }
#else
  (void)host;
  (void)port;
  (void)config;
  (void)graph;
  fail_without_tensorflow(&c, "target");
#endif
  finish(&c);
  return c.failed ? NULL : new_number(env, number);
}

/* extendSession(session, graph, mapped): adds nodes for groups that are started later. */
napi_value extend_session(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t session = whole(&c, 0, "session", 0, INT32_MAX);
  const char* mapped = text_argument(&c, 2, "mapped");
  const array graph = byte_array(&c, 1, "graph");
#if defined(TE_WITH_TENSORFLOW)
  te_problem problem;
  if (!c.failed && !te_session_extend((int32_t)session, graph.data, graph.length, mapped, &problem)) {
    fail_problem(&c, &problem, "session");
  }
#else
  (void)session;
  (void)mapped;
  (void)graph;
  fail_without_tensorflow(&c, "session");
#endif
  finish(&c);
  return NULL;
}

/* closeSession(session): never waits. Groups that have not begun end with code 1. */
napi_value close_session(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t session = whole(&c, 0, "session", 0, INT32_MAX);
#if defined(TE_WITH_TENSORFLOW)
  if (!c.failed && !te_session_close((int32_t)session)) {
    fail_range(&c, "session", "expected one that is open, received %lld", (long long)session);
  }
#else
  (void)session;
  fail_without_tensorflow(&c, "session");
#endif
  finish(&c);
  return NULL;
}

/* kernelsAtWork(): how many run in this process, called by TensorFlow, and snapshots of tables there are. */
napi_value kernels_at_work(napi_env env, napi_callback_info info) {
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  return new_number(env, te_at_work());
#else
  return new_number(env, 0);
#endif
}

/* sessionInfo(): {sessions, threads, groups}: how many are there. */
napi_value session_info(napi_env env, napi_callback_info info) {
  napi_value result = NULL;
  te_session_counts counts = {0, 0, 0};
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  counts = te_count_sessions();
#endif
  if (napi_create_object(env, &result) != napi_ok) return NULL;
  napi_set_named_property(env, result, "sessions", new_number(env, counts.sessions));
  napi_set_named_property(env, result, "threads", new_number(env, counts.threads));
  napi_set_named_property(env, result, "groups", new_number(env, counts.groups));
  return result;
}
