/* Vocabularies and hashes of columns as functions of typed arrays. */
#include "../../kernels/columns/columns.h"
#include "functions.h"

static array numbers64(call* c, int index, const char* name) { return typed(c, index, name, napi_bigint64_array); }

/* bytes, offsets: two arguments from `index` on. */
static te_texts read_texts(call* c, int index, const char* bytes_name, const char* offsets_name, int32_t gap,
                           array read[2]) {
  te_texts texts = {NULL, NULL, 0, 0, gap};
  read[0] = byte_array(c, index, bytes_name);
  read[1] = private_copy(c, typed(c, index + 1, offsets_name, napi_int32_array), offsets_name);
  if (!c->failed && read[1].length < 1) fail_range(c, offsets_name, "expected at least one offset, received none");
  if (c->failed) return texts;
  texts.bytes = (const uint8_t*)read[0].data;
  texts.offsets = (const int32_t*)read[1].data;
  texts.count = (int64_t)read[1].length - 1;
  texts.size = (int64_t)read[0].length;
  const int64_t stray = te_stray_offset(&texts);
  if (stray >= 0) {
    fail_range(c, offsets_name, "expected offsets that never fall, within %zu bytes, received %d at position %lld",
               read[0].length, (int)texts.offsets[stray], (long long)stray);
  }
  return texts;
}

/* How many slots of so many words there are: a power of two, with room for `count`. */
static int64_t capacity_of(call* c, array slots, size_t words, int64_t count) {
  const uint64_t capacity = slots.length / words;
  if (c->failed) return 0;
  if (slots.length % words != 0 || capacity == 0 || (capacity & (capacity - 1)) != 0 || (int64_t)capacity < 2 * count ||
      slots.shared) {
    fail_range(c, "slots", "expected slots of %zu words in memory of their own, a power of two and at least twice %lld of them, received %zu words",
               words, (long long)count, slots.length);
  }
  return (int64_t)capacity;
}

static array written(call* c, int index, const char* name, int64_t length) {
  const array result = typed(c, index, name, napi_int32_array);
  if (!c->failed && (int64_t)result.length != length) {
    fail_range(c, name, "expected %lld numbers, received %zu", (long long)length, result.length);
  }
  return result;
}

/* indexTexts(bytes, offsets, slots) -> the position of a repeated text, or -1 */
napi_value index_texts(napi_env env, napi_callback_info info) {
  call c;
  array read[2];
  int64_t repeated = -1;
  begin(&c, env, info);
  const te_texts texts = read_texts(&c, 0, "bytes", "offsets", 0, read);
  const array slots = typed(&c, 2, "slots", napi_int32_array);
  const int64_t capacity = capacity_of(&c, slots, 4, texts.count);
  if (!c.failed) {
    must_differ(&c, slots, read[0], "slots");
    must_differ(&c, slots, read[1], "slots");
  }
  if (!c.failed) {
    memset(slots.data, 0, slots.bytes);
    repeated = te_index_texts(&texts, (int32_t*)slots.data, capacity);
  }
  finish(&c);
  return c.failed ? NULL : new_number(env, (double)repeated);
}

/* findTexts(bytes, slots, queryBytes, queryOffsets, gap, found) -> how many are unknown */
napi_value find_texts(napi_env env, napi_callback_info info) {
  call c;
  array queried[2];
  int64_t unknown = 0;
  begin(&c, env, info);
  const array bytes = byte_array(&c, 0, "bytes");
  const array slots = typed(&c, 1, "slots", napi_int32_array);
  const int64_t capacity = capacity_of(&c, slots, 4, 0);
  const int32_t gap = (int32_t)whole(&c, 4, "gap", 0, 1);
  const te_texts queries = read_texts(&c, 2, "queryBytes", "queryOffsets", gap, queried);
  const array found = written(&c, 5, "found", queries.count);
  if (!c.failed) {
    const array others[] = {bytes, slots, queried[0], queried[1]};
    for (int i = 0; i < 4; i++) must_differ(&c, found, others[i], "found");
  }
  if (!c.failed) {
    unknown = te_find_texts((const uint8_t*)bytes.data, (int64_t)bytes.length, (const int32_t*)slots.data, capacity,
                            &queries, (int32_t*)found.data);
  }
  finish(&c);
  return c.failed ? NULL : new_number(env, (double)unknown);
}

/* indexNumbers(numbers, slots) -> the position of a repeated number, or -1 */
napi_value index_numbers(napi_env env, napi_callback_info info) {
  call c;
  int64_t repeated = -1;
  begin(&c, env, info);
  const array numbers = numbers64(&c, 0, "numbers");
  const array slots = numbers64(&c, 1, "slots");
  const int64_t capacity = capacity_of(&c, slots, 2, (int64_t)numbers.length);
  if (!c.failed) must_differ(&c, slots, numbers, "slots");
  if (!c.failed) {
    memset(slots.data, 0, slots.bytes);
    repeated = te_index_numbers((const int64_t*)numbers.data, (int64_t)numbers.length, (int64_t*)slots.data, capacity);
  }
  finish(&c);
  return c.failed ? NULL : new_number(env, (double)repeated);
}

/* findNumbers(slots, queries, found) -> how many are unknown */
napi_value find_numbers(napi_env env, napi_callback_info info) {
  call c;
  int64_t unknown = 0;
  begin(&c, env, info);
  const array slots = numbers64(&c, 0, "slots");
  const int64_t capacity = capacity_of(&c, slots, 2, 0);
  const array queries = numbers64(&c, 1, "queries");
  const array found = written(&c, 2, "found", (int64_t)queries.length);
  if (!c.failed) {
    must_differ(&c, found, slots, "found");
    must_differ(&c, found, queries, "found");
  }
  if (!c.failed) {
    unknown = te_find_numbers((const int64_t*)slots.data, capacity, (const int64_t*)queries.data,
                              (int64_t)queries.length, (int32_t*)found.data);
  }
  finish(&c);
  return c.failed ? NULL : new_number(env, (double)unknown);
}

/* The two words of a key, which are copied, or NULL where there is none; `buckets`, which are written, lie elsewhere. */
static const uint64_t* read_key(call* c, int index, array buckets, uint64_t key[2]) {
  if (c->failed || absent(c, index)) return NULL;
  const array words = numbers64(c, index, "key");
  if (!c->failed) must_differ(c, buckets, words, "buckets");
  if (!c->failed && words.length != 2) fail_range(c, "key", "expected two numbers, received %zu", words.length);
  if (c->failed) return NULL;
  memcpy(key, words.data, 2 * sizeof *key);
  return key;
}

/* hashTexts(bytes, offsets, gap, of, key | null, buckets) */
napi_value hash_texts(napi_env env, napi_callback_info info) {
  call c;
  array read[2];
  uint64_t words[2];
  begin(&c, env, info);
  const int32_t gap = (int32_t)whole(&c, 2, "gap", 0, 1);
  const te_texts texts = read_texts(&c, 0, "bytes", "offsets", gap, read);
  const int64_t of = whole(&c, 3, "of", 1, INT32_MAX);
  const array buckets = written(&c, 5, "buckets", texts.count);
  const uint64_t* key = read_key(&c, 4, buckets, words);
  if (!c.failed) {
    must_differ(&c, buckets, read[0], "buckets");
    must_differ(&c, buckets, read[1], "buckets");
  }
  if (!c.failed) te_hash_texts(&texts, of, key, (int32_t*)buckets.data);
  finish(&c);
  return NULL;
}

/* fingerprintTexts(bytes, offsets, words) */
napi_value fingerprint_texts(napi_env env, napi_callback_info info) {
  call c;
  array read[2];
  begin(&c, env, info);
  const te_texts texts = read_texts(&c, 0, "bytes", "offsets", 0, read);
  const array words = written(&c, 2, "words", 2 * texts.count);
  if (!c.failed) {
    must_differ(&c, words, read[0], "words");
    must_differ(&c, words, read[1], "words");
  }
  if (!c.failed) te_fingerprint_texts(&texts, (uint32_t*)words.data);
  finish(&c);
  return NULL;
}

/* hashNumbers(numbers, of, key | null, buckets) */
napi_value hash_numbers(napi_env env, napi_callback_info info) {
  call c;
  uint64_t words[2];
  begin(&c, env, info);
  const array numbers = numbers64(&c, 0, "numbers");
  const int64_t of = whole(&c, 1, "of", 1, INT32_MAX);
  const array buckets = written(&c, 3, "buckets", (int64_t)numbers.length);
  const uint64_t* key = read_key(&c, 2, buckets, words);
  if (!c.failed) must_differ(&c, buckets, numbers, "buckets");
  if (!c.failed) {
    te_hash_numbers((const int64_t*)numbers.data, (int64_t)numbers.length, of, key, (int32_t*)buckets.data);
  }
  finish(&c);
  return NULL;
}

/* splitTexts(bytes, separator, offsets) -> how many texts there are, each ending in the separator; -1: not all of them */
napi_value split_texts(napi_env env, napi_callback_info info) {
  call c;
  int64_t count = 0;
  begin(&c, env, info);
  const array bytes = byte_array(&c, 0, "bytes");
  const uint8_t separator = (uint8_t)whole(&c, 1, "separator", 0, 255);
  const array offsets = typed(&c, 2, "offsets", napi_int32_array);
  if (!c.failed && (offsets.length < 1 || bytes.length > INT32_MAX)) {
    fail_range(&c, "offsets", "expected at least one, and fewer than 2^31 bytes, received %zu", offsets.length);
  }
  if (!c.failed) must_differ(&c, offsets, bytes, "offsets");
  if (!c.failed) {
    count = te_split_texts((const uint8_t*)bytes.data, (int64_t)bytes.length, separator, (int32_t*)offsets.data,
                           (int64_t)offsets.length - 1);
  }
  finish(&c);
  return c.failed ? NULL : new_number(env, (double)count);
}
