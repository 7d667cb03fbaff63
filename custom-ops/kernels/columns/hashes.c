/* The hashes of TensorFlow's StringToHashBucketFast and StringToHashBucketStrong, mod a number of buckets. */
#include "columns.h"

#if !defined(__wasm__) /* called by the addon alone */
#include <string.h>

#define K0 0xc3a5c85c97cb3127u
#define K1 0xb492b66fbe98f273u
#define K2 0x9ae16a3b2f90404fu

/* Little-endian words. */
TE_INLINE uint64_t word64(const uint8_t* at) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; i--) word = word << 8 | at[i];
  return word;
}

TE_INLINE uint64_t word32(const uint8_t* at) {
  return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
}

TE_INLINE uint64_t right(uint64_t x, int by) { return x >> by | x << (64 - by); }
TE_INLINE uint64_t fold(uint64_t x) { return x ^ x >> 47; }

TE_INLINE uint64_t join(uint64_t u, uint64_t v, uint64_t multiplier) {
  const uint64_t a = fold((u ^ v) * multiplier);
  return fold((v ^ a) * multiplier) * multiplier;
}

static uint64_t farm_short(const uint8_t* at, uint64_t n) {
  const uint64_t multiplier = K2 + n * 2;
  if (n >= 8) {
    const uint64_t a = word64(at) + K2, b = word64(at + n - 8);
    return join(right(b, 37) * multiplier + a, (right(a, 25) + b) * multiplier, multiplier);
  }
  if (n >= 4) return join(n + (word32(at) << 3), word32(at + n - 4), multiplier);
  if (n == 0) return K2;
  const uint64_t y = at[0] + ((uint64_t)at[n >> 1] << 8);
  const uint64_t z = n + ((uint64_t)at[n - 1] << 2);
  return fold(y * K2 ^ z * K0) * K2;
}

/* What lengths 17 to 64 share: the first and the last 16 bytes. */
typedef struct ends {
  uint64_t a, y, z, multiplier;
} ends;

TE_INLINE ends mix_ends(const uint8_t* at, uint64_t n, uint64_t first) {
  ends e;
  e.multiplier = K2 + n * 2;
  e.a = word64(at) * first;
  const uint64_t b = word64(at + 8), c = word64(at + n - 8) * e.multiplier, d = word64(at + n - 16) * K2;
  e.y = right(e.a + b, 43) + right(c, 30) + d;
  e.z = join(e.y, e.a + right(b + K2, 18) + c, e.multiplier);
  return e;
}

static uint64_t farm_middle(const uint8_t* at, uint64_t n) {
  if (n <= 32) return mix_ends(at, n, K1).z;
  const ends s = mix_ends(at, n, K2);
  const uint64_t e = word64(at + 16) * s.multiplier, f = word64(at + 24);
  const uint64_t g = (s.y + word64(at + n - 32)) * s.multiplier, h = (s.z + word64(at + n - 24)) * s.multiplier;
  return join(right(e + f, 43) + right(g, 30) + h, e + right(f + s.a, 18) + g, s.multiplier);
}

/* 32 bytes into a pair of words. */
TE_INLINE void absorb(const uint8_t* at, uint64_t a, uint64_t b, uint64_t* pair) {
  a += word64(at);
  const uint64_t last = word64(at + 24);
  const uint64_t sum = a + word64(at + 8) + word64(at + 16);
  pair[0] = sum + last;
  pair[1] = right(b + a + last, 21) + right(sum, 44) + a;
}

typedef struct farm_state {
  uint64_t x, y, z, v[2], w[2];
} farm_state;

/* A block of 64 bytes; the last, which may overlap the one before, uses another multiplier and factor. */
TE_INLINE void farm_block(farm_state* s, const uint8_t* at, uint64_t multiplier, uint64_t factor) {
  s->x = right(s->x + s->y + s->v[0] + word64(at + 8), 37) * multiplier;
  s->y = right(s->y + s->v[1] + word64(at + 48), 42) * multiplier;
  s->x ^= s->w[1] * factor;
  s->y += s->v[0] * factor + word64(at + 40);
  s->z = right(s->z + s->w[0], 33) * multiplier;
  absorb(at, s->v[1] * multiplier, s->x + s->w[0], s->v);
  absorb(at + 32, s->z + s->w[1], s->y + word64(at + 16), s->w);
  const uint64_t z = s->z;
  s->z = s->x;
  s->x = z;
}

static uint64_t farm_long(const uint8_t* at, uint64_t n) {
  farm_state s = {0, 81 * K1 + 113, 0, {0, 0}, {0, 0}};
  s.z = fold(s.y * K2 + 113) * K2;
  s.x = 81 * K2 + word64(at);
  const uint64_t full = (n - 1) / 64 * 64;
  for (uint64_t i = 0; i < full; i += 64) farm_block(&s, at + i, K1, 1);
  const uint64_t multiplier = K1 + ((s.z & 0xff) << 1);
  s.w[0] += (n - 1) & 63;
  s.v[0] += s.w[0];
  s.w[0] += s.v[0];
  farm_block(&s, at + n - 64, multiplier, 9);
  return join(join(s.v[0], s.w[0], multiplier) + fold(s.y) * K0 + s.z, join(s.v[1], s.w[1], multiplier) + s.x,
              multiplier);
}

static uint64_t farm_hash(const uint8_t* at, uint64_t n) {
  if (n <= 16) return farm_short(at, n);
  return n <= 64 ? farm_middle(at, n) : farm_long(at, n);
}

TE_INLINE uint64_t left(uint64_t x, int by) { return x << by | x >> (64 - by); }

TE_INLINE void sip_rounds(uint64_t* v, int rounds) {
  for (int i = 0; i < rounds; i++) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = left(v[1], 13) ^ v[0];
    v[3] = left(v[3], 16) ^ v[2];
    v[0] = left(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = left(v[1], 17) ^ v[2];
    v[3] = left(v[3], 21) ^ v[0];
    v[2] = left(v[2], 32);
  }
}

static uint64_t sip_hash(const uint8_t* at, uint64_t n, const uint64_t* key) {
  uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                   key[1] ^ 0x7465646279746573u};
  uint64_t last = n << 56;
  for (; n >= 8; n -= 8, at += 8) {
    const uint64_t word = word64(at);
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
  }
  for (uint64_t i = 0; i < n; i++) last |= (uint64_t)at[i] << (8 * i);
  v[3] ^= last;
  sip_rounds(v, 2);
  v[0] ^= last;
  v[2] ^= 0xff;
  sip_rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

TE_INLINE int32_t bucket_of(const uint8_t* at, uint64_t n, uint64_t of, const uint64_t* key) {
  return (int32_t)((key == NULL ? farm_hash(at, n) : sip_hash(at, n, key)) % of);
}

void te_hash_texts(const te_texts* texts, int64_t of, const uint64_t* key, int32_t* buckets) {
  for (int64_t i = 0; i < texts->count; i++) {
    const int64_t start = texts->offsets[i];
    const int64_t length = (int64_t)texts->offsets[i + 1] - texts->gap - start;
    buckets[i] = bucket_of(texts->bytes + start, (uint64_t)length, (uint64_t)of, key);
  }
}

void te_fingerprint_texts(const te_texts* texts, uint32_t* words) {
  for (int64_t i = 0; i < texts->count; i++) {
    const int64_t start = texts->offsets[i];
    const uint64_t hash = farm_hash(texts->bytes + start, (uint64_t)((int64_t)texts->offsets[i + 1] - texts->gap - start));
    words[2 * i] = (uint32_t)hash;
    words[2 * i + 1] = (uint32_t)(hash >> 32);
  }
}

/* Writes the decimal text at the end of 20 bytes; returns where it begins. */
static int32_t decimal(int64_t number, uint8_t text[20]) {
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  int32_t at = 20;
  do {
    text[--at] = (uint8_t)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (number < 0) text[--at] = '-';
  return at;
}

void te_hash_numbers(const int64_t* numbers, int64_t count, int64_t of, const uint64_t* key, int32_t* buckets) {
  for (int64_t i = 0; i < count; i++) {
    uint8_t text[20];
    const int32_t at = decimal(numbers[i], text);
    buckets[i] = bucket_of(text + at, (uint64_t)(20 - at), (uint64_t)of, key);
  }
}

#endif
