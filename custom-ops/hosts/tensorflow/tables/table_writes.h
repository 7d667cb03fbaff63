/* What writes rows of tables: alone on them, and not before snapshots have what was there. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_TABLES_TABLE_WRITES_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_TABLES_TABLE_WRITES_H_

#include <stdint.h>

#include <memory>
#include <vector>

#include "table_locks.h"

namespace te {

/* Rows of a table and its slots that are written: those of a list, or all from `first` to before `end`. */
struct TableWrite {
  std::vector<const void*> arrays; /* the first is the table */
  const int32_t* rows;             /* nullptr: no list */
  int64_t count;
  int64_t first, end;
};

/* Held while rows are written. */
class TableWrites {
 public:
  explicit TableWrites(const std::vector<TableWrite>& writes);

 private:
  std::unique_ptr<TableLock> lock_;
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_TABLES_TABLE_WRITES_H_ */
