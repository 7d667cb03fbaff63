/*
 * A pool of threads that is made once and shared by every host in the process.
 *
 * Work is a number of tasks, claimed one by one. Helpers join a job that is open; the caller works too, and at the end
 * waits only for helpers that joined. So a helper that wakes late costs nothing, and a forked process, which has no
 * helpers, still finishes its jobs. Waiting spins for a short, bounded time and then sleeps: an unbounded spin is
 * 10 to 50 times slower as soon as another process wants the core. Waking takes as long as a small job, so helpers
 * look for the next one for longer than JavaScript and TensorFlow need between two ops; a thread that wants their core
 * gets it meanwhile. A call that finds the pool busy works alone, and so does one that is held to one thread: neither
 * ever waits for another caller.
 *
 * A helper that the system takes off its core in the middle of a task holds the caller up for milliseconds, many times
 * what a job takes. After such a stall callers work alone for STALL_SHARE times its length: beside other busy processes
 * little time is then lost in stalls, and when they end, helpers are soon back.
 *
 * Helpers calculate in the caller's mode: TensorFlow's threads flush denormal numbers to 0, those of Node do not, and a
 * new thread takes the mode of the thread that made it. Results must not depend on which thread did which task.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "core.h"

#if !defined(__wasm__) /* threads_wasm.c */

#define TE_MOST_THREADS 64
#define TE_SPINS 4000 /* about 50 us */
/* How long a helper looks for the next job before it sleeps. */
#define LONGEST_LOOK 500000 /* ns */
#define LOOKS_IN_A_ROW 64
/* A wait at the end of a job is a stall if it takes this long, and longer than the work of the caller itself. */
#define LEAST_STALL 200000 /* ns */
#define STALL_SHARE 20

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
typedef SRWLOCK te_lock;
typedef CONDITION_VARIABLE te_signal;
#define TE_LOCK_INIT SRWLOCK_INIT
#define TE_SIGNAL_INIT CONDITION_VARIABLE_INIT
static void lock(te_lock* l) { AcquireSRWLockExclusive(l); }
static void unlock(te_lock* l) { ReleaseSRWLockExclusive(l); }
static void await(te_signal* s, te_lock* l) { SleepConditionVariableSRW(s, l, INFINITE, 0); }
static void signal_all(te_signal* s) { WakeAllConditionVariable(s); }
static DWORD WINAPI helper_main(void* number);
static int start_helper(intptr_t number) {
  HANDLE thread = CreateThread(NULL, 0, helper_main, (void*)number, 0, NULL);
  if (thread == NULL) return 0;
  CloseHandle(thread);
  return 1;
}
static void give_way(void) { SwitchToThread(); }
static int64_t now(void) {
  LARGE_INTEGER ticks, per_second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&per_second);
  return (int64_t)((double)ticks.QuadPart * 1e9 / (double)per_second.QuadPart);
}
static int32_t cores(void) {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return (int32_t)info.dwNumberOfProcessors;
}
#define TE_HELPER DWORD WINAPI
#define TE_HELPER_END 0
#else
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
typedef pthread_mutex_t te_lock;
typedef pthread_cond_t te_signal;
#define TE_LOCK_INIT PTHREAD_MUTEX_INITIALIZER
#define TE_SIGNAL_INIT PTHREAD_COND_INITIALIZER
static void lock(te_lock* l) { pthread_mutex_lock(l); }
static void unlock(te_lock* l) { pthread_mutex_unlock(l); }
static void await(te_signal* s, te_lock* l) { pthread_cond_wait(s, l); }
static void signal_all(te_signal* s) { pthread_cond_broadcast(s); }
static void* helper_main(void* number);
static int start_helper(intptr_t number) {
  pthread_t thread;
  sigset_t all, before;
  /* Signals belong to the host's own threads. */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&thread, NULL, helper_main, (void*)number);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed) return 0;
  pthread_detach(thread);
  return 1;
}
static void give_way(void) { sched_yield(); }
static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static int32_t cores(void) {
#if defined(__linux__)
  /* Those that this process may use: a container often has two of a hundred. */
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) == 0) return CPU_COUNT(&mine);
#endif
  return (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
}
#define TE_HELPER void*
#define TE_HELPER_END NULL
#endif

#if defined(_MSC_VER) && !defined(__clang__)
typedef volatile LONG64 te_atomic;
#define TE_PER_THREAD __declspec(thread)
static int64_t get(te_atomic* a) { return InterlockedCompareExchange64(a, 0, 0); }
static void put(te_atomic* a, int64_t x) { InterlockedExchange64(a, x); }
static int64_t add(te_atomic* a, int64_t x) { return InterlockedExchangeAdd64(a, x); }
static int swap_if(te_atomic* a, int64_t from, int64_t to) { return InterlockedCompareExchange64(a, to, from) == from; }
static void breathe(void) { YieldProcessor(); }
#else
typedef int64_t te_atomic;
#define TE_PER_THREAD __thread
/* Sequentially consistent: a thread that says that it waits and then looks at the gate must not miss who then leaves. */
static int64_t get(te_atomic* a) { return __atomic_load_n(a, __ATOMIC_SEQ_CST); }
static void put(te_atomic* a, int64_t x) { __atomic_store_n(a, x, __ATOMIC_SEQ_CST); }
static int64_t add(te_atomic* a, int64_t x) { return __atomic_fetch_add(a, x, __ATOMIC_SEQ_CST); }
static int swap_if(te_atomic* a, int64_t from, int64_t to) {
  return __atomic_compare_exchange_n(a, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
static void breathe(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
#endif

/* How the calling thread rounds, and whether it flushes denormal numbers. */
#if defined(__x86_64__) || defined(_M_X64) || defined(__SSE2__)
#include <xmmintrin.h>
static uint64_t float_mode(void) { return _mm_getcsr() & 0xffc0; } /* without the flags of what has happened */
static void set_float_mode(uint64_t mode) { _mm_setcsr((unsigned)mode); }
#elif defined(__aarch64__) && !defined(_MSC_VER)
static uint64_t float_mode(void) {
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
static void set_float_mode(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#else
static uint64_t float_mode(void) { return 0; }
static void set_float_mode(uint64_t mode) { (void)mode; }
#endif

/*
 * gate: bits 0..7 helpers inside, bit 8 open, bits 9.. number of the job. One word, so that joining a job that has
 * been closed meanwhile fails.
 */
#define TE_OPEN 256
#define TE_INSIDE 255
#define TE_JOB 512

static struct {
  te_atomic threads; /* 0: not yet decided */
  te_atomic busy;
  te_atomic gate;
  te_atomic next;
  te_atomic asleep;  /* helpers that wait for `work` */
  te_atomic waiting; /* the caller waits for `done` */
  te_atomic alone;   /* until then callers work alone, after a stall */
  int64_t started;   /* helpers made; written while busy */
  int64_t tasks;
  int64_t workers;
  te_work run;
  void* context;
  uint64_t floats; /* the caller's mode */
  te_lock mutex;
  te_signal work, done;
} pool = {.mutex = TE_LOCK_INIT, .work = TE_SIGNAL_INIT, .done = TE_SIGNAL_INIT};

#if !defined(_WIN32)
/* A forked process has none of the helpers, and the lock may have been held. */
static void forget_helpers(void) {
  static const te_lock fresh_lock = TE_LOCK_INIT;
  static const te_signal fresh_signal = TE_SIGNAL_INIT;
  pool.mutex = fresh_lock;
  pool.work = pool.done = fresh_signal;
  pool.busy = pool.gate = pool.asleep = pool.waiting = pool.started = 0;
}
#endif

/* What the calling thread asked for its own calls; 0: what holds for the process. */
static TE_PER_THREAD int32_t own_threads;

int32_t te_get_threads(void) {
  if (own_threads > 0) return own_threads;
  int64_t threads = get(&pool.threads);
  if (threads == 0) {
    threads = te_max(1, te_min(cores(), TE_MOST_THREADS));
    if (!swap_if(&pool.threads, 0, threads)) threads = get(&pool.threads);
  }
  return (int32_t)threads;
}

int32_t te_set_threads(int32_t threads) {
  put(&pool.threads, te_max(1, te_min(threads, TE_MOST_THREADS)));
  return te_get_threads();
}

int32_t te_set_own_threads(int32_t threads) {
  own_threads = (int32_t)te_max(0, te_min(threads, TE_MOST_THREADS));
  return te_get_threads();
}

static void claim_tasks(int32_t worker) {
  const int64_t tasks = pool.tasks;
  for (int64_t task = add(&pool.next, 1); task < tasks; task = add(&pool.next, 1)) {
    pool.run(pool.context, task, worker);
  }
}

/* Waits for an open job other than `seen`, joins it and returns the gate at that moment. */
static int64_t join_job(int64_t number, int64_t seen) {
  int looks = 0;
  int64_t until = 0;
  for (;;) {
    const int64_t gate = get(&pool.gate);
    if ((gate & TE_OPEN) && gate / TE_JOB != seen) {
      if (swap_if(&pool.gate, gate, gate + 1)) {
        if (number < pool.workers) return gate / TE_JOB;
        return -1 - gate / TE_JOB; /* not invited: fewer workers than helpers */
      }
      continue;
    }
    if (++looks % LOOKS_IN_A_ROW != 0) {
      breathe();
      continue;
    }
    const int64_t time = now();
    if (until == 0) until = time + LONGEST_LOOK;
    if (time < until) {
      give_way();
      continue;
    }
    lock(&pool.mutex);
    add(&pool.asleep, 1);
    for (;;) {
      const int64_t now = get(&pool.gate);
      if ((now & TE_OPEN) && now / TE_JOB != seen) break;
      await(&pool.work, &pool.mutex);
    }
    add(&pool.asleep, -1);
    unlock(&pool.mutex);
    until = 0;
  }
}

static void leave_job(void) {
  const int64_t before = add(&pool.gate, -1);
  if ((before & TE_INSIDE) == 1 && !(before & TE_OPEN) && get(&pool.waiting)) {
    lock(&pool.mutex);
    signal_all(&pool.done);
    unlock(&pool.mutex);
  }
}

static TE_HELPER helper_main(void* number) {
  int64_t seen = -1;
  for (;;) {
    const int64_t job = join_job((intptr_t)number, seen);
    if (job >= 0) {
      set_float_mode(pool.floats);
      claim_tasks((int32_t)(intptr_t)number);
    }
    seen = job >= 0 ? job : -1 - job;
    leave_job();
  }
  return TE_HELPER_END;
}

static void close_job(void) {
  int64_t gate = get(&pool.gate);
  while (!swap_if(&pool.gate, gate, gate & ~(int64_t)TE_OPEN)) gate = get(&pool.gate);
  for (int spins = 0; spins < TE_SPINS; spins++) {
    if ((get(&pool.gate) & TE_INSIDE) == 0) return;
    breathe();
  }
  lock(&pool.mutex);
  put(&pool.waiting, 1);
  while ((get(&pool.gate) & TE_INSIDE) != 0) await(&pool.done, &pool.mutex);
  put(&pool.waiting, 0);
  unlock(&pool.mutex);
}

/* A job whose caller worked from `begun` to `worked` and then waited for helpers. */
static void notice_stall(int64_t begun, int64_t worked) {
  const int64_t ended = now(), waited = ended - worked;
  if (waited < LEAST_STALL || waited < worked - begun) return;
  put(&pool.alone, ended + STALL_SHARE * waited);
}

void te_parallel(int64_t tasks, int32_t workers, te_work run, void* context) {
  workers = (int32_t)te_min(te_min(workers, te_get_threads()), tasks);
  const int64_t begun = workers < 2 ? 0 : now();
  if (workers < 2 || begun < get(&pool.alone) || !swap_if(&pool.busy, 0, 1)) {
    for (int64_t task = 0; task < tasks; task++) run(context, task, 0);
    return;
  }
#if !defined(_WIN32)
  static int prepared;
  if (!prepared) prepared = pthread_atfork(NULL, NULL, forget_helpers) == 0;
#endif
  while (pool.started + 1 < workers && start_helper((intptr_t)(pool.started + 1))) pool.started++;
  pool.run = run;
  pool.context = context;
  pool.floats = float_mode();
  pool.tasks = tasks;
  pool.workers = workers;
  put(&pool.next, 0);
  put(&pool.gate, (get(&pool.gate) / TE_JOB + 1) * TE_JOB + TE_OPEN);
  if (get(&pool.asleep) > 0) {
    lock(&pool.mutex);
    signal_all(&pool.work);
    unlock(&pool.mutex);
  }
  claim_tasks(0);
  const int64_t worked = now();
  close_job();
  notice_stall(begun, worked);
  put(&pool.busy, 0);
}

#endif
