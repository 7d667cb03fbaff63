/* Files: what Node's own functions lack. */
#include "functions.h"

#include <errno.h>
#if defined(__linux__)
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__APPLE__)
#include <stdio.h>
#endif
#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
#include <cpuid.h>
#include <nmmintrin.h>
#define TE_CRC32C_X64
#endif

/* ---- exchange of folders ---- */

/* 0, or the error of the system; ENOSYS where it cannot exchange. */
static int exchange_names(const char* a, const char* b) {
#if defined(__linux__) && defined(SYS_renameat2)
  return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2 /* RENAME_EXCHANGE */) == 0 ? 0 : errno;
#elif defined(__APPLE__)
  return renamex_np(a, b, 2 /* RENAME_SWAP */) == 0 ? 0 : errno;
#else
  (void)a;
  (void)b;
  return ENOSYS;
#endif
}

/* A path in memory that the caller frees; NULL once the call has failed. */
static char* path_of(call* c, int index, const char* name) {
  size_t length = 0;
  char* path = NULL;
  if (c->failed) return NULL;
  if (napi_get_value_string_utf8(c->env, c->arguments[index], NULL, 0, &length) != napi_ok) {
    fail_type(c, name, "expected a path");
    return NULL;
  }
  path = malloc(length + 1);
  if (path == NULL || napi_get_value_string_utf8(c->env, c->arguments[index], path, length + 1, &length) != napi_ok ||
      strlen(path) != length) {
    free(path);
    fail_type(c, name, "expected a path without zeros");
    return NULL;
  }
  return path;
}

/* exchangeFolders(a, b): both names change places in one step. false: the system cannot do that here. */
napi_value exchange_folders(napi_env env, napi_callback_info info) {
  call c;
  napi_value result = NULL;
  begin(&c, env, info);
  char* a = path_of(&c, 0, "a");
  char* b = path_of(&c, 1, "b");
  const int error = c.failed ? 0 : exchange_names(a, b);
  free(a);
  free(b);
  if (c.failed) return NULL;
  const bool cannot = error == ENOSYS || error == EINVAL || error == ENOTSUP;
  if (error != 0 && !cannot) {
    fail(&c, napi_throw_error, "ERR_SYSTEM", "a", strerror(error));
    return NULL;
  }
  napi_get_boolean(env, !cannot, &result);
  return result;
}

/* ---- checksums ---- */

#if defined(TE_CRC32C_X64)
/* Bytes of each of three runs that are summed side by side: one sum waits for the one before it. */
enum { CRC_RUN = 8192 };

/* What a sum becomes when as many zeros follow as a run has bytes: a table per byte of the sum. */
static uint32_t crc_shift[4][256];

static uint32_t crc_after_zeros(uint32_t crc) {
  for (int i = 0; i < CRC_RUN; i++) {
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
  }
  return crc;
}

/* A sum after zeros is linear in the sum: single bits are enough to know. */
static void make_crc_shift(void) {
  for (int byte = 0; byte < 4; byte++) {
    uint32_t bits[8];
    for (int bit = 0; bit < 8; bit++) bits[bit] = crc_after_zeros(1u << (8 * byte + bit));
    for (int value = 0; value < 256; value++) {
      uint32_t crc = 0;
      for (int bit = 0; bit < 8; bit++) {
        if (value >> bit & 1) crc ^= bits[bit];
      }
      crc_shift[byte][value] = crc;
    }
  }
}

static uint32_t crc_shifted(uint32_t crc) {
  return crc_shift[0][crc & 255] ^ crc_shift[1][crc >> 8 & 255] ^ crc_shift[2][crc >> 16 & 255] ^
         crc_shift[3][crc >> 24];
}

static uint64_t eight_bytes(const char* at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static bool has_sse42(void) {
  unsigned a, b, c = 0, d;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_2) != 0;
}

/* clang has the instruction apart from the others of SSE 4.2. */
#if defined(__clang__) && __clang_major__ >= 14
#define CRC_TARGET "sse4.2,crc32"
#else
#define CRC_TARGET "sse4.2"
#endif

__attribute__((target(CRC_TARGET))) static uint32_t extend_crc32c(uint32_t before, const char* at, size_t length) {
  uint64_t crc = ~before;
  for (; length >= 3 * CRC_RUN; at += 3 * CRC_RUN, length -= 3 * CRC_RUN) {
    uint64_t second = 0, third = 0;
    for (int i = 0; i < CRC_RUN; i += 8) {
      crc = _mm_crc32_u64(crc, eight_bytes(at + i));
      second = _mm_crc32_u64(second, eight_bytes(at + CRC_RUN + i));
      third = _mm_crc32_u64(third, eight_bytes(at + 2 * CRC_RUN + i));
    }
    crc = crc_shifted(crc_shifted((uint32_t)crc) ^ (uint32_t)second) ^ (uint32_t)third;
  }
  for (; length >= 8; at += 8, length -= 8) crc = _mm_crc32_u64(crc, eight_bytes(at));
  for (; length > 0; at++, length--) crc = _mm_crc32_u8((uint32_t)crc, (unsigned char)*at);
  return ~(uint32_t)crc;
}
#endif

/* extendCrc32c(before, bytes): the CRC-32C of what came before and these bytes; -1 where the processor has none. */
napi_value crc32c_of(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t before = whole(&c, 0, "before", 0, 4294967295.0);
  const array bytes = byte_array(&c, 1, "bytes");
  if (c.failed) return NULL;
#if defined(TE_CRC32C_X64)
  static bool is_known = false;
  if (has_sse42()) {
    /* Threads that come at the same time make the same table. */
    if (!is_known) make_crc_shift();
    is_known = true;
    return new_number(env, (double)extend_crc32c((uint32_t)before, bytes.data, bytes.length));
  }
#endif
  (void)before;
  (void)bytes;
  return new_number(env, -1);
}
