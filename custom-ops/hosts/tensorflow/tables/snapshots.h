/*
 * Tables as they were at one moment, while steps go on: a row that is about to be written is copied first, as long as a
 * snapshot of its table has not handed it out. Rows are handed out in order, once.
 *
 * A snapshot is of a table and its slots, by the addresses of their data. It takes memory for rows that steps write
 * before they were handed out, at most as much as its tables, and 4 bytes for each row of them.
 */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_TABLES_SNAPSHOTS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_TABLES_SNAPSHOTS_H_

#include <stdint.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../api.h"

namespace te {

/* An array of rows, which the tensor keeps alive. */
struct SnapshotArray {
  const float* data;
  int64_t width;
  TF_Tensor* tensor;
};

class Snapshot {
 public:
  /* Takes arrays of so many rows over; `purpose`: a text that others find it by. Under the lock of a step of them. */
  Snapshot(std::string purpose, std::vector<SnapshotArray> arrays, int64_t rows);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot();

  /* Whether there was memory for all that was to be kept. */
  bool whole() const;
  int64_t rows() const { return rows_; }
  const std::vector<SnapshotArray>& arrays() const { return arrays_; }
  const std::string& purpose() const { return purpose_; }
  /* Rows that were handed out. */
  int64_t done() const;

  /* Copies `count` rows from `done()` on, as they were, to one place for each array. Takes locks for a little at a time. */
  void hand_out(int64_t count, const std::vector<float*>& places);

  /* Rows of an array are about to be written. Under a lock of it. */
  void keep(const void* array, const int32_t* rows, int64_t count);
  void keep(const void* array, int64_t first, int64_t end);

 private:
  struct Kept;
  void keep_row(const SnapshotArray& array, Kept* kept, int64_t row);
  void copy_rows(int64_t first, int64_t count, size_t array, float* place) const;

  const std::string purpose_;
  const std::vector<SnapshotArray> arrays_;
  const int64_t rows_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Kept>> kept_;
  int64_t done_ = 0;
  bool whole_ = true;
};

/* The snapshots of now. */
class Snapshots {
 public:
  /* Begins one; returns its number. */
  static int32_t add(std::shared_ptr<Snapshot> snapshot);
  static void remove(int32_t number);
  /* nullptr: there is none of this number. */
  static std::shared_ptr<Snapshot> find(int32_t number);
  /* Those that have an array. */
  static std::vector<std::shared_ptr<Snapshot>> of(const void* array);
  static int32_t count();
  static int32_t count(const std::string& purpose);
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_TABLES_SNAPSHOTS_H_ */
