/*
 * Tensors that TensorFlow lends: other threads read them by number, where they lie, until they are returned.
 *
 * A loan keeps the tensor alive, so it also cannot be written in place by an op. Returning one that is being read just
 * then ends it as soon as the reader is done.
 */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_LOANS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_LOANS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <mutex>
#include <unordered_map>

#include "loans.h"
#include "memory.h"
#include "tensorflow_api.h"

namespace te {
namespace {

/* Whether all rows lie within so many words. No sum or product runs over. */
inline bool fits(const te_loan_rows& r, uint64_t words) {
  if (r.columns == 0 || r.rows == 0) return true;
  if (r.at > words || r.columns > words - r.at) return false;
  const uint64_t room = words - r.at - r.columns;
  return r.rows == 1 || r.stride == 0 || r.rows - 1 <= room / r.stride;
}

class Loans {
 public:
  /* Never destroyed: devices may read while the process ends. */
  static Loans& book() {
    static Loans* const instance = new Loans;
    return *instance;
  }

  /* A number that no tensor is lent under. */
  int32_t number() {
    std::lock_guard<std::mutex> lock(mutex_);
    do {
      next_ = next_ == INT32_MAX ? 0 : next_ + 1;
    } while (loans_.count(next_) != 0);
    return next_;
  }

  /* Takes `tensor` over; false where the number is in use. */
  bool lend(int32_t number, TF_Tensor* tensor) {
    std::lock_guard<std::mutex> lock(mutex_);
    return loans_.emplace(number, Loan{tensor, 0, false}).second;
  }

  void end(int32_t number) {
    TF_Tensor* unused = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = loans_.find(number);
      if (found == loans_.end()) return;
      found->second.ended = true;
      unused = remove_unread(found);
    }
    if (unused != nullptr) tf.TF_DeleteTensor(unused);
  }

  te_loan_status read(int32_t number, const te_loan_rows& rows, void* target) {
    TF_Tensor* tensor = begin_read(number);
    if (tensor == nullptr) return TE_LOAN_UNKNOWN;
    const te_loan_status status = copy_rows(tensor, rows, static_cast<char*>(target));
    end_read(number);
    return status;
  }

 private:
  struct Loan {
    TF_Tensor* tensor;
    int readers;
    bool ended;
  };
  using Iterator = std::unordered_map<int32_t, Loan>::iterator;

  /* Under the lock. Returns the tensor for deletion where nobody needs it any more. */
  TF_Tensor* remove_unread(Iterator found) {
    const Loan loan = found->second;
    if (!loan.ended || loan.readers > 0) return nullptr;
    loans_.erase(found);
    return loan.tensor;
  }

  TF_Tensor* begin_read(int32_t number) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = loans_.find(number);
    if (found == loans_.end() || found->second.ended) return nullptr;
    found->second.readers += 1;
    return found->second.tensor;
  }

  void end_read(int32_t number) {
    TF_Tensor* unused = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = loans_.find(number);
      found->second.readers -= 1;
      unused = remove_unread(found);
    }
    if (unused != nullptr) tf.TF_DeleteTensor(unused);
  }

  static te_loan_status copy_rows(const TF_Tensor* tensor, const te_loan_rows& rows, char* target) {
    const size_t bytes = tf.TF_TensorByteSize(tensor);
    const char* source = static_cast<const char*>(tf.TF_TensorData(tensor));
    if (!fits(rows, bytes / 4)) return TE_LOAN_OUTSIDE;
    /* TensorFlow may hold a tensor in the very array that it was made of. */
    if (te_overlap(source, bytes, target, rows.rows * rows.columns * 4)) return TE_LOAN_SHARED;
    copy(source, rows, target);
    return TE_LOAN_OK;
  }

  static void copy(const char* source, const te_loan_rows& rows, char* target) {
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
  std::unordered_map<int32_t, Loan> loans_;
  int32_t next_ = 0;
};

}  // namespace
}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_LOANS_H_ */
