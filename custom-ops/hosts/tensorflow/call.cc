#include "call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "huge_pages.h"
#include "sizes.h"
#include "tensorflow/core/platform/ctstring_internal.h"

namespace te {

Workspace::Workspace(size_t bytes) : bytes_(bytes == 0 ? 1 : bytes) {
  {
    std::lock_guard<std::mutex> lock(mutex());
    Spare& kept = spare();
    if (kept.data != nullptr && kept.bytes >= bytes_) {
      data_ = kept.data;
      bytes_ = kept.bytes;
      kept = Spare();
    }
  }
  if (data_ == nullptr) data_ = allocate_on_huge_pages(bytes_);
}

Workspace::~Workspace() {
  void* surplus = data_;
  if (data_ != nullptr && bytes_ <= kMostKept) {
    std::lock_guard<std::mutex> lock(mutex());
    Spare& kept = spare();
    if (kept.bytes < bytes_) {
      surplus = kept.data;
      kept = {data_, bytes_};
    }
  }
  free(surplus);
}

std::mutex& Workspace::mutex() {
  static std::mutex* const instance = new std::mutex; /* never destroyed: kernels may run while the process ends */
  return *instance;
}

Workspace::Spare& Workspace::spare() {
  static Spare instance;
  return instance;
}

Call::~Call() {
  for (TF_Tensor* tensor : tensors_) tf.TF_DeleteTensor(tensor);
  tf.TF_DeleteStatus(status_);
  at_work_ -= 1;
}

void Call::fail(TF_Code code, const char* format, ...) {
  if (failed_) return;
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  tf.TF_SetStatus(status_, code, text);
  report();
}

TF_Tensor* Call::input(int index, const char* name, int rank) {
  TF_Tensor* tensor = take_input(index);
  if (tensor == nullptr) return nullptr;
  tensors_.push_back(tensor);
  if (rank >= 0 && tf.TF_NumDims(tensor) != rank) {
    fail(TF_INVALID_ARGUMENT, "%s: expected rank %d, received rank %d", name, rank, tf.TF_NumDims(tensor));
    return nullptr;
  }
  return tensor;
}

TF_Tensor* Call::take_input(int index) {
  if (failed_) return nullptr;
  TF_Tensor* tensor = nullptr;
  tf.TF_GetInput(context_, index, &tensor, status_);
  if (tf.TF_GetCode(status_) == TF_OK) return tensor;
  report();
  return nullptr;
}

te_rows Call::rows(int index, const Attributes& attributes) {
  te_rows table = {nullptr, 0, attributes.dim, attributes.codec};
  TF_Tensor* tensor = input(index, "table", 2);
  if (tensor == nullptr) return table;
  const int64_t words = tf.TF_Dim(tensor, 1);
  if (table.codec == TE_FLOAT32) table.dim = words;
  if (table.dim < 1) {
    fail(TF_INVALID_ARGUMENT, "table: expected at least one column, received none");
  } else if (words != te_row_words(table.codec, table.dim)) {
    fail(TF_INVALID_ARGUMENT, "table: expected %lld words for %lld columns, received %lld",
         static_cast<long long>(te_row_words(table.codec, table.dim)), static_cast<long long>(table.dim),
         static_cast<long long>(words));
  }
  table.rows = tf.TF_Dim(tensor, 0);
  table.data = data(tensor);
  return table;
}

te_bags Call::bags(int first, const Attributes& attributes, bool required) {
  return bags(first, first + 1, first + 2, attributes, required);
}

te_bags Call::bags(int of_values, int of_splits, int of_weights, const Attributes& attributes, bool required) {
  te_bags bags = {};
  TF_Tensor* values = input(of_values, "values", 1);
  TF_Tensor* splits = input(of_splits, "row_splits", 1);
  TF_Tensor* weights = input(of_weights, "weights", 1);
  if (failed_) return bags;
  bags.values = static_cast<const int32_t*>(data(values));
  bags.row_splits = static_cast<const int32_t*>(data(splits));
  bags.nnz = tf.TF_Dim(values, 0);
  bags.batch = tf.TF_Dim(splits, 0) - 1;
  at_most_int32("values", bags.nnz);
  at_most_int32("row_splits", bags.batch);
  bags.combiner = attributes.combiner;
  bags.out_of_range = attributes.out_of_range;
  bags.max_norm = attributes.max_norm;
  if (bags.batch < 0) fail(TF_INVALID_ARGUMENT, "row_splits: expected at least one split, received none");
  const int64_t count = tf.TF_Dim(weights, 0);
  if (count != bags.nnz && (required || count != 0)) {
    fail(TF_INVALID_ARGUMENT, "weights: expected one per value (%lld), received %lld", static_cast<long long>(bags.nnz),
         static_cast<long long>(count));
  }
  if (count != 0 || required) bags.weights = floats(weights);
  return bags;
}

const float* Call::gradient(int index, int64_t batch, int64_t dim) {
  TF_Tensor* tensor = input(index, "gradient", 2);
  if (tensor == nullptr) return nullptr;
  const int64_t rows = tf.TF_Dim(tensor, 0);
  const int64_t columns = tf.TF_Dim(tensor, 1);
  if (rows != batch || columns != dim) {
    fail(TF_INVALID_ARGUMENT, "gradient: expected shape [%lld, %lld], received [%lld, %lld]",
         static_cast<long long>(batch), static_cast<long long>(dim), static_cast<long long>(rows),
         static_cast<long long>(columns));
  }
  return floats(tensor);
}

TF_Tensor* Call::output(int index, TF_DataType type, const int64_t* dims, int rank, const char* argument,
                        const char* what) {
  if (failed_) return nullptr;
  if (!addressable(dims, rank)) {
    fail(TF_INVALID_ARGUMENT, "%s", too_large(argument, what, dims, rank).c_str());
    return nullptr;
  }
  size_t count = 1;
  for (int i = 0; i < rank; ++i) count *= static_cast<size_t>(dims[i]);
  const size_t element = type == TF_DOUBLE ? 8 : type == TF_STRING ? sizeof(TF_TString) : 4;
  TF_Tensor* tensor = tf.TF_AllocateOutput(context_, index, type, dims, rank, count * element, status_);
  const TF_Code code = tf.TF_GetCode(status_);
  if (code == TF_OK) {
    tensors_.push_back(tensor);
    return tensor;
  }
  if (code == TF_RESOURCE_EXHAUSTED) {
    fail(code, "%s", too_large(argument, what, dims, rank).c_str());
  } else {
    report();
  }
  return nullptr;
}

TF_Tensor* Call::output_like(TF_Tensor* argument, const char* name, const char* what) {
  return output_like(argument, tf.TF_TensorType(argument), name, what);
}

TF_Tensor* Call::output_like(TF_Tensor* argument, TF_DataType type, const char* name, const char* what) {
  constexpr int kMostDims = 8;
  const int rank = tf.TF_NumDims(argument);
  if (rank > kMostDims) {
    fail(TF_INVALID_ARGUMENT, "%s: expected at most %d dimensions, received %d", name, kMostDims, rank);
    return nullptr;
  }
  int64_t dims[kMostDims];
  for (int i = 0; i < rank; ++i) dims[i] = tf.TF_Dim(argument, i);
  return output(0, type, dims, rank, name, what);
}

void Call::pass_through(int index, TF_Tensor* tensor) {
  if (failed_) return;
  tf.TF_SetOutput(context_, index, tensor, status_);
  if (tf.TF_GetCode(status_) != TF_OK) report();
}

void Call::check(te_status status, const te_bags& bags, int64_t rows) {
  const long long position = static_cast<long long>(status.position);
  switch (status.code) {
    case TE_OK:
      return;
    case TE_ID_OUT_OF_RANGE:
      return fail(TF_OUT_OF_RANGE, "values[%lld] = %d is not in [0, %lld)", position, status.id,
                  static_cast<long long>(rows));
    case TE_BAD_SPLITS:
      return fail(TF_INVALID_ARGUMENT,
                  "row_splits: expected splits that start at 0, never fall and end at %lld, received a wrong one "
                  "at position %lld",
                  static_cast<long long>(bags.nnz), position);
    default:
      return fail(TF_INTERNAL, "the embedding core refused its arguments (code %d)", status.code);
  }
}

void* Call::data(const TF_Tensor* tensor) {
  static int32_t nothing[16];
  void* pointer = tf.TF_TensorData(tensor);
  return pointer == nullptr ? nothing : pointer;
}

void Call::report(TF_Status* status) {
  failed_ = true;
  tf.TF_OpKernelContext_Failure(context_, status);
}

void Call::no_memory(size_t bytes) {
  fail(TF_RESOURCE_EXHAUSTED,
       "values: expected a batch whose workspace fits into memory, received one that needs %zu bytes", bytes);
}

void Call::at_most_int32(const char* argument, int64_t count) {
  if (count < INT32_MAX) return;
  fail(TF_INVALID_ARGUMENT, "%s: expected fewer than 2147483647 numbers, received %lld", argument,
       static_cast<long long>(count));
}

}  // namespace te
