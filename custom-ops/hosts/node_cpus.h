/*
 * Processors of threads that compute side by side: each gets some of its own, so that two of them never wait for each
 * other while a third processor idles. Linux only; elsewhere the system places them.
 */
#ifndef TFJS_EMBEDDINGS_NODE_CPUS_H_
#define TFJS_EMBEDDINGS_NODE_CPUS_H_

#include <stdint.h>
#if defined(__linux__)
#include <sched.h>
#endif

#define MOST_CPUS 1024

/*
 * Binds the calling thread to part `part` of `parts` nearly equal parts of the processors that it may use, and writes
 * their numbers. Returns how many; 0 where there are fewer processors than parts, or the system does not say: then
 * nothing has changed.
 */
static int bind_to_cpus(int64_t part, int64_t parts, int32_t* numbers) {
#if defined(__linux__)
  cpu_set_t allowed, own;
  int32_t all[MOST_CPUS];
  int64_t count = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpu < MOST_CPUS; cpu++) {
    if (CPU_ISSET(cpu, &allowed)) all[count++] = cpu;
  }
  if (part < 0 || part >= parts || count < parts) return 0;
  int found = 0;
  CPU_ZERO(&own);
  for (int64_t i = count * part / parts; i < count * (part + 1) / parts; i++) {
    CPU_SET(all[i], &own);
    numbers[found++] = all[i];
  }
  return sched_setaffinity(0, sizeof own, &own) == 0 ? found : 0;
#else
  (void)part;
  (void)parts;
  (void)numbers;
  return 0;
#endif
}

/* The processor that the calling thread runs on; -1: not known. */
static int current_cpu(void) {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

#endif /* TFJS_EMBEDDINGS_NODE_CPUS_H_ */
