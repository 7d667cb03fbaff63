/* One run of a TensorFlow kernel: its checked inputs, its outputs, its error, and scratch memory. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_CALL_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_CALL_H_

#include <stddef.h>
#include <stdint.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "../../kernels/embedding.h"
#include "api.h"
#include "attributes.h"

namespace te {

/* Scratch memory that is reused from call to call, so that a step does not fault in fresh pages each time. */
class Workspace {
 public:
  explicit Workspace(size_t bytes);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  struct Spare {
    void* data = nullptr;
    size_t bytes = 0;
  };
  static constexpr size_t kMostKept = size_t{64} << 20;
  static std::mutex& mutex();
  static Spare& spare();

  void* data_ = nullptr;
  size_t bytes_;
};

/* One run of a kernel: its inputs, its outputs and the first error. */
class Call {
 public:
  explicit Call(TF_OpKernelContext* context) : context_(context), status_(tf.TF_NewStatus()) {
    tensors_.reserve(12);
    at_work_ += 1;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();
  bool failed() const { return failed_; }
  /* Kernels that run now. */
  static int32_t at_work() { return at_work_; }

  void fail(TF_Code code, const char* format, ...);
  /* nullptr after an error; rank -1: any. */
  TF_Tensor* input(int index, const char* name, int rank);
  /* Like `input`, for the caller to delete. */
  TF_Tensor* take_input(int index);
  /* A table of these attributes; of float32 where none say otherwise. */
  te_rows rows(int index, const Attributes& attributes = {});
  /* values, row_splits, weights from `first` on; weights without elements mean none, unless they are `required`. */
  te_bags bags(int first, const Attributes& attributes, bool required = false);
  te_bags bags(int of_values, int of_splits, int of_weights, const Attributes& attributes, bool required = false);
  /* [batch, dim]. */
  const float* gradient(int index, int64_t batch, int64_t dim);
  /* nullptr after an error. `argument` decides over the size of the result, which is called `what`. */
  TF_Tensor* output(int index, TF_DataType type, const int64_t* dims, int rank, const char* argument, const char* what);
  /* As `output` 0, of the type and shape of this argument. */
  TF_Tensor* output_like(TF_Tensor* argument, const char* name, const char* what);
  /* The same of another type. */
  TF_Tensor* output_like(TF_Tensor* argument, TF_DataType type, const char* name, const char* what);
  void pass_through(int index, TF_Tensor* tensor);
  /* Turns what the core says into an error of the op. */
  void check(te_status status, const te_bags& bags, int64_t rows);
  /* Data that may be read even where there are no elements. */
  static void* data(const TF_Tensor* tensor);
  static float* floats(const TF_Tensor* tensor) { return static_cast<float*>(data(tensor)); }

  /* An error of something that the kernel ran. */
  void report(TF_Status* status);
  void no_memory(size_t bytes);
  void at_most_int32(const char* argument, int64_t count);

 private:
  void report() { report(status_); }

  static inline std::atomic<int32_t> at_work_{0};
  TF_OpKernelContext* context_;
  TF_Status* status_;
  std::vector<TF_Tensor*> tensors_;
  bool failed_ = false;
};

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_CALL_H_ */
