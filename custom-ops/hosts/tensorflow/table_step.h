/* Steps of tables as TensorFlow ops, and what all of them check. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_TABLE_STEP_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_TABLE_STEP_H_

#include <stdint.h>
#include <string.h>

#include <vector>

#include "../../kernels/embedding.h"
#include "../memory.h"
#include "../tensorflow_api.h"
#include "../tensorflow_attributes.h"
#include "../tensorflow_call.h"
#include "spans.h"

namespace te {
namespace {

inline Span span_of_rows(const te_table& table) {
  return {table.data, static_cast<size_t>(table.rows) * static_cast<size_t>(table.dim) * sizeof(float)};
}

/* What a step reads. */
inline std::vector<Span> spans_of(const te_bags& bags, const float* gradient, int64_t dim) {
  const size_t nnz_bytes = static_cast<size_t>(bags.nnz) * sizeof(float);
  std::vector<Span> spans = {
      {gradient, static_cast<size_t>(bags.batch) * static_cast<size_t>(dim) * sizeof(float)},
      {bags.values, nnz_bytes},
      {bags.row_splits, static_cast<size_t>(bags.batch + 1) * sizeof(int32_t)},
  };
  if (bags.weights != nullptr) spans.push_back({bags.weights, nnz_bytes});
  return spans;
}

/* nullptr after an error. One number per row, [rows] or [rows, 1], for row-wise Adagrad; else the table's shape. */
inline TF_Tensor* slot_of(Call* call, int index, int number, const te_table& table, bool row_wise) {
  char name[] = "slot0";
  name[4] = static_cast<char>('0' + number);
  TF_Tensor* slot = call->input(index, name, -1);
  if (slot == nullptr) return nullptr;
  const int rank = tf.TF_NumDims(slot);
  const int64_t columns = row_wise ? 1 : table.dim;
  const bool fits = rank >= 1 && tf.TF_Dim(slot, 0) == table.rows &&
                    (rank == 2 ? tf.TF_Dim(slot, 1) == columns : rank == 1 && row_wise);
  if (fits) return slot;
  call->fail(TF_INVALID_ARGUMENT, "%s: expected shape [%lld, %lld], received another one", name,
             static_cast<long long>(table.rows), static_cast<long long>(columns));
  return nullptr;
}

inline bool read_hyper(Call* call, TF_Tensor* numbers, te_hyper* hyper) {
  static_assert(sizeof(*hyper) == TE_HYPER_FIELDS * sizeof(float), "te_hyper holds floats only");
  if (tf.TF_Dim(numbers, 0) != TE_HYPER_FIELDS) {
    call->fail(TF_INVALID_ARGUMENT, "hyper: expected %d numbers, received %lld", TE_HYPER_FIELDS,
               static_cast<long long>(tf.TF_Dim(numbers, 0)));
    return false;
  }
  memcpy(hyper, Call::data(numbers), sizeof(*hyper));
  return true;
}

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
  Workspace workspace(
      te_sparse_apply_workspace(kOptimizer, step.bags.nnz, step.bags.batch, shape.rows, shape.dim));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  step.workspace = workspace.data();
  step.workspace_bytes = workspace.bytes();
  call.check(apply(step), step.bags, shape.rows);
}

template <int kOptimizer>
void compute_sparse_apply(void* kernel, TF_OpKernelContext* context) {
  Call call(context);
  const te_table table = call.table(0);
  step_table<kOptimizer>(call, *static_cast<Attributes*>(kernel), table, span_of_rows(table), [&](TableStep& step) {
    return te_sparse_apply(kOptimizer, &table, step.slots, step.slot_count, &step.bags, step.gradient, &step.hyper,
                           step.workspace, step.workspace_bytes);
  });
}

}  // namespace
}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_TABLE_STEP_H_ */
