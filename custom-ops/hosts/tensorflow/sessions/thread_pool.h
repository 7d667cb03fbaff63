/* Threads for calls that wait: as many as go at the same time, kept for the next ones. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_THREAD_POOL_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_THREAD_POOL_H_

#include <stdint.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace te {

/* Starts a thread that nobody waits for and that takes no signals; false where the system has none. */
bool start_thread(std::function<void()> work);

class ThreadPool {
 public:
  /* Never destroyed: its threads may run while the process ends. */
  static ThreadPool& shared();

  /* Runs it in a thread of its own; false where the system has no more threads. */
  bool run(std::function<void()> task);
  int32_t threads();

 private:
  /* More that have nothing to do end. */
  static constexpr size_t kMostIdle = 64;

  void work();

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> tasks_;
  size_t idle_ = 0;
  size_t threads_ = 0;
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_THREAD_POOL_H_ */
