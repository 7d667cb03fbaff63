/*
 * Where a table should begin in memory that V8 allocated: on a cache line, and on a huge page if it is large.
 *
 * What V8 allocates starts 16 bytes off a cache line, so that each row of a table touches one line more than it must,
 * and lies on small pages, so that random rows miss the page tables as well. The memory stays V8's: it counts it, and
 * gives it back when the array is collected, even while a program never returns to the event loop.
 */
#ifndef TE_NODE_TABLES_H
#define TE_NODE_TABLES_H

#include <stddef.h>

/* Asks the system for huge pages where memory that has not been written yet holds whole ones. */
void want_huge_pages(void* data, size_t bytes);

/*
 * Bytes from `data`, where `room` bytes begin, to where a table of `bytes` bytes should begin: the start
 * of a huge page where a whole one is spare, else of a line where the room allows. Asks the system for huge pages.
 */
size_t table_offset(void* data, size_t room, size_t bytes);

#endif
