/* The index of keys as functions of typed arrays. */
#include "../../kernels/keys/keys.h"
#include "functions.h"

#include <string.h>

/* groups, entries, shards: three arguments, and the keys. */
static te_key_index read_index(call* c, array* groups, array* entries) {
  te_key_index index = {NULL, NULL, 0, 0, 0};
  *groups = typed(c, 0, "groups", napi_int32_array);
  *entries = typed(c, 1, "entries", napi_int32_array);
  const int32_t shards = (int32_t)whole(c, 2, "shards", 1, 256);
  if (c->failed) return index;
  const size_t unit = (size_t)shards * TE_GROUP_WORDS;
  if ((shards & (shards - 1)) != 0 || groups->length % unit != 0 || groups->length == 0) {
    fail_range(c, "groups", "expected whole groups of %d words for %d shards, received %zu words", TE_GROUP_WORDS,
               (int)shards, groups->length);
  }
  if (!c->failed && (entries->length % TE_ENTRY_WORDS != 0 || entries->length == 0)) {
    fail_range(c, "entries", "expected entries of %d words, received %zu words", TE_ENTRY_WORDS, entries->length);
  }
  if (!c->failed && (groups->shared || entries->shared)) {
    fail_range(c, "groups", "expected memory of its own, received shared memory");
  }
  if (!c->failed) must_differ(c, *groups, *entries, "groups");
  if (c->failed) return index;
  index.groups = (const int32_t*)groups->data;
  index.entries = (int32_t*)entries->data;
  index.capacity = (int64_t)(entries->length / TE_ENTRY_WORDS);
  index.shard_groups = (int64_t)(groups->length / unit);
  index.shards = shards;
  return index;
}

static array written(call* c, int index, const char* name, size_t length) {
  const array result = typed(c, index, name, napi_int32_array);
  if (!c->failed && result.length != length) {
    fail_range(c, name, "expected %zu numbers, received %zu", length, result.length);
  }
  return result;
}

static array read_keys(call* c) {
  const array keys = typed(c, 3, "keys", napi_int32_array);
  if (!c->failed && keys.length % 2 != 0) fail_range(c, "keys", "expected two words a key, received %zu", keys.length);
  return keys;
}

/* findKeys(groups, entries, shards, keys, oldest, found) -> how many have no row */
napi_value find_keys(napi_env env, napi_callback_info info) {
  call c;
  array groups, entries;
  int64_t unknown = 0;
  begin(&c, env, info);
  const te_key_index index = read_index(&c, &groups, &entries);
  const array keys = read_keys(&c);
  const int32_t oldest = (int32_t)whole(&c, 4, "oldest", INT32_MIN, INT32_MAX);
  const array found = c.failed ? (array){0} : written(&c, 5, "found", keys.length / 2);
  if (!c.failed) {
    const array others[] = {groups, entries, keys};
    for (int i = 0; i < 3; i++) must_differ(&c, found, others[i], "found");
  }
  if (!c.failed) {
    unknown = te_find_keys(&index, (const int32_t*)keys.data, (int64_t)found.length, oldest, (int32_t*)found.data);
  }
  finish(&c);
  return c.failed ? NULL : new_number(env, (double)unknown);
}

/* touchKeys(groups, entries, shards, keys, step, oldest, found, before) -> how many entries `before` tells of */
napi_value touch_keys(napi_env env, napi_callback_info info) {
  call c;
  array groups, entries;
  int64_t noted = 0;
  begin(&c, env, info);
  const te_key_index index = read_index(&c, &groups, &entries);
  const array keys = read_keys(&c);
  const int32_t step = (int32_t)whole(&c, 4, "step", 0, INT32_MAX);
  const int32_t oldest = (int32_t)whole(&c, 5, "oldest", INT32_MIN, INT32_MAX);
  const array found = c.failed ? (array){0} : written(&c, 6, "found", keys.length / 2);
  const array before = c.failed ? (array){0} : written(&c, 7, "before", keys.length / 2 * 3);
  if (!c.failed) {
    const array others[] = {groups, entries, keys};
    for (int i = 0; i < 3; i++) {
      must_differ(&c, found, others[i], "found");
      must_differ(&c, before, others[i], "before");
    }
    must_differ(&c, entries, keys, "entries");
    must_differ(&c, found, before, "found");
  }
  if (!c.failed) {
    noted = te_touch_keys(&index, (const int32_t*)keys.data, (int64_t)found.length, step, oldest, (int32_t*)found.data,
                          (int32_t*)before.data);
  }
  finish(&c);
  return c.failed ? NULL : new_number(env, (double)noted);
}

/*
 * lowestRows(entries, shards, shard, used, step, word, rows, room) -> how many of at most rows.length it wrote; room: 3
 * words for each of the `used` rows of the shard
 */
napi_value lowest_rows(napi_env env, napi_callback_info info) {
  call c;
  te_shard_rows of = {0};
  int64_t written_rows = 0;
  begin(&c, env, info);
  const array entries = typed(&c, 0, "entries", napi_int32_array);
  of.shards = (int32_t)whole(&c, 1, "shards", 1, 256);
  of.shard = c.failed ? 0 : (int32_t)whole(&c, 2, "shard", 0, of.shards - 1);
  of.used = whole(&c, 3, "used", 0, INT32_MAX);
  const int32_t step = (int32_t)whole(&c, 4, "step", 0, INT32_MAX);
  const int32_t word = (int32_t)whole(&c, 5, "word", 2, 3);
  const array rows = typed(&c, 6, "rows", napi_int32_array);
  const array room = c.failed ? (array){0} : written(&c, 7, "room", 3 * (size_t)of.used);
  const int64_t capacity = (int64_t)(entries.length / TE_ENTRY_WORDS);
  if (!c.failed && of.used > 0 && (of.used - 1) * of.shards + of.shard >= capacity) {
    fail_range(&c, "used", "expected rows of a table of %lld, received %lld in shard %d of %d", (long long)capacity,
               (long long)of.used, (int)of.shard, (int)of.shards);
  }
  if (!c.failed) {
    must_differ(&c, rows, entries, "rows");
    must_differ(&c, room, entries, "room");
    must_differ(&c, room, rows, "room");
  }
  if (!c.failed) {
    written_rows = te_lowest_rows((const int32_t*)entries.data, &of, step, word, (int64_t)rows.length,
                                  (int32_t*)rows.data, (int32_t*)room.data);
  }
  finish(&c);
  return c.failed ? NULL : new_number(env, (double)written_rows);
}

/*
 * fillKeyedRows(kind, numbers, quantiles, seed, keys, columns, rows): rows [keys, columns] begin as a fill of this kind
 * says, each by the key that seed and its own key make. `fillInputs` says what the numbers are.
 */
napi_value fill_keyed_rows(napi_env env, napi_callback_info info) {
  call c;
  te_fill fill;
  begin(&c, env, info);
  memset(&fill, 0, sizeof fill);
  fill.kind = (int32_t)whole(&c, 0, "kind", TE_FILL_UNIFORM, TE_FILLS - 1);
  const array numbers = typed(&c, 1, "numbers", napi_float64_array);
  const array quantiles = typed(&c, 2, "quantiles", napi_float64_array);
  const array seed = typed(&c, 3, "seed", napi_int32_array);
  const array keys = typed(&c, 4, "keys", napi_int32_array);
  const int64_t columns = whole(&c, 5, "columns", 1, INT32_MAX);
  const array rows = typed(&c, 6, "rows", napi_float32_array);
  const size_t terms = fill.kind == TE_FILL_UNIFORM ? 0 : TE_QUANTILES;
  if (!c.failed && numbers.length != 3) fail_range(&c, "numbers", "expected 3 numbers, received %zu", numbers.length);
  if (!c.failed && quantiles.length < terms) {
    fail_range(&c, "quantiles", "expected %d numbers, received %zu", TE_QUANTILES, quantiles.length);
  }
  if (!c.failed && seed.length != 2) fail_range(&c, "seed", "expected 2 words, received %zu", seed.length);
  if (!c.failed && keys.length % 2 != 0) fail_range(&c, "keys", "expected two words a key, received %zu", keys.length);
  if (!c.failed && (uint64_t)(keys.length / 2) * (uint64_t)columns != (uint64_t)rows.length) {
    fail_range(&c, "rows", "expected %zu rows of %lld numbers, received %zu", keys.length / 2, (long long)columns,
               rows.length);
  }
  if (!c.failed) {
    memcpy(fill.numbers, numbers.data, sizeof fill.numbers);
    /* Of the tail whole numbers below 2^32 are places in the table, with any word. */
    if (fill.kind == TE_FILL_TRUNCATED_NORMAL && !(fill.numbers[2] >= 1.0 && fill.numbers[2] <= 4294967295.0)) {
      fail_range(&c, "numbers", "expected a tail from 1 to 2^32 - 1, received another one");
    }
    const array others[] = {numbers, quantiles, seed, keys};
    for (int i = 0; i < 4; i++) must_differ(&c, rows, others[i], "rows");
  }
  if (!c.failed) {
    memcpy(fill.key, seed.data, sizeof fill.key);
    fill.quantiles = (const double*)quantiles.data;
    te_fill_keyed_rows(&fill, (const int32_t*)keys.data, (int64_t)(keys.length / 2), columns, (float*)rows.data);
  }
  finish(&c);
  return NULL;
}
