#include "snapshots.h"

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <utility>

#include "table_locks.h"

namespace te {
namespace {

/* Steps wait no longer than it takes to copy so much. */
constexpr int64_t kBytesAtOnce = int64_t{1} << 20;
constexpr int64_t kChunkBytes = int64_t{1} << 20;

}  // namespace

/* Copies of rows of one array. */
struct Snapshot::Kept {
  Kept(int64_t rows, int64_t row_width)
      /* Zeros that nobody looks at take no memory. */
      : places(static_cast<uint32_t*>(calloc(static_cast<size_t>(std::max<int64_t>(rows, 1)), sizeof(uint32_t)))),
        width(row_width),
        rows_of_chunk(std::max<int64_t>(1, kChunkBytes / std::max<int64_t>(1, width * 4))) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    free(places);
    for (float* chunk : chunks) free(chunk);
  }

  float* row(int64_t place) const {
    return chunks[static_cast<size_t>(place / rows_of_chunk)] + place % rows_of_chunk * width;
  }

  /* Room for another row; nullptr where there is no memory. */
  float* add() {
    if (count % rows_of_chunk == 0) {
      const size_t bytes = static_cast<size_t>(std::max<int64_t>(1, rows_of_chunk * width)) * sizeof(float);
      float* const chunk = static_cast<float*>(malloc(bytes));
      if (chunk == nullptr) return nullptr;
      chunks.push_back(chunk);
    }
    return row(count++);
  }

  uint32_t* const places; /* of the copy of each row, counted from 1; 0: there is none */
  const int64_t width;
  const int64_t rows_of_chunk;
  int64_t count = 0;
  std::vector<float*> chunks;
};

Snapshot::Snapshot(std::string purpose, std::vector<SnapshotArray> arrays, int64_t rows)
    : purpose_(std::move(purpose)), arrays_(std::move(arrays)), rows_(rows) {
  for (const SnapshotArray& array : arrays_) {
    kept_.emplace_back(new Kept(rows_, array.width));
    whole_ = whole_ && kept_.back()->places != nullptr;
  }
}

Snapshot::~Snapshot() {
  for (const SnapshotArray& array : arrays_) tf.TF_DeleteTensor(array.tensor);
}

bool Snapshot::whole() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return whole_;
}

int64_t Snapshot::done() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

void Snapshot::keep_row(const SnapshotArray& array, Kept* kept, int64_t row) {
  if (row < done_ || row >= rows_ || kept->places[row] != 0) return;
  float* const place = kept->add();
  if (place == nullptr) {
    whole_ = false;
    return;
  }
  memcpy(place, array.data + row * array.width, static_cast<size_t>(array.width) * sizeof(float));
  kept->places[row] = static_cast<uint32_t>(kept->count);
}

void Snapshot::keep(const void* array, const int32_t* rows, int64_t count) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].data != array) continue;
    for (int64_t at = 0; at < count && whole_; ++at) {
      if (rows[at] >= 0) keep_row(arrays_[i], kept_[i].get(), rows[at]);
    }
  }
}

void Snapshot::keep(const void* array, int64_t first, int64_t end) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].data != array) continue;
    for (int64_t row = std::max<int64_t>(first, 0); row < end && whole_; ++row) {
      keep_row(arrays_[i], kept_[i].get(), row);
    }
  }
}

void Snapshot::copy_rows(int64_t first, int64_t count, size_t i, float* place) const {
  const SnapshotArray& array = arrays_[i];
  const Kept& kept = *kept_[i];
  const size_t bytes = static_cast<size_t>(array.width) * sizeof(float);
  if (bytes == 0) return;
  memcpy(place, array.data + first * array.width, static_cast<size_t>(count) * bytes);
  for (int64_t row = first; row < first + count && kept.count > 0; ++row) {
    if (kept.places[row] != 0) memcpy(place + (row - first) * array.width, kept.row(kept.places[row] - 1), bytes);
  }
}

void Snapshot::hand_out(int64_t count, const std::vector<float*>& places) {
  std::vector<const void*> addresses;
  int64_t width = 0;
  for (const SnapshotArray& array : arrays_) {
    addresses.push_back(array.data);
    width += array.width;
  }
  const int64_t at_once = std::max<int64_t>(1, kBytesAtOnce / std::max<int64_t>(1, width * 4));
  for (int64_t copied = 0; copied < count; copied += at_once) {
    const int64_t some = std::min(at_once, count - copied);
    const TableLock table(addresses, TableUse::kRead);
    std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < arrays_.size(); ++i) copy_rows(done_, some, i, places[i] + copied * arrays_[i].width);
    done_ += some;
  }
}

namespace {

class SnapshotBook {
 public:
  /* Never destroyed: kernels may run while the process ends. */
  static SnapshotBook& shared() {
    static SnapshotBook* const instance = new SnapshotBook;
    return *instance;
  }

  std::mutex mutex;
  std::map<int32_t, std::shared_ptr<Snapshot>> by_number;
  int32_t last = 0;
  std::atomic<int32_t> count{0};
};

}  // namespace

int32_t Snapshots::add(std::shared_ptr<Snapshot> snapshot) {
  SnapshotBook& book = SnapshotBook::shared();
  std::lock_guard<std::mutex> lock(book.mutex);
  do {
    book.last = book.last == INT32_MAX ? 1 : book.last + 1;
  } while (book.by_number.count(book.last) != 0);
  book.by_number.emplace(book.last, std::move(snapshot));
  book.count += 1;
  return book.last;
}

void Snapshots::remove(int32_t number) {
  SnapshotBook& book = SnapshotBook::shared();
  std::shared_ptr<Snapshot> gone; /* whose memory is freed without the lock */
  std::lock_guard<std::mutex> lock(book.mutex);
  const auto found = book.by_number.find(number);
  if (found == book.by_number.end()) return;
  gone = std::move(found->second);
  book.by_number.erase(found);
  book.count -= 1;
}

std::shared_ptr<Snapshot> Snapshots::find(int32_t number) {
  SnapshotBook& book = SnapshotBook::shared();
  std::lock_guard<std::mutex> lock(book.mutex);
  const auto found = book.by_number.find(number);
  return found == book.by_number.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Snapshot>> Snapshots::of(const void* array) {
  SnapshotBook& book = SnapshotBook::shared();
  std::vector<std::shared_ptr<Snapshot>> found;
  if (book.count == 0) return found; /* the usual case costs nothing */
  std::lock_guard<std::mutex> lock(book.mutex);
  for (const auto& each : book.by_number) {
    const std::vector<SnapshotArray>& arrays = each.second->arrays();
    const auto has = [array](const SnapshotArray& one) { return one.data == array; };
    if (std::any_of(arrays.begin(), arrays.end(), has)) found.push_back(each.second);
  }
  return found;
}

int32_t Snapshots::count() { return SnapshotBook::shared().count; }

int32_t Snapshots::count(const std::string& purpose) {
  SnapshotBook& book = SnapshotBook::shared();
  std::lock_guard<std::mutex> lock(book.mutex);
  int32_t found = 0;
  for (const auto& each : book.by_number) found += each.second->purpose() == purpose ? 1 : 0;
  return found;
}

}  // namespace te
