#include "steps.h"

/* useStarts: numbers of bags, ascending; a call without it is one use. */
static void read_uses(call* c, int index, bag_arguments* b) {
  if (c->failed || absent(c, index)) return;
  const array starts = private_copy(c, typed(c, index, "useStarts", napi_int32_array), "useStarts");
  const int32_t* numbers = (const int32_t*)starts.data;
  int64_t before = 0;
  b->starts = starts;
  if (!c->failed && starts.length > INT32_MAX)
    fail_range(c, "useStarts", "expected fewer than 2^31 numbers, received %zu", starts.length);
  if (c->failed) return;
  for (size_t i = 0; i < starts.length; i++) {
    if (numbers[i] < before || numbers[i] > b->bags.batch) {
      fail_range(c, "useStarts", "expected numbers that ascend within the batch, received %d", numbers[i]);
      return;
    }
    before = numbers[i];
  }
  b->bags.use_starts = numbers;
  b->bags.more_uses = (int32_t)starts.length;
}

static const char* const WRITTEN[1 + TE_MOST_SLOTS] = {"table", "slots", "slots", "slots", "slots"};

static void read_rest_of_step(call* c, step_arguments* s, int index) {
  const uint64_t size = c->failed ? 0 : area(c, s->step.table.rows, s->step.table.dim, "rows");
  s->bags = read_bags(c, index);
  s->optimizer = (int32_t)whole(c, index + 6, "optimizer", 0, TE_OPTIMIZERS - 1);
  const int n_slots = te_slot_count(s->optimizer);
  for (int i = 0; i < TE_MOST_SLOTS; i++) {
    if (i >= n_slots) {
      if (!c->failed && !absent(c, index + 7 + i))
        fail_range(c, "slots", "expected as many as the optimizer has, received more");
      continue;
    }
    const int is_matrix = i < n_slots - te_row_slots(s->optimizer);
    s->written[1 + i] = floats(c, index + 7 + i, "slots", is_matrix ? size : (uint64_t)s->step.table.rows);
    s->step.slots[i] = (float*)s->written[1 + i].data;
  }
  const te_bags* bags = &s->bags.bags;
  s->gradient = floats(c, index + 7 + TE_MOST_SLOTS, "gradient",
                       c->failed ? 0 : area(c, bags->batch, s->step.table.dim, "gradient"));
  const array numbers = floats(c, index + 8 + TE_MOST_SLOTS, "hyper", TE_HYPER_FIELDS);
  if (c->failed) return;
  memcpy(&s->step.hyper, numbers.data, sizeof s->step.hyper);
  s->step.bags = *bags;
  s->step.gradient = (const float*)s->gradient.data;
}

void read_step(call* c, step_arguments* s) {
  memset(s, 0, sizeof *s);
  s->step.table = read_rows(c, 0, &s->written[0], false);
  if (!c->failed && !te_trains(s->step.table.codec)) {
    fail_range(c, "codec", "expected one that trains, received another one");
  }
  read_rest_of_step(c, s, 4);
  read_uses(c, 13 + TE_MOST_SLOTS, &s->bags);
  s->step.bags = s->bags.bags;
}

void must_be_apart(call* c, const step_arguments* writer, const step_arguments* reader) {
  for (int i = 0; i < 1 + TE_MOST_SLOTS; i++) {
    must_differ_from_bags(c, writer->written[i], &reader->bags, WRITTEN[i]);
    must_differ(c, writer->written[i], reader->gradient, WRITTEN[i]);
  }
}

void slots_must_differ(call* c, const step_arguments* a, const step_arguments* b) {
  for (int i = 0; i < 1 + TE_MOST_SLOTS; i++) {
    for (int j = a == b ? i + 1 : 0; j < 1 + TE_MOST_SLOTS; j++) {
      must_differ(c, a->written[i], b->written[j], WRITTEN[j]);
    }
  }
}

size_t step_workspace(const step_arguments* s) {
  const te_bags* bags = &s->step.bags;
  return te_sparse_apply_workspace(s->optimizer, bags->nnz, bags->batch, s->step.table.rows, s->step.table.dim);
}
