/* What a save needs of a server: tables as they were at one moment, handed out block by block, and no old files. */
#include <stdint.h>
#include <string.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../call.h"
#include "../shapes.h"
#include "../tables/snapshots.h"
#include "../tables/table_locks.h"
#include "ops.h"
#include "tensorflow/core/platform/ctstring_internal.h"

namespace te {
namespace {

std::string text_at(const TF_Tensor* tensor, int64_t place) {
  const TF_TString* text = static_cast<const TF_TString*>(tf.TF_TensorData(tensor)) + place;
  return std::string(TF_TString_GetDataPointer(text), TF_TString_GetSize(text));
}

/* The number of a snapshot as a tensor: with the last that holds it the snapshot ends, however its run ends. */
struct alignas(64) Handle {
  int32_t number;
};

void release_handle(void*, size_t, void* handle) {
  Handle* const mine = static_cast<Handle*>(handle);
  Snapshots::remove(mine->number);
  delete mine;
}

/* Arrays with as many rows each; none after an error. */
std::vector<SnapshotArray> arrays_of(Call* call, int first, int end, int64_t* rows) {
  std::vector<SnapshotArray> arrays;
  for (int i = first; i < end; ++i) {
    TF_Tensor* const table = call->take_input(i);
    if (table == nullptr) break;
    const int rank = tf.TF_NumDims(table);
    const int64_t count = rank < 1 ? 0 : tf.TF_Dim(table, 0);
    const int64_t width = count == 0 ? 0 : tf.TF_TensorElementCount(table) / count;
    arrays.push_back({Call::floats(table), width, table});
    if (rank < 1) call->fail(TF_INVALID_ARGUMENT, "tables: expected rows, received a scalar");
    if (i == first) *rows = count;
    if (count != *rows) {
      call->fail(TF_INVALID_ARGUMENT, "tables: expected %lld rows as the first has, received %lld",
                 static_cast<long long>(*rows), static_cast<long long>(count));
    }
    call->at_most_int32("tables", count);
  }
  if (!call->failed()) return arrays;
  for (const SnapshotArray& array : arrays) tf.TF_DeleteTensor(array.tensor);
  return {};
}

/* purpose, tables: a table and its slots -> snapshot, as they are between two steps */
void compute_snapshot(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* purpose = call.input(0, "purpose", 0);
  if (call.failed()) return;
  int64_t rows = 0;
  std::vector<SnapshotArray> arrays = arrays_of(&call, 1, tf.TF_NumInputs(context), &rows);
  if (call.failed()) return;
  std::vector<const void*> addresses;
  for (const SnapshotArray& array : arrays) addresses.push_back(array.data);
  const auto snapshot = std::make_shared<Snapshot>(text_at(purpose, 0), std::move(arrays), rows);
  if (!snapshot->whole()) return call.no_memory(static_cast<size_t>(rows) * sizeof(int32_t));
  Handle* const handle = new Handle;
  {
    const TableLock lock(std::move(addresses), TableUse::kStep);
    handle->number = Snapshots::add(snapshot);
  }
  TF_Tensor* number = tf.TF_NewTensor(TF_INT32, nullptr, 0, &handle->number, sizeof(int32_t), release_handle, handle);
  call.pass_through(0, number);
  tf.TF_DeleteTensor(number);
}

/* snapshot, first_row, rows -> those rows of each of its tables; first_row goes on where the last call ended */
void compute_snapshot_rows(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* number = call.input(0, "snapshot", 0);
  TF_Tensor* first_row = call.input(1, "first_row", 0);
  TF_Tensor* rows = call.input(2, "rows", 0);
  if (call.failed()) return;
  const auto snapshot = Snapshots::find(*static_cast<const int32_t*>(Call::data(number)));
  if (snapshot == nullptr) return call.fail(TF_INVALID_ARGUMENT, "snapshot: expected one that has begun, received none");
  const int64_t first = *static_cast<const int32_t*>(Call::data(first_row));
  const int64_t count = *static_cast<const int32_t*>(Call::data(rows));
  const int outputs = tf.TF_NumOutputs(context);
  if (first != snapshot->done() || count < 0 || count > snapshot->rows() - first) {
    return call.fail(TF_OUT_OF_RANGE, "first_row: expected %lld rows within %lld from %lld on, received %lld as the first",
                     static_cast<long long>(count), static_cast<long long>(snapshot->rows()),
                     static_cast<long long>(snapshot->done()), static_cast<long long>(first));
  }
  if (static_cast<size_t>(outputs) != snapshot->arrays().size()) {
    return call.fail(TF_INVALID_ARGUMENT, "N: expected %lld, as the snapshot has, received %d",
                     static_cast<long long>(snapshot->arrays().size()), outputs);
  }
  std::vector<float*> places;
  for (int i = 0; i < outputs; ++i) {
    const int64_t dims[] = {count, snapshot->arrays()[static_cast<size_t>(i)].width};
    TF_Tensor* values = call.output(i, TF_FLOAT, dims, 2, "rows", "values");
    if (call.failed()) return;
    places.push_back(Call::floats(values));
  }
  snapshot->hand_out(count, places);
  if (!snapshot->whole()) {
    call.fail(TF_RESOURCE_EXHAUSTED, "snapshot: expected memory for the rows that steps change meanwhile, received none");
  }
}

/* purpose -> how many snapshots have it */
void compute_snapshot_count(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* purpose = call.input(0, "purpose", 0);
  TF_Tensor* count = call.output(0, TF_INT32, nullptr, 0, "purpose", "counts");
  if (call.failed()) return;
  *static_cast<int32_t*>(Call::data(count)) = Snapshots::count(text_at(purpose, 0));
}

/* Whether it is a file that a save of ours has written and not finished: `<prefix>_temp/<number>.…`. */
bool is_unfinished(const std::string& file) {
  const size_t slash = file.rfind('/');
  constexpr char kFolder[] = "_temp";
  constexpr size_t kLength = sizeof(kFolder) - 1;
  if (slash == std::string::npos || slash < kLength || file.compare(slash - kLength, kLength, kFolder) != 0) return false;
  size_t at = slash + 1;
  while (at < file.size() && file[at] >= '0' && file[at] <= '9') ++at;
  return at > slash + 1 && (file.compare(at, 6, ".index") == 0 || file.compare(at, 6, ".data-") == 0);
}

/* files -> how many of them are gone */
void compute_remove_unfinished(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* files = call.input(0, "files", 1);
  TF_Tensor* removed = call.output(0, TF_INT32, nullptr, 0, "files", "counts");
  if (call.failed()) return;
  int32_t count = 0;
  TF_Status* status = tf.TF_NewStatus();
  for (int64_t i = 0; i < tf.TF_Dim(files, 0) && has_files; ++i) {
    const std::string file = text_at(files, i);
    if (!is_unfinished(file)) {
      call.fail(TF_INVALID_ARGUMENT, "files: expected parts of checkpoints that were not finished, received %s",
                file.c_str());
      break;
    }
    file_api.TF_DeleteFile(file.c_str(), status);
    count += tf.TF_GetCode(status) == TF_OK ? 1 : 0;
  }
  tf.TF_DeleteStatus(status);
  *static_cast<int32_t*>(Call::data(removed)) = count;
}

}  // namespace

OpList server_save_ops() {
  static const Op ops[] = {
      {"EmbeddingSnapshot",
       {"purpose: string", "tables: N * float"},
       {"snapshot: int32"},
       {"N: int >= 1"},
       snapshot_shape,
       create_plain,
       compute_snapshot,
       true},
      {"EmbeddingSnapshotRows",
       {"snapshot: int32", "first_row: int32", "rows: int32"},
       {"values: N * float"},
       {"N: int >= 1"},
       step_shape,
       create_plain,
       compute_snapshot_rows,
       true},
      {"EmbeddingSnapshotCount",
       {"purpose: string"},
       {"count: int32"},
       {},
       snapshot_shape,
       create_plain,
       compute_snapshot_count,
       true},
      {"EmbeddingRemoveUnfinished",
       {"files: string"},
       {"removed: int32"},
       {},
       step_shape,
       create_plain,
       compute_remove_unfinished,
       true},
  };
  return list_of(ops);
}

}  // namespace te
