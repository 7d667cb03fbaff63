/* Refused huge pages are no error: then pages stay small. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "tables.h"

#include <stdint.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define TABLE_LINE ((size_t)64)
#define TABLE_HUGE_PAGE ((size_t)2 << 20)

void want_huge_pages(void* data, size_t bytes) {
#if defined(__linux__)
  const size_t to_page = (size_t)(-(uintptr_t)data & (TABLE_HUGE_PAGE - 1));
  if (bytes < to_page + TABLE_HUGE_PAGE) return;
  /* Refused on some systems: then pages stay small. */
  madvise((char*)data + to_page, (bytes - to_page) / TABLE_HUGE_PAGE * TABLE_HUGE_PAGE, MADV_HUGEPAGE);
#else
  (void)data;
  (void)bytes;
#endif
}

size_t table_offset(void* data, size_t room, size_t bytes) {
  const uintptr_t start = (uintptr_t)data;
  const size_t to_line = (size_t)(-start & (TABLE_LINE - 1)), to_page = (size_t)(-start & (TABLE_HUGE_PAGE - 1));
  if (bytes > room) return 0;
  if (room - bytes < TABLE_HUGE_PAGE) return room - bytes < to_line ? 0 : to_line;
#if defined(__linux__)
  madvise((void*)(start + to_page), bytes, MADV_HUGEPAGE); /* refused on some systems: then pages stay small */
#endif
  return to_page;
}
