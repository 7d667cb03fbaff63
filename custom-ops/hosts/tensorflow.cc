/*
 * The C core as TensorFlow ops: definitions with shape functions, and CPU kernels that check sizes before they call.
 *
 * Registers when the file is loaded into a process that has TensorFlow (Python: tf.load_op_library), or later by
 * te_tensorflow_register() (Node: tfjs-node may be imported after this file).
 * TypeScript side: src/backends/tensorflow.
 */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mutex>
#include <string>

#include "../kernels/embedding.h"
#include "tensorflow_api.h"

#ifdef _WIN32
#define TE_EXPORT extern "C" __declspec(dllexport)
#else
#define TE_EXPORT extern "C" __attribute__((visibility("default")))
#endif

extern "C" const char* te_tensorflow_register(void);

namespace te {
namespace {

/* ---- shape functions ---------------------------------------------------------------------------------------- */

/* A shape function's inputs and outputs; after the first error every call does nothing. */
class Shapes {
 public:
  Shapes(TF_ShapeInferenceContext* context, TF_Status* status) : context_(context), status_(status) {}
  Shapes(const Shapes&) = delete;
  Shapes& operator=(const Shapes&) = delete;
  ~Shapes() {
    for (int i = 0; i < used_; ++i) tf.TF_DeleteShapeHandle(handles_[i]);
  }

  bool failed() const { return tf.TF_GetCode(status_) != TF_OK; }

  TF_ShapeHandle* input(int index, int64_t rank) {
    TF_ShapeHandle* handle = keep(tf.TF_NewShapeHandle());
    tf.TF_ShapeInferenceContextGetInput(context_, index, handle, status_);
    if (!failed()) tf.TF_ShapeInferenceContextWithRank(context_, handle, rank, handle, status_);
    return handle;
  }

  TF_ShapeHandle* any_input(int index) {
    TF_ShapeHandle* handle = keep(tf.TF_NewShapeHandle());
    tf.TF_ShapeInferenceContextGetInput(context_, index, handle, status_);
    return handle;
  }

  /* Size along an axis, or -1 where it is not known. */
  int64_t size(TF_ShapeHandle* shape, int64_t axis) {
    if (failed()) return -1;
    TF_DimensionHandle* dimension = tf.TF_NewDimensionHandle();
    tf.TF_ShapeInferenceContextDim(context_, shape, axis, dimension);
    const bool known = tf.TF_DimensionHandleValueKnown(dimension) != 0;
    const int64_t value = known ? tf.TF_DimensionHandleValue(dimension) : -1;
    tf.TF_DeleteDimensionHandle(dimension);
    return value;
  }

  void same(const char* what, int64_t a, int64_t b) {
    if (failed() || a < 0 || b < 0 || a == b) return;
    char text[160];
    snprintf(text, sizeof(text), "%s: sizes %lld and %lld do not agree", what, static_cast<long long>(a),
             static_cast<long long>(b));
    tf.TF_SetStatus(status_, TF_INVALID_ARGUMENT, text);
  }

  TF_ShapeHandle* vector(int64_t size) {
    return keep(tf.TF_ShapeInferenceContextVectorFromSize(context_, static_cast<size_t>(size)));
  }

  TF_ShapeHandle* matrix(int64_t rows, int64_t columns) {
    TF_ShapeHandle* result = keep(tf.TF_NewShapeHandle());
    TF_ShapeHandle* left = vector(rows);
    TF_ShapeHandle* right = vector(columns);
    if (!failed()) tf.TF_ShapeInferenceContextConcatenateShapes(context_, left, right, result, status_);
    return result;
  }

  void output(int index, TF_ShapeHandle* shape) {
    if (!failed()) tf.TF_ShapeInferenceContextSetOutput(context_, index, shape, status_);
  }

  /* values, row_splits, weights at `first`, `first` + 1, `first` + 2; returns the number of bags or -1. */
  int64_t bags(int first) {
    TF_ShapeHandle* values = input(first, 1);
    TF_ShapeHandle* splits = failed() ? nullptr : input(first + 1, 1);
    TF_ShapeHandle* weights = failed() ? nullptr : input(first + 2, 1);
    const int64_t weight_count = size(weights, 0);
    if (weight_count > 0) same("weights and values", weight_count, size(values, 0));
    const int64_t split_count = size(splits, 0);
    if (!failed() && split_count == 0) {
      tf.TF_SetStatus(status_, TF_INVALID_ARGUMENT, "row_splits: expected at least one split, received none");
    }
    return split_count < 0 ? -1 : split_count - 1;
  }

 private:
  TF_ShapeHandle* keep(TF_ShapeHandle* handle) {
    handles_[used_++] = handle;
    return handle;
  }

  static constexpr int kMost = 32;
  TF_ShapeInferenceContext* context_;
  TF_Status* status_;
  TF_ShapeHandle* handles_[kMost];
  int used_ = 0;
};

void bag_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  TF_ShapeHandle* table = shapes.input(0, 2);
  if (shapes.failed()) return;
  const int64_t batch = shapes.bags(1);
  const int64_t dim = shapes.size(table, 1);
  if (!shapes.failed()) shapes.output(0, shapes.matrix(batch, dim));
}

void bag_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  TF_ShapeHandle* gradient = shapes.input(0, 2);
  if (shapes.failed()) return;
  const int64_t batch = shapes.bags(1);
  TF_ShapeHandle* table = shapes.failed() ? nullptr : shapes.input(4, 2);
  const int64_t dim = shapes.size(gradient, 1);
  shapes.same("gradient and row_splits", shapes.size(gradient, 0), batch);
  shapes.same("gradient and table", dim, shapes.size(table, 1));
  if (shapes.failed()) return;
  shapes.output(0, shapes.vector(-1));
  shapes.output(1, shapes.matrix(-1, dim));
}

void bag_weights_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  TF_ShapeHandle* table = shapes.input(0, 2);
  TF_ShapeHandle* gradient = shapes.failed() ? nullptr : shapes.input(1, 2);
  if (shapes.failed()) return;
  const int64_t batch = shapes.bags(2);
  shapes.same("gradient and row_splits", shapes.size(gradient, 0), batch);
  shapes.same("gradient and table", shapes.size(gradient, 1), shapes.size(table, 1));
  if (!shapes.failed()) shapes.output(0, shapes.input(2, 1));
}

/* For ops without outputs. */
void nothing_shape(TF_ShapeInferenceContext*, TF_Status*) {}

void copy_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.output(0, shapes.any_input(0));
}

/* ---- attributes --------------------------------------------------------------------------------------------- */

struct Attributes {
  int32_t combiner = TE_SUM;
  int32_t out_of_range = TE_ERROR;
  float max_norm = 0;
  int64_t rows = 0; /* EmbeddingBagGrad only */
};

class Construction {
 public:
  explicit Construction(TF_OpKernelConstruction* context) : context_(context), status_(tf.TF_NewStatus()) {}
  Construction(const Construction&) = delete;
  Construction& operator=(const Construction&) = delete;
  ~Construction() { tf.TF_DeleteStatus(status_); }

  bool failed() const { return tf.TF_GetCode(status_) != TF_OK; }

  std::string text(const char* name) {
    int32_t list_size = 0;
    int32_t length = 0;
    tf.TF_OpKernelConstruction_GetAttrSize(context_, name, &list_size, &length, status_);
    if (failed() || length <= 0) return std::string();
    std::string value(static_cast<size_t>(length), '\0'); /* TensorFlow does not end the text */
    tf.TF_OpKernelConstruction_GetAttrString(context_, name, &value[0], value.size(), status_);
    return value;
  }

  int32_t one_of(const char* name, const char* const* names, int32_t count) {
    const std::string value = text(name);
    std::string expected;
    for (int32_t i = 0; i < count; ++i) {
      if (value == names[i]) return i;
      expected += (i == 0 ? "" : ", ") + std::string(names[i]);
    }
    if (!failed()) {
      const std::string message = std::string(name) + ": expected one of " + expected + ", received '" + value + "'";
      tf.TF_SetStatus(status_, TF_INVALID_ARGUMENT, message.c_str());
    }
    return 0;
  }

  void bag(Attributes* attributes) {
    static const char* const kCombiners[] = {"sum", "mean", "sqrtn"};
    static const char* const kOutOfRange[] = {"error", "zero"};
    attributes->combiner = one_of("combiner", kCombiners, 3);
    if (!failed()) attributes->out_of_range = one_of("out_of_range", kOutOfRange, 2);
    if (!failed()) {
      tf.TF_OpKernelConstruction_GetAttrFloat(context_, "max_norm", &attributes->max_norm, status_);
    }
    if (!failed() && !(attributes->max_norm >= 0 && isfinite(attributes->max_norm))) {
      char message[96];
      snprintf(message, sizeof(message), "max_norm: expected a finite number >= 0 (0: off), received %g",
               static_cast<double>(attributes->max_norm));
      tf.TF_SetStatus(status_, TF_INVALID_ARGUMENT, message);
    }
  }

  void rows(Attributes* attributes) {
    if (failed()) return;
    tf.TF_OpKernelConstruction_GetAttrInt64(context_, "rows", &attributes->rows, status_);
    if (!failed() && attributes->rows < 0) {
      tf.TF_SetStatus(status_, TF_INVALID_ARGUMENT, "rows: expected a number >= 0, received a negative one");
    }
  }

  /* The kernel's state, or nullptr after telling TensorFlow what is wrong. */
  void* finish(const Attributes& attributes) {
    if (!failed()) return new Attributes(attributes);
    tf.TF_OpKernelConstruction_Failure(context_, status_);
    return nullptr;
  }

 private:
  TF_OpKernelConstruction* context_;
  TF_Status* status_;
};

void* create_bag(TF_OpKernelConstruction* context) {
  Construction construction(context);
  Attributes attributes;
  construction.bag(&attributes);
  return construction.finish(attributes);
}

void* create_bag_grad(TF_OpKernelConstruction* context) {
  Construction construction(context);
  Attributes attributes;
  construction.bag(&attributes);
  construction.rows(&attributes);
  return construction.finish(attributes);
}

void* create_plain(TF_OpKernelConstruction*) { return new Attributes(); }

void delete_kernel(void* kernel) { delete static_cast<Attributes*>(kernel); }

/* ---- workspaces --------------------------------------------------------------------------------------------- */

/* Scratch memory that is reused from call to call, so that a step does not fault in fresh pages each time. */
class Workspace {
 public:
  explicit Workspace(size_t bytes) : bytes_(bytes == 0 ? 1 : bytes) {
    {
      std::lock_guard<std::mutex> lock(mutex());
      Spare& kept = spare();
      if (kept.data != nullptr && kept.bytes >= bytes_) {
        data_ = kept.data;
        bytes_ = kept.bytes;
        kept = Spare();
      }
    }
    if (data_ == nullptr) data_ = malloc(bytes_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
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

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  struct Spare {
    void* data = nullptr;
    size_t bytes = 0;
  };
  static constexpr size_t kMostKept = size_t{64} << 20;
  static std::mutex& mutex() {
    static std::mutex* const instance = new std::mutex; /* never destroyed: kernels may run while the process ends */
    return *instance;
  }
  static Spare& spare() {
    static Spare instance;
    return instance;
  }

  void* data_ = nullptr;
  size_t bytes_;
};

/* ---- kernels ------------------------------------------------------------------------------------------------ */

/* One run of a kernel: its inputs, its outputs and the first error. */
class Call {
 public:
  explicit Call(TF_OpKernelContext* context) : context_(context), status_(tf.TF_NewStatus()) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    for (int i = 0; i < used_; ++i) tf.TF_DeleteTensor(tensors_[i]);
    tf.TF_DeleteStatus(status_);
  }

  bool failed() const { return failed_; }

  void fail(TF_Code code, const char* format, ...) {
    if (failed_) return;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    tf.TF_SetStatus(status_, code, text);
    report();
  }

  /* nullptr after an error; rank -1: any. */
  TF_Tensor* input(int index, const char* name, int rank) {
    if (failed_) return nullptr;
    TF_Tensor* tensor = nullptr;
    tf.TF_GetInput(context_, index, &tensor, status_);
    if (tf.TF_GetCode(status_) != TF_OK) {
      report();
      return nullptr;
    }
    tensors_[used_++] = tensor;
    if (rank >= 0 && tf.TF_NumDims(tensor) != rank) {
      fail(TF_INVALID_ARGUMENT, "%s: expected rank %d, received rank %d", name, rank, tf.TF_NumDims(tensor));
      return nullptr;
    }
    return tensor;
  }

  te_table table(int index) {
    te_table table = {nullptr, 0, 0};
    TF_Tensor* tensor = input(index, "table", 2);
    if (tensor != nullptr) table = {floats(tensor), tf.TF_Dim(tensor, 0), tf.TF_Dim(tensor, 1)};
    if (tensor != nullptr && table.dim < 1) {
      fail(TF_INVALID_ARGUMENT, "table: expected at least one column, received none");
    }
    return table;
  }

  /* values, row_splits, weights from `first` on; weights without elements mean none, unless they are `required`. */
  te_bags bags(int first, const Attributes& attributes, bool required = false) {
    te_bags bags = {};
    TF_Tensor* values = input(first, "values", 1);
    TF_Tensor* splits = input(first + 1, "row_splits", 1);
    TF_Tensor* weights = input(first + 2, "weights", 1);
    if (failed_) return bags;
    bags.values = static_cast<const int32_t*>(data(values));
    bags.row_splits = static_cast<const int32_t*>(data(splits));
    bags.nnz = tf.TF_Dim(values, 0);
    bags.batch = tf.TF_Dim(splits, 0) - 1;
    bags.combiner = attributes.combiner;
    bags.out_of_range = attributes.out_of_range;
    bags.max_norm = attributes.max_norm;
    if (bags.batch < 0) fail(TF_INVALID_ARGUMENT, "row_splits: expected at least one split, received none");
    const int64_t count = tf.TF_Dim(weights, 0);
    if (count != bags.nnz && (required || count != 0)) {
      fail(TF_INVALID_ARGUMENT, "weights: expected one per value (%lld), received %lld",
           static_cast<long long>(bags.nnz), static_cast<long long>(count));
    }
    if (count != 0 || required) bags.weights = floats(weights);
    return bags;
  }

  /* [batch, dim]. */
  const float* gradient(int index, int64_t batch, int64_t dim) {
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

  /* nullptr after an error. */
  TF_Tensor* output(int index, TF_DataType type, const int64_t* dims, int rank) {
    if (failed_) return nullptr;
    size_t count = 1;
    for (int i = 0; i < rank; ++i) count *= static_cast<size_t>(dims[i]);
    TF_Tensor* tensor = tf.TF_AllocateOutput(context_, index, type, dims, rank, count * 4, status_);
    if (tf.TF_GetCode(status_) != TF_OK) {
      report();
      return nullptr;
    }
    tensors_[used_++] = tensor;
    return tensor;
  }

  void pass_through(int index, TF_Tensor* tensor) {
    if (failed_) return;
    tf.TF_SetOutput(context_, index, tensor, status_);
    if (tf.TF_GetCode(status_) != TF_OK) report();
  }

  /* Turns what the core says into an error of the op. */
  void check(te_status status, const te_bags& bags, int64_t rows) {
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

  /* Data that may be read even where there are no elements. */
  static void* data(const TF_Tensor* tensor) {
    static int32_t nothing[16];
    void* pointer = tf.TF_TensorData(tensor);
    return pointer == nullptr ? nothing : pointer;
  }
  static float* floats(const TF_Tensor* tensor) { return static_cast<float*>(data(tensor)); }

  void no_memory(size_t bytes) {
    fail(TF_RESOURCE_EXHAUSTED, "no memory for a workspace of %zu bytes", bytes);
  }

 private:
  void report() {
    failed_ = true;
    tf.TF_OpKernelContext_Failure(context_, status_);
  }

  static constexpr int kMost = 12;
  TF_OpKernelContext* context_;
  TF_Status* status_;
  TF_Tensor* tensors_[kMost];
  int used_ = 0;
  bool failed_ = false;
};

void compute_bag(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_table table = call.table(0);
  const te_bags bags = call.bags(1, attributes);
  const int64_t dims[] = {bags.batch, table.dim};
  TF_Tensor* pooled = call.output(0, TF_FLOAT, dims, 2);
  if (call.failed()) return;
  call.check(te_embedding_bag(&table, &bags, Call::floats(pooled)), bags, table.rows);
}

void compute_bag_grad(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_bags bags = call.bags(1, attributes);
  te_table table = call.table(4);
  if (call.failed()) return;
  if (attributes.max_norm > 0) {
    if (table.rows != attributes.rows) {
      return call.fail(TF_INVALID_ARGUMENT, "table: expected %lld rows as max_norm is set, received %lld",
                       static_cast<long long>(attributes.rows), static_cast<long long>(table.rows));
    }
  } else {
    table.data = nullptr;
    table.rows = attributes.rows;
  }
  const float* gradient = call.gradient(0, bags.batch, table.dim);
  if (call.failed()) return;

  Workspace workspace(te_embedding_bag_grad_workspace(bags.nnz, bags.batch, table.rows, table.dim));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  int64_t unique = 0;
  call.check(te_embedding_bag_grad_group(&table, &bags, workspace.data(), workspace.bytes(), &unique), bags,
             table.rows);
  const int64_t dims[] = {unique, table.dim};
  TF_Tensor* unique_ids = call.output(0, TF_INT32, dims, 1);
  TF_Tensor* row_gradients = call.output(1, TF_FLOAT, dims, 2);
  if (call.failed()) return;
  call.check(te_embedding_bag_grad_rows(&table, &bags, gradient, workspace.data(), workspace.bytes(),
                                        static_cast<int32_t*>(Call::data(unique_ids)), Call::floats(row_gradients)),
             bags, table.rows);
}

void compute_bag_weights_grad(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_table table = call.table(0);
  const te_bags bags = call.bags(2, attributes, true);
  const float* gradient = call.gradient(1, bags.batch, table.dim);
  TF_Tensor* weights_gradient = call.output(0, TF_FLOAT, &bags.nnz, 1);
  if (call.failed()) return;
  call.check(te_embedding_bag_weights_grad(&table, &bags, gradient, Call::floats(weights_gradient)), bags, table.rows);
}

constexpr int kSlotCounts[] = {0, 1, 1, 2, 2, 2}; /* by te_optimizer */

/* Whether two buffers share a byte. */
bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const uintptr_t x = reinterpret_cast<uintptr_t>(a);
  const uintptr_t y = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && x < y + b_bytes && y < x + a_bytes;
}

/* Writes through the buffers of `table` and the slots: the caller made sure that nobody else sees them. */
template <int kOptimizer>
void compute_sparse_apply(void* kernel, TF_OpKernelContext* context) {
  constexpr int kSlots = kSlotCounts[kOptimizer];
  constexpr int kAfterSlots = 1 + kSlots;
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_table table = call.table(0);
  const te_bags bags = call.bags(kAfterSlots + 1, attributes);
  const float* gradient = call.gradient(kAfterSlots, bags.batch, table.dim);
  TF_Tensor* numbers = call.input(kAfterSlots + 4, "hyper", 1);
  if (call.failed()) return;

  te_hyper hyper;
  static_assert(sizeof(hyper) == TE_HYPER_FIELDS * sizeof(float), "te_hyper holds floats only");
  if (tf.TF_Dim(numbers, 0) != TE_HYPER_FIELDS) {
    return call.fail(TF_INVALID_ARGUMENT, "hyper: expected %d numbers, received %lld", TE_HYPER_FIELDS,
                     static_cast<long long>(tf.TF_Dim(numbers, 0)));
  }
  memcpy(&hyper, Call::data(numbers), sizeof(hyper));

  const void* written[3] = {table.data};
  size_t written_bytes[3] = {static_cast<size_t>(table.rows) * static_cast<size_t>(table.dim) * sizeof(float)};
  float* slots[2] = {nullptr, nullptr};
  constexpr bool kRowWise = kOptimizer == TE_ROW_WISE_ADAGRAD;
  for (int i = 0; i < kSlots; ++i) {
    char name[] = "slot0";
    name[4] = static_cast<char>('0' + i);
    TF_Tensor* slot = call.input(1 + i, name, -1);
    if (call.failed()) return;
    /* One number per row, [rows] or [rows, 1], for row-wise Adagrad; else the shape of the table. */
    const int rank = tf.TF_NumDims(slot);
    const int64_t columns = kRowWise ? 1 : table.dim;
    const bool fits = rank >= 1 && tf.TF_Dim(slot, 0) == table.rows &&
                      (rank == 2 ? tf.TF_Dim(slot, 1) == columns : rank == 1 && kRowWise);
    if (!fits) {
      return call.fail(TF_INVALID_ARGUMENT, "%s: expected shape [%lld, %lld], received another one", name,
                       static_cast<long long>(table.rows), static_cast<long long>(columns));
    }
    slots[i] = Call::floats(slot);
    written[1 + i] = slots[i];
    written_bytes[1 + i] = tf.TF_TensorByteSize(slot);
  }
  const size_t gradient_bytes = static_cast<size_t>(bags.batch) * static_cast<size_t>(table.dim) * sizeof(float);
  const size_t nnz_bytes = static_cast<size_t>(bags.nnz) * sizeof(float);
  const size_t splits_bytes = static_cast<size_t>(bags.batch + 1) * sizeof(int32_t);
  for (int i = 0; i <= kSlots; ++i) {
    bool shared = overlap(written[i], written_bytes[i], gradient, gradient_bytes) ||
                  overlap(written[i], written_bytes[i], bags.values, nnz_bytes) ||
                  overlap(written[i], written_bytes[i], bags.row_splits, splits_bytes) ||
                  (bags.weights != nullptr && overlap(written[i], written_bytes[i], bags.weights, nnz_bytes));
    for (int j = 0; j < i; ++j) shared = shared || overlap(written[i], written_bytes[i], written[j], written_bytes[j]);
    if (shared) return call.fail(TF_INVALID_ARGUMENT, "table and slots must not share memory with another input");
  }

  Workspace workspace(te_sparse_apply_workspace(kOptimizer, bags.nnz, bags.batch, table.rows, table.dim));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  call.check(te_sparse_apply(kOptimizer, &table, slots, kSlots, &bags, gradient, &hyper, workspace.data(),
                             workspace.bytes()),
             bags, table.rows);
}

/* A real copy: TensorFlow's own identity shares the buffer. */
void compute_copy(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* from = call.input(0, "input", -1);
  if (from == nullptr) return;
  constexpr int kMostDims = 8;
  const int rank = tf.TF_NumDims(from);
  if (rank > kMostDims) return call.fail(TF_INVALID_ARGUMENT, "input: expected at most %d dimensions", kMostDims);
  int64_t dims[kMostDims];
  for (int i = 0; i < rank; ++i) dims[i] = tf.TF_Dim(from, i);
  TF_Tensor* to = call.output(0, TF_FLOAT, dims, rank);
  if (to == nullptr) return;
  memcpy(Call::data(to), Call::data(from), tf.TF_TensorByteSize(from));
}

void compute_tpu_activations(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* activations = call.input(1, "sliced_activations", -1);
  if (activations != nullptr) call.pass_through(0, activations);
}

/* ---- registration ------------------------------------------------------------------------------------------- */

using ShapeFunction = void (*)(TF_ShapeInferenceContext*, TF_Status*);
using CreateFunction = void* (*)(TF_OpKernelConstruction*);
using ComputeFunction = void (*)(void*, TF_OpKernelContext*);

constexpr int kMostSpecs = 10;
struct Op {
  const char* name;
  const char* inputs[kMostSpecs];
  const char* outputs[3];
  const char* attributes[5];
  ShapeFunction shape; /* nullptr: TensorFlow declares the op, and only a kernel is missing */
  CreateFunction create;
  ComputeFunction compute;
  bool stateful;
};

/* No defaults: TensorFlow ignores a misspelt attribute, and only a missing one is an error. */
#define TE_BAG_ATTRIBUTES "combiner: string", "out_of_range: string", "max_norm: float"
#define TE_BAG_INPUTS "values: int32", "row_splits: int32", "weights: float"

/*
 * The names begin with Embedding because TensorFlow has SparseApplyAdagrad and SparseApplyFtrl of its own. Hyper
 * parameters are a tensor, as every new value of an attribute would make a kernel that is kept for ever. Stateful:
 * graph passes must not drop, merge or reorder ops that write in place.
 */
#define TE_SPARSE_APPLY(name, optimizer, ...)                                                                \
  Op {                                                                                                       \
    "EmbeddingSparseApply" name, {"table: float", __VA_ARGS__ "gradient: float", TE_BAG_INPUTS, "hyper: float"}, \
        {}, {TE_BAG_ATTRIBUTES}, nothing_shape, create_bag, compute_sparse_apply<optimizer>, true \
  }
#define TE_ONE_SLOT "slot0: float",
#define TE_TWO_SLOTS "slot0: float", "slot1: float",

const Op kOps[] = {
    {"EmbeddingBag", {"table: float", TE_BAG_INPUTS}, {"pooled: float"}, {TE_BAG_ATTRIBUTES}, bag_shape, create_bag,
     compute_bag, false},
    {"EmbeddingBagGrad", {"gradient: float", TE_BAG_INPUTS, "table: float"},
     {"unique_ids: int32", "row_gradients: float"}, {TE_BAG_ATTRIBUTES, "rows: int"}, bag_grad_shape,
     create_bag_grad, compute_bag_grad, false},
    {"EmbeddingBagWeightsGrad", {"table: float", "gradient: float", TE_BAG_INPUTS}, {"weights_gradient: float"},
     {TE_BAG_ATTRIBUTES}, bag_weights_grad_shape, create_bag, compute_bag_weights_grad, false},
    TE_SPARSE_APPLY("Sgd", TE_SGD, ),
    TE_SPARSE_APPLY("Adagrad", TE_ADAGRAD, TE_ONE_SLOT),
    TE_SPARSE_APPLY("RowWiseAdagrad", TE_ROW_WISE_ADAGRAD, TE_ONE_SLOT),
    TE_SPARSE_APPLY("AdagradMomentum", TE_ADAGRAD_MOMENTUM, TE_TWO_SLOTS),
    TE_SPARSE_APPLY("Adam", TE_ADAM, TE_TWO_SLOTS),
    TE_SPARSE_APPLY("Ftrl", TE_FTRL, TE_TWO_SLOTS),
    {"EmbeddingCopy", {"input: float"}, {"output: float"}, {}, copy_shape, create_plain, compute_copy, false},
    {"TPUEmbeddingActivations", {}, {}, {}, nullptr, create_plain, compute_tpu_activations, false},
};

/* Registering an op twice ends the process: somebody else (a second copy of this file) may have been first. */
bool has_kernel(const char* name, TF_Status* status) {
  TF_Buffer* kernels = tf.TF_GetRegisteredKernelsForOp(name, status);
  const bool present = kernels != nullptr && kernels->length > 0;
  if (kernels != nullptr) tf.TF_DeleteBuffer(kernels);
  return present;
}

void define(const Op& op, TF_Status* status) {
  TF_OpDefinitionBuilder* builder = tf.TF_NewOpDefinitionBuilder(op.name);
  for (const char* spec : op.inputs) {
    if (spec != nullptr) tf.TF_OpDefinitionBuilderAddInput(builder, spec);
  }
  for (const char* spec : op.outputs) {
    if (spec != nullptr) tf.TF_OpDefinitionBuilderAddOutput(builder, spec);
  }
  for (const char* spec : op.attributes) {
    if (spec != nullptr) tf.TF_OpDefinitionBuilderAddAttr(builder, spec);
  }
  if (op.stateful) tf.TF_OpDefinitionBuilderSetIsStateful(builder, true); /* TensorFlow ignores a `false` */
  tf.TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, op.shape);
  tf.TF_RegisterOpDefinition(builder, status);
}

/* Registers what is missing; false with a status that says why not. */
bool add(const Op& op, TF_Status* status, bool* added) {
  if (has_kernel(op.name, status)) return true;
  if (tf.TF_GetCode(status) == TF_OK && op.shape != nullptr) define(op, status);
  if (tf.TF_GetCode(status) != TF_OK) return false;
  TF_KernelBuilder* builder = tf.TF_NewKernelBuilder(op.name, "CPU", op.create, op.compute, delete_kernel);
  tf.TF_RegisterKernelBuilder(op.name, builder, status);
  *added = true;
  return tf.TF_GetCode(status) == TF_OK;
}

const char* register_all() {
  static std::mutex* const mutex = new std::mutex; /* worker threads register too */
  static bool done = false;
  std::lock_guard<std::mutex> lock(*mutex);
  if (done) return "already";
  const char* reason = resolve_api();
  if (reason != nullptr) return reason;
  keep_loaded();
  TF_Status* status = tf.TF_NewStatus();
  bool added = false;
  bool good = true;
  static std::string* const problem = new std::string;
  for (const Op& op : kOps) {
    if (good && !add(op, status, &added)) {
      *problem = std::string(op.name) + ": " + tf.TF_Message(status);
      good = false;
    }
  }
  tf.TF_DeleteStatus(status);
  if (!good) return problem->c_str();
  done = true;
  return added ? "registered" : "already";
}

/* Runs when the file is loaded: Python calls nothing else. Without TensorFlow in the process it does nothing. */
struct AtLoad {
  AtLoad() { te_tensorflow_register(); }
};
const AtLoad at_load;

}  // namespace
}  // namespace te

/*
 * Makes the ops known to the TensorFlow in this process. Returns "registered", "already" (this or another copy of the
 * file did it) or the reason why not; may be called again after TensorFlow was loaded. The text lives for ever.
 */
TE_EXPORT const char* te_tensorflow_register(void) { return te::register_all(); }
