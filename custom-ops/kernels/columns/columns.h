/*
 * Columns of texts and of whole numbers: looked up in a vocabulary, or hashed as TensorFlow does.
 * TypeScript twin of this contract: ColumnKernels in src/base/platform.ts.
 */
#ifndef TFJS_EMBEDDINGS_COLUMNS_H_
#define TFJS_EMBEDDINGS_COLUMNS_H_

#include "../core.h"

/* Text i is bytes[offsets[i] .. offsets[i + 1] - gap). Any bytes will do. */
typedef struct te_texts {
  const uint8_t* bytes;
  const int32_t* offsets; /* [count + 1] */
  int64_t count;
  int64_t size; /* of bytes */
  int32_t gap;  /* bytes between texts */
} te_texts;

/* The first offset that falls or lies outside of the bytes; -1: none. Everything below wants -1. */
int64_t te_stray_offset(const te_texts* texts);

/*
 * A vocabulary of texts is an open table of slots of four words: a tag, an index + 1 (0: free), start and length of the
 * bytes. `capacity` is a power of two, at least twice the count. Returns the position of a text that was there before;
 * -1: none. `slots` are zeros.
 */
int64_t te_index_texts(const te_texts* texts, int32_t* slots, int64_t capacity);
/* found[i]: the index of text i of `queries`, -1 where it is unknown. Returns how many are unknown. Slots may be wrong. */
int64_t te_find_texts(const uint8_t* bytes, int64_t size, const int32_t* slots, int64_t capacity,
                      const te_texts* queries, int32_t* found);

/* The same of whole numbers; a slot is a number and its index + 1. */
int64_t te_index_numbers(const int64_t* numbers, int64_t count, int64_t* slots, int64_t capacity);
int64_t te_find_numbers(const int64_t* slots, int64_t capacity, const int64_t* queries, int64_t count, int32_t* found);

/* buckets[i]: FarmHash64 of text i, with a key SipHash64, mod `of`. Numbers are hashed as their decimal text. */
void te_hash_texts(const te_texts* texts, int64_t of, const uint64_t* key, int32_t* buckets);
void te_hash_numbers(const int64_t* numbers, int64_t count, int64_t of, const uint64_t* key, int32_t* buckets);

/* words [count, 2]: FarmHash64 of each text, low word first. */
void te_fingerprint_texts(const te_texts* texts, uint32_t* words);

/* Offsets of texts that each end in `separator`; returns how many there are, at most `most`. */
int64_t te_split_texts(const uint8_t* bytes, int64_t size, uint8_t separator, int32_t* offsets, int64_t most);

#endif
