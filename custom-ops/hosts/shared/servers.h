/* TensorFlow's servers and the sessions on them: what the Node host asks of the TensorFlow host. */
#ifndef TFJS_EMBEDDINGS_SERVERS_H_
#define TFJS_EMBEDDINGS_SERVERS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of tensors that travel, with TensorFlow's numbers for them. */
typedef enum {
  TE_TENSOR_FLOAT32 = 1,
  TE_TENSOR_FLOAT64 = 2,
  TE_TENSOR_INT32 = 3,
  TE_TENSOR_UINT8 = 4,
  TE_TENSOR_STRING = 7,
  TE_TENSOR_INT64 = 9,
  TE_TENSOR_BOOL = 10,
  TE_TENSOR_HALF = 19
} te_tensor_type;

/* A text that may hold any byte. */
typedef struct te_text {
  const char* bytes;
  size_t length;
} te_text;

/* What is fed: `count` elements, as many as the sizes multiply to. Of TE_TENSOR_HALF `data` are floats, to be rounded. */
typedef struct te_feed {
  te_tensor_type type;
  const int32_t* sizes;
  int32_t rank;
  const void* data;     /* NULL for texts */
  const te_text* texts; /* of TE_TENSOR_STRING */
  size_t count;
} te_feed;

/* One call of a session. Names each end in a line feed, and may end in `:<output>`. options: a RunOptions. */
typedef struct te_run {
  const void* options;
  size_t option_bytes;
  const char* feeds;
  const te_feed* values; /* one for each name */
  size_t value_count;
  const char* fetches;
  const char* targets;
} te_run;

/* What a run has fetched. */
typedef struct te_fetched {
  te_tensor_type type;
  int32_t rank;
  const int64_t* sizes;
  const void* data; /* NULL for texts */
  size_t count;
} te_fetched;

/* What became of a run: code 0, or TensorFlow's code of the error. */
typedef struct te_outcome {
  int32_t code;
  const char* message;
  double ms;
  size_t fetched;
} te_outcome;

/* The outcomes of a group, for te_outcomes_free. */
typedef struct te_outcomes te_outcomes;

typedef struct te_session_counts {
  int32_t sessions;
  int32_t threads;
  int32_t groups;
} te_session_counts;

typedef enum { TE_GROUP_UNKNOWN, TE_GROUP_RUNS, TE_GROUP_HAS_ENDED } te_group_state;

/* Why not: words for an error, and whether it is the number that is unknown. */
typedef struct te_problem {
  bool is_unknown;
  char text[2048];
} te_problem;

/* Starts a server as a ServerDef says; `target` takes where it is reached. It lives as long as the process. */
bool te_server_start(const void* definition, size_t bytes, char* target, size_t room, te_problem* problem);

/*
 * A session on a server that is reached at `target`; nothing is contacted yet. config: a ConfigProto, graph: a GraphDef.
 * Calls that take long look whether something listens at host and port. Returns its number; 0 after an error.
 */
int32_t te_session_open(const char* target, const void* config, size_t config_bytes, const void* graph,
                        size_t graph_bytes, const char* host, int32_t port, te_problem* problem);
/* Adds nodes to its graph, for groups that are started later. mapped: names of nodes that are there already. */
bool te_session_extend(int32_t session, const void* graph, size_t bytes, const char* mapped, te_problem* problem);
/* Groups that have not begun end with code 1; one that is under way ends as if the session were open. */
bool te_session_close(int32_t session);

/*
 * Starts runs that go side by side, after those of earlier groups of the session. What they are fed is copied. Returns
 * the number of the group; 0 after an error.
 */
int32_t te_group_start(int32_t session, const te_run* runs, size_t count, te_problem* problem);
te_group_state te_group_look(int32_t group);
/* Waits until the group has ended, and takes it: its number is unknown afterwards. NULL where it is unknown. */
te_outcomes* te_group_finish(int32_t group);
/* The same without waiting: outcomes are there when `ended` was called. */
te_outcomes* te_group_take(int32_t group);
/* Calls `ended` when the group has ended, from another thread, or at once where it has. */
void te_group_when_ended(te_outcomes* of, void (*ended)(void*), void* data);
/* `ended` is not called any more when this returns. */
void te_group_forget(te_outcomes* of);

size_t te_outcome_count(const te_outcomes* of);
te_outcome te_outcome_at(const te_outcomes* of, size_t run);
te_fetched te_fetched_at(const te_outcomes* of, size_t run, size_t fetch);
te_text te_fetched_text(const te_outcomes* of, size_t run, size_t fetch, size_t at);
void te_outcomes_free(te_outcomes* of);

te_session_counts te_count_sessions(void);

/* Kernels of this library that run in this process, and snapshots of tables. */
int32_t te_at_work(void);

#ifdef __cplusplus
}
#endif

#endif /* TFJS_EMBEDDINGS_SERVERS_H_ */
