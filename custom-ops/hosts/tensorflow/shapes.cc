#include "shapes.h"

#include <stdint.h>
#include <stdio.h>

#include "sizes.h"

namespace te {
namespace {

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

  TF_ShapeHandle* scalar() { return keep(tf.TF_ShapeInferenceContextScalar(context_)); }

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

}  // namespace

void bag_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  TF_ShapeHandle* table = shapes.input(0, 2);
  if (shapes.failed()) return;
  const int64_t batch = shapes.bags(1);
  const int64_t dims[] = {batch, shapes.size(table, 1)};
  if (!shapes.failed() && batch >= 0 && dims[1] >= 0 && !addressable(dims, 2)) {
    tf.TF_SetStatus(status, TF_INVALID_ARGUMENT, too_large("table", kPooledRows, dims, 2).c_str());
  }
  if (!shapes.failed()) shapes.output(0, shapes.matrix(dims[0], dims[1]));
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

void nothing_shape(TF_ShapeInferenceContext*, TF_Status*) {}

void touched_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.output(0, shapes.vector(-1));
}

void present_ids_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  const int64_t splits = shapes.size(shapes.input(1, 1), 0);
  if (shapes.failed()) return;
  shapes.output(0, shapes.vector(-1));
  shapes.output(1, shapes.vector(splits));
}

void single_splits_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  const int64_t ids = shapes.size(shapes.input(0, 1), 0);
  if (!shapes.failed()) shapes.output(0, shapes.vector(ids < 0 ? -1 : ids + 1));
}

void row_penalty_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.output(0, shapes.scalar());
}

void row_penalty_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  const int64_t dim = shapes.size(shapes.input(0, 2), 1);
  const int64_t ids = shapes.failed() ? -1 : shapes.size(shapes.input(1, 1), 0);
  if (!shapes.failed()) shapes.output(0, shapes.matrix(ids, dim));
}

void row_dots_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  const int64_t rows = shapes.size(shapes.input(0, 2), 0);
  if (!shapes.failed()) shapes.output(0, shapes.vector(rows));
}

void scaled_rows_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(1, 2);
  if (!shapes.failed()) shapes.output(0, shapes.any_input(1));
}

void categorical_loss_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  const int64_t rows = shapes.size(shapes.input(1, 2), 0);
  if (!shapes.failed()) shapes.output(0, shapes.vector(rows));
}

void categorical_loss_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(1, 2);
  if (!shapes.failed()) shapes.output(0, shapes.any_input(1));
}

void step_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  tf.TF_ShapeInferenceContextSetUnknownShape(context, status);
}

void copy_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.output(0, shapes.any_input(0));
}

void cross_entropy_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.output(0, shapes.any_input(1));
}

void packed_bag_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(0, 2);
  if (shapes.failed()) return;
  const int64_t batch = shapes.bags(1);
  if (!shapes.failed()) shapes.output(0, shapes.matrix(batch, -1));
}

void packed_row_penalty_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(0, 2);
  const int64_t ids = shapes.failed() ? -1 : shapes.size(shapes.input(1, 1), 0);
  if (!shapes.failed()) shapes.output(0, shapes.matrix(ids, -1));
}

void packed_bag_weights_grad_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(0, 2);
  if (shapes.failed()) return;
  const int64_t batch = shapes.bags(2);
  TF_ShapeHandle* gradient = shapes.failed() ? nullptr : shapes.input(1, 2);
  shapes.same("gradient and row_splits", shapes.size(gradient, 0), batch);
  if (!shapes.failed()) shapes.output(0, shapes.input(2, 1));
}

void like_ids_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(0, 1);
  if (!shapes.failed()) shapes.output(0, shapes.any_input(0));
}

void snapshot_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(0, 0);
  if (!shapes.failed()) shapes.output(0, shapes.scalar());
}

void some_rows_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(1, 0);
  if (!shapes.failed()) shapes.input(2, 0);
  if (!shapes.failed()) shapes.output(0, shapes.matrix(-1, -1));
}

void changed_rows_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.output(0, shapes.vector(-1));
  shapes.output(1, shapes.matrix(-1, -1));
}

void checksum_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.output(0, shapes.vector(2));
}

void filled_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.output(0, shapes.matrix(-1, -1));
}

void server_info_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.output(0, shapes.vector(kServerNumbers));
  shapes.output(1, shapes.scalar());
}

}  // namespace te
