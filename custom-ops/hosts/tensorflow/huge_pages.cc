#include "huge_pages.h"

#include <stdint.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1; others refuse it */
#endif
#endif

#include <mutex>

namespace te {

Pages whole_pages(void* data, size_t bytes) {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(data) + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) & ~(kPage - 1);
  return {reinterpret_cast<char*>(first), reinterpret_cast<char*>(end)};
}

void prefer_huge_pages(void* data, size_t bytes) {
#if defined(__linux__)
  if (bytes < kLargeTable) return;
  const Pages pages = whole_pages(data, bytes);
  madvise(pages.first, static_cast<size_t>(pages.end - pages.first), MADV_HUGEPAGE);
#else
  (void)data;
  (void)bytes;
#endif
}

#if defined(__linux__)

namespace {

constexpr size_t kHugePage = size_t{2} << 20;
/* Smaller tables are in the caches anyway. */
constexpr size_t kLeastHugeBytes = size_t{4} << 20;

/* The whole huge pages of some memory. */
struct HugeSpan {
  HugeSpan(const void* data, size_t bytes)
      : first((reinterpret_cast<uintptr_t>(data) + kHugePage - 1) & ~(kHugePage - 1)),
        end((reinterpret_cast<uintptr_t>(data) + bytes) & ~(kHugePage - 1)) {}
  bool empty() const { return bytes_from(first) == 0; }
  size_t bytes_from(uintptr_t at) const { return at < end ? end - at : 0; }

  uintptr_t first, end;
};

int advise(uintptr_t at, size_t bytes, int advice) { return madvise(reinterpret_cast<void*>(at), bytes, advice); }

/*
 * Lays memory that is about to be written on huge pages; what it holds is lost. An allocator hands memory out again
 * that had small pages, and these would stay.
 */
void renew(void* data, size_t bytes) {
  const HugeSpan span(data, bytes);
  if (span.empty()) return;
  if (advise(span.first, span.bytes_from(span.first), MADV_HUGEPAGE) != 0) return; /* a system without them */
  advise(span.first, span.bytes_from(span.first), MADV_DONTNEED);
}

/*
 * Tables that are looked up where others have put them. One of which as many bytes were read as it has moves to huge
 * pages in place, as many bytes with each further lookup as that reads: none waits for a whole table, and one that is
 * looked up once or twice pays nothing.
 */
class LookedUpTables {
 public:
  /* Never destroyed: kernels may run while the process ends. */
  static LookedUpTables& book() {
    static LookedUpTables* const instance = new LookedUpTables;
    return *instance;
  }

  void read(const void* data, size_t bytes, size_t bytes_read) {
    const HugeSpan span(data, bytes);
    if (bytes < kLeastHugeBytes || span.empty()) return;
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    Table& table = find(data, bytes, span);
    table.used = ++now_;
    if (++table.lookups % kLookAgain == 0) table.next = span.first;
    if (table.next >= span.end) return;
    if (table.read < bytes) {
      table.read += bytes_read;
      return;
    }
    table.credit += bytes_read;
    const size_t left = span.bytes_from(table.next);
    const size_t piece = table.credit < left ? table.credit & ~(kHugePage - 1) : left;
    if (piece == 0) return;
    const bool refused = advise(table.next, piece, MADV_HUGEPAGE) != 0 || advise(table.next, piece, MADV_COLLAPSE) != 0;
    table.next = refused ? span.end : table.next + piece;
    table.credit -= piece < table.credit ? piece : table.credit;
  }

 private:
  struct Table {
    const void* data = nullptr;
    size_t bytes = 0;
    size_t read = 0;
    size_t credit = 0; /* bytes that may move */
    uintptr_t next = 0;
    uint64_t used = 0;
    uint32_t lookups = 0;
  };
  static constexpr int kTables = 64;
  /* Another table may have come to the same place meanwhile; what lies on huge pages already costs nothing. */
  static constexpr uint32_t kLookAgain = 4096;

  Table& find(const void* data, size_t bytes, const HugeSpan& span) {
    Table* oldest = &tables_[0];
    for (Table& table : tables_) {
      if (table.data == data && table.bytes == bytes) return table;
      if (table.used < oldest->used) oldest = &table;
    }
    *oldest = Table();
    oldest->data = data;
    oldest->bytes = bytes;
    oldest->next = span.first;
    return *oldest;
  }

  std::mutex mutex_;
  Table tables_[kTables];
  uint64_t now_ = 0;
};

}  // namespace

void renew_on_huge_pages(void* data, size_t bytes) {
  if (bytes >= kLeastHugeBytes) renew(data, bytes);
}

void* allocate_on_huge_pages(size_t bytes) {
  if (bytes < kHugePage / 4 || bytes > SIZE_MAX / 2) return malloc(bytes);
  const size_t whole = (bytes + kHugePage - 1) & ~(kHugePage - 1);
  void* data = nullptr;
  if (posix_memalign(&data, kHugePage, whole) != 0) return nullptr;
  renew(data, whole);
  return data;
}

void looked_up(const void* data, size_t bytes, size_t bytes_read) {
  LookedUpTables::book().read(data, bytes, bytes_read);
}

#else

void renew_on_huge_pages(void*, size_t) {}
void* allocate_on_huge_pages(size_t bytes) { return malloc(bytes); }
void looked_up(const void*, size_t, size_t) {}

#endif

void looked_up(const te_rows& table, const te_bags& bags) {
  const size_t row = static_cast<size_t>(te_row_words(table.codec, table.dim)) * sizeof(int32_t);
  looked_up(table.data, static_cast<size_t>(table.rows) * row, static_cast<size_t>(bags.nnz) * row);
}

}  // namespace te
