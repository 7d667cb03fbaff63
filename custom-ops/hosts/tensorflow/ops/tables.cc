/*
 * Tables that are filled in place: one of zeros is made, and rows are written into it before it has other holders.
 * A table that is made of an array is held twice until the array is collected.
 */
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "../../shared/memory.h"
#include "../api.h"
#include "../attributes.h"
#include "../call.h"
#include "../huge_pages.h"
#include "../shapes.h"
#include "../tables/table_locks.h"
#include "../tables/table_writes.h"
#include "ops.h"

namespace te {
namespace {

/* Zeros that are not written take no memory where the system can forget pages: a table that is loaded begins so. */
void clear(void* data, size_t bytes) {
  char* const start = static_cast<char*>(data);
#if defined(__linux__)
  const Pages pages = whole_pages(data, bytes);
  if (bytes >= kLargeTable && madvise(pages.first, static_cast<size_t>(pages.end - pages.first), MADV_DONTNEED) == 0) {
    memset(start, 0, static_cast<size_t>(pages.first - start));
    memset(pages.end, 0, static_cast<size_t>(start + bytes - pages.end));
    return;
  }
#endif
  memset(start, 0, bytes);
}

/* Zeros of the shape that is asked for. */
void compute_new_table(void*, TF_OpKernelContext* context) {
  constexpr int kMostDims = 8;
  Call call(context);
  TF_Tensor* shape = call.input(0, "shape", 1);
  if (shape == nullptr) return;
  const int64_t rank = tf.TF_Dim(shape, 0);
  if (rank < 1 || rank > kMostDims) {
    return call.fail(TF_INVALID_ARGUMENT, "shape: expected 1 to %d dimensions, received %lld", kMostDims,
                     static_cast<long long>(rank));
  }
  const int32_t* given = static_cast<const int32_t*>(Call::data(shape));
  int64_t dims[kMostDims];
  for (int i = 0; i < rank; ++i) {
    dims[i] = given[i];
    if (dims[i] < 0) return call.fail(TF_INVALID_ARGUMENT, "shape: expected no negative size, received %d", given[i]);
  }
  TF_Tensor* table = call.output(0, TF_FLOAT, dims, static_cast<int>(rank), "shape", "values");
  if (table == nullptr) return;
  const size_t bytes = tf.TF_TensorByteSize(table);
  prefer_huge_pages(Call::data(table), bytes);
  clear(Call::data(table), bytes);
}

/* Writes whole rows through the buffer of `table`: the caller made sure that it has no other holders. */
void compute_write_rows(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* table = call.input(0, "table", -1);
  TF_Tensor* values = call.input(1, "values", 1);
  TF_Tensor* first_row = call.input(2, "first_row", -1);
  if (call.failed()) return;
  if (tf.TF_NumDims(table) < 1) return call.fail(TF_INVALID_ARGUMENT, "table: expected rows, received a scalar");
  const int64_t rows = tf.TF_Dim(table, 0);
  const int64_t width = rows == 0 ? 0 : tf.TF_TensorElementCount(table) / rows;
  const int64_t count = tf.TF_Dim(values, 0);
  if (width == 0 ? count != 0 : count % width != 0) {
    return call.fail(TF_INVALID_ARGUMENT, "values: expected whole rows of %lld, received %lld numbers",
                     static_cast<long long>(width), static_cast<long long>(count));
  }
  const int64_t written = width == 0 ? 0 : count / width;
  float* target = Call::floats(table);
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  if (te_overlap(target, tf.TF_TensorByteSize(table), Call::data(values), bytes)) {
    return call.fail(TF_INVALID_ARGUMENT, "table must not share memory with another input");
  }
  const float* source = Call::floats(values);
  if (tf.TF_NumDims(first_row) > 0) {
    const int32_t* list = static_cast<const int32_t*>(Call::data(first_row));
    const int64_t listed = tf.TF_TensorElementCount(first_row);
    if (listed != written) {
      return call.fail(TF_INVALID_ARGUMENT, "first_row: expected a number for each of %lld rows, received %lld",
                       static_cast<long long>(written), static_cast<long long>(listed));
    }
    const int64_t stray = te_stray_row(list, listed, rows);
    if (stray >= 0) {
      return call.fail(TF_OUT_OF_RANGE, "first_row: expected rows below %lld, received %lld",
                       static_cast<long long>(rows), static_cast<long long>(list[stray]));
    }
    const TableWrites writes({{{target}, list, listed, 0, 0}});
    for (int64_t i = 0; i < listed; i++) {
      memcpy(target + list[i] * width, source + i * width, static_cast<size_t>(width) * sizeof(float));
    }
    return;
  }
  const int64_t first = *static_cast<const int32_t*>(Call::data(first_row));
  if (first < 0 || first > rows || written > rows - first) {
    return call.fail(TF_OUT_OF_RANGE, "first_row: expected room for %lld rows below %lld, received %lld",
                     static_cast<long long>(written), static_cast<long long>(rows), static_cast<long long>(first));
  }
  const TableWrites writes({{{target}, nullptr, 0, first, first + written}});
  if (bytes > 0) memcpy(target + first * width, source, bytes);
}

/* A real copy: TensorFlow's own identity shares the buffer. */
void compute_copy(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* from = call.input(0, "input", -1);
  if (from == nullptr) return;
  TF_Tensor* to = call.output_like(from, "input", "copies");
  if (to == nullptr) return;
  renew_on_huge_pages(Call::data(to), tf.TF_TensorByteSize(to));
  const TableLock lock({Call::data(from)}, TableUse::kRead);
  memcpy(Call::data(to), Call::data(from), tf.TF_TensorByteSize(from));
}

}  // namespace

OpList table_ops() {
  static const Op ops[] = {
      {"EmbeddingNewTable", {"shape: int32"}, {"table: float"}, {}, step_shape, create_plain, compute_new_table, true},
      {"EmbeddingWriteRows",
       {"table: float", "values: float", "first_row: int32"},
       {},
       {},
       nothing_shape,
       create_plain,
       compute_write_rows,
       true},
      // Stateful, as TensorFlow makes constants of ops on constants: what is copied must not be one.
      {"EmbeddingCopy",
       {"input: T"},
       {"output: T"},
       {"T: {float, int32}"},
       copy_shape,
       create_plain,
       compute_copy,
       true},
  };
  return list_of(ops);
}

}  // namespace te
