/*
 * Huge pages for tables: rows that are far apart miss the page tables too, which on small pages takes up to twice the
 * time of a lookup or a step.
 */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_HUGE_PAGES_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_HUGE_PAGES_H_

#include <stddef.h>

#include "../../kernels/embedding.h"

namespace te {

/* Below, asking the system for anything costs more than it brings. */
constexpr size_t kLargeTable = size_t{4} << 20;

/* The whole pages of memory. */
struct Pages {
  char* first;
  char* end;
};
Pages whole_pages(void* data, size_t bytes);

/* A table is read and stepped by random rows: huge pages, where the system has them, halve what that costs. */
void prefer_huge_pages(void* data, size_t bytes);
/* Lays memory that is about to be written on huge pages where it is large; what it holds is lost. */
void renew_on_huge_pages(void* data, size_t bytes);
/* Memory for `free`, nullptr where there is none; on huge pages where that is worth it. */
void* allocate_on_huge_pages(size_t bytes);
/* A lookup has read so many bytes of a table. */
void looked_up(const void* data, size_t bytes, size_t bytes_read);
void looked_up(const te_rows& table, const te_bags& bags);

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_HUGE_PAGES_H_ */
