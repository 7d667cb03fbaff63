/* What has become of runs, as JavaScript takes it: at once, or as a promise. */
#include "functions.h"
#include "servers.h"

#if defined(TE_WITH_TENSORFLOW)

/* Arrays of the caller, one list for each run; a run without a list has NULL. */
typedef struct targets {
  uint32_t runs;
  uint32_t* counts;
  napi_value** arrays; /* NULL where a fresh one is asked for */
} targets;

static const char LISTS_OF_ARRAYS[] = "expected null, or a list for each run of typed arrays and nulls";

static bool is_nothing(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env, value, &type);
  return type == napi_null || type == napi_undefined;
}

/* Getters may run here; arrays are looked at when the runs have ended. */
static targets read_targets(call* c, int index) {
  targets into = {0, NULL, NULL};
  bool is_array = false;
  const napi_value list = c->arguments[index];
  if (c->failed || absent(c, index)) return into;
  if (napi_is_array(c->env, list, &is_array) != napi_ok || !is_array ||
      napi_get_array_length(c->env, list, &into.runs) != napi_ok) {
    fail_type(c, "into", LISTS_OF_ARRAYS);
    return into;
  }
  into.counts = own_memory(c, into.runs * sizeof *into.counts + 1);
  into.arrays = own_memory(c, into.runs * sizeof *into.arrays + 1);
  if (into.counts == NULL || into.arrays == NULL) fail_range(c, "into", "expected lists that fit into memory");
  for (uint32_t run = 0; run < into.runs && !c->failed; run++) {
    napi_value inner;
    uint32_t count = 0;
    if (napi_get_element(c->env, list, run, &inner) != napi_ok || napi_is_array(c->env, inner, &is_array) != napi_ok ||
        !is_array || napi_get_array_length(c->env, inner, &count) != napi_ok) {
      fail_type(c, "into", LISTS_OF_ARRAYS);
      return into;
    }
    into.counts[run] = count;
    into.arrays[run] = own_memory(c, count * sizeof **into.arrays + 1);
    if (into.arrays[run] == NULL) fail_range(c, "into", "expected lists that fit into memory");
    for (uint32_t i = 0; i < count && !c->failed; i++) {
      napi_value array;
      if (napi_get_element(c->env, inner, i, &array) != napi_ok) fail_type(c, "into", "cannot be read");
      if (c->failed) return into;
      into.arrays[run][i] = is_nothing(c->env, array) ? NULL : array;
      if (into.arrays[run][i] != NULL) {
        napi_typedarray_type kind;
        numbers_value(c, array, "into", &kind);
      }
    }
  }
  return into;
}

typedef struct array_kind {
  napi_typedarray_type type;
  size_t bytes; /* of an element */
} array_kind;

static array_kind kind_of(te_tensor_type type) {
  switch (type) {
    case TE_TENSOR_FLOAT64:
      return (array_kind){napi_float64_array, 8};
    case TE_TENSOR_INT32:
      return (array_kind){napi_int32_array, 4};
    case TE_TENSOR_INT64:
      return (array_kind){napi_bigint64_array, 8};
    case TE_TENSOR_UINT8:
    case TE_TENSOR_BOOL:
      return (array_kind){napi_uint8_array, 1};
    default:
      return (array_kind){napi_float32_array, 4};
  }
}

/* Whether every array is of the kind and length of what it takes. */
static void check_targets(call* c, const targets* into, const te_outcomes* of) {
  const size_t runs = te_outcome_count(of);
  if (c->failed || into->arrays == NULL) return;
  if (into->runs != runs) fail_range(c, "into", "expected a list for each of %zu runs, received %u", runs, into->runs);
  for (size_t run = 0; run < runs && !c->failed; run++) {
    const te_outcome outcome = te_outcome_at(of, run);
    if (outcome.code != 0) continue;
    if (into->counts[run] != outcome.fetched) {
      fail_range(c, "into", "expected %zu arrays for run %zu, received %u", outcome.fetched, run, into->counts[run]);
    }
    for (size_t i = 0; i < outcome.fetched && !c->failed; i++) {
      if (into->arrays[run][i] == NULL) continue;
      const te_fetched fetched = te_fetched_at(of, run, i);
      napi_typedarray_type kind = napi_uint8_array;
      const array target = numbers_value(c, into->arrays[run][i], "into", &kind);
      const bool fits = fetched.type != TE_TENSOR_STRING && kind == kind_of(fetched.type).type;
      if (!c->failed && (!fits || target.length != fetched.count)) {
        fail_range(c, "into",
                   "expected an array for %zu elements of type %d for fetch %zu of run %zu, received another",
                   fetched.count, (int)fetched.type, i, run);
      }
    }
  }
}

static void copy_elements(const te_fetched* fetched, void* target) {
  if (fetched->count == 0) return;
  if (fetched->type == TE_TENSOR_HALF) {
    te_halves_to_floats((const uint16_t*)fetched->data, (int64_t)fetched->count, (float*)target);
  } else {
    memcpy(target, fetched->data, fetched->count * kind_of(fetched->type).bytes);
  }
}

/* The elements in an array of the caller's, in a fresh one where that is NULL, or as a list of texts; NULL: no memory. */
static napi_value new_value(napi_env env, const te_outcomes* of, size_t run, size_t fetch, napi_value target) {
  const te_fetched fetched = te_fetched_at(of, run, fetch);
  napi_value result = NULL, buffer, text;
  void* data = NULL;
  if (fetched.type == TE_TENSOR_STRING) {
    if (napi_create_array_with_length(env, fetched.count, &result) != napi_ok) return NULL;
    for (size_t i = 0; i < fetched.count; i++) {
      const te_text each = te_fetched_text(of, run, fetch, i);
      if (napi_create_string_utf8(env, each.bytes, each.length, &text) != napi_ok) return NULL;
      napi_set_element(env, result, (uint32_t)i, text);
    }
    return result;
  }
  if (target != NULL) {
    size_t length = 0;
    if (napi_get_typedarray_info(env, target, NULL, &length, &data, NULL, NULL) != napi_ok) return NULL;
    if (length == fetched.count) copy_elements(&fetched, data);
    return target;
  }
  const array_kind kind = kind_of(fetched.type);
  if (napi_create_arraybuffer(env, fetched.count * kind.bytes, &data, &buffer) != napi_ok) return NULL;
  copy_elements(&fetched, data);
  return napi_create_typedarray(env, kind.type, fetched.count, buffer, 0, &result) == napi_ok ? result : NULL;
}

static napi_value new_shape(napi_env env, const te_fetched* fetched) {
  napi_value result = NULL, buffer;
  void* data = NULL;
  const size_t rank = (size_t)fetched->rank;
  if (napi_create_arraybuffer(env, rank * sizeof(int32_t), &data, &buffer) != napi_ok) return NULL;
  for (size_t i = 0; i < rank; i++) ((int32_t*)data)[i] = (int32_t)fetched->sizes[i];
  return napi_create_typedarray(env, napi_int32_array, rank, buffer, 0, &result) == napi_ok ? result : NULL;
}

/* {code, message, ms, values, shapes} for each run; NULL where JavaScript has no memory. */
static napi_value new_results(napi_env env, const te_outcomes* of, const targets* into) {
  napi_value results, result, values, shapes, message;
  const size_t runs = te_outcome_count(of);
  if (napi_create_array_with_length(env, runs, &results) != napi_ok) return NULL;
  for (size_t run = 0; run < runs; run++) {
    const te_outcome outcome = te_outcome_at(of, run);
    if (napi_create_object(env, &result) != napi_ok ||
        napi_create_array_with_length(env, outcome.fetched, &values) != napi_ok ||
        napi_create_array_with_length(env, outcome.fetched, &shapes) != napi_ok ||
        napi_create_string_utf8(env, outcome.message, NAPI_AUTO_LENGTH, &message) != napi_ok) {
      return NULL;
    }
    for (size_t i = 0; i < outcome.fetched; i++) {
      const te_fetched fetched = te_fetched_at(of, run, i);
      const napi_value value = new_value(env, of, run, i, into->arrays == NULL ? NULL : into->arrays[run][i]);
      const napi_value shape = new_shape(env, &fetched);
      if (value == NULL || shape == NULL) return NULL;
      napi_set_element(env, values, (uint32_t)i, value);
      napi_set_element(env, shapes, (uint32_t)i, shape);
    }
    napi_set_named_property(env, result, "code", new_number(env, outcome.code));
    napi_set_named_property(env, result, "message", message);
    napi_set_named_property(env, result, "ms", new_number(env, outcome.ms));
    napi_set_named_property(env, result, "values", values);
    napi_set_named_property(env, result, "shapes", shapes);
    napi_set_element(env, results, (uint32_t)run, result);
  }
  return results;
}

static void fail_unknown_group(call* c, int64_t group) {
  fail_range(c, "group", "expected one that was started and not finished, received %lld", (long long)group);
}

/* A promise of outcomes. The function that threads may call keeps JavaScript's loop alive until then. */
typedef struct promised {
  napi_deferred deferred;
  napi_threadsafe_function settle;
  te_outcomes* outcomes;
} promised;

/* In a thread of the session, or in this one; never after te_group_forget. */
static void tell_ended(void* data) {
  promised* p = data;
  if (napi_call_threadsafe_function(p->settle, NULL, napi_tsfn_nonblocking) == napi_ok) {
    napi_release_threadsafe_function(p->settle, napi_tsfn_release);
  }
}

static void settle_promise(napi_env env, napi_value callback, void* context, void* data) {
  promised* p = context;
  const targets fresh = {0, NULL, NULL};
  napi_value text, error;
  (void)callback;
  (void)data;
  if (env == NULL) return; /* JavaScript ends */
  const napi_value results = new_results(env, p->outcomes, &fresh);
  if (results != NULL) {
    napi_resolve_deferred(env, p->deferred, results);
  } else if (napi_create_string_utf8(env, "results that JavaScript has no memory for", NAPI_AUTO_LENGTH, &text) ==
                 napi_ok &&
             napi_create_error(env, NULL, text, &error) == napi_ok) {
    napi_reject_deferred(env, p->deferred, error);
  }
}

static void free_promise(napi_env env, void* data, void* hint) {
  promised* p = data;
  (void)env;
  (void)hint;
  te_group_forget(p->outcomes);
  te_outcomes_free(p->outcomes);
  free(p);
}

static napi_value promise_outcomes(call* c, int64_t group) {
  napi_value name, promise = NULL;
  promised* p = calloc(1, sizeof *p);
  if (p == NULL) {
    fail_range(c, "group", "expected memory for a promise, and there is none");
    return NULL;
  }
  p->outcomes = te_group_take((int32_t)group);
  if (p->outcomes == NULL) {
    fail_unknown_group(c, group);
  } else if (napi_create_string_utf8(c->env, "finishRunsAsync", NAPI_AUTO_LENGTH, &name) != napi_ok ||
             napi_create_threadsafe_function(c->env, NULL, NULL, name, 0, 1, p, free_promise, p, settle_promise,
                                             &p->settle) != napi_ok) {
    te_outcomes_free(p->outcomes);
    fail_type(c, "group", "no promise can be made");
  } else if (napi_create_promise(c->env, &p->deferred, &promise) != napi_ok) {
    napi_release_threadsafe_function(p->settle, napi_tsfn_abort);
    fail_type(c, "group", "no promise can be made");
    return NULL;
  } else {
    te_group_when_ended(p->outcomes, tell_ended, p);
    return promise;
  }
  free(p);
  return NULL;
}

#endif

/*
 * finishRuns(group, into): waits until the runs of a group have ended; an array of results. What is fetched is written
 * into the arrays of `into` where there are some. The group is finished then, whatever is wrong with those.
 */
napi_value finish_runs(napi_env env, napi_callback_info info) {
  call c;
  napi_value results = NULL;
  begin(&c, env, info);
  const int64_t group = whole(&c, 0, "group", 0, INT32_MAX);
#if defined(TE_WITH_TENSORFLOW)
  const targets into = read_targets(&c, 1);
  te_outcomes* outcomes = c.failed ? NULL : te_group_finish((int32_t)group);
  if (!c.failed && outcomes == NULL) fail_unknown_group(&c, group);
  if (outcomes != NULL) {
    check_targets(&c, &into, outcomes);
    if (!c.failed) results = new_results(env, outcomes, &into);
    if (!c.failed && results == NULL) fail_range(&c, "group", "expected results that JavaScript has memory for");
    te_outcomes_free(outcomes);
  }
#else
  (void)group;
  fail_without_tensorflow(&c, "group");
#endif
  finish(&c);
  return results;
}

/* finishRunsAsync(group): a promise of the results, all of them fresh. */
napi_value finish_runs_async(napi_env env, napi_callback_info info) {
  call c;
  napi_value promise = NULL;
  begin(&c, env, info);
  const int64_t group = whole(&c, 0, "group", 0, INT32_MAX);
#if defined(TE_WITH_TENSORFLOW)
  if (!c.failed) promise = promise_outcomes(&c, group);
#else
  (void)group;
  fail_without_tensorflow(&c, "group");
#endif
  finish(&c);
  return promise;
}
