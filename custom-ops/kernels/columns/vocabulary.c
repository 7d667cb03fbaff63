/*
 * Vocabularies of texts and whole numbers. Queries go through in blocks: what a stage will read is on its way from
 * memory while the stage before works on the rest of the block.
 */
#include "columns.h"

#if !defined(__wasm__) /* called by the addon alone */
#include <string.h>

#define BLOCK 64

TE_INLINE uint64_t load64(const uint8_t* from) {
  uint64_t word;
  memcpy(&word, from, 8);
  return word;
}

TE_INLINE uint64_t load32(const uint8_t* from) {
  uint32_t word;
  memcpy(&word, from, 4);
  return word;
}

TE_INLINE uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return h ^ (h >> 32);
}

TE_INLINE uint64_t hash_bytes(const uint8_t* at, int64_t length) {
  uint64_t h = 0x9e3779b97f4a7c15u ^ (uint64_t)length;
  if (length >= 8) {
    int64_t i = 0;
    for (; i + 8 <= length; i += 8) h = (h ^ load64(at + i)) * 0xff51afd7ed558ccdu, h ^= h >> 29;
    h ^= load64(at + length - 8);
  } else if (length >= 4) {
    h ^= load32(at) | load32(at + length - 4) << 32;
  } else if (length > 0) {
    h ^= (uint64_t)at[0] | (uint64_t)at[length >> 1] << 8 | (uint64_t)at[length - 1] << 16;
  }
  return mix(h);
}

/* Texts are short: a call of memcmp takes longer than their words. */
TE_INLINE int same_bytes(const uint8_t* a, const uint8_t* b, int64_t length) {
  if (length >= 8) {
    uint64_t other = load64(a + length - 8) ^ load64(b + length - 8);
    for (int64_t i = 0; i + 8 <= length; i += 8) other |= load64(a + i) ^ load64(b + i);
    return other == 0;
  }
  if (length >= 4) return load32(a) == load32(b) && load32(a + length - 4) == load32(b + length - 4);
  for (int64_t i = 0; i < length; i++)
    if (a[i] != b[i]) return 0;
  return 1;
}

int64_t te_stray_offset(const te_texts* texts) {
  int64_t before = 0;
  for (int64_t i = 0; i <= texts->count; i++) {
    const int64_t offset = texts->offsets[i];
    if (offset < before || offset > texts->size) return i;
    before = offset + (i < texts->count ? texts->gap : 0);
  }
  return -1;
}

TE_INLINE int64_t length_of(const te_texts* texts, int64_t i) {
  return (int64_t)texts->offsets[i + 1] - texts->offsets[i] - texts->gap;
}

/* A slot of a text: what tells texts apart at a glance, the index + 1 (0: free), and where the bytes lie. */
typedef struct text_slot {
  int32_t tag, entry, start, length;
} text_slot;

/* Whether the text of a slot is this one. Slots are as JavaScript hands them over: they may say anything. */
TE_INLINE int holds(const uint8_t* bytes, int64_t size, const text_slot* slot, const uint8_t* at, int64_t length) {
  const int64_t start = slot->start;
  return slot->length == length && start >= 0 && start + length <= size && same_bytes(bytes + start, at, length);
}

/* The index of a text, or -1 and in `vacant` the first free slot of its chain; -1 there where no slot is free. */
TE_INLINE int32_t find_text(const uint8_t* bytes, int64_t size, const text_slot* slots, int64_t capacity, uint64_t hash,
                            const uint8_t* at, int64_t length, int64_t* vacant) {
  const int32_t tag = (int32_t)(hash >> 32);
  const uint64_t mask = (uint64_t)capacity - 1;
  uint64_t place = hash & mask;
  for (int64_t probes = 0; probes < capacity; probes++, place = (place + 1) & mask) {
    const text_slot* slot = slots + place;
    if (slot->entry == 0) {
      *vacant = (int64_t)place;
      return -1;
    }
    if (slot->tag == tag && holds(bytes, size, slot, at, length)) return slot->entry - 1;
  }
  *vacant = -1;
  return -1;
}

int64_t te_index_texts(const te_texts* texts, int32_t* slots, int64_t capacity) {
  text_slot* table = (text_slot*)slots;
  for (int64_t from = 0; from < texts->count; from += BLOCK) {
    const int64_t end = te_min(texts->count, from + BLOCK);
    uint64_t hashes[BLOCK];
    for (int64_t i = from; i < end; i++) {
      const uint64_t hash = hash_bytes(texts->bytes + texts->offsets[i], length_of(texts, i));
      hashes[i - from] = hash;
      te_prefetch_write(table + (hash & ((uint64_t)capacity - 1)));
    }
    for (int64_t i = from; i < end; i++) {
      int64_t vacant = -1;
      const uint64_t hash = hashes[i - from];
      const int32_t start = texts->offsets[i];
      const int64_t length = length_of(texts, i);
      const uint8_t* at = texts->bytes + start;
      if (find_text(texts->bytes, texts->size, table, capacity, hash, at, length, &vacant) >= 0 || vacant < 0) return i;
      table[vacant] = (text_slot){(int32_t)(hash >> 32), (int32_t)i + 1, start, (int32_t)length};
    }
  }
  return -1;
}

int64_t te_find_texts(const uint8_t* bytes, int64_t size, const int32_t* slots, int64_t capacity,
                      const te_texts* queries, int32_t* found) {
  const text_slot* table = (const text_slot*)slots;
  const uint64_t mask = (uint64_t)capacity - 1;
  int64_t unknown = 0;
  for (int64_t from = 0; from < queries->count; from += BLOCK) {
    const int32_t count = (int32_t)te_min(queries->count - from, BLOCK);
    const int32_t* offsets = queries->offsets + from;
    uint64_t hashes[BLOCK];
    for (int32_t i = 0; i < count; i++) {
      hashes[i] = hash_bytes(queries->bytes + offsets[i], length_of(queries, from + i));
      te_prefetch(table + (hashes[i] & mask));
    }
    for (int32_t i = 0; i < count; i++) {
      const text_slot* slot = table + (hashes[i] & mask);
      if (slot->tag == (int32_t)(hashes[i] >> 32)) te_prefetch((uintptr_t)bytes + (uintptr_t)(uint32_t)slot->start);
    }
    for (int32_t i = 0; i < count; i++) {
      int64_t vacant = -1;
      const uint8_t* at = queries->bytes + offsets[i];
      const int64_t length = length_of(queries, from + i);
      const int32_t index = find_text(bytes, size, table, capacity, hashes[i], at, length, &vacant);
      found[from + i] = index;
      unknown += index < 0;
    }
  }
  return unknown;
}

TE_INLINE uint64_t hash_number(int64_t number) { return mix((uint64_t)number + 0x9e3779b97f4a7c15u); }

/* The index of a number, or -1 and in `vacant` the first free slot of its chain; -1 there where no slot is free. */
TE_INLINE int32_t find_number(const int64_t* slots, int64_t capacity, int64_t number, int64_t* vacant) {
  const uint64_t mask = (uint64_t)capacity - 1;
  uint64_t slot = hash_number(number) & mask;
  for (int64_t probes = 0; probes < capacity; probes++, slot = (slot + 1) & mask) {
    if (slots[2 * slot + 1] == 0) {
      *vacant = (int64_t)slot;
      return -1;
    }
    if (slots[2 * slot] == number) return (int32_t)(slots[2 * slot + 1] - 1);
  }
  *vacant = -1;
  return -1;
}

int64_t te_index_numbers(const int64_t* numbers, int64_t count, int64_t* slots, int64_t capacity) {
  for (int64_t i = 0; i < count; i++) {
    int64_t vacant = -1;
    if (find_number(slots, capacity, numbers[i], &vacant) >= 0 || vacant < 0) return i;
    slots[2 * vacant] = numbers[i];
    slots[2 * vacant + 1] = i + 1;
  }
  return -1;
}

int64_t te_find_numbers(const int64_t* slots, int64_t capacity, const int64_t* queries, int64_t count, int32_t* found) {
  int64_t unknown = 0;
  for (int64_t from = 0; from < count; from += BLOCK) {
    const int64_t end = te_min(count, from + BLOCK);
    for (int64_t i = from; i < end; i++)
      te_prefetch(slots + 2 * (hash_number(queries[i]) & ((uint64_t)capacity - 1)));
    for (int64_t i = from; i < end; i++) {
      int64_t vacant = -1;
      found[i] = find_number(slots, capacity, queries[i], &vacant);
      unknown += found[i] < 0;
    }
  }
  return unknown;
}

int64_t te_split_texts(const uint8_t* bytes, int64_t size, uint8_t separator, int32_t* offsets, int64_t most) {
  int64_t texts = 0;
  const uint8_t* at = bytes;
  const uint8_t* end = bytes + size;
  offsets[0] = 0;
  while (at < end && texts < most) {
    const uint8_t* next = memchr(at, separator, (size_t)(end - at));
    if (next == NULL) break;
    at = next + 1;
    offsets[++texts] = (int32_t)(at - bytes);
  }
  return at == end ? texts : -1;
}

#endif
