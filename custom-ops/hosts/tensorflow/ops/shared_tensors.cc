/*
 * Tensors of TensorFlow that are shared: other threads read and write them by key, where they lie, until they are
 * released.
 *
 * Sharing keeps the tensor alive, so it also cannot be written in place by an op. One that is released while it
 * is in use is deleted as soon as the user is done.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <mutex>
#include <unordered_map>

#include "../call.h"
#include "../shapes.h"
#include "../../shared/memory.h"
#include "../../shared/shared_tensors.h"
#include "../api.h"
#include "ops.h"

namespace te {
namespace {

/* Whether all rows lie within so many words. No sum or product runs over. */
bool fits(const te_shared_rows& r, uint64_t words) {
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
      unused = remove_unused(found);
    }
    if (unused != nullptr) tf.TF_DeleteTensor(unused);
  }

  te_shared_status read(int32_t key, const te_shared_rows& rows, void* target) {
    return use(key, rows, target, [&](const char* tensor) { copy_out(tensor, rows, static_cast<char*>(target)); });
  }

  te_shared_status write(int32_t key, const te_shared_rows& rows, const void* source) {
    return use(key, rows, source, [&](char* tensor) { copy_in(static_cast<const char*>(source), rows, tensor); });
  }

 private:
  struct Shared {
    TF_Tensor* tensor;
    int users;
    bool released;
  };
  using Iterator = std::unordered_map<int32_t, Shared>::iterator;

  /* Under the lock. Returns the tensor for deletion where it is unused. */
  TF_Tensor* remove_unused(Iterator found) {
    const Shared shared = found->second;
    if (!shared.released || shared.users > 0) return nullptr;
    shared_.erase(found);
    return shared.tensor;
  }

  TF_Tensor* begin_use(int32_t key) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = shared_.find(key);
    if (found == shared_.end() || found->second.released) return nullptr;
    found->second.users += 1;
    return found->second.tensor;
  }

  void end_use(int32_t key) {
    TF_Tensor* unused = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = shared_.find(key);
      found->second.users -= 1;
      unused = remove_unused(found);
    }
    if (unused != nullptr) tf.TF_DeleteTensor(unused);
  }

  /* Gives `work` the first word of rows that lie within the tensor, and not in `other`, which has as many words. */
  template <typename Work>
  te_shared_status use(int32_t key, const te_shared_rows& rows, const void* other, Work work) {
    TF_Tensor* tensor = begin_use(key);
    if (tensor == nullptr) return TE_SHARED_UNKNOWN;
    const size_t bytes = tf.TF_TensorByteSize(tensor);
    char* data = static_cast<char*>(tf.TF_TensorData(tensor));
    te_shared_status status = TE_SHARED_OK;
    if (!fits(rows, bytes / 4)) {
      status = TE_SHARED_OUTSIDE;
    } else if (te_overlap(data, bytes, other, rows.rows * rows.columns * 4)) {
      /* TensorFlow may hold a tensor in the very array that it was made of. */
      status = TE_SHARED_OVERLAPS;
    } else if (rows.rows > 0 && rows.columns > 0) {
      work(data + rows.at * 4);
    }
    end_use(key);
    return status;
  }

  static bool without_gaps(const te_shared_rows& rows) { return rows.stride == rows.columns; }

  static void copy_out(const char* tensor, const te_shared_rows& rows, char* target) {
    const size_t bytes = rows.columns * 4;
    if (without_gaps(rows)) {
      memcpy(target, tensor, rows.rows * bytes);
      return;
    }
    for (uint64_t row = 0; row < rows.rows; ++row) {
      memcpy(target + row * bytes, tensor + row * rows.stride * 4, bytes);
    }
  }

  static void copy_in(const char* source, const te_shared_rows& rows, char* tensor) {
    const size_t bytes = rows.columns * 4;
    if (without_gaps(rows)) {
      memcpy(tensor, source, rows.rows * bytes);
      return;
    }
    for (uint64_t row = 0; row < rows.rows; ++row) {
      memcpy(tensor + row * rows.stride * 4, source + row * bytes, bytes);
    }
  }

  std::mutex mutex_;
  std::unordered_map<int32_t, Shared> shared_;
  int32_t next_ = 0;
};

/* Shares each source under its key; the caller releases them. */
void compute_share(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* given = call.input(0, "keys", 1);
  if (given == nullptr) return;
  const int sources = tf.TF_NumInputs(context) - 1;
  const int64_t count = tf.TF_Dim(given, 0);
  if (count != sources) {
    return call.fail(TF_INVALID_ARGUMENT, "keys: expected one per source (%d), received %lld", sources,
                     static_cast<long long>(count));
  }
  const int32_t* keys = static_cast<const int32_t*>(Call::data(given));
  for (int i = 0; i < sources; ++i) {
    TF_Tensor* source = call.take_input(1 + i);
    if (source != nullptr && !SharedTensors::registry().share(keys[i], source)) {
      tf.TF_DeleteTensor(source);
      call.fail(TF_INVALID_ARGUMENT, "keys: %d is in use", keys[i]);
    }
    if (call.failed()) {
      while (--i >= 0) SharedTensors::registry().release(keys[i]);
      return;
    }
  }
}

}  // namespace

OpList shared_tensor_ops() {
  static const Op ops[] = {
      {"EmbeddingShareTensors",
       {"keys: int32", "sources: N * T"},
       {},
       {"N: int >= 1", "T: {float, int32}"},
       nothing_shape,
       create_plain,
       compute_share,
       true},
  };
  return list_of(ops);
}

}  // namespace te

/* What shared_tensors.h declares. */
extern "C" int32_t te_shared_new_key(void) { return te::SharedTensors::registry().new_key(); }
extern "C" void te_shared_release(int32_t key) { te::SharedTensors::registry().release(key); }
extern "C" te_shared_status te_shared_write(int32_t key, const te_shared_rows* rows, const void* source) {
  return te::SharedTensors::registry().write(key, *rows, source);
}
extern "C" te_shared_status te_shared_read(int32_t key, const te_shared_rows* rows, void* target) {
  return te::SharedTensors::registry().read(key, *rows, target);
}
extern "C" const void* te_shared_registry(void) { return &te::SharedTensors::registry(); }
