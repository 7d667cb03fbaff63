/*
 * The index of keys. Keys go through in blocks: what a stage will read is on its way from memory while the stage before
 * works on the rest of the block.
 */
#include "keys.h"

#if !defined(__wasm__) /* called by the addon alone */
#include <string.h>

#define BLOCK 64
#define LAST 2
#define COUNT 3

/* Where a key would lie. */
typedef struct sought {
  const int32_t* first; /* group of its shard */
  int64_t home;
  uint32_t tag;
} sought;

/* fmix64 of MurmurHash3. */
TE_INLINE uint64_t hash_key(uint64_t key) {
  key ^= key >> 33;
  key *= 0xff51afd7ed558ccdu;
  key ^= key >> 33;
  key *= 0xc4ceb9fe1a85ec53u;
  return key ^ key >> 33;
}

TE_INLINE sought seek(const te_key_index* index, const int32_t* key) {
  const uint64_t hash = hash_key((uint64_t)(uint32_t)key[0] | (uint64_t)(uint32_t)key[1] << 32);
  const int64_t shard = (int64_t)(hash & (uint64_t)(index->shards - 1));
  sought s;
  s.first = index->groups + shard * index->shard_groups * TE_GROUP_WORDS;
  s.home = (int64_t)(((hash >> 32) * (uint64_t)index->shard_groups) >> 32);
  s.tag = 0x80u | (uint32_t)(hash >> 8 & 0x7f);
  return s;
}

/* Bytes of `tags` that equal `tag`, by their high bits; a byte above an equal one may be told wrongly. */
TE_INLINE uint64_t equal_bytes(uint64_t tags, uint64_t tag) {
  const uint64_t x = tags ^ tag * 0x0101010101010101u;
  return (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
}

/* The lowest byte with its high bit set. */
TE_INLINE int lowest_byte(uint64_t bytes) {
  int place = 0;
  while ((bytes & 0x80) == 0) bytes >>= 8, place++;
  return place;
}

TE_INLINE int32_t row_in(const te_key_index* index, const int32_t* group, uint64_t equal, int from, const int32_t* key) {
  for (; equal != 0; equal &= equal - 1) {
    const uint64_t lowest = equal & (0 - equal);
    const int32_t row = group[from + lowest_byte(lowest)];
    if ((uint32_t)row >= (uint64_t)index->capacity) continue;
    const int32_t* entry = index->entries + (int64_t)row * TE_ENTRY_WORDS;
    if (entry[0] == key[0] && entry[1] == key[1]) return row;
  }
  return -1;
}

/* The tags of a group: those of its first eight rows, and of the other four. */
TE_INLINE void tags_of(const int32_t* group, uint64_t tags[2]) {
  uint32_t last;
  memcpy(tags, group + TE_GROUP_ROWS, 8);
  memcpy(&last, group + TE_GROUP_ROWS + 2, 4);
  tags[1] = last;
}

TE_INLINE int32_t find_row(const te_key_index* index, const sought* s, const int32_t* key) {
  int64_t at = s->home;
  for (int64_t probe = 0; probe < index->shard_groups; probe++) {
    const int32_t* group = s->first + at * TE_GROUP_WORDS;
    uint64_t tags[2];
    tags_of(group, tags);
    int32_t row = row_in(index, group, equal_bytes(tags[0], s->tag), 0, key);
    if (row < 0) row = row_in(index, group, equal_bytes(tags[1], s->tag) & 0x80808080u, 8, key);
    if (row >= 0 || group[TE_GROUP_WORDS - 1] == 0) return row;
    at = at + 1 == index->shard_groups ? 0 : at + 1;
  }
  return -1;
}

/* Has the entry that the home group names on its way from memory. */
TE_INLINE void prefetch_entry(const te_key_index* index, const sought* s) {
  const int32_t* group = s->first + s->home * TE_GROUP_WORDS;
  uint64_t tags[2];
  tags_of(group, tags);
  uint64_t equal = equal_bytes(tags[0], s->tag);
  int from = 0;
  if (equal == 0) equal = equal_bytes(tags[1], s->tag) & 0x80808080u, from = 8;
  if (equal == 0) return;
  const int32_t row = group[from + lowest_byte(equal & (0 - equal))];
  te_prefetch_write((uintptr_t)index->entries + (uintptr_t)(uint32_t)row * sizeof(int32_t) * TE_ENTRY_WORDS);
}

/* Rows of a block of keys; each is in the index, or -1. */
TE_INLINE void find_block(const te_key_index* index, const int32_t* keys, int64_t count, int32_t oldest,
                          int32_t* found) {
  sought block[BLOCK];
  for (int64_t i = 0; i < count; i++) {
    block[i] = seek(index, keys + 2 * i);
    te_prefetch((uintptr_t)(block[i].first + block[i].home * TE_GROUP_WORDS));
  }
  for (int64_t i = 0; i < count; i++) prefetch_entry(index, &block[i]);
  for (int64_t i = 0; i < count; i++) {
    const int32_t row = find_row(index, &block[i], keys + 2 * i);
    const int is_there = row >= 0 && index->entries[(int64_t)row * TE_ENTRY_WORDS + LAST] >= oldest;
    found[i] = is_there ? row : -1;
  }
}

TE_INLINE int64_t block_of(int64_t at, int64_t count) { return count - at < BLOCK ? count - at : BLOCK; }

typedef struct find_job {
  const te_key_index* index;
  const int32_t* keys;
  int64_t count;
  int32_t oldest;
  int32_t* found;
} find_job;

#define KEYS_OF_TASK 4096

static void find_part(void* context, int64_t task, int32_t worker) {
  const find_job* job = context;
  const int64_t first = task * KEYS_OF_TASK;
  const int64_t end = first + KEYS_OF_TASK < job->count ? first + KEYS_OF_TASK : job->count;
  (void)worker;
  for (int64_t at = first; at < end; at += BLOCK) {
    find_block(job->index, job->keys + 2 * at, block_of(at, end), job->oldest, job->found + at);
  }
}

static void find_all(const te_key_index* index, const int32_t* keys, int64_t count, int32_t oldest, int32_t* found) {
  find_job job = {index, keys, count, oldest, found};
  te_parallel((count + KEYS_OF_TASK - 1) / KEYS_OF_TASK, te_get_threads(), find_part, &job);
}

int64_t te_find_keys(const te_key_index* index, const int32_t* keys, int64_t count, int32_t oldest, int32_t* found) {
  int64_t unknown = 0;
  find_all(index, keys, count, oldest, found);
  for (int64_t i = 0; i < count; i++) unknown += found[i] < 0;
  return unknown;
}

int64_t te_touch_keys(const te_key_index* index, const int32_t* keys, int64_t count, int32_t step, int32_t oldest,
                      int32_t* found, int32_t* before) {
  int64_t noted = 0;
  /* What touching changes, finding does not read: a key that is there stays there. */
  find_all(index, keys, count, oldest, found);
  for (int64_t i = 0; i < count; i++) {
    if (found[i] < 0) continue;
    int32_t* entry = index->entries + (int64_t)found[i] * TE_ENTRY_WORDS;
    if (entry[LAST] != step) {
      before[3 * noted] = found[i];
      before[3 * noted + 1] = entry[LAST];
      before[3 * noted + 2] = entry[COUNT];
      noted++;
      entry[LAST] = step;
    }
    if (entry[COUNT] < INT32_MAX) entry[COUNT]++;
  }
  return noted;
}

#endif
