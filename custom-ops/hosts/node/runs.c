/* Groups of runs, started from JavaScript. */
#include "functions.h"
#include "servers.h"

#define MOST_RUNS 4096
#define MOST_DIMENSIONS 16
/* No product of sizes runs over. */
#define MOST_ELEMENTS ((uint64_t)1 << 40)

/* A run as it was given. While lists are walked through, getters may run and arrays go away: those come afterwards. */
typedef struct given_run {
  napi_value options, shapes, halves;
  uint32_t count;
  napi_value* values; /* typed arrays, or NULL where there are texts */
  te_text** texts;
  size_t* text_counts;
  te_run run;
} given_run;

static const char LIST_OF_RUNS[] =
    "expected a list of runs: [options, feeds, values, shapes, halves, fetches, targets]";

/* NULL, with an error, where memory is short. */
static void* some_memory(call* c, size_t count, size_t bytes) {
  void* memory = c->failed ? NULL : own_memory(c, count * bytes + 1);
  if (memory == NULL) {
    fail_range(c, "runs", "expected runs that fit into memory");
  } else {
    memset(memory, 0, count * bytes + 1);
  }
  return memory;
}

/* The length of a list; elsewhere an error. */
static uint32_t list_length(call* c, napi_value list, const char* name, const char* expected) {
  bool is_array = false;
  uint32_t length = 0;
  if (c->failed) return 0;
  if (napi_is_array(c->env, list, &is_array) != napi_ok || !is_array ||
      napi_get_array_length(c->env, list, &length) != napi_ok) {
    fail_type(c, name, expected);
  }
  return c->failed ? 0 : length;
}

static napi_value element(call* c, napi_value list, uint32_t at, const char* name) {
  napi_value value = NULL;
  if (!c->failed && napi_get_element(c->env, list, at, &value) != napi_ok) fail_type(c, name, "cannot be read");
  return value;
}

static void read_texts(call* c, napi_value list, given_run* given, uint32_t at) {
  const uint32_t count = list_length(c, list, "values", "expected a list of texts");
  te_text* texts = some_memory(c, count, sizeof *texts);
  for (uint32_t i = 0; i < count && !c->failed; i++) {
    texts[i].bytes = text_value(c, element(c, list, i, "values"), "values", &texts[i].length);
  }
  given->texts[at] = texts;
  given->text_counts[at] = count;
}

/* What may run JavaScript. */
static void read_lists(call* c, napi_value run, given_run* given) {
  napi_value parts[7];
  if (list_length(c, run, "runs", LIST_OF_RUNS) != 7) fail_type(c, "runs", LIST_OF_RUNS);
  for (uint32_t i = 0; i < 7; i++) parts[i] = element(c, run, i, "runs");
  given->run.feeds = text_value(c, parts[1], "feeds", NULL);
  given->run.fetches = text_value(c, parts[5], "fetches", NULL);
  given->run.targets = text_value(c, parts[6], "targets", NULL);
  given->count = list_length(c, parts[2], "values", "expected a list of typed arrays and lists of texts");
  given->values = some_memory(c, given->count, sizeof *given->values);
  given->texts = some_memory(c, given->count, sizeof *given->texts);
  given->text_counts = some_memory(c, given->count, sizeof *given->text_counts);
  for (uint32_t i = 0; i < given->count && !c->failed; i++) {
    bool is_list = false;
    const napi_value value = element(c, parts[2], i, "values");
    if (!c->failed && napi_is_array(c->env, value, &is_list) == napi_ok && is_list) {
      read_texts(c, value, given, i);
    } else {
      given->values[i] = value;
    }
  }
  given->options = parts[0];
  given->shapes = parts[3];
  given->halves = parts[4];
}

static void read_value(call* c, const given_run* given, uint32_t i, bool is_half, te_feed* feed) {
  if (given->texts[i] != NULL) {
    feed->type = TE_TENSOR_STRING;
    feed->texts = given->texts[i];
    feed->count = given->text_counts[i];
    if (is_half) fail_range(c, "halves", "expected 0 for texts, received 1");
    return;
  }
  napi_typedarray_type kind = napi_float32_array;
  const array data = numbers_value(c, given->values[i], "values", &kind);
  if (c->failed) return;
  switch (kind) {
    case napi_float32_array:
      feed->type = is_half ? TE_TENSOR_HALF : TE_TENSOR_FLOAT32;
      break;
    case napi_float64_array:
      feed->type = TE_TENSOR_FLOAT64;
      break;
    case napi_int32_array:
      feed->type = TE_TENSOR_INT32;
      break;
    case napi_uint8_array:
      feed->type = TE_TENSOR_UINT8;
      break;
    default:
      fail_type(c, "values", "expected Float32Array, Float64Array, Int32Array, Uint8Array or a list of texts");
      return;
  }
  if (is_half && kind != napi_float32_array) fail_range(c, "halves", "expected 1 for Float32Array only");
  feed->data = data.data;
  feed->count = data.length;
}

/* Takes the sizes of a value from `shapes`, at `at`. */
static void read_shape(call* c, array shapes, size_t* at, te_feed* feed) {
  const int32_t* numbers = (const int32_t*)shapes.data;
  if (c->failed) return;
  const size_t left = shapes.length - *at;
  if (left < 1 || numbers[*at] < 0 || numbers[*at] > MOST_DIMENSIONS || (size_t)numbers[*at] >= left) {
    fail_range(c, "shapes", "expected a rank of at most %d and as many sizes for each value", MOST_DIMENSIONS);
    return;
  }
  feed->rank = numbers[*at];
  feed->sizes = numbers + *at + 1;
  *at += 1 + (size_t)feed->rank;
  uint64_t count = 1, bound = 1;
  for (int32_t i = 0; i < feed->rank && bound <= MOST_ELEMENTS; i++) {
    if (feed->sizes[i] < 0) {
      fail_range(c, "shapes", "expected no negative size, received %d", feed->sizes[i]);
      return;
    }
    count *= (uint64_t)feed->sizes[i];
    bound *= feed->sizes[i] == 0 ? 1 : (uint64_t)feed->sizes[i];
  }
  if (bound > MOST_ELEMENTS || count != feed->count) {
    fail_range(c, "shapes", "expected sizes of %zu elements, received others", feed->count);
  }
}

/* What runs no JavaScript. */
static void read_arrays(call* c, given_run* given) {
  const array options = bytes_value(c, given->options, "options");
  const array halves = bytes_value(c, given->halves, "halves");
  const array shapes = private_copy(c, typed_value(c, given->shapes, "shapes", napi_int32_array), "shapes");
  te_feed* feeds = some_memory(c, given->count, sizeof *feeds);
  if (!c->failed && halves.length != given->count) {
    fail_range(c, "halves", "expected one for each of %u values, received %zu", given->count, halves.length);
  }
  size_t at = 0;
  for (uint32_t i = 0; i < given->count && !c->failed; i++) {
    const uint8_t half = ((const uint8_t*)halves.data)[i];
    if (half > 1) fail_range(c, "halves", "expected 0 or 1, received %d", half);
    read_value(c, given, i, half == 1, &feeds[i]);
    read_shape(c, shapes, &at, &feeds[i]);
  }
  if (!c->failed && at != shapes.length) {
    fail_range(c, "shapes", "expected %zu numbers, received %zu", at, shapes.length);
  }
  given->run.options = options.data;
  given->run.option_bytes = options.length;
  given->run.values = feeds;
  given->run.value_count = given->count;
}

/* startRuns(session, runs): the number of a group, whose runs go side by side. What they are fed is copied. */
napi_value start_runs(napi_env env, napi_callback_info info) {
  call c;
  int32_t group = 0;
  begin(&c, env, info);
  const int64_t session = whole(&c, 0, "session", 0, INT32_MAX);
  const uint32_t count = list_length(&c, c.arguments[1], "runs", LIST_OF_RUNS);
  if (!c.failed && (count < 1 || count > MOST_RUNS)) {
    fail_range(&c, "runs", "expected 1 to %d, received %u", MOST_RUNS, count);
  }
  given_run* given = some_memory(&c, count, sizeof *given);
  te_run* runs = some_memory(&c, count, sizeof *runs);
  for (uint32_t i = 0; i < count && !c.failed; i++) {
    read_lists(&c, element(&c, c.arguments[1], i, "runs"), &given[i]);
  }
  for (uint32_t i = 0; i < count && !c.failed; i++) {
    read_arrays(&c, &given[i]);
    runs[i] = given[i].run;
  }
#if defined(TE_WITH_TENSORFLOW)
  te_problem problem;
  if (!c.failed) {
    group = te_group_start((int32_t)session, runs, count, &problem);
    if (group == 0 && problem.is_unknown) fail_problem(&c, &problem, "session");
    if (group == 0 && !c.failed) {
      c.failed = true;
      napi_throw_range_error(env, "ERR_OUT_OF_RANGE", problem.text);
    }
  }
#else
  (void)session;
  (void)runs;
  fail_without_tensorflow(&c, "session");
#endif
  finish(&c);
  return c.failed ? NULL : new_number(env, group);
}

/* forgetRuns(group): nobody asks for it any more; it ends by itself. */
napi_value forget_runs(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t group = whole(&c, 0, "group", 0, INT32_MAX);
#if defined(TE_WITH_TENSORFLOW)
  te_outcomes* const outcomes = c.failed ? NULL : te_group_take((int32_t)group);
  if (outcomes != NULL) {
    te_outcomes_free(outcomes);
  } else if (!c.failed) {
    fail_range(&c, "group", "expected one that was started and not finished, received %lld", (long long)group);
  }
#else
  (void)group;
  fail_without_tensorflow(&c, "group");
#endif
  finish(&c);
  return NULL;
}

/* runsAreDone(group): whether finishRuns would not wait. */
napi_value runs_are_done(napi_env env, napi_callback_info info) {
  call c;
  napi_value result = NULL;
  begin(&c, env, info);
  const int64_t group = whole(&c, 0, "group", 0, INT32_MAX);
#if defined(TE_WITH_TENSORFLOW)
  const te_group_state state = c.failed ? TE_GROUP_UNKNOWN : te_group_look((int32_t)group);
  if (!c.failed && state == TE_GROUP_UNKNOWN) {
    fail_range(&c, "group", "expected one that was started and not finished, received %lld", (long long)group);
  }
  if (!c.failed) napi_get_boolean(env, state == TE_GROUP_HAS_ENDED, &result);
#else
  (void)group;
  fail_without_tensorflow(&c, "group");
#endif
  finish(&c);
  return result;
}
