/*
 * Rows of files, read by threads of their own: a disk answers many questions at a time, and waits for none of them.
 *
 * A file has a pool. A job is a list of pieces of one length, in the order in which they lie; pieces in the same page or
 * in the next one are read at once. Jobs run in the order in which they came. What is read lies in memory of the job
 * until it is taken, so that no array of JavaScript is written by a thread. Files are read past the page cache where the
 * system allows it (O_DIRECT), else through it.
 */
#include "../functions.h"

#if !defined(_WIN32)
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_DISK_THREADS = 64, PAGE = 4096, LEAST_ROOM = 65536 };

/* Pieces `first` to `end` of a job, which are read at once. */
typedef struct disk_run {
  uint32_t first, end;
} disk_run;

typedef struct disk_job {
  struct disk_job* next;
  double number;
  double* offsets;
  size_t count, bytes;
  char* data; /* count * bytes */
  disk_run* runs;
  size_t n_runs, claimed, done;
  int64_t read;   /* bytes that the disk gave */
  int64_t failed; /* the first piece that could not be read, -1: none */
  int error;      /* of the system; 0: the file ended before */
} disk_job;

typedef struct row_file {
  int buffered, direct; /* descriptors; direct is -1 where files are read through the page cache */
  size_t room;
  int n_threads;
  pthread_t threads[MOST_DISK_THREADS];
  pthread_mutex_t lock;
  pthread_cond_t work, finished;
  disk_job* jobs;
  double last;
  bool closing;
} row_file;

static const napi_type_tag ROW_FILE = {0x6a8d1c0f52e94b37ULL, 0x91c7e5d0a3b84f62ULL};

static void free_job(disk_job* job) {
  free(job->offsets);
  free(job->data);
  free(job->runs);
  free(job);
}

/* Reads bytes from `at` on, at least `least` of them unless the file ends before; -1: the system refuses. */
static int64_t read_at(int file, char* into, size_t bytes, size_t least, int64_t at, bool by_page) {
  size_t done = 0;
  while (done < least) {
    const ssize_t got = pread(file, into + done, bytes - done, (off_t)(at + (int64_t)done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
    /* What is left of a page past the page cache is the end of the file. */
    if (by_page && done % PAGE != 0) break;
  }
  return (int64_t)done;
}

static void read_run(row_file* f, disk_job* job, disk_run run, char* room, int64_t* read, int64_t* failed, int* error) {
  const int64_t start = (int64_t)job->offsets[run.first];
  const int64_t end = (int64_t)job->offsets[run.end - 1] + (int64_t)job->bytes;
  int64_t from = start, got = -1;
  if (f->direct >= 0) {
    from = start / PAGE * PAGE;
    const size_t bytes = (size_t)((end - from + PAGE - 1) / PAGE * PAGE);
    got = read_at(f->direct, room, bytes, (size_t)(end - from), from, true);
  }
  if (got < 0) {
    from = start;
    got = read_at(f->buffered, room, (size_t)(end - from), (size_t)(end - from), from, false);
  }
  *error = got < 0 ? errno : 0;
  *read = got < 0 ? 0 : got;
  for (uint32_t i = run.first; i < run.end; i++) {
    const int64_t at = (int64_t)job->offsets[i] - from;
    if (got < 0 || at + (int64_t)job->bytes > got) {
      *failed = i;
      return;
    }
    memcpy(job->data + (size_t)i * job->bytes, room + at, job->bytes);
  }
}

static disk_job* open_job(row_file* f) {
  disk_job* job = f->jobs;
  while (job != NULL && job->claimed == job->n_runs) job = job->next;
  return job;
}

static void* disk_thread(void* context) {
  row_file* f = context;
  void* room = NULL;
  if (posix_memalign(&room, PAGE, f->room) != 0) room = NULL;
  pthread_mutex_lock(&f->lock);
  for (;;) {
    disk_job* job = open_job(f);
    if (job == NULL) {
      if (f->closing) break;
      pthread_cond_wait(&f->work, &f->lock);
      continue;
    }
    const disk_run run = job->runs[job->claimed++];
    pthread_mutex_unlock(&f->lock);
    int64_t read = 0, failed = -1;
    int error = ENOMEM;
    if (room == NULL) failed = run.first;
    else read_run(f, job, run, room, &read, &failed, &error);
    pthread_mutex_lock(&f->lock);
    job->read += read;
    if (failed >= 0 && (job->failed < 0 || failed < job->failed)) {
      job->failed = failed;
      job->error = error;
    }
    if (++job->done == job->n_runs) pthread_cond_broadcast(&f->finished);
  }
  pthread_mutex_unlock(&f->lock);
  free(room);
  return NULL;
}

/* Waits for all that was begun. */
static void close_file(row_file* f) {
  pthread_mutex_lock(&f->lock);
  f->closing = true;
  pthread_cond_broadcast(&f->work);
  pthread_mutex_unlock(&f->lock);
  for (int i = 0; i < f->n_threads; i++) pthread_join(f->threads[i], NULL);
  while (f->jobs != NULL) {
    disk_job* next = f->jobs->next;
    free_job(f->jobs);
    f->jobs = next;
  }
  if (f->direct >= 0) close(f->direct);
  if (f->buffered >= 0) close(f->buffered);
  pthread_mutex_destroy(&f->lock);
  pthread_cond_destroy(&f->work);
  pthread_cond_destroy(&f->finished);
  free(f);
}

/* What a file of JavaScript holds; `closed` once it was closed. */
typedef struct row_file_holder {
  row_file* file;
} row_file_holder;

static void free_holder(napi_env env, void* data, void* hint) {
  row_file_holder* holder = data;
  (void)env;
  (void)hint;
  if (holder->file != NULL) close_file(holder->file);
  free(holder);
}

static row_file_holder* holder_of(call* c, int index) {
  bool is_file = false;
  void* data = NULL;
  napi_valuetype type;
  if (c->failed) return NULL;
  if (napi_typeof(c->env, c->arguments[index], &type) != napi_ok || type != napi_external ||
      napi_check_object_type_tag(c->env, c->arguments[index], &ROW_FILE, &is_file) != napi_ok || !is_file ||
      napi_get_value_external(c->env, c->arguments[index], &data) != napi_ok) {
    fail_type(c, "file", "expected a file of openRowFile");
    return NULL;
  }
  return data;
}

static row_file* file_of(call* c, int index) {
  row_file_holder* holder = holder_of(c, index);
  if (holder != NULL && holder->file == NULL) fail_range(c, "file", "expected an open file, received a closed one");
  return c->failed ? NULL : holder->file;
}

/* The same file past the page cache; -1 where that is another one by now, or the system refuses. */
static int open_direct(int buffered, const char* path) {
#if defined(O_DIRECT)
  struct stat own, other;
  const int direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (direct < 0) return -1;
  if (fstat(buffered, &own) == 0 && fstat(direct, &other) == 0 && own.st_dev == other.st_dev &&
      own.st_ino == other.st_ino) {
    return direct;
  }
  close(direct);
#else
  (void)path;
#if defined(F_NOCACHE)
  fcntl(buffered, F_NOCACHE, 1);
#endif
#endif
  return -1;
}

static row_file* new_file(int descriptor, const char* path, int threads, bool direct, size_t room) {
  row_file* f = calloc(1, sizeof *f);
  if (f == NULL) return NULL;
  pthread_mutex_init(&f->lock, NULL);
  pthread_cond_init(&f->work, NULL);
  pthread_cond_init(&f->finished, NULL);
  f->room = room;
  f->buffered = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  f->direct = f->buffered >= 0 && direct ? open_direct(f->buffered, path) : -1;
  /* Signals belong to the host's own threads, and little lies on the stacks of these. */
  sigset_t all, before;
  pthread_attr_t small;
  sigfillset(&all);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 131072);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (f->buffered >= 0 && f->n_threads < threads &&
         pthread_create(&f->threads[f->n_threads], &small, disk_thread, f) == 0) {
    f->n_threads++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&small);
  if (f->n_threads > 0) return f;
  close_file(f);
  return NULL;
}

/* openRowFile(descriptor, path, threads, direct, most): a pool that reads pieces of at most so many bytes of a file. */
napi_value open_row_file(napi_env env, napi_callback_info info) {
  call c;
  napi_value result = NULL;
  begin(&c, env, info);
  const int64_t descriptor = whole(&c, 0, "descriptor", 0, INT32_MAX);
  const char* path = text_argument(&c, 1, "path");
  const int64_t threads = whole(&c, 2, "threads", 1, MOST_DISK_THREADS);
  const bool direct = whole(&c, 3, "direct", 0, 1) != 0;
  const int64_t most = whole(&c, 4, "most", 1, INT32_MAX / 4);
  if (!c.failed) {
    const size_t room = ((size_t)most + 2 * PAGE - 1) / PAGE * PAGE + PAGE;
    row_file_holder* holder = calloc(1, sizeof *holder);
    row_file* file = new_file((int)descriptor, path, (int)threads, direct, room < LEAST_ROOM ? LEAST_ROOM : room);
    if (holder == NULL || file == NULL) {
      free(holder);
      if (file != NULL) close_file(file);
      fail(&c, napi_throw_error, "ERR_SYSTEM", "file", "no threads or no memory to read it with");
    } else {
      holder->file = file;
      if (napi_create_external(env, holder, free_holder, NULL, &result) != napi_ok) free_holder(env, holder, NULL);
      else napi_type_tag_object(env, result, &ROW_FILE);
    }
  }
  finish(&c);
  return c.failed ? NULL : result;
}

/* rowFileIsDirect(file): whether it is read past the page cache. */
napi_value row_file_is_direct(napi_env env, napi_callback_info info) {
  call c;
  napi_value result = NULL;
  begin(&c, env, info);
  row_file* f = file_of(&c, 0);
  if (!c.failed) napi_get_boolean(env, f->direct >= 0, &result);
  finish(&c);
  return result;
}

/* Joins pieces that lie in the same page or the next one, as far as a thread has room for them. */
static void make_runs(const row_file* f, disk_job* job) {
  size_t n = 0;
  for (size_t i = 0; i < job->count; n++) {
    const size_t first = i;
    const double start = job->offsets[first];
    double end = start + (double)job->bytes;
    for (i++; i < job->count; i++) {
      const double next = job->offsets[i];
      if (next < job->offsets[i - 1] || next >= end + PAGE) break;
      if (next + (double)job->bytes - start > (double)(f->room - PAGE * 2)) break;
      end = next + (double)job->bytes;
    }
    job->runs[n] = (disk_run){(uint32_t)first, (uint32_t)i};
  }
  job->n_runs = n;
}

/* startReads(file, offsets, bytes): begins to read pieces of so many bytes; the number of the job. */
napi_value start_reads(napi_env env, napi_callback_info info) {
  call c;
  double number = 0;
  begin(&c, env, info);
  row_file* f = file_of(&c, 0);
  const array given = typed(&c, 1, "offsets", napi_float64_array);
  const array offsets = c.failed ? given : private_copy(&c, given, "offsets");
  const double most = c.failed ? 1 : (double)(f->room - PAGE * 2);
  const int64_t bytes = whole(&c, 2, "bytes", 1, most);
  if (!c.failed && offsets.length > INT32_MAX) fail_range(&c, "offsets", "expected at most 2^31 - 1 of them");
  for (size_t i = 0; !c.failed && i < offsets.length; i++) {
    const double at = ((const double*)offsets.data)[i];
    if (!(at >= 0 && at <= 4503599627370496.0 && at == (double)(int64_t)at)) {
      fail_range(&c, "offsets", "expected whole numbers from 0 to 2^52, received another one at position %zu", i);
    }
  }
  if (!c.failed) {
    disk_job* job = calloc(1, sizeof *job);
    if (job != NULL) {
      job->count = offsets.length;
      job->bytes = (size_t)bytes;
      job->failed = -1;
      job->offsets = malloc(offsets.length * sizeof(double) + 1);
      job->data = malloc(offsets.length * (size_t)bytes + 1);
      job->runs = malloc(offsets.length * sizeof(disk_run) + 1);
    }
    if (job == NULL || job->offsets == NULL || job->data == NULL || job->runs == NULL) {
      if (job != NULL) free_job(job);
      fail(&c, napi_throw_error, "ERR_SYSTEM", "offsets", "no memory for what is to be read");
    } else {
      memcpy(job->offsets, offsets.data, offsets.length * sizeof(double));
      make_runs(f, job);
      pthread_mutex_lock(&f->lock);
      job->number = number = ++f->last;
      disk_job** end = &f->jobs;
      while (*end != NULL) end = &(*end)->next;
      *end = job;
      pthread_cond_broadcast(&f->work);
      pthread_mutex_unlock(&f->lock);
    }
  }
  finish(&c);
  return c.failed ? NULL : new_number(env, number);
}

/*
 * finishReads(file, job, into): waits for a job, whose number stands for nothing afterwards, and copies what was read;
 * null: nobody wants it. Returns [bytes that the disk gave, first piece that is missing or -1, why: '' where the file
 * ends before].
 */
napi_value finish_reads(napi_env env, napi_callback_info info) {
  call c;
  napi_value result = NULL, text = NULL;
  begin(&c, env, info);
  row_file* f = file_of(&c, 0);
  const int64_t number = whole(&c, 1, "job", 1, 9007199254740991.0);
  const bool wanted = !c.failed && !absent(&c, 2);
  const array into = wanted ? byte_array(&c, 2, "into") : (array){0};
  if (!c.failed) {
    pthread_mutex_lock(&f->lock);
    disk_job** at = &f->jobs;
    while (*at != NULL && (*at)->number != (double)number) at = &(*at)->next;
    disk_job* job = *at;
    if (job == NULL) {
      pthread_mutex_unlock(&f->lock);
      fail_range(&c, "job", "expected the number of a job, received %lld", (long long)number);
    } else if (wanted && into.length != job->count * job->bytes) {
      const size_t needed = job->count * job->bytes;
      pthread_mutex_unlock(&f->lock);
      fail_range(&c, "into", "expected %zu bytes, received %zu", needed, into.length);
    } else {
      while (job->done < job->n_runs) pthread_cond_wait(&f->finished, &f->lock);
      for (at = &f->jobs; *at != job;) at = &(*at)->next;
      *at = job->next;
      pthread_mutex_unlock(&f->lock);
      if (wanted) memcpy(into.data, job->data, into.length);
      napi_create_array_with_length(env, 3, &result);
      napi_set_element(env, result, 0, new_number(env, (double)job->read));
      napi_set_element(env, result, 1, new_number(env, (double)job->failed));
      napi_create_string_utf8(env, job->error == 0 ? "" : strerror(job->error), NAPI_AUTO_LENGTH, &text);
      napi_set_element(env, result, 2, text);
      free_job(job);
    }
  }
  finish(&c);
  return c.failed ? NULL : result;
}

/* closeRowFile(file): waits for what is being read. Closing twice does nothing. */
napi_value close_row_file(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  row_file_holder* holder = holder_of(&c, 0);
  if (!c.failed && holder->file != NULL) {
    close_file(holder->file);
    holder->file = NULL;
  }
  finish(&c);
  return NULL;
}

#else

static napi_value not_here(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  fail(&c, napi_throw_error, "ERR_SYSTEM", "file", "rows are not read from files on Windows");
  finish(&c);
  return NULL;
}

napi_value open_row_file(napi_env env, napi_callback_info info) { return not_here(env, info); }
napi_value row_file_is_direct(napi_env env, napi_callback_info info) { return not_here(env, info); }
napi_value start_reads(napi_env env, napi_callback_info info) { return not_here(env, info); }
napi_value finish_reads(napi_env env, napi_callback_info info) { return not_here(env, info); }
napi_value close_row_file(napi_env env, napi_callback_info info) { return not_here(env, info); }

#endif
