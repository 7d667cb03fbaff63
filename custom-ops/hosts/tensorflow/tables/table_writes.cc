#include "table_writes.h"

#include <algorithm>

#include "snapshots.h"

namespace te {
namespace {

constexpr int64_t kRowsAtOnce = 4096;

void keep(const TableWrite& write, const void* array, Snapshot* snapshot) {
  if (write.rows != nullptr) snapshot->keep(array, write.rows, write.count);
  else snapshot->keep(array, write.first, write.end);
}

/* Most of a long range is kept before the table is locked, so that lookups do not wait for that. */
void keep_early(const TableWrite& write) {
  if (write.rows != nullptr || write.end - write.first <= kRowsAtOnce) return;
  for (const void* array : write.arrays) {
    for (const auto& snapshot : Snapshots::of(array)) {
      for (int64_t row = write.first; row < write.end; row += kRowsAtOnce) {
        const TableLock lock({write.arrays.front(), array}, TableUse::kRead);
        snapshot->keep(array, row, std::min(row + kRowsAtOnce, write.end));
      }
    }
  }
}

}  // namespace

TableWrites::TableWrites(const std::vector<TableWrite>& writes) {
  std::vector<const void*> tables;
  for (const TableWrite& write : writes) {
    if (Snapshots::count() > 0) keep_early(write);
    tables.push_back(write.arrays.front());
  }
  lock_ = std::make_unique<TableLock>(std::move(tables), TableUse::kStep);
  if (Snapshots::count() == 0) return;
  for (const TableWrite& write : writes) {
    for (const void* array : write.arrays) {
      for (const auto& snapshot : Snapshots::of(array)) keep(write, array, snapshot.get());
    }
  }
}

}  // namespace te
