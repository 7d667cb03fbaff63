/*
 * The index of keys. Keys go through in blocks: what a stage will read is on its way from memory while the stage before
 * works on the rest of the block.
 */
#include "keys.h"

#if !defined(__wasm__) /* called by the addon alone */
#include <string.h>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

#define BLOCK 256
#define LAST 2
#define COUNT 3
#define FREE (-1) /* in COUNT */

/* Where a key would lie. */
typedef struct sought {
  const int32_t* group; /* its home */
  uint32_t shard;
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

TE_INLINE const int32_t* first_group(const te_key_index* index, uint32_t shard) {
  return index->groups + (int64_t)shard * index->shard_groups * TE_GROUP_WORDS;
}

TE_INLINE sought seek(const te_key_index* index, const int32_t* key) {
  const uint64_t hash = hash_key((uint64_t)(uint32_t)key[0] | (uint64_t)(uint32_t)key[1] << 32);
  sought s;
  s.shard = (uint32_t)hash & (uint32_t)(index->shards - 1);
  s.group = first_group(index, s.shard) + (((hash >> 32) * (uint64_t)index->shard_groups) >> 32) * TE_GROUP_WORDS;
  s.tag = 0x80u | (uint32_t)(hash >> 8 & 0x7f);
  return s;
}

#if defined(__SSE2__) || defined(_M_X64)
/* A bit for each place of a group whose tag this is. */
TE_INLINE uint32_t places_with(const int32_t* group, uint32_t tag) {
  const __m128i tags = _mm_loadu_si128((const __m128i*)(group + TE_GROUP_ROWS));
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8((char)tag))) & 0xfffu;
}
#else
/* The same of eight bytes; a bit above an equal byte may be told wrongly, which the key of the row puts right. */
TE_INLINE uint32_t equal_bytes(uint64_t tags, uint32_t tag) {
  const uint64_t x = tags ^ tag * 0x0101010101010101u;
  const uint64_t high = (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
  return (uint32_t)((high >> 7) * 0x0102040810204080u >> 56);
}

TE_INLINE uint32_t places_with(const int32_t* group, uint32_t tag) {
  uint64_t first;
  uint32_t last;
  memcpy(&first, group + TE_GROUP_ROWS, 8);
  memcpy(&last, group + TE_GROUP_ROWS + 2, 4);
  return equal_bytes(first, tag) | (equal_bytes(last, tag) & 0xfu) << 8;
}
#endif

TE_INLINE int has_key(const te_key_index* index, int32_t row, const int32_t* key) {
  if ((uint32_t)row >= (uint64_t)index->capacity) return 0;
  const int32_t* entry = index->entries + (int64_t)row * TE_ENTRY_WORDS;
  return entry[0] == key[0] && entry[1] == key[1];
}

TE_INLINE int32_t find_row(const te_key_index* index, const sought* s, const int32_t* key) {
  const int32_t* first = first_group(index, s->shard);
  const int32_t* end = first + index->shard_groups * TE_GROUP_WORDS;
  const int32_t* group = s->group;
  for (int64_t probe = 0; probe < index->shard_groups; probe++) {
    for (uint32_t places = places_with(group, s->tag); places != 0; places &= places - 1) {
      const int32_t row = group[te_lowest_bit(places)];
      if (has_key(index, row, key)) return row;
    }
    if (group[TE_GROUP_WORDS - 1] == 0) return -1;
    group = group + TE_GROUP_WORDS == end ? first : group + TE_GROUP_WORDS;
  }
  return -1;
}

/* Rows of a block of keys; each is in the index, or -1. */
TE_INLINE void find_block(const te_key_index* index, const int32_t* keys, int64_t count, int32_t oldest,
                          int32_t* found) {
  sought block[BLOCK];
  for (int64_t i = 0; i < count; i++) {
    block[i] = seek(index, keys + 2 * i);
    te_prefetch((uintptr_t)block[i].group);
  }
  /* The row that the home group names first is nearly always that of the key. */
  for (int64_t i = 0; i < count; i++) {
    const uint32_t places = places_with(block[i].group, block[i].tag);
    found[i] = places == 0 ? -1 : block[i].group[te_lowest_bit(places)];
    te_prefetch_write((uintptr_t)index->entries + (uintptr_t)(uint32_t)found[i] * sizeof(int32_t) * TE_ENTRY_WORDS);
  }
  for (int64_t i = 0; i < count; i++) {
    const int32_t* key = keys + 2 * i;
    const int32_t row = has_key(index, found[i], key) ? found[i] : find_row(index, &block[i], key);
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

/* Moves numbers so that the one at `place` is the one that would be there if they were sorted; returns it. */
static int32_t nth_lowest(int32_t* numbers, int64_t count, int64_t place) {
  int64_t first = 0, last = count - 1;
  while (first < last) {
    const int32_t a = numbers[first], b = numbers[(first + last) >> 1], c = numbers[last];
    const int32_t low_ab = a < b ? a : b, high_ab = a < b ? b : a;
    const int32_t capped = high_ab < c ? high_ab : c;
    const int32_t pivot = low_ab > capped ? low_ab : capped;
    int64_t low = first, high = last;
    while (low <= high) {
      while (numbers[low] < pivot) low++;
      while (numbers[high] > pivot) high--;
      if (low > high) break;
      const int32_t number = numbers[low];
      numbers[low++] = numbers[high];
      numbers[high--] = number;
    }
    if (place <= high) {
      last = high;
    } else if (place >= low) {
      first = low;
    } else {
      return pivot;
    }
  }
  return numbers[place];
}

/* Rows of a shard lie far apart: so many are on their way at a time. */
#define AHEAD 32

int64_t te_lowest_rows(const int32_t* entries, const te_shard_rows* of, int32_t step, int32_t word, int64_t count,
                       int32_t* rows, int32_t* room) {
  int32_t *scores = room, *locals = room + of->used, *sorted = room + 2 * of->used;
  int64_t there = 0, taken = 0, ties = count;
  const int64_t stride = (int64_t)of->shards * TE_ENTRY_WORDS;
  const int32_t* entry = entries + (int64_t)of->shard * TE_ENTRY_WORDS;
  for (int64_t local = 0; local < of->used; local++, entry += stride) {
    te_prefetch((uintptr_t)entry + (uintptr_t)stride * sizeof(int32_t) * AHEAD);
    if (entry[COUNT] == FREE || entry[LAST] == step) continue;
    sorted[there] = scores[there] = entry[word];
    locals[there++] = (int32_t)local;
  }
  const int all = count >= there;
  const int32_t limit = all || count == 0 ? INT32_MAX : nth_lowest(sorted, there, count - 1);
  if (all) ties = there;
  for (int64_t i = 0; i < there; i++) ties -= scores[i] < limit;
  for (int64_t i = 0; i < there && taken < count; i++) {
    if (scores[i] < limit || (scores[i] == limit && ties-- > 0)) {
      rows[taken++] = (int32_t)((int64_t)locals[i] * of->shards + of->shard);
    }
  }
  return taken;
}

#endif
