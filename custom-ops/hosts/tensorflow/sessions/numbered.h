/* Objects that JavaScript knows by numbers. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_NUMBERED_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_NUMBERED_H_

#include <stdint.h>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace te {

template <typename T>
class Numbered {
 public:
  /* Never 0. */
  int32_t add(std::shared_ptr<T> object) {
    std::lock_guard<std::mutex> lock(mutex_);
    do {
      last_ = last_ == INT32_MAX ? 1 : last_ + 1;
    } while (objects_.count(last_) != 0);
    objects_.emplace(last_, std::move(object));
    return last_;
  }

  /* nullptr: there is none of this number. */
  std::shared_ptr<T> find(int32_t number) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(number);
    return found == objects_.end() ? nullptr : found->second;
  }

  /* The same, and the number stands for nothing afterwards. */
  std::shared_ptr<T> take(int32_t number) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects_.find(number);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  int32_t count() {
    std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int32_t>(objects_.size());
  }

 private:
  std::mutex mutex_;
  std::unordered_map<int32_t, std::shared_ptr<T>> objects_;
  int32_t last_ = 0;
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_NUMBERED_H_ */
