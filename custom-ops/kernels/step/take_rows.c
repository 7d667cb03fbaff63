/* Rows of batches: TensorFlow's own gather copies row by row through memmove, 20 ns for one number. */
#include "../core.h"

#if !defined(__wasm__) /* called by the TensorFlow ops alone */
#include <string.h>

/* Words that one task copies. */
#define TASK_WORDS 4096

typedef struct {
  const int32_t* source;
  const int32_t* rows;
  int32_t* taken;
  int64_t width, count, per_task;
} te_take;

static void take_task(void* context, int64_t task, int32_t worker) {
  (void)worker;
  const te_take* t = context;
  const int64_t end = te_min(t->count, (task + 1) * t->per_task);
  const int64_t width = t->width;
  for (int64_t i = task * t->per_task; i < end; i++) {
    const int32_t* from = t->source + (int64_t)t->rows[i] * width;
    int32_t* to = t->taken + i * width;
    if (width == 1) {
      *to = *from;
    } else if (width < 16) {
      for (int64_t k = 0; k < width; k++) to[k] = from[k];
    } else {
      memcpy(to, from, (size_t)width * sizeof(*to));
    }
  }
}

int64_t te_stray_row(const int32_t* rows, int64_t count, int64_t of) {
  for (int64_t i = 0; i < count; i++) {
    if (rows[i] < 0 || rows[i] >= of) return i;
  }
  return -1;
}

void te_take_rows(const void* source, int64_t width, const int32_t* rows, int64_t count, void* taken) {
  te_take take = {source, rows, taken, width, count, te_max(1, TASK_WORDS / te_max(1, width))};
  const int64_t tasks = (count + take.per_task - 1) / take.per_task;
  te_parallel(tasks, te_get_threads(), take_task, &take);
}

#endif
