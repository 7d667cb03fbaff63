#include "table_step.h"

#include <string.h>

namespace te {

Span span_of_rows(const te_rows& table) {
  const size_t row = static_cast<size_t>(te_row_words(table.codec, table.dim)) * sizeof(int32_t);
  return {table.data, static_cast<size_t>(table.rows) * row};
}

std::vector<Span> spans_of(const te_bags& bags, const float* gradient, int64_t dim) {
  const size_t nnz_bytes = static_cast<size_t>(bags.nnz) * sizeof(float);
  std::vector<Span> spans = {
      {gradient, static_cast<size_t>(bags.batch) * static_cast<size_t>(dim) * sizeof(float)},
      {bags.values, nnz_bytes},
      {bags.row_splits, static_cast<size_t>(bags.batch + 1) * sizeof(int32_t)},
  };
  if (bags.weights != nullptr) spans.push_back({bags.weights, nnz_bytes});
  return spans;
}

TF_Tensor* slot_of(Call* call, int index, int number, const te_rows& table, bool row_wise) {
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

bool read_hyper(Call* call, TF_Tensor* numbers, te_hyper* hyper) {
  static_assert(sizeof(*hyper) == TE_HYPER_FIELDS * sizeof(float), "te_hyper holds floats only");
  if (tf.TF_Dim(numbers, 0) != TE_HYPER_FIELDS) {
    call->fail(TF_INVALID_ARGUMENT, "hyper: expected %d numbers, received %lld", TE_HYPER_FIELDS,
               static_cast<long long>(tf.TF_Dim(numbers, 0)));
    return false;
  }
  memcpy(hyper, Call::data(numbers), sizeof(*hyper));
  return true;
}

}  // namespace te
