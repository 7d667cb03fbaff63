/* The slots of rows in a cache: the search of src/tables/disk/row_cache.ts, with what it reads on its way from memory. */
#include "../functions.h"

#if defined(__GNUC__) || defined(__clang__)
#define READ_AHEAD(address) __builtin_prefetch(address)
#else
#define READ_AHEAD(address) (void)(address)
#endif

enum { BLOCK = 64, COUNT = 3 };

/*
 * findSlots(places, marks, used, rows, slots, told): slots[i] of rows[i], -1 where it has none; rows below 0 are passed
 * over. places: two words each, slot + 1 or 0, and the row. marks: of each slot, `used` and the count in two bits. told:
 * how many have none, and how many slots were not in use before.
 */
napi_value find_slots(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const array places = typed(&c, 0, "places", napi_int32_array);
  const array marks = typed(&c, 1, "marks", napi_int32_array);
  const int32_t used = (int32_t)whole(&c, 2, "used", 4, INT32_MAX - COUNT);
  const array rows = typed(&c, 3, "rows", napi_int32_array);
  const array slots = typed(&c, 4, "slots", napi_int32_array);
  const array told = typed(&c, 5, "told", napi_int32_array);
  const size_t size = places.length / 2;
  if (!c.failed && (size < 2 || size > 1u << 31 || (size & (size - 1)) != 0 || places.length % 2 != 0)) {
    fail_range(&c, "places", "expected two words for each of a power of two, received %zu", places.length);
  }
  if (!c.failed && used % 4 != 0) fail_range(&c, "used", "expected a multiple of 4, received %d", (int)used);
  if (!c.failed && slots.length != rows.length) {
    fail_range(&c, "slots", "expected %zu numbers, received %zu", rows.length, slots.length);
  }
  if (!c.failed && told.length != 2) fail_range(&c, "told", "expected 2 numbers, received %zu", told.length);
  if (!c.failed && (places.shared || marks.shared || rows.shared)) {
    fail_range(&c, "places", "expected memory of its own, received shared memory");
  }
  const array written[] = {marks, slots, told};
  const array others[] = {places, rows, marks, slots, told};
  for (int w = 0; !c.failed && w < 3; w++) {
    for (int o = 0; o < 5; o++) {
      if (o < 2 || o > 2 + w) must_differ(&c, written[w], others[o], "slots");
    }
  }
  if (!c.failed) {
    const int32_t* of = (const int32_t*)places.data;
    const int32_t* wanted = (const int32_t*)rows.data;
    int32_t* mark = (int32_t*)marks.data;
    int32_t* found = (int32_t*)slots.data;
    const uint32_t mask = (uint32_t)(size - 1);
    int shift = 32;
    for (size_t rest = size; rest > 1; rest >>= 1) shift--;
    int32_t missing = 0, fresh = 0;
    for (size_t first = 0; first < rows.length; first += BLOCK) {
      const size_t end = rows.length - first < BLOCK ? rows.length : first + BLOCK;
      for (size_t i = first; i < end; i++) READ_AHEAD(of + 2 * (size_t)(((uint32_t)wanted[i] * 0x9e3779b1u) >> shift));
      for (size_t i = first; i < end; i++) {
        if (wanted[i] < 0) continue;
        uint32_t at = ((uint32_t)wanted[i] * 0x9e3779b1u) >> shift;
        size_t steps = size;
        while (of[2 * (size_t)at + 1] != wanted[i] && of[2 * (size_t)at] != 0 && --steps > 0) at = (at + 1) & mask;
        const int32_t slot = of[2 * (size_t)at] - 1;
        const bool is_one = steps > 0 && slot >= 0 && (size_t)slot < marks.length;
        found[i] = is_one ? slot : -1;
        if (is_one) READ_AHEAD(mark + slot);
        else missing++;
      }
      for (size_t i = first; i < end; i++) {
        if (wanted[i] < 0 || found[i] < 0) continue;
        const int32_t before = mark[found[i]], count = before & COUNT;
        fresh += before < used;
        mark[found[i]] = used + count + (count < COUNT);
      }
    }
    ((int32_t*)told.data)[0] = missing;
    ((int32_t*)told.data)[1] = fresh;
  }
  finish(&c);
  return NULL;
}
