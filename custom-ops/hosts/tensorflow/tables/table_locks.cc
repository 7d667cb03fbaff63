#include "table_locks.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace te {
namespace {

using Tables = std::vector<const void*>;

class LockBook {
 public:
  /* Never destroyed: kernels may run while the process ends. */
  static LockBook& shared() {
    static LockBook* const instance = new LockBook;
    return *instance;
  }

  void take(const Tables& tables, TableUse use) {
    std::unique_lock<std::mutex> lock(mutex_);
    Waiter waiter{&tables, use, {}, false};
    if (may_enter(waiter, waiting_.end())) return enter(waiter);
    waiting_.push_back(&waiter);
    waiter.entered.wait(lock, [&waiter] { return waiter.is_in; });
  }

  void release(const Tables& tables, TableUse use) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const void* table : tables) {
      const auto found = in_use_.find(table);
      if (use == TableUse::kStep) {
        found->second.is_stepped = false;
      } else {
        found->second.readers -= 1;
      }
      if (found->second.readers == 0) in_use_.erase(found);
    }
    for (auto each = waiting_.begin(); each != waiting_.end();) {
      Waiter& waiter = **each;
      if (may_enter(waiter, each)) {
        enter(waiter);
        waiter.is_in = true;
        waiter.entered.notify_one();
        each = waiting_.erase(each);
      } else {
        ++each;
      }
    }
  }

 private:
  struct State {
    int32_t readers = 0;
    bool is_stepped = false;
  };
  struct Waiter {
    const Tables* tables; /* ascending */
    TableUse use;
    std::condition_variable entered;
    bool is_in;
  };
  using Waiting = std::list<Waiter*>;

  /* Whether its tables are free, and none of those that came before it waits for one of them. */
  bool may_enter(const Waiter& waiter, Waiting::const_iterator place) {
    for (const void* table : *waiter.tables) {
      const auto found = in_use_.find(table);
      if (found == in_use_.end()) continue;
      if (found->second.is_stepped || waiter.use == TableUse::kStep) return false;
    }
    return std::none_of(waiting_.cbegin(), place, [&](const Waiter* before) { return conflict(*before, waiter); });
  }

  static bool conflict(const Waiter& a, const Waiter& b) {
    if (a.use != TableUse::kStep && b.use != TableUse::kStep) return false;
    return std::any_of(a.tables->begin(), a.tables->end(), [&b](const void* table) {
      return std::binary_search(b.tables->begin(), b.tables->end(), table);
    });
  }

  void enter(const Waiter& waiter) {
    for (const void* table : *waiter.tables) {
      State& state = in_use_[table];
      if (waiter.use == TableUse::kStep) {
        state.is_stepped = true;
      } else {
        state.readers += 1;
      }
    }
  }

  std::mutex mutex_;
  std::unordered_map<const void*, State> in_use_;
  Waiting waiting_;
};

Tables ascending(Tables tables) {
  std::sort(tables.begin(), tables.end());
  tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
  return tables;
}

}  // namespace

TableLock::TableLock(Tables tables, TableUse use) : tables_(ascending(std::move(tables))), use_(use) {
  LockBook::shared().take(tables_, use_);
}

TableLock::~TableLock() { LockBook::shared().release(tables_, use_); }

}  // namespace te
