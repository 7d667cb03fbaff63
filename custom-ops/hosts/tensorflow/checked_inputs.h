/* Checks of ids and weights as TensorFlow ops, so that no JavaScript has to read them. */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_CHECKED_INPUTS_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_CHECKED_INPUTS_H_

#include <stdint.h>
#include <string.h>

#include <vector>

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

/* Whether 0, and whether negative ids stand for nothing; nullptr after an error. */
inline const int32_t* skip_of(Call* call, int index) {
  TF_Tensor* skip = call->input(index, "skip", 1);
  if (skip == nullptr) return nullptr;
  if (tf.TF_Dim(skip, 0) == 2) return static_cast<const int32_t*>(Call::data(skip));
  call->fail(TF_INVALID_ARGUMENT, "skip: expected two numbers, received %lld",
             static_cast<long long>(tf.TF_Dim(skip, 0)));
  return nullptr;
}

/* ids, weights of as many, skip -> the weights of those that EmbeddingPresentIds keeps. */
void compute_present_weights(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* ids = call.input(0, "ids", 1);
  TF_Tensor* weights = call.input(1, "weights", 1);
  const int32_t* skip = skip_of(&call, 2);
  if (call.failed()) return;
  const int64_t count = tf.TF_Dim(ids, 0);
  if (tf.TF_Dim(weights, 0) != count) {
    return call.fail(TF_INVALID_ARGUMENT, "weights: expected one per id (%lld), received %lld",
                     static_cast<long long>(count), static_cast<long long>(tf.TF_Dim(weights, 0)));
  }
  std::vector<float> present(static_cast<size_t>(count) + 1);
  const int64_t kept = te_present_weights(static_cast<const int32_t*>(Call::data(ids)), count, skip[0], skip[1],
                                          Call::floats(weights), present.data());
  TF_Tensor* result = call.output(0, TF_FLOAT, &kept, 1, "ids", "weights");
  if (call.failed()) return;
  memcpy(Call::data(result), present.data(), static_cast<size_t>(kept) * sizeof(float));
}

/* ids, a number for each that counts, skip -> these numbers where their ids are, zeros elsewhere. */
void compute_spread_weights(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* ids = call.input(0, "ids", 1);
  TF_Tensor* present = call.input(1, "present", 1);
  const int32_t* skip = skip_of(&call, 2);
  if (call.failed()) return;
  const int64_t count = tf.TF_Dim(ids, 0);
  const int64_t kept = tf.TF_Dim(present, 0);
  TF_Tensor* result = call.output(0, TF_FLOAT, &count, 1, "ids", "weights");
  if (call.failed()) return;
  const int64_t wanted = te_spread_weights(static_cast<const int32_t*>(Call::data(ids)), count, skip[0], skip[1],
                                           Call::floats(present), kept, Call::floats(result));
  if (wanted == kept) return;
  call.fail(TF_INVALID_ARGUMENT, "present: expected %lld numbers, one per id that counts, received %lld",
            static_cast<long long>(wanted), static_cast<long long>(kept));
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
