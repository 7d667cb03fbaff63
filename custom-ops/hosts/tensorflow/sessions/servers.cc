/* What servers.h declares: sessions and groups by number, and servers, which live as long as the process. */
#include "../../shared/servers.h"

#include <stdio.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>
#include <memory>
#include <string>
#include <thread>

#include "../api.h"
#include "../status.h"
#include "numbered.h"
#include "run.h"
#include "session.h"
#include "thread_pool.h"

/* A group that was taken. */
struct te_outcomes {
  std::shared_ptr<te::Group> group;
};

namespace te {
namespace {

/* Never destroyed: threads of sessions may run while the process ends. */
Numbered<Session>& sessions() {
  static auto* const instance = new Numbered<Session>;
  return *instance;
}
Numbered<Group>& groups() {
  static auto* const instance = new Numbered<Group>;
  return *instance;
}

bool failed(te_problem* problem, const std::string& text, bool is_unknown = false) {
  problem->is_unknown = is_unknown;
  snprintf(problem->text, sizeof(problem->text), "%s", text.c_str());
  return false;
}

/* nullptr, with a problem, where there is none. */
std::shared_ptr<Session> session_of(int32_t number, te_problem* problem) {
  std::shared_ptr<Session> session = sessions().find(number);
  if (session == nullptr) failed(problem, "expected one that is open, received " + std::to_string(number), true);
  return session;
}

/*
 * TensorFlow runs each call of a server in a new thread: without these settings each gets a heap of its own, and what
 * messages needed stays in all of them, up to a fifth of the tables of 1 GB.
 */
void keep_heaps_small() {
#if defined(__GLIBC__)
  mallopt(M_ARENA_MAX, static_cast<int>(std::max(2u, std::thread::hardware_concurrency())));
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

constexpr char kNoServers[] = "the TensorFlow in this process has no servers, or registerTensorFlow was not called";

}  // namespace
}  // namespace te

extern "C" {

bool te_server_start(const void* definition, size_t bytes, char* target, size_t room, te_problem* problem) {
  if (!te::has_servers) return te::failed(problem, te::kNoServers);
  te::keep_heaps_small();
  te::Status status;
  TF_Server* server = te::server_api.TF_NewServer(definition, bytes, status.get());
  if (!status.ok()) return te::failed(problem, status.message());
  te::server_api.TF_ServerStart(server, status.get());
  /* TensorFlow cannot stop a server, and waits for ever where one that runs is deleted. */
  if (!status.ok()) return te::failed(problem, status.message());
  snprintf(target, room, "%s", te::server_api.TF_ServerTarget(server));
  return true;
}

int32_t te_session_open(const char* target, const void* config, size_t config_bytes, const void* graph,
                        size_t graph_bytes, const char* host, int32_t port, te_problem* problem) {
  if (!te::has_servers) return te::failed(problem, te::kNoServers);
  auto session = std::make_shared<te::Session>(host, port);
  const std::string wrong = session->open(target, config, config_bytes, graph, graph_bytes);
  if (!wrong.empty()) return te::failed(problem, wrong);
  return te::sessions().add(session);
}

bool te_session_extend(int32_t number, const void* graph, size_t bytes, const char* mapped, te_problem* problem) {
  const std::shared_ptr<te::Session> session = te::session_of(number, problem);
  if (session == nullptr) return false;
  const std::string wrong = session->extend(graph, bytes, mapped);
  return wrong.empty() || te::failed(problem, wrong);
}

bool te_session_close(int32_t number) {
  const std::shared_ptr<te::Session> session = te::sessions().take(number);
  if (session == nullptr) return false;
  session->close();
  return true;
}

int32_t te_group_start(int32_t number, const te_run* runs, size_t count, te_problem* problem) {
  const std::shared_ptr<te::Session> session = te::session_of(number, problem);
  if (session == nullptr) return 0;
  std::string wrong;
  const std::shared_ptr<te::Group> group = session->start(runs, count, &wrong);
  return wrong.empty() ? te::groups().add(group) : te::failed(problem, wrong);
}

te_group_state te_group_look(int32_t number) {
  const std::shared_ptr<te::Group> group = te::groups().find(number);
  if (group == nullptr) return TE_GROUP_UNKNOWN;
  return group->session->has_ended(*group) ? TE_GROUP_HAS_ENDED : TE_GROUP_RUNS;
}

te_outcomes* te_group_finish(int32_t number) {
  const std::shared_ptr<te::Group> group = te::groups().take(number);
  if (group == nullptr) return nullptr;
  group->session->wait_for(*group);
  return new te_outcomes{group};
}

te_outcomes* te_group_take(int32_t number) {
  const std::shared_ptr<te::Group> group = te::groups().take(number);
  return group == nullptr ? nullptr : new te_outcomes{group};
}
void te_group_when_ended(te_outcomes* of, void (*ended)(void*), void* data) {
  of->group->session->when_ended(*of->group, ended, data);
}
void te_group_forget(te_outcomes* of) { of->group->session->forget(*of->group); }

size_t te_outcome_count(const te_outcomes* of) { return of->group->runs.size(); }
te_outcome te_outcome_at(const te_outcomes* of, size_t run) {
  const te::Outcome& outcome = of->group->runs[run]->outcome;
  return {outcome.code, outcome.message.c_str(), outcome.ms, outcome.fetched.size()};
}
te_fetched te_fetched_at(const te_outcomes* of, size_t run, size_t fetch) {
  const te::Outcome& outcome = of->group->runs[run]->outcome;
  TF_Tensor* tensor = outcome.fetched[fetch].get();
  const auto type = static_cast<te_tensor_type>(te::tf.TF_TensorType(tensor));
  return {type, static_cast<int32_t>(outcome.sizes[fetch].size()), outcome.sizes[fetch].data(),
          type == TE_TENSOR_STRING ? nullptr : te::tf.TF_TensorData(tensor),
          static_cast<size_t>(te::tf.TF_TensorElementCount(tensor))};
}
te_text te_fetched_text(const te_outcomes* of, size_t run, size_t fetch, size_t at) {
  return of->group->runs[run]->outcome.fetched[fetch].text(at);
}
void te_outcomes_free(te_outcomes* of) { delete of; }

te_session_counts te_count_sessions(void) {
  return {te::sessions().count(), te::Session::threads() + te::ThreadPool::shared().threads(), te::groups().count()};
}

}  // extern "C"
