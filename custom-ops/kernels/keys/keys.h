/*
 * Which row of a table a key of 64 bits has. The arrays, and what they hold, are those of
 * src/tables/keys/key_index.ts, which is the reference; rows are given to keys and taken from them there.
 */
#ifndef TFJS_EMBEDDINGS_KEYS_H_
#define TFJS_EMBEDDINGS_KEYS_H_

#include "../core.h"

#define TE_GROUP_WORDS 16
#define TE_GROUP_ROWS 12
#define TE_ENTRY_WORDS 4

typedef struct te_key_index {
  const int32_t* groups; /* [shards * shard_groups, TE_GROUP_WORDS] */
  int32_t* entries;      /* [capacity, TE_ENTRY_WORDS] */
  int64_t capacity;
  int64_t shard_groups;
  int32_t shards; /* a power of two, at most 256 */
} te_key_index;

/*
 * found[i]: the row of key i, -1 where it has none or was last seen before step `oldest`. keys [count, 2], low words
 * first. Returns how many have none. Groups may be wrong: nothing outside of the arrays is read.
 */
int64_t te_find_keys(const te_key_index* index, const int32_t* keys, int64_t count, int32_t oldest, int32_t* found);

/*
 * The same, and counts each key that has a row: its last step becomes `step`. What its entry held is written to before
 * [3 * count] as row, last step, count when its last step changes; returns how many such there are.
 */
int64_t te_touch_keys(const te_key_index* index, const int32_t* keys, int64_t count, int32_t step, int32_t oldest,
                      int32_t* found, int32_t* before);

/* The rows of a shard that ever had a key. */
typedef struct te_shard_rows {
  int32_t shards; /* of the index; their rows take turns */
  int32_t shard;
  int64_t used;
} te_shard_rows;

/*
 * The rows of a shard with the lowest words number `word` of their entries, 2 or 3, ties by the lower row; ascending, at
 * most `count`. Rows without a key, and those that `step` saw last, are none of them. room [3 used]. Returns how many.
 */
int64_t te_lowest_rows(const int32_t* entries, const te_shard_rows* of, int32_t step, int32_t word, int64_t count,
                       int32_t* rows, int32_t* room);

#endif
