/*
 * Locks of tables, by the address of their data: lookups hold them shared, steps alone. Slots go with their table.
 *
 * All tables of a call are locked in one go: a call that waits holds none, so that no circle of waiting can be. Calls
 * come in the order in which they ask, so that steps do not starve among lookups. Locks belong to no thread.
 */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_TABLES_TABLE_LOCKS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_TABLES_TABLE_LOCKS_H_

#include <stdint.h>

#include <vector>

namespace te {

enum class TableUse { kRead, kStep };

class TableLock {
 public:
  /* Waits for them. */
  TableLock(std::vector<const void*> tables, TableUse use);
  TableLock(const TableLock&) = delete;
  TableLock& operator=(const TableLock&) = delete;
  ~TableLock();

 private:
  std::vector<const void*> tables_;
  const TableUse use_;
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_TABLES_TABLE_LOCKS_H_ */
