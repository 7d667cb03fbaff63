/* Checks of ids and weights as TensorFlow ops, so that no JavaScript has to read them. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_CHECKED_INPUTS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_CHECKED_INPUTS_H_

#include <stdint.h>

#include "../../kernels/embedding.h"
#include "../tensorflow_api.h"
#include "../tensorflow_call.h"
#include "../tensorflow_shapes.h"

namespace te {
namespace {

/* weights: refused where one is NaN. */
void compute_check_weights(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* weights = call.input(0, "weights", -1);
  if (weights == nullptr) return;
  const int64_t nan = te_first_nan(Call::floats(weights), tf.TF_TensorElementCount(weights));
  if (nan < 0) return;
  call.fail(TF_INVALID_ARGUMENT, "weights: expected no NaN, received NaN at position %lld", static_cast<long long>(nan));
}

/* ids as floats -> the same as integers; refused where one is no whole number, or one that float32 may have rounded. */
void compute_whole_ids(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* given = call.input(0, "ids", -1);
  if (given == nullptr) return;
  TF_Tensor* ids = call.output_like(given, TF_INT32, "ids", "ids");
  if (call.failed()) return;
  const int64_t bad = te_whole_ids(Call::floats(given), tf.TF_TensorElementCount(given),
                                   static_cast<int32_t*>(Call::data(ids)));
  if (bad < 0) return;
  call.fail(TF_INVALID_ARGUMENT, "ids: expected whole numbers of at most 2^24 in magnitude, received %g at position %lld",
            static_cast<double>(Call::floats(given)[bad]), static_cast<long long>(bad));
}

/* ids, one per feature and sample, and the number of rows of each feature -> rows of the table of all features. */
void compute_feature_rows(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* ids = call.input(0, "ids", 1);
  TF_Tensor* given = call.input(1, "sizes", 1);
  if (call.failed()) return;
  const int64_t count = tf.TF_Dim(ids, 0);
  const int64_t features = tf.TF_Dim(given, 0);
  const int32_t* sizes = static_cast<const int32_t*>(Call::data(given));
  int64_t all = 0;
  for (int64_t f = 0; f < features; ++f) {
    all += sizes[f];
    if (sizes[f] < 1 || all > INT32_MAX) {
      return call.fail(TF_INVALID_ARGUMENT, "sizes: expected at least one row each and at most %d in all, received %d",
                       INT32_MAX, sizes[f]);
    }
  }
  if (features == 0 || count % features != 0) {
    return call.fail(TF_INVALID_ARGUMENT, "ids: expected one per feature (%lld) and sample, received %lld",
                     static_cast<long long>(features), static_cast<long long>(count));
  }
  TF_Tensor* rows = call.output(0, TF_INT32, &count, 1, "ids", "rows");
  if (call.failed()) return;
  const te_status status = te_feature_rows(static_cast<const int32_t*>(Call::data(ids)), count, sizes, features,
                                           static_cast<int32_t*>(Call::data(rows)));
  if (status.code == TE_OK) return;
  const int64_t feature = status.position % features;
  call.fail(TF_INVALID_ARGUMENT, "ids: expected ids in [0, %d) for feature %lld, received %d", sizes[feature],
            static_cast<long long>(feature), status.id);
}

/* As many as the first input, a vector. */
void like_ids_shape(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes(context, status);
  shapes.input(0, 1);
  if (!shapes.failed()) shapes.output(0, shapes.any_input(0));
}

}  // namespace
}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_CHECKED_INPUTS_H_ */
