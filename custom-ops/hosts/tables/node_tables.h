/*
 * Where a table should begin in memory that V8 allocated: on a cache line, and on a huge page if it is large.
 *
 * What V8 allocates starts 16 bytes off a cache line, so that each row of a table touches one line more than it must,
 * and lies on small pages, so that random rows miss the page tables as well. The memory stays V8's: it counts it, and
 * gives it back when the array is collected, even while a program never returns to the event loop.
 */
#ifndef TFJS_EMBEDDINGS_NODE_TABLES_H_
#define TFJS_EMBEDDINGS_NODE_TABLES_H_

#include <stddef.h>
#include <stdint.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define TABLE_LINE ((size_t)64)
#define TABLE_HUGE_PAGE ((size_t)2 << 20)

/* Asks the system for huge pages where memory that has not been written yet holds whole ones. */
static void want_huge_pages(void* data, size_t bytes) {
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

/*
 * Bytes from `data`, where `room` bytes begin, to where a table of `bytes` bytes should begin: the start
 * of a huge page where a whole one is spare, else of a line where the room allows. Asks the system for huge pages.
 */
static size_t table_offset(void* data, size_t room, size_t bytes) {
  const uintptr_t start = (uintptr_t)data;
  const size_t to_line = (size_t)(-start & (TABLE_LINE - 1)), to_page = (size_t)(-start & (TABLE_HUGE_PAGE - 1));
  if (bytes > room) return 0;
  if (room - bytes < TABLE_HUGE_PAGE) return room - bytes < to_line ? 0 : to_line;
#if defined(__linux__)
  madvise((void*)(start + to_page), bytes, MADV_HUGEPAGE); /* refused on some systems: then pages stay small */
#endif
  return to_page;
}

#endif /* TFJS_EMBEDDINGS_NODE_TABLES_H_ */
