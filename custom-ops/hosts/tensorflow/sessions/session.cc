#include "session.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "../status.h"
#include "thread_pool.h"

namespace te {
namespace {

/* A call that takes longer is looked after, and again after as long. */
constexpr auto kWatchAfter = std::chrono::milliseconds(250);
/* TensorFlow ends calls at their deadline, if late on a busy machine; one that it does not end is given up then. */
std::chrono::milliseconds grace(int64_t timeout_ms) {
  return std::chrono::milliseconds(std::max<int64_t>(200, timeout_ms / 12));
}
/* Deadlines beyond are none. */
constexpr int64_t kLongestTimeout = int64_t{1} << 40;

std::atomic<int32_t>& open_threads() {
  static std::atomic<int32_t> instance{0};
  return instance;
}

Outcome failure(int32_t code, const std::string& message) {
  Outcome outcome;
  outcome.code = code;
  outcome.message = message;
  return outcome;
}

}  // namespace

int32_t Session::threads() { return open_threads(); }

std::string Session::open(const char* target, const void* config, size_t config_bytes, const void* graph,
                          size_t graph_bytes) {
  std::string problem = names_.import(graph, graph_bytes, "");
  if (problem.empty()) problem = graph_.import(graph, graph_bytes, "");
  if (!problem.empty()) return problem;
  Status status;
  TF_SessionOptions* options = session_api.TF_NewSessionOptions();
  server_api.TF_SetTarget(options, target);
  session_api.TF_SetConfig(options, config, config_bytes, status.get());
  if (status.ok()) session_ = session_api.TF_NewSession(graph_.get(), options, status.get());
  session_api.TF_DeleteSessionOptions(options);
  if (!status.ok()) return status.message();
  open_threads() += 1;
  if (start_thread([self = shared_from_this()] { self->serve(); })) return std::string();
  open_threads() -= 1;
  session_api.TF_DeleteSession(session_, status.get()); /* it has not contacted anybody */
  return "the system has no thread left for a session";
}

std::string Session::extend(const void* graph, size_t bytes, const char* mapped) {
  std::lock_guard<std::mutex> names(names_mutex_);
  const std::string problem = names_.import(graph, bytes, mapped);
  if (!problem.empty()) return problem;
  std::lock_guard<std::mutex> lock(mutex_);
  tasks_.push_back({std::string(static_cast<const char*>(graph), bytes), mapped, nullptr});
  changed_.notify_all();
  return std::string();
}

std::shared_ptr<Group> Session::start(const te_run* runs, size_t count, std::string* problem) {
  auto group = std::make_shared<Group>();
  group->session = shared_from_this();
  std::lock_guard<std::mutex> names(names_mutex_); /* so that a group comes after the nodes that it was checked with */
  for (size_t i = 0; i < count && problem->empty(); ++i) {
    group->runs.push_back(std::make_shared<Run>(runs[i], names_, problem));
  }
  if (!problem->empty()) return nullptr;
  group->left = count;
  std::lock_guard<std::mutex> lock(mutex_);
  tasks_.push_back({std::string(), std::string(), group});
  changed_.notify_all();
  return group;
}

void Session::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  is_closed_ = true;
  for (const Task& task : tasks_) {
    if (task.group == nullptr) continue;
    for (const auto& run : task.group->runs) settle(*task.group, *run, failure(TF_CANCELLED, "the session was closed"));
  }
  tasks_.clear();
  changed_.notify_all();
}

bool Session::has_ended(const Group& group) {
  std::lock_guard<std::mutex> lock(mutex_);
  return group.left == 0;
}

void Session::wait_for(Group& group) {
  std::unique_lock<std::mutex> lock(mutex_);
  group.has_ended.wait(lock, [&group] { return group.left == 0; });
}

void Session::when_ended(Group& group, void (*ended)(void*), void* data) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (group.left == 0) {
    ended(data);
  } else {
    group.ended = ended;
    group.data = data;
  }
}

void Session::forget(Group& group) {
  std::lock_guard<std::mutex> lock(mutex_);
  group.ended = nullptr;
}

void Session::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_closed_ || !tasks_.empty(); });
    if (tasks_.empty()) break;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    if (task.group != nullptr) {
      run(lock, *task.group);
    } else if (fault_ == 0) { /* else a call that was given up may hold the graph */
      lock.unlock();
      const std::string problem = graph_.import(task.graph.data(), task.graph.size(), task.mapped.c_str());
      lock.lock();
      if (!problem.empty()) give_up(nullptr, TF_INTERNAL, problem);
    }
  }
  changed_.wait(lock, [this] { return calling_ == 0; });
  lock.unlock();
  Status status; /* a server that is gone does not mind */
  session_api.TF_CloseSession(session_, status.get());
  session_api.TF_DeleteSession(session_, status.get());
  open_threads() -= 1;
}

void Session::run(std::unique_lock<std::mutex>& lock, Group& group) {
  group.begun = Clock::now();
  if (fault_ != 0) return give_up(&group, fault_, fault_message_);
  /* Before the first call, which may hold the graph for long. */
  for (const auto& each : group.runs) {
    if (!each->find_nodes(graph_)) return give_up(&group, TF_INTERNAL, "the graph of the session lacks nodes");
  }
  for (const auto& each : group.runs) {
    calling_ += 1;
    /* The group is there until its last run is settled; a run that was given up knows it no more. */
    if (ThreadPool::shared().run([self = shared_from_this(), &group, each] { self->perform(group, *each); })) continue;
    calling_ -= 1;
    settle(group, *each, failure(TF_RESOURCE_EXHAUSTED, "the system has no thread left"));
  }
  watch(lock, group);
}

void Session::perform(Group& group, Run& run) {
  Outcome outcome = run.perform(session_);
  const bool is_gone = outcome.code == TF_UNAVAILABLE && probe_.is_refused([] { return false; });
  std::lock_guard<std::mutex> lock(mutex_);
  if (!run.settled) {
    if (is_gone) outcome.message = nothing_listens();
    settle(group, run, std::move(outcome));
    if (is_gone) give_up(nullptr, TF_UNAVAILABLE, nothing_listens());
  }
  calling_ -= 1;
  changed_.notify_all();
}

void Session::watch(std::unique_lock<std::mutex>& lock, Group& group) {
  auto next_look = group.begun + kWatchAfter;
  while (group.left > 0) {
    auto wake = next_look;
    for (const auto& run : group.runs) {
      const int64_t timeout = run->timeout_ms();
      if (run->settled || timeout <= 0 || timeout > kLongestTimeout) continue;
      const auto deadline = group.begun + std::chrono::milliseconds(timeout) + grace(timeout);
      if (Clock::now() >= deadline) {
        return give_up(&group, TF_DEADLINE_EXCEEDED,
                       "no answer of " + probe_.name() + " within " + std::to_string(timeout) + " ms");
      }
      if (deadline < wake) wake = deadline;
    }
    if (Clock::now() < next_look) {
      changed_.wait_until(lock, wake, [&group] { return group.left == 0; });
      continue;
    }
    lock.unlock();
    const bool is_gone = probe_.is_refused([this, &group] { return has_ended(group); });
    lock.lock();
    if (is_gone) return give_up(&group, TF_UNAVAILABLE, nothing_listens());
    next_look = Clock::now() + kWatchAfter;
  }
}

void Session::settle(Group& group, Run& run, Outcome outcome) {
  if (run.settled) return;
  run.settled = true;
  run.outcome = std::move(outcome);
  group.left -= 1;
  if (group.left > 0) return;
  group.has_ended.notify_all();
  changed_.notify_all();
  if (group.ended != nullptr) group.ended(group.data);
}

void Session::give_up(Group* group, int32_t code, const std::string& message) {
  fault_ = code;
  fault_message_ = message;
  if (group == nullptr) return;
  for (const auto& run : group->runs) {
    Outcome outcome = failure(code, message);
    outcome.ms = std::chrono::duration<double, std::milli>(Clock::now() - group->begun).count();
    settle(*group, *run, std::move(outcome));
  }
}

}  // namespace te
