/*
 * Tables on servers: made where they stay, read in pieces, compared with what they were.
 */
#include <stdint.h>
#include <string.h>

#include <memory>
#include <utility>
#include <vector>

#include "../../../kernels/embedding.h"
#include "../../shared/memory.h"
#include "../api.h"
#include "../call.h"
#include "../huge_pages.h"
#include "../shapes.h"
#include "../tables/table_locks.h"
#include "ops.h"

namespace te {
namespace {

/* The numbers of an input of this many; nullptr after an error. */
template <typename T>
const T* numbers(Call* call, int index, const char* name, int64_t count) {
  TF_Tensor* tensor = call->input(index, name, 1);
  if (tensor == nullptr) return nullptr;
  if (tf.TF_Dim(tensor, 0) == count) return static_cast<const T*>(Call::data(tensor));
  call->fail(TF_INVALID_ARGUMENT, "%s: expected %lld numbers, received %lld", name, static_cast<long long>(count),
             static_cast<long long>(tf.TF_Dim(tensor, 0)));
  return nullptr;
}

bool is_whole_in(double x, double least, double most) {
  return x >= least && x <= most && x == static_cast<double>(static_cast<int64_t>(x));
}

/* Which rows and columns of a table these are: a first row, a step of rows, a first column; nullptr after an error. */
const int32_t* part_input(Call* call, int index) {
  const int32_t* place = numbers<int32_t>(call, index, "part", 3);
  if (place == nullptr || (place[0] >= 0 && place[1] >= 1 && place[2] >= 0)) return place;
  call->fail(TF_INVALID_ARGUMENT, "part: expected a first row, a step of rows and a first column, received %d, %d, %d",
             place[0], place[1], place[2]);
  return nullptr;
}

/* shape, part, kind, key, numbers, quantiles -> table */
void compute_fill(void*, TF_OpKernelContext* context) {
  Call call(context);
  const int32_t* shape = numbers<int32_t>(&call, 0, "shape", 2);
  const int32_t* place = part_input(&call, 1);
  TF_Tensor* kind = call.input(2, "kind", 0);
  const int32_t* key = numbers<int32_t>(&call, 3, "key", 2);
  const double* given = numbers<double>(&call, 4, "numbers", 3);
  if (call.failed()) return;
  te_fill fill = {*static_cast<const int32_t*>(Call::data(kind)),
                  {static_cast<uint32_t>(key[0]), static_cast<uint32_t>(key[1])},
                  {given[0], given[1], given[2]},
                  nullptr};
  if (fill.kind < 0 || fill.kind >= TE_FILLS) {
    return call.fail(TF_INVALID_ARGUMENT, "kind: expected 0 to %d, received %d", TE_FILLS - 1, fill.kind);
  }
  if (fill.kind >= TE_FILL_NORMAL) {
    fill.quantiles = numbers<double>(&call, 5, "quantiles", TE_QUANTILES);
    if (call.failed()) return;
  }
  if (fill.kind == TE_FILL_TRUNCATED_NORMAL && !is_whole_in(given[2], 1, 4294967295.0)) {
    return call.fail(TF_INVALID_ARGUMENT, "numbers: expected a tail from 1 to 2^32 - 1, received %g", given[2]);
  }
  if (shape[0] < 0 || shape[1] < 0) {
    return call.fail(TF_INVALID_ARGUMENT, "shape: expected no negative size, received [%d, %d]", shape[0], shape[1]);
  }
  if (place[0] < 0 || place[1] < 1 || place[2] < 0) {
    return call.fail(TF_INVALID_ARGUMENT,
                     "part: expected a first row, a step of rows and a first column, received %d, %d, %d", place[0],
                     place[1], place[2]);
  }
  const int64_t dims[] = {shape[0], shape[1]};
  TF_Tensor* table = call.output(0, TF_FLOAT, dims, 2, "shape", "values");
  if (call.failed()) return;
  prefer_huge_pages(Call::data(table), tf.TF_TensorByteSize(table));
  const te_filled_part part = {place[0], place[1], dims[0], place[2], dims[1]};
  te_fill_part(&fill, &part, Call::floats(table));
}

/* A table or a slot: the sizes behind the first are those of a row. */
struct Rows {
  const float* data;
  int64_t count, width;
};

Rows rows_input(Call* call, int index, const char* name) {
  Rows rows = {nullptr, 0, 1};
  TF_Tensor* table = call->input(index, name, -1);
  if (table == nullptr) return rows;
  if (tf.TF_NumDims(table) < 1) call->fail(TF_INVALID_ARGUMENT, "%s: expected rows, received a scalar", name);
  for (int i = 1; i < tf.TF_NumDims(table); ++i) {
    const int64_t size = tf.TF_Dim(table, i);
    if (!te_addressable(rows.width, size)) { /* only of a table without rows */
      call->fail(TF_INVALID_ARGUMENT, "%s: expected rows that can be addressed, received wider ones", name);
      return rows;
    }
    rows.width *= size;
  }
  if (!call->failed()) rows.count = tf.TF_Dim(table, 0);
  rows.data = Call::floats(table);
  return rows;
}

/* table, first_row, rows -> values [rows, width] */
void compute_read_rows(void*, TF_OpKernelContext* context) {
  Call call(context);
  const Rows table = rows_input(&call, 0, "table");
  TF_Tensor* first_row = call.input(1, "first_row", 0);
  TF_Tensor* rows = call.input(2, "rows", 0);
  if (call.failed()) return;
  const int64_t first = *static_cast<const int32_t*>(Call::data(first_row));
  const int64_t count = *static_cast<const int32_t*>(Call::data(rows));
  if (first < 0 || count < 0 || count > table.count || first > table.count - count) {
    return call.fail(TF_OUT_OF_RANGE, "first_row: expected %lld rows within %lld, received %lld as the first",
                     static_cast<long long>(count), static_cast<long long>(table.count), static_cast<long long>(first));
  }
  const int64_t dims[] = {count, table.width};
  TF_Tensor* values = call.output(0, TF_FLOAT, dims, 2, "rows", "values");
  if (call.failed()) return;
  const TableLock lock({table.data}, TableUse::kRead);
  const size_t bytes = tf.TF_TensorByteSize(values);
  if (bytes > 0) memcpy(Call::data(values), table.data + first * table.width, bytes);
}

/* table, base -> the rows whose bits differ: ids [n], ascending, and rows [n, width] */
void compute_changed_rows(void*, TF_OpKernelContext* context) {
  Call call(context);
  const Rows table = rows_input(&call, 0, "table");
  const Rows base = rows_input(&call, 1, "base");
  if (call.failed()) return;
  const int64_t width = table.width;
  if (base.count != table.count || base.width != width) {
    return call.fail(TF_INVALID_ARGUMENT, "base: expected %lld rows of %lld numbers, received %lld of %lld",
                     static_cast<long long>(table.count), static_cast<long long>(width),
                     static_cast<long long>(base.count), static_cast<long long>(base.width));
  }
  call.at_most_int32("table", table.count);
  if (call.failed()) return;
  const size_t bytes = static_cast<size_t>(width) * sizeof(float);
  const TableLock lock({table.data, base.data}, TableUse::kRead);
  std::vector<int32_t> changed;
  for (int64_t row = 0; row < table.count && bytes > 0; ++row) {
    const int64_t at = row * width;
    if (memcmp(table.data + at, base.data + at, bytes) != 0) changed.push_back(static_cast<int32_t>(row));
  }
  const int64_t dims[] = {static_cast<int64_t>(changed.size()), width};
  TF_Tensor* ids = call.output(0, TF_INT32, dims, 1, "table", "ids");
  TF_Tensor* values = call.output(1, TF_FLOAT, dims, 2, "table", "changed rows");
  if (call.failed() || changed.empty()) return;
  memcpy(Call::data(ids), changed.data(), changed.size() * sizeof(int32_t));
  for (size_t i = 0; i < changed.size(); ++i) {
    memcpy(Call::floats(values) + static_cast<int64_t>(i) * width, table.data + changed[i] * width, bytes);
  }
}

/* table, part -> its sums: rows first, first + step, ... and columns from the first one on, of a larger table */
void compute_checksum(void*, TF_OpKernelContext* context) {
  Call call(context);
  const Rows table = rows_input(&call, 0, "table");
  const int32_t* place = part_input(&call, 1);
  const int64_t dims[] = {2};
  TF_Tensor* sums = call.failed() ? nullptr : call.output(0, TF_INT32, dims, 1, "table", "sums");
  if (call.failed()) return;
  const te_filled_part part = {place[0], place[1], table.count, place[2], table.width};
  const TableLock lock({table.data}, TableUse::kRead);
  te_checksum(table.data, &part, static_cast<uint32_t*>(Call::data(sums)));
}

/* a, b -> 1 where they share memory: a variable that TensorFlow copies when it is read shares none with itself. */
void compute_shares_memory(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* a = call.input(0, "a", -1);
  TF_Tensor* b = call.input(1, "b", -1);
  TF_Tensor* shares = call.output(0, TF_INT32, nullptr, 0, "a", "answers");
  if (call.failed()) return;
  *static_cast<int32_t*>(Call::data(shares)) =
      te_overlap(tf.TF_TensorData(a), tf.TF_TensorByteSize(a), tf.TF_TensorData(b), tf.TF_TensorByteSize(b)) ? 1 : 0;
}

}  // namespace

OpList server_table_ops() {
  static const Op ops[] = {
      {"EmbeddingFill",
       {"shape: int32", "part: int32", "kind: int32", "key: int32", "numbers: double", "quantiles: double"},
       {"table: float"},
       {},
       filled_shape,
       create_plain,
       compute_fill,
       true},
      {"EmbeddingReadRows",
       {"table: float", "first_row: int32", "rows: int32"},
       {"values: float"},
       {},
       some_rows_shape,
       create_plain,
       compute_read_rows,
       true},
      {"EmbeddingChangedRows",
       {"table: float", "base: float"},
       {"ids: int32", "rows: float"},
       {},
       changed_rows_shape,
       create_plain,
       compute_changed_rows,
       true},
      {"EmbeddingChecksum",
       {"table: float", "part: int32"},
       {"sums: int32"},
       {},
       checksum_shape,
       create_plain,
       compute_checksum,
       true},
      {"EmbeddingSharesMemory",
       {"a: float", "b: float"},
       {"shares: int32"},
       {},
       row_penalty_shape,
       create_plain,
       compute_shares_memory,
       true},
  };
  return list_of(ops);
}

}  // namespace te
