/* What steps of tables check; step_table is compiled once for each optimizer, and so has its body here. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_TABLE_STEP_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_TABLE_STEP_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "../../kernels/embedding.h"
#include "api.h"
#include "attributes.h"
#include "call.h"
#include "spans.h"
#include "tables/table_writes.h"

namespace te {

Span span_of_rows(const te_table& table);

/* What a step reads. */
std::vector<Span> spans_of(const te_bags& bags, const float* gradient, int64_t dim);

/* nullptr after an error. One number per row, [rows] or [rows, 1], for row-wise Adagrad; else the table's shape. */
TF_Tensor* slot_of(Call* call, int index, int number, const te_table& table, bool row_wise);

bool read_hyper(Call* call, TF_Tensor* numbers, te_hyper* hyper);

/* A step that was checked: what te_sparse_apply takes besides its table. */
struct TableStep {
  float* slots[TE_MOST_SLOTS];
  int slot_count;
  te_bags bags;
  const float* gradient;
  te_hyper hyper;
  void* workspace;
  size_t workspace_bytes;
};

/*
 * Reads and checks slots, gradient, bags and hyper, which come after input 0, a table of this shape whose rows lie in
 * `rows`; then applies the step. It writes in place: the caller made sure that table and slots have no other holders.
 */
template <int kOptimizer, typename Apply>
void step_table(Call& call, const Attributes& attributes, const te_table& shape, const Span& rows, Apply apply) {
  constexpr int kSlots = te_slot_count(kOptimizer);
  constexpr int kAfterSlots = 1 + kSlots;
  TableStep step = {};
  step.slot_count = kSlots;
  step.bags = call.bags(kAfterSlots + 1, attributes);
  step.gradient = call.gradient(kAfterSlots, step.bags.batch, shape.dim);
  TF_Tensor* numbers = call.input(kAfterSlots + 4, "hyper", 1);
  if (call.failed() || !read_hyper(&call, numbers, &step.hyper)) return;
  std::vector<Span> written = {rows};
  for (int i = 0; i < kSlots; ++i) {
    TF_Tensor* slot = slot_of(&call, 1 + i, i, shape, te_has_row_slots(kOptimizer));
    if (slot == nullptr) return;
    step.slots[i] = Call::floats(slot);
    written.push_back(span_of(slot));
  }
  if (any_shared(written, spans_of(step.bags, step.gradient, shape.dim))) {
    return call.fail(TF_INVALID_ARGUMENT, "table and slots must not share memory with another input");
  }
  Workspace workspace(te_sparse_apply_workspace(kOptimizer, step.bags.nnz, step.bags.batch, shape.rows, shape.dim));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  step.workspace = workspace.data();
  step.workspace_bytes = workspace.bytes();
  TableWrite write = {{rows.data}, step.bags.values, step.bags.nnz, 0, shape.rows};
  write.arrays.insert(write.arrays.end(), step.slots, step.slots + kSlots);
  if (te_steps_all_rows(kOptimizer, &step.hyper)) write.rows = nullptr;
  const TableWrites writes({std::move(write)});
  call.check(apply(step), step.bags, shape.rows);
}

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_TABLE_STEP_H_ */
