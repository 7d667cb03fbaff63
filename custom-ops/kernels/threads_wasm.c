/*
 * Threads of WebAssembly: instances of the module in workers, which share its memory. The pool is that of threads.c,
 * with what WebAssembly has: a word to wait on, and no clock.
 *
 * The pool lies in the memory, at an address that JavaScript writes into the global `te_pool` of each instance; 0 stands
 * for none, and calls then work alone. Its words: src/backends/wasm/threads/helper_team.ts.
 */
#include "core.h"

#if defined(__wasm__)

#define TE_MOST_THREADS 64
/* A helper looks for the next job for about 500 us before it sleeps, as in threads.c. */
#define TE_LOOKS 200000
/* A wait of this many looks, about a millisecond, is a stall: tasks are made shorter than that. */
#define TE_STALL 400000
#define TE_TURN 50000000 /* ns: a sleeping caller looks that often whether a helper has failed */

/*
 * gate: bits 0..7 helpers inside, bit 8 open, bits 9.. number of the job. One word, so that joining a job that has
 * been closed meanwhile fails.
 */
#define TE_OPEN 256
#define TE_INSIDE 255
#define TE_JOB 512

typedef struct te_pool {
  uint32_t gate;
  uint32_t on_line_0[15];
  int32_t next;
  int32_t on_line_1[15];
  int32_t asleep;   /* helpers that wait for the gate */
  int32_t waiting;  /* the caller waits for it */
  int32_t busy;     /* a job is open */
  int32_t helpers;  /* that have come */
  int32_t most;     /* threads that may work */
  int32_t failed;   /* a helper has: written by its worker */
  int32_t may_wait; /* the caller's thread may sleep; that of a page may not */
  int32_t alone;    /* not 0: callers work alone, after a stall; JavaScript, which has a clock, ends it */
  int32_t helped;   /* tasks that helpers have done */
  int32_t tasks;
  int32_t workers;
  te_work run;
  void* context;
} te_pool;

/* A global of the instance: a variable would lie in the memory, where each instance has the same. */
__asm__(
    ".globaltype te_pool, i32\n"
    ".globl te_pool\n"
    "te_pool:\n");
static te_pool* the_pool(void) {
  te_pool* pool;
  __asm__("global.get te_pool\n\tlocal.set %0" : "=r"(pool));
  return pool;
}

static uint32_t get(uint32_t* a) { return __atomic_load_n(a, __ATOMIC_SEQ_CST); }
static int32_t load(int32_t* a) { return __atomic_load_n(a, __ATOMIC_SEQ_CST); }
static void put(int32_t* a, int32_t x) { __atomic_store_n(a, x, __ATOMIC_SEQ_CST); }
static int32_t add(int32_t* a, int32_t x) { return __atomic_fetch_add(a, x, __ATOMIC_SEQ_CST); }
static int swap_if(uint32_t* a, uint32_t from, uint32_t to) {
  return __atomic_compare_exchange_n(a, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
static void await(uint32_t* a, uint32_t value, int64_t most) {
  __builtin_wasm_memory_atomic_wait32((int32_t*)a, (int32_t)value, most);
}
static void wake(uint32_t* a) { __builtin_wasm_memory_atomic_notify((int32_t*)a, TE_MOST_THREADS); }

int32_t te_get_threads(void) {
  te_pool* pool = the_pool();
  if (pool == NULL || load(&pool->busy)) return 1;
  return (int32_t)te_max(1, te_min(load(&pool->most), load(&pool->helpers) + 1));
}

int32_t te_set_threads(int32_t threads) {
  te_pool* pool = the_pool();
  if (pool != NULL) put(&pool->most, (int32_t)te_max(1, te_min(threads, TE_MOST_THREADS)));
  return te_get_threads();
}

int32_t te_set_own_threads(int32_t threads) {
  (void)threads;
  return te_get_threads();
}

static void claim_tasks(te_pool* pool, int32_t worker) {
  const int32_t tasks = pool->tasks;
  for (int32_t task = add(&pool->next, 1); task < tasks; task = add(&pool->next, 1)) {
    pool->run(pool->context, task, worker);
    if (worker > 0) add(&pool->helped, 1);
  }
}

static void leave_job(te_pool* pool) {
  const uint32_t before = __atomic_fetch_sub(&pool->gate, 1, __ATOMIC_SEQ_CST);
  if ((before & TE_INSIDE) == 1 && !(before & TE_OPEN) && load(&pool->waiting)) wake(&pool->gate);
}

/* What a worker runs, for ever: tasks of the jobs that open. */
void te_help(int32_t number) {
  te_pool* pool = the_pool();
  uint32_t seen = get(&pool->gate) / TE_JOB;
  int32_t looks = 0;
  add(&pool->helpers, 1);
  for (;;) {
    const uint32_t gate = get(&pool->gate);
    if ((gate & TE_OPEN) && gate / TE_JOB != seen) {
      if (!swap_if(&pool->gate, gate, gate + 1)) continue;
      seen = gate / TE_JOB;
      if (number < pool->workers) claim_tasks(pool, number);
      leave_job(pool);
      looks = 0;
    } else if (looks++ > TE_LOOKS) {
      add(&pool->asleep, 1);
      /* Returns at once where the gate has changed since it was looked at. */
      await(&pool->gate, gate, -1);
      add(&pool->asleep, -1);
      looks = 0;
    }
  }
}

/* Waits for the helpers that have joined. Traps where one has failed: what it should have made is not there. */
static void close_job(te_pool* pool) {
  uint32_t gate = get(&pool->gate);
  while (!swap_if(&pool->gate, gate, gate & ~(uint32_t)TE_OPEN)) gate = get(&pool->gate);
  for (int64_t looks = 0; (get(&pool->gate) & TE_INSIDE) != 0; looks++) {
    if (load(&pool->failed)) __builtin_trap();
    if (looks == TE_STALL) put(&pool->alone, 1);
    if (looks < TE_STALL || !pool->may_wait) continue;
    put(&pool->waiting, 1);
    gate = get(&pool->gate);
    if ((gate & TE_INSIDE) != 0 && !load(&pool->failed)) await(&pool->gate, gate, TE_TURN);
    put(&pool->waiting, 0);
  }
}

void te_parallel(int64_t tasks, int32_t workers, te_work run, void* context) {
  te_pool* pool = the_pool();
  workers = (int32_t)te_min(te_min(workers, te_get_threads()), tasks);
  if (workers < 2 || load(&pool->alone)) {
    for (int64_t task = 0; task < tasks; task++) run(context, task, 0);
    return;
  }
  put(&pool->busy, 1);
  pool->run = run;
  pool->context = context;
  pool->tasks = (int32_t)tasks;
  pool->workers = workers;
  put(&pool->next, 0);
  __atomic_store_n(&pool->gate, (get(&pool->gate) / TE_JOB + 1) * TE_JOB + TE_OPEN, __ATOMIC_SEQ_CST);
  if (load(&pool->asleep) > 0) wake(&pool->gate);
  claim_tasks(pool, 0);
  close_job(pool);
  put(&pool->busy, 0);
}

#endif
