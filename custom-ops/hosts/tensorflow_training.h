/* TensorFlow kernels of a training step beside lookups: dense variables, penalties on touched rows, dropout, dots,
 * cross-entropy. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_TRAINING_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_TRAINING_H_

#include <stdint.h>
#include <string.h>

#include <vector>

#include "../kernels/embedding.h"
#include "memory.h"
#include "tensorflow_api.h"
#include "tensorflow_attributes.h"
#include "tensorflow/checked_inputs.h"
#include "tensorflow_call.h"

namespace te {
namespace {

constexpr int kDenseSlots[] = {0, 1, 1, 2}; /* by TE_DENSE_... */

struct Span {
  const void* data;
  size_t bytes;
};

inline Span span_of(const TF_Tensor* tensor) { return {tf.TF_TensorData(tensor), tf.TF_TensorByteSize(tensor)}; }

/* Whether two spans of `written`, or one of them and one of `read`, share memory. */
inline bool any_shared(const std::vector<Span>& written, const std::vector<Span>& read) {
  for (size_t i = 0; i < written.size(); ++i) {
    const Span& a = written[i];
    for (size_t j = 0; j < i; ++j) {
      if (te_overlap(a.data, a.bytes, written[j].data, written[j].bytes)) return true;
    }
    for (const Span& b : read) {
      if (te_overlap(a.data, a.bytes, b.data, b.bytes)) return true;
    }
  }
  return false;
}

/* variables: N, slot0: N, slot1: N, as many as the optimizer has, two powers for Adam, gradients: N, hyper. */
template <int kOptimizer>
void compute_dense_apply(void*, TF_OpKernelContext* context) {
  constexpr int kSlots = kDenseSlots[kOptimizer];
  constexpr int kPowers = kOptimizer == TE_DENSE_ADAM ? 2 : 0;
  Call call(context);
  const int count = (tf.TF_NumInputs(context) - 1 - kPowers) / (2 + kSlots);
  const int inputs = tf.TF_NumInputs(context);
  if (inputs != count * (2 + kSlots) + kPowers + 1) {
    return call.fail(TF_INVALID_ARGUMENT, "slots: expected %d for each variable, received others", kSlots);
  }
  std::vector<te_dense> variables(static_cast<size_t>(count));
  std::vector<Span> written;
  std::vector<Span> read;
  for (int i = 0; i < count; ++i) {
    TF_Tensor* values = call.input(i, "variables", -1);
    TF_Tensor* gradient = call.input(count * (1 + kSlots) + kPowers + i, "gradients", -1);
    if (call.failed()) return;
    te_dense& each = variables[static_cast<size_t>(i)];
    each.values = Call::floats(values);
    each.gradient = Call::floats(gradient);
    each.size = tf.TF_TensorElementCount(values);
    written.push_back(span_of(values));
    read.push_back(span_of(gradient));
    bool fits = tf.TF_TensorElementCount(gradient) == each.size;
    for (int s = 0; s < kSlots; ++s) {
      TF_Tensor* slot = call.input(count * (1 + s) + i, "slots", -1);
      if (call.failed()) return;
      each.slots[s] = Call::floats(slot);
      written.push_back(span_of(slot));
      fits = fits && tf.TF_TensorElementCount(slot) == each.size;
    }
    if (!fits) {
      return call.fail(TF_INVALID_ARGUMENT,
                       "gradients: expected %lld numbers for variable %d and each of its slots, received others",
                       static_cast<long long>(each.size), i);
    }
  }
  float* powers[2] = {nullptr, nullptr};
  for (int i = 0; i < kPowers; ++i) {
    TF_Tensor* power = call.input(count * (1 + kSlots) + i, "powers", 0);
    if (call.failed()) return;
    powers[i] = Call::floats(power);
    written.push_back(span_of(power));
  }
  TF_Tensor* numbers = call.input(inputs - 1, "hyper", 1);
  if (call.failed()) return;
  te_dense_hyper hyper;
  static_assert(sizeof(hyper) == TE_DENSE_HYPER_FIELDS * sizeof(float), "te_dense_hyper holds floats only");
  if (tf.TF_Dim(numbers, 0) != TE_DENSE_HYPER_FIELDS) {
    return call.fail(TF_INVALID_ARGUMENT, "hyper: expected %d numbers, received %lld", TE_DENSE_HYPER_FIELDS,
                     static_cast<long long>(tf.TF_Dim(numbers, 0)));
  }
  memcpy(&hyper, Call::data(numbers), sizeof(hyper));
  if (any_shared(written, read)) {
    return call.fail(TF_INVALID_ARGUMENT,
                     "variables: expected memory of their own, received some that another input shares");
  }
  te_dense_apply(kOptimizer, variables.data(), count, powers, &hyper);
}

/* ids: N lists; -> touched [u] ascending, row_splits [u + 1] of bags of one id. */
void compute_touched_rows(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const int lists = tf.TF_NumInputs(context);
  std::vector<int32_t> ids;
  for (int i = 0; i < lists; ++i) {
    TF_Tensor* list = call.input(i, "ids", 1);
    if (call.failed()) return;
    const int32_t* first = static_cast<const int32_t*>(Call::data(list));
    ids.insert(ids.end(), first, first + tf.TF_Dim(list, 0));
  }
  std::vector<int32_t> touched(ids.size() + 1);
  const int64_t count = te_touched_rows(ids.data(), static_cast<int64_t>(ids.size()), attributes.rows, touched.data());
  TF_Tensor* result = call.output(0, TF_INT32, &count, 1, "ids", "touched rows");
  if (call.failed()) return;
  memcpy(Call::data(result), touched.data(), static_cast<size_t>(count) * sizeof(int32_t));
}

/* terms [n, dim], ids [n] -> sums [rows, dim] of the rows of each id. */
void compute_segment_sum(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  TF_Tensor* terms = call.input(0, "terms", 2);
  TF_Tensor* ids = call.input(1, "ids", 1);
  if (call.failed()) return;
  const int64_t count = tf.TF_Dim(ids, 0);
  const int64_t dims[2] = {attributes.rows, tf.TF_Dim(terms, 1)};
  if (tf.TF_Dim(terms, 0) != count) {
    return call.fail(TF_INVALID_ARGUMENT, "ids: expected one per row (%lld), received %lld",
                     static_cast<long long>(tf.TF_Dim(terms, 0)), static_cast<long long>(count));
  }
  TF_Tensor* sums = call.output(0, TF_FLOAT, dims, 2, "rows", "sums");
  if (call.failed()) return;
  const te_status status = te_segment_sum(Call::floats(terms), static_cast<const int32_t*>(Call::data(ids)), count,
                                          dims[0], dims[1], Call::floats(sums));
  if (status.code == TE_OK) return;
  call.fail(TF_INVALID_ARGUMENT, "values[%lld] = %d is not in [0, %lld)", static_cast<long long>(status.position),
            status.id, static_cast<long long>(dims[0]));
}

/* ids, row_splits, skip: whether 0 and whether negative ids stand for nothing; -> the others, with their splits. */
void compute_present_ids(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* ids = call.input(0, "ids", 1);
  TF_Tensor* given = call.input(1, "row_splits", 1);
  const int32_t* skip = skip_of(&call, 2);
  if (call.failed()) return;
  const int64_t splits = tf.TF_Dim(given, 0);
  if (splits < 1 || splits > INT32_MAX || tf.TF_Dim(ids, 0) > INT32_MAX) {
    return call.fail(TF_INVALID_ARGUMENT, "row_splits: expected 1 to %d splits of as many ids, received %lld of %lld",
                     INT32_MAX, static_cast<long long>(splits), static_cast<long long>(tf.TF_Dim(ids, 0)));
  }
  te_bags bags = {};
  bags.values = static_cast<const int32_t*>(Call::data(ids));
  bags.row_splits = static_cast<const int32_t*>(Call::data(given));
  bags.nnz = tf.TF_Dim(ids, 0);
  bags.batch = splits - 1;
  std::vector<int32_t> present(static_cast<size_t>(bags.nnz) + 1);
  TF_Tensor* of_present = call.output(1, TF_INT32, &splits, 1, "row_splits", "row splits");
  if (call.failed()) return;
  int64_t kept = 0;
  call.check(te_present_ids(bags.values, bags.nnz, bags.row_splits, bags.batch, skip[0], skip[1], present.data(),
                            static_cast<int32_t*>(Call::data(of_present)), &kept),
             bags, 0);
  TF_Tensor* values = call.output(0, TF_INT32, &kept, 1, "ids", "ids");
  if (call.failed()) return;
  memcpy(Call::data(values), present.data(), static_cast<size_t>(kept) * sizeof(int32_t));
}

/* row_splits [n + 1] of n bags of one id. */
void compute_single_splits(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* ids = call.input(0, "ids", 1);
  if (ids == nullptr) return;
  const int64_t splits = tf.TF_Dim(ids, 0) + 1;
  TF_Tensor* result = call.output(0, TF_INT32, &splits, 1, "ids", "row splits");
  if (call.failed()) return;
  int32_t* at = static_cast<int32_t*>(Call::data(result));
  for (int64_t i = 0; i < splits; ++i) at[i] = static_cast<int32_t>(i);
}

/* l1 and l2. */
inline const float* factors_of(Call* call, int index) {
  TF_Tensor* factors = call->input(index, "factors", 1);
  if (factors == nullptr) return nullptr;
  if (tf.TF_Dim(factors, 0) == 2) return Call::floats(factors);
  call->fail(TF_INVALID_ARGUMENT, "factors: expected two numbers, received %lld",
             static_cast<long long>(tf.TF_Dim(factors, 0)));
  return nullptr;
}

void compute_row_penalty(void*, TF_OpKernelContext* context) {
  Call call(context);
  const te_table table = call.table(0);
  TF_Tensor* ids = call.input(1, "ids", 1);
  const float* factors = factors_of(&call, 2);
  TF_Tensor* penalty = call.output(0, TF_FLOAT, nullptr, 0, "ids", "penalties");
  if (call.failed()) return;
  te_bags none = {};
  call.check(te_row_penalty(&table, static_cast<const int32_t*>(Call::data(ids)), tf.TF_Dim(ids, 0), factors[0],
                            factors[1], Call::floats(penalty)),
             none, table.rows);
}

void compute_row_penalty_grad(void*, TF_OpKernelContext* context) {
  Call call(context);
  const te_table table = call.table(0);
  TF_Tensor* ids = call.input(1, "ids", 1);
  const float* factors = factors_of(&call, 2);
  TF_Tensor* upstream = call.input(3, "upstream", 0);
  if (call.failed()) return;
  const int64_t dims[] = {tf.TF_Dim(ids, 0), table.dim};
  TF_Tensor* gradient = call.output(0, TF_FLOAT, dims, 2, "ids", "row gradients");
  if (call.failed()) return;
  te_bags none = {};
  call.check(te_row_penalty_grad(&table, static_cast<const int32_t*>(Call::data(ids)), dims[0], factors[0], factors[1],
                                 *Call::floats(upstream), Call::floats(gradient)),
             none, table.rows);
}

/* rows: numbers of rows, sources: N of one type -> taken: N, these rows of each. */
void compute_take_rows(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* given = call.input(0, "rows", 1);
  if (given == nullptr) return;
  const int32_t* rows = static_cast<const int32_t*>(Call::data(given));
  const int64_t count = tf.TF_Dim(given, 0);
  const int sources = tf.TF_NumInputs(context) - 1;
  for (int i = 0; i < sources; ++i) {
    TF_Tensor* source = call.input(i + 1, "sources", -1);
    if (source == nullptr) return;
    constexpr int kMostDims = 8;
    const int rank = tf.TF_NumDims(source);
    if (rank < 1 || rank > kMostDims)
      return call.fail(TF_INVALID_ARGUMENT, "sources: expected 1 to %d dimensions, received %d", kMostDims, rank);
    const int64_t stray = te_stray_row(rows, count, tf.TF_Dim(source, 0));
    if (stray >= 0) {
      return call.fail(TF_OUT_OF_RANGE, "rows[%lld] = %d is not in [0, %lld)", static_cast<long long>(stray),
                       rows[stray], static_cast<long long>(tf.TF_Dim(source, 0)));
    }
    int64_t dims[kMostDims] = {count};
    int64_t width = 1;
    for (int d = 1; d < rank; ++d) width *= dims[d] = tf.TF_Dim(source, d);
    TF_Tensor* taken = call.output(i, tf.TF_TensorType(source), dims, rank, "rows", "rows");
    if (taken == nullptr) return;
    te_take_rows(Call::data(source), width, rows, count, Call::data(taken));
  }
}

void compute_dropout(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* x = call.input(0, "x", -1);
  TF_Tensor* rate = call.input(1, "rate", 0);
  TF_Tensor* seed = call.input(2, "seed", 1);
  if (call.failed()) return;
  const float share = *Call::floats(rate);
  if (!(share >= 0 && share < 1))
    return call.fail(TF_INVALID_ARGUMENT, "rate: expected a number in [0, 1), received %g", static_cast<double>(share));
  if (tf.TF_Dim(seed, 0) != 2) {
    return call.fail(TF_INVALID_ARGUMENT, "seed: expected two numbers, received %lld",
                     static_cast<long long>(tf.TF_Dim(seed, 0)));
  }
  constexpr int kMostDims = 8;
  const int rank = tf.TF_NumDims(x);
  if (rank > kMostDims)
    return call.fail(TF_INVALID_ARGUMENT, "x: expected at most %d dimensions, received %d", kMostDims, rank);
  int64_t dims[kMostDims];
  for (int i = 0; i < rank; ++i) dims[i] = tf.TF_Dim(x, i);
  TF_Tensor* y = call.output(0, TF_FLOAT, dims, rank, "x", "numbers");
  if (call.failed()) return;
  te_dropout(Call::floats(x), tf.TF_TensorElementCount(x), share, static_cast<const int32_t*>(Call::data(seed)),
             Call::floats(y));
}

/* labels, predictions, limits: two or none, and for the gradient its upstream; all of one shape -> as many numbers. */
template <bool kGradient>
void compute_cross_entropy(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* labels = call.input(0, "labels", -1);
  TF_Tensor* predictions = call.input(1, "predictions", -1);
  TF_Tensor* given = call.input(2, "limits", 1);
  TF_Tensor* upstream = kGradient ? call.input(3, "upstream", -1) : predictions;
  if (call.failed()) return;
  const int64_t size = tf.TF_TensorElementCount(predictions);
  if (tf.TF_TensorElementCount(labels) != size || tf.TF_TensorElementCount(upstream) != size) {
    return call.fail(TF_INVALID_ARGUMENT, "%s: expected %lld numbers, as many as predictions, received %lld",
                     tf.TF_TensorElementCount(labels) != size ? "labels" : "upstream", static_cast<long long>(size),
                     static_cast<long long>(tf.TF_TensorElementCount(
                         tf.TF_TensorElementCount(labels) != size ? labels : upstream)));
  }
  const int64_t count = tf.TF_Dim(given, 0);
  if (count != 0 && count != 2) {
    return call.fail(TF_INVALID_ARGUMENT, "limits: expected two numbers or none, received %lld",
                     static_cast<long long>(count));
  }
  const float* limits = count == 0 ? nullptr : Call::floats(given);
  constexpr int kMostDims = 8;
  const int rank = tf.TF_NumDims(predictions);
  if (rank > kMostDims)
    return call.fail(TF_INVALID_ARGUMENT, "predictions: expected at most %d dimensions, received %d", kMostDims, rank);
  int64_t dims[kMostDims];
  for (int i = 0; i < rank; ++i) dims[i] = tf.TF_Dim(predictions, i);
  TF_Tensor* out = call.output(0, TF_FLOAT, dims, rank, "predictions", "numbers");
  if (call.failed()) return;
  if (kGradient) {
    te_cross_entropy_grad(Call::floats(labels), Call::floats(predictions), Call::floats(upstream), size, limits,
                          Call::floats(out));
  } else {
    te_cross_entropy(Call::floats(labels), Call::floats(predictions), size, limits, Call::floats(out));
  }
}

/* upstream and x of one shape -> the gradient of relu(x). */
void compute_relu_grad(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* upstream = call.input(0, "upstream", -1);
  TF_Tensor* x = call.input(1, "x", -1);
  if (call.failed()) return;
  const int64_t size = tf.TF_TensorElementCount(x);
  constexpr int kMostDims = 8;
  const int rank = tf.TF_NumDims(x);
  if (tf.TF_TensorElementCount(upstream) != size || rank > kMostDims) {
    return call.fail(TF_INVALID_ARGUMENT, "upstream: expected %lld numbers of at most %d dimensions, received %lld of %d",
                     static_cast<long long>(size), kMostDims,
                     static_cast<long long>(tf.TF_TensorElementCount(upstream)), rank);
  }
  int64_t dims[kMostDims];
  for (int i = 0; i < rank; ++i) dims[i] = tf.TF_Dim(x, i);
  TF_Tensor* gradient = call.output(0, TF_FLOAT, dims, rank, "x", "numbers");
  if (call.failed()) return;
  te_relu_grad(Call::floats(upstream), Call::floats(x), size, Call::floats(gradient));
}

/* a and b [rows, dim] -> dots [rows]. */
void compute_row_dots(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* a = call.input(0, "a", 2);
  TF_Tensor* b = call.input(1, "b", 2);
  if (call.failed()) return;
  const int64_t rows = tf.TF_Dim(a, 0), dim = tf.TF_Dim(a, 1);
  if (tf.TF_Dim(b, 0) != rows || tf.TF_Dim(b, 1) != dim) {
    return call.fail(TF_INVALID_ARGUMENT, "b: expected shape [%lld, %lld], received [%lld, %lld]",
                     static_cast<long long>(rows), static_cast<long long>(dim),
                     static_cast<long long>(tf.TF_Dim(b, 0)), static_cast<long long>(tf.TF_Dim(b, 1)));
  }
  TF_Tensor* dots = call.output(0, TF_FLOAT, &rows, 1, "a", "products");
  if (call.failed()) return;
  te_row_dots(Call::floats(a), Call::floats(b), rows, dim, Call::floats(dots));
}

/* factors [rows], matrix [rows, dim] -> scaled [rows, dim]. */
void compute_scaled_rows(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* factors = call.input(0, "factors", 1);
  TF_Tensor* matrix = call.input(1, "matrix", 2);
  if (call.failed()) return;
  const int64_t dims[] = {tf.TF_Dim(matrix, 0), tf.TF_Dim(matrix, 1)};
  if (tf.TF_Dim(factors, 0) != dims[0]) {
    return call.fail(TF_INVALID_ARGUMENT, "factors: expected %lld, received %lld", static_cast<long long>(dims[0]),
                     static_cast<long long>(tf.TF_Dim(factors, 0)));
  }
  TF_Tensor* scaled = call.output(0, TF_FLOAT, dims, 2, "matrix", "rows");
  if (call.failed()) return;
  te_scaled_rows(Call::floats(factors), Call::floats(matrix), dims[0], dims[1], Call::floats(scaled));
}

/* The shape of a tensor as text, in `text` of this size: "[2, 3]". */
void write_shape(TF_Tensor* tensor, char* text, size_t size) {
  int at = snprintf(text, size, "[");
  for (int i = 0; i < tf.TF_NumDims(tensor) && at < static_cast<int>(size); ++i) {
    at += snprintf(text + at, size - at, i == 0 ? "%lld" : ", %lld", static_cast<long long>(tf.TF_Dim(tensor, i)));
  }
  if (at < static_cast<int>(size)) snprintf(text + at, size - at, "]");
}

/* labels [rows] or [rows, classes], probabilities [rows, classes], and what they are clipped to. */
bool read_classes(Call& call, TF_Tensor* labels, TF_Tensor* probabilities, TF_Tensor* limits, te_classes* of) {
  const int64_t rows = tf.TF_Dim(probabilities, 0), classes = tf.TF_Dim(probabilities, 1);
  const bool is_sparse = tf.TF_NumDims(labels) == 1;
  const bool fits = (is_sparse || tf.TF_NumDims(labels) == 2) && tf.TF_Dim(labels, 0) == rows;
  if (!fits || (!is_sparse && tf.TF_Dim(labels, 1) != classes)) {
    char received[128];
    write_shape(labels, received, sizeof(received));
    call.fail(TF_INVALID_ARGUMENT, "labels: expected shape [%lld] or [%lld, %lld], received %s",
              static_cast<long long>(rows), static_cast<long long>(rows), static_cast<long long>(classes), received);
    return false;
  }
  if (tf.TF_Dim(limits, 0) != 2) {
    call.fail(TF_INVALID_ARGUMENT, "limits: expected two numbers, received %lld",
              static_cast<long long>(tf.TF_Dim(limits, 0)));
    return false;
  }
  const float* ends = Call::floats(limits);
  *of = {Call::floats(labels), Call::floats(probabilities), rows, classes, ends[0], ends[1], is_sparse ? 1 : 0};
  return true;
}

/* -> losses [rows] */
void compute_categorical_loss(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* labels = call.input(0, "labels", -1);
  TF_Tensor* probabilities = call.input(1, "probabilities", 2);
  TF_Tensor* limits = call.input(2, "limits", 1);
  te_classes of;
  if (call.failed() || !read_classes(call, labels, probabilities, limits, &of)) return;
  TF_Tensor* losses = call.output(0, TF_FLOAT, &of.rows, 1, "probabilities", "losses");
  if (call.failed()) return;
  te_categorical_loss(&of, Call::floats(losses));
}

/* and upstream [rows] -> gradient [rows, classes], by the probabilities or by what softmax made them of */
template <bool kThroughSoftmax>
void compute_categorical_loss_grad(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* labels = call.input(0, "labels", -1);
  TF_Tensor* probabilities = call.input(1, "probabilities", 2);
  TF_Tensor* limits = call.input(2, "limits", 1);
  TF_Tensor* upstream = call.input(3, "upstream", 1);
  te_classes of;
  if (call.failed() || !read_classes(call, labels, probabilities, limits, &of)) return;
  if (tf.TF_Dim(upstream, 0) != of.rows) {
    return call.fail(TF_INVALID_ARGUMENT, "upstream: expected %lld numbers, received %lld", static_cast<long long>(of.rows),
                     static_cast<long long>(tf.TF_Dim(upstream, 0)));
  }
  const int64_t dims[] = {of.rows, of.classes};
  TF_Tensor* gradient = call.output(0, TF_FLOAT, dims, 2, "probabilities", "rows");
  if (call.failed()) return;
  te_categorical_loss_grad(&of, Call::floats(upstream), kThroughSoftmax ? 1 : 0, Call::floats(gradient));
}

/* upstream and y [rows, classes] -> gradient [rows, classes] */
void compute_softmax_grad(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* upstream = call.input(0, "upstream", 2);
  TF_Tensor* y = call.input(1, "y", 2);
  if (call.failed()) return;
  const int64_t dims[] = {tf.TF_Dim(y, 0), tf.TF_Dim(y, 1)};
  if (tf.TF_Dim(upstream, 0) != dims[0] || tf.TF_Dim(upstream, 1) != dims[1]) {
    return call.fail(TF_INVALID_ARGUMENT, "upstream: expected shape [%lld, %lld], received [%lld, %lld]",
                     static_cast<long long>(dims[0]), static_cast<long long>(dims[1]),
                     static_cast<long long>(tf.TF_Dim(upstream, 0)), static_cast<long long>(tf.TF_Dim(upstream, 1)));
  }
  TF_Tensor* gradient = call.output(0, TF_FLOAT, dims, 2, "y", "rows");
  if (call.failed()) return;
  te_softmax_grad(Call::floats(upstream), Call::floats(y), dims[0], dims[1], Call::floats(gradient));
}

}  // namespace
}  // namespace te

/* Gradients that stand for several of the ops of a step, as they stand in the list of ops. */
#define TE_GRADIENT_OPS \
    {"EmbeddingReluGrad", \
     {"upstream: float", "x: float"}, \
     {"gradient: float"}, \
     {}, \
     cross_entropy_shape, \
     create_plain, \
     compute_relu_grad, \
     false}, \
    {"EmbeddingCategoricalLossSoftmaxGrad", \
     {"labels: float", "probabilities: float", "limits: float", "upstream: float"}, \
     {"gradient: float"}, \
     {}, \
     categorical_loss_grad_shape, \
     create_plain, \
     compute_categorical_loss_grad<true>, \
     false}

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_TRAINING_H_ */
