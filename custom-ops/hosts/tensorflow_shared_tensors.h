/*
 * Tensors of TensorFlow that are shared: other threads read them by key, where they lie, until they are released.
 *
 * Sharing keeps the tensor alive, so it also cannot be written in place by an op. One that is released while somebody
 * reads it is deleted as soon as the reader is done.
 */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_SHARED_TENSORS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_SHARED_TENSORS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <mutex>
#include <unordered_map>

#include "shared_tensors.h"
#include "memory.h"
#include "tensorflow_api.h"

namespace te {
namespace {

/* Whether all rows lie within so many words. No sum or product runs over. */
inline bool fits(const te_shared_rows& r, uint64_t words) {
  if (r.columns == 0 || r.rows == 0) return true;
  if (r.at > words || r.columns > words - r.at) return false;
  const uint64_t room = words - r.at - r.columns;
  return r.rows == 1 || r.stride == 0 || r.rows - 1 <= room / r.stride;
}

class SharedTensors {
 public:
  /* Never destroyed: devices may read while the process ends. */
  static SharedTensors& registry() {
    static SharedTensors* const instance = new SharedTensors;
    return *instance;
  }

  /* A key that no tensor is shared under. */
  int32_t new_key() {
    std::lock_guard<std::mutex> lock(mutex_);
    do {
      next_ = next_ == INT32_MAX ? 0 : next_ + 1;
    } while (shared_.count(next_) != 0);
    return next_;
  }

  /* Takes `tensor` over; false where the key is in use. */
  bool share(int32_t key, TF_Tensor* tensor) {
    std::lock_guard<std::mutex> lock(mutex_);
    return shared_.emplace(key, Shared{tensor, 0, false}).second;
  }

  void release(int32_t key) {
    TF_Tensor* unused = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = shared_.find(key);
      if (found == shared_.end()) return;
      found->second.released = true;
      unused = remove_unread(found);
    }
    if (unused != nullptr) tf.TF_DeleteTensor(unused);
  }

  te_shared_status read(int32_t key, const te_shared_rows& rows, void* target) {
    TF_Tensor* tensor = begin_read(key);
    if (tensor == nullptr) return TE_SHARED_UNKNOWN;
    const te_shared_status status = copy_rows(tensor, rows, static_cast<char*>(target));
    end_read(key);
    return status;
  }

 private:
  struct Shared {
    TF_Tensor* tensor;
    int readers;
    bool released;
  };
  using Iterator = std::unordered_map<int32_t, Shared>::iterator;

  /* Under the lock. Returns the tensor for deletion where nobody needs it any more. */
  TF_Tensor* remove_unread(Iterator found) {
    const Shared shared = found->second;
    if (!shared.released || shared.readers > 0) return nullptr;
    shared_.erase(found);
    return shared.tensor;
  }

  TF_Tensor* begin_read(int32_t key) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = shared_.find(key);
    if (found == shared_.end() || found->second.released) return nullptr;
    found->second.readers += 1;
    return found->second.tensor;
  }

  void end_read(int32_t key) {
    TF_Tensor* unused = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = shared_.find(key);
      found->second.readers -= 1;
      unused = remove_unread(found);
    }
    if (unused != nullptr) tf.TF_DeleteTensor(unused);
  }

  static te_shared_status copy_rows(const TF_Tensor* tensor, const te_shared_rows& rows, char* target) {
    const size_t bytes = tf.TF_TensorByteSize(tensor);
    const char* source = static_cast<const char*>(tf.TF_TensorData(tensor));
    if (!fits(rows, bytes / 4)) return TE_SHARED_OUTSIDE;
    /* TensorFlow may hold a tensor in the very array that it was made of. */
    if (te_overlap(source, bytes, target, rows.rows * rows.columns * 4)) return TE_SHARED_OVERLAPS;
    copy(source, rows, target);
    return TE_SHARED_OK;
  }

  static void copy(const char* source, const te_shared_rows& rows, char* target) {
    const size_t bytes = rows.columns * 4;
    if (bytes == 0 || rows.rows == 0) return;
    source += rows.at * 4;
    if (rows.stride == rows.columns) {
      memcpy(target, source, rows.rows * bytes);
      return;
    }
    for (uint64_t row = 0; row < rows.rows; ++row) {
      memcpy(target + row * bytes, source + row * rows.stride * 4, bytes);
    }
  }

  std::mutex mutex_;
  std::unordered_map<int32_t, Shared> shared_;
  int32_t next_ = 0;
};

}  // namespace
}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_SHARED_TENSORS_H_ */
