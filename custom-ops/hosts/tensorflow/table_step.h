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

Span span_of_rows(const te_rows& table);

/* What a step reads. */
std::vector<Span> spans_of(const te_bags& bags, const float* gradient, int64_t dim);

/* nullptr after an error. row_wise: one number per row, [rows] or [rows, 1]; else the table's shape. */
TF_Tensor* slot_of(Call* call, int index, int number, const te_rows& table, bool row_wise);

bool read_hyper(Call* call, TF_Tensor* numbers, te_hyper* hyper);

/*
 * One step of a table: reads and checks slots, gradient, bags and hyper, which come after input 0, and applies them. It
 * writes in place: the caller made sure that table and slots have no other holders.
 */
template <int kOptimizer>
void step_table(Call& call, const Attributes& attributes) {
  constexpr int kSlots = te_slot_count(kOptimizer);
  constexpr int kAfterSlots = 1 + kSlots;
  const te_rows table = call.rows(0, attributes);
  const te_bags bags = call.bags(kAfterSlots + 1, attributes);
  const float* gradient = call.gradient(kAfterSlots, bags.batch, table.dim);
  TF_Tensor* numbers = call.input(kAfterSlots + 4, "hyper", 1);
  te_hyper hyper;
  if (call.failed() || !read_hyper(&call, numbers, &hyper)) return;
  float* slots[TE_MOST_SLOTS] = {};
  std::vector<Span> written = {span_of_rows(table)};
  for (int i = 0; i < kSlots; ++i) {
    TF_Tensor* slot = slot_of(&call, 1 + i, i, table, i >= kSlots - te_row_slots(kOptimizer));
    if (slot == nullptr) return;
    slots[i] = Call::floats(slot);
    written.push_back(span_of(slot));
  }
  if (any_shared(written, spans_of(bags, gradient, table.dim))) {
    return call.fail(TF_INVALID_ARGUMENT, "table and slots must not share memory with another input");
  }
  Workspace workspace(te_sparse_apply_workspace(kOptimizer, bags.nnz, bags.batch, table.rows, table.dim));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  TableWrite write = {{table.data}, bags.values, bags.nnz, 0, table.rows};
  write.arrays.insert(write.arrays.end(), slots, slots + kSlots);
  if (te_steps_all_rows(kOptimizer, &hyper)) write.rows = nullptr;
  const TableWrites writes({std::move(write)});
  call.check(te_sparse_apply(kOptimizer, &table, slots, kSlots, &bags, gradient, &hyper, workspace.data(),
                             workspace.bytes()),
             bags, table.rows);
}

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_TABLE_STEP_H_ */
