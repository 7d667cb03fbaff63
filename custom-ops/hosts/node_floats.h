/*
 * Memory for tables in Node: zeroed float32, aligned to cache lines, on huge pages where the system has them.
 *
 * What V8 allocates starts 16 bytes off a cache line, so that each row of a table touches one line more than it must,
 * and lies on small pages, so that random rows miss the page tables as well.
 */
#ifndef TFJS_EMBEDDINGS_NODE_FLOATS_H_
#define TFJS_EMBEDDINGS_NODE_FLOATS_H_

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <malloc.h>
#elif defined(__linux__)
#include <sys/mman.h>
#endif

#define FLOATS_LINE ((size_t)64)
#define FLOATS_HUGE_PAGE ((size_t)2 << 20)

/* From this size on memory is mapped for itself, aligned to huge pages. */
#define FLOATS_MAPPED ((size_t)4 << 20)

typedef struct floats_block {
  void* start; /* where the values are */
  void* base;  /* what is given back */
  size_t mapped;
} floats_block;

/* Returns NULL when there is no memory. */
static floats_block* floats_allocate(size_t bytes) {
  floats_block* block = calloc(1, sizeof *block);
  if (block == NULL) return NULL;
#if defined(__linux__)
  if (bytes >= FLOATS_MAPPED) {
    block->mapped = bytes + FLOATS_HUGE_PAGE;
    block->base = mmap(NULL, block->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block->base == MAP_FAILED) {
      free(block);
      return NULL;
    }
    const uintptr_t base = (uintptr_t)block->base;
    block->start = (void*)((base + FLOATS_HUGE_PAGE - 1) & ~(uintptr_t)(FLOATS_HUGE_PAGE - 1));
    madvise(block->start, bytes, MADV_HUGEPAGE); /* refused on some systems: then pages stay small */
    return block;
  }
#endif
  const size_t padded = (bytes + FLOATS_LINE - 1) & ~(FLOATS_LINE - 1);
#if defined(_WIN32)
  block->base = _aligned_malloc(padded > 0 ? padded : FLOATS_LINE, FLOATS_LINE);
#else
  if (posix_memalign(&block->base, FLOATS_LINE, padded > 0 ? padded : FLOATS_LINE) != 0) block->base = NULL;
#endif
  if (block->base == NULL) {
    free(block);
    return NULL;
  }
  memset(block->base, 0, padded);
  block->start = block->base;
  return block;
}

static void floats_free(floats_block* block) {
#if defined(__linux__)
  if (block->mapped > 0) {
    munmap(block->base, block->mapped);
    free(block);
    return;
  }
#endif
#if defined(_WIN32)
  _aligned_free(block->base);
#else
  free(block->base);
#endif
  free(block);
}

#endif /* TFJS_EMBEDDINGS_NODE_FLOATS_H_ */
