/* Dropout by number: whether an element is kept depends on the seed and on its place alone, so backward needs no mask. */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */

/* A bijection of 32 bits whose output bits each depend on all input bits (the finalizer of MurmurHash3). */
static uint32_t mixed(uint32_t z) {
  z ^= z >> 16;
  z *= 0x85ebca6bu;
  z ^= z >> 13;
  z *= 0xc2b2ae35u;
  z ^= z >> 16;
  return z;
}

void te_dropout(const float* x, int64_t size, float rate, const int32_t seed[2], float* y) {
  const float scale = 1.0f / (1.0f - rate);
  const uint32_t threshold = (uint32_t)((double)rate * 4294967296.0);
  const uint32_t key0 = (uint32_t)seed[0];
  const uint32_t key1 = (uint32_t)seed[1];
  for (int64_t i = 0; i < size; i++) {
    const uint32_t word = mixed(mixed((uint32_t)i * 0x9e3779b9u + key0) ^ key1 ^ (uint32_t)(i >> 32));
    y[i] = word < threshold ? 0.0f : x[i] * scale;
  }
}

#endif
