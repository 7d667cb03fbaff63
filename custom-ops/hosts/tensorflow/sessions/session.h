/*
 * A session on a server. Groups of runs go one after the other, the runs of a group side by side. A thread of the session
 * sees to the order, and watches: a call that takes long is given up when nothing listens at the server's address, or
 * when its deadline has passed and TensorFlow still says nothing. The call itself ends by itself later, and is forgotten.
 */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_SESSION_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_SESSION_H_

#include <stdint.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../../shared/servers.h"
#include "../api.h"
#include "../named_graph.h"
#include "probe.h"
#include "run.h"

namespace te {

class Session;

/* Runs that go side by side. All fields are under the lock of the session. */
struct Group {
  std::shared_ptr<Session> session;
  std::vector<std::shared_ptr<Run>> runs;
  size_t left = 0; /* runs without an outcome */
  std::chrono::steady_clock::time_point begun;
  std::condition_variable has_ended;
  void (*ended)(void*) = nullptr;
  void* data = nullptr;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(const std::string& host, int32_t port) : probe_(host, port) {}

  /* An empty text, or what is wrong. Nothing is contacted. */
  std::string open(const char* target, const void* config, size_t config_bytes, const void* graph, size_t graph_bytes);
  std::string extend(const void* graph, size_t bytes, const char* mapped);
  std::shared_ptr<Group> start(const te_run* runs, size_t count, std::string* problem);
  void close();

  bool has_ended(const Group& group);
  void wait_for(Group& group);
  /* Calls `ended` when the group has ended, or at once where it has. */
  void when_ended(Group& group, void (*ended)(void*), void* data);
  void forget(Group& group);

  /* Sessions whose thread is there, closed ones too. */
  static int32_t threads();

 private:
  using Clock = std::chrono::steady_clock;
  /* Nodes to add, or a group to run. */
  struct Task {
    std::string graph;
    std::string mapped;
    std::shared_ptr<Group> group;
  };

  void serve();
  void run(std::unique_lock<std::mutex>& lock, Group& group);
  void watch(std::unique_lock<std::mutex>& lock, Group& group);
  void perform(Group& group, Run& run);
  void settle(Group& group, Run& run, Outcome outcome);
  /* The session is no good any more: runs that go, and all that come, end so. */
  void give_up(Group* group, int32_t code, const std::string& message);
  std::string nothing_listens() const { return "nothing listens on " + probe_.name(); }

  const Probe probe_;
  TF_Session* session_ = nullptr;
  NamedGraph graph_; /* of the session: its thread alone looks at it, as TensorFlow may hold its lock while it calls */

  std::mutex names_mutex_;
  NamedGraph names_; /* the same nodes, for checks */

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  size_t calling_ = 0; /* threads that are within TensorFlow */
  bool is_closed_ = false;
  int32_t fault_ = 0;
  std::string fault_message_;
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_SESSION_H_ */
