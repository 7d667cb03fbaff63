/* Cross-entropy, of two classes and of several, and the gradient of softmax, as TensorFlow ops. */
#include <stdint.h>
#include <stdio.h>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../call.h"
#include "../shapes.h"
#include "ops.h"

namespace te {
namespace {

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
    return call.fail(
        TF_INVALID_ARGUMENT, "%s: expected %lld numbers, as many as predictions, received %lld",
        tf.TF_TensorElementCount(labels) != size ? "labels" : "upstream", static_cast<long long>(size),
        static_cast<long long>(tf.TF_TensorElementCount(tf.TF_TensorElementCount(labels) != size ? labels : upstream)));
  }
  const int64_t count = tf.TF_Dim(given, 0);
  if (count != 0 && count != 2) {
    return call.fail(TF_INVALID_ARGUMENT, "limits: expected two numbers or none, received %lld",
                     static_cast<long long>(count));
  }
  const float* limits = count == 0 ? nullptr : Call::floats(given);
  TF_Tensor* out = call.output_like(predictions, "predictions", "numbers");
  if (call.failed()) return;
  if (kGradient) {
    te_cross_entropy_grad(Call::floats(labels), Call::floats(predictions), Call::floats(upstream), size, limits,
                          Call::floats(out));
  } else {
    te_cross_entropy(Call::floats(labels), Call::floats(predictions), size, limits, Call::floats(out));
  }
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
    return call.fail(TF_INVALID_ARGUMENT, "upstream: expected %lld numbers, received %lld",
                     static_cast<long long>(of.rows), static_cast<long long>(tf.TF_Dim(upstream, 0)));
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

OpList loss_ops() {
  static const Op ops[] = {
      {"EmbeddingCrossEntropy",
       {"labels: float", "predictions: float", "limits: float"},
       {"losses: float"},
       {},
       cross_entropy_shape,
       create_plain,
       compute_cross_entropy<false>,
       false},
      {"EmbeddingCrossEntropyGrad",
       {"labels: float", "predictions: float", "limits: float", "upstream: float"},
       {"gradient: float"},
       {},
       cross_entropy_shape,
       create_plain,
       compute_cross_entropy<true>,
       false},
      {"EmbeddingCategoricalLoss",
       {"labels: float", "probabilities: float", "limits: float"},
       {"losses: float"},
       {},
       categorical_loss_shape,
       create_plain,
       compute_categorical_loss,
       false},
      {"EmbeddingCategoricalLossGrad",
       {"labels: float", "probabilities: float", "limits: float", "upstream: float"},
       {"gradient: float"},
       {},
       categorical_loss_grad_shape,
       create_plain,
       compute_categorical_loss_grad<false>,
       false},
      {"EmbeddingCategoricalLossSoftmaxGrad",
       {"labels: float", "probabilities: float", "limits: float", "upstream: float"},
       {"gradient: float"},
       {},
       categorical_loss_grad_shape,
       create_plain,
       compute_categorical_loss_grad<true>,
       false},
      {"EmbeddingSoftmaxGrad",
       {"upstream: float", "y: float"},
       {"gradient: float"},
       {},
       categorical_loss_grad_shape,
       create_plain,
       compute_softmax_grad,
       false},
  };
  return list_of(ops);
}

}  // namespace te
