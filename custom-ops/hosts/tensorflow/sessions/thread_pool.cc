#include "thread_pool.h"

#if !defined(_WIN32)
#include <signal.h>
#endif

#include <system_error>
#include <thread>
#include <utility>

namespace te {

bool start_thread(std::function<void()> work) {
#if !defined(_WIN32)
  /* Signals belong to the host's own threads. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
  bool started = true;
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error&) {
    started = false;
  }
#if !defined(_WIN32)
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
  return started;
}

ThreadPool& ThreadPool::shared() {
  static ThreadPool* const instance = new ThreadPool;
  return *instance;
}

bool ThreadPool::run(std::function<void()> task) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (idle_ <= tasks_.size()) {
    if (!start_thread([this] { work(); })) return false;
    threads_ += 1;
    idle_ += 1; /* it is on its way */
  }
  tasks_.push_back(std::move(task));
  more_.notify_one();
  return true;
}

int32_t ThreadPool::threads() {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int32_t>(threads_);
}

void ThreadPool::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    more_.wait(lock, [this] { return !tasks_.empty() || idle_ > kMostIdle; });
    if (tasks_.empty()) break;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    idle_ -= 1;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    idle_ += 1;
  }
  idle_ -= 1;
  threads_ -= 1;
}

}  // namespace te
