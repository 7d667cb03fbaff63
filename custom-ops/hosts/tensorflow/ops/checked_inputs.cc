/* Checks of ids and weights as TensorFlow ops, so that no JavaScript has to read them. */
#include <stdint.h>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../call.h"
#include "../shapes.h"
#include "ops.h"

namespace te {
namespace {

/* weights: refused where one is NaN. */
void compute_check_weights(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* weights = call.input(0, "weights", -1);
  if (weights == nullptr) return;
  const int64_t nan = te_first_nan(Call::floats(weights), tf.TF_TensorElementCount(weights));
  if (nan < 0) return;
  call.fail(TF_INVALID_ARGUMENT, "weights: expected no NaN, received NaN at position %lld",
            static_cast<long long>(nan));
}

/* ids as floats -> the same as integers; refused where one is no whole number, or one that float32 may have rounded. */
void compute_whole_ids(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* given = call.input(0, "ids", -1);
  if (given == nullptr) return;
  TF_Tensor* ids = call.output_like(given, TF_INT32, "ids", "ids");
  if (call.failed()) return;
  const int64_t bad =
      te_whole_ids(Call::floats(given), tf.TF_TensorElementCount(given), static_cast<int32_t*>(Call::data(ids)));
  if (bad < 0) return;
  call.fail(TF_INVALID_ARGUMENT,
            "ids: expected whole numbers below 2^24 in magnitude, received %g at position %lld",
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

}  // namespace

OpList checked_input_ops() {
  static const Op ops[] = {
      {"EmbeddingCheckWeights", {"weights: float"}, {}, {}, nothing_shape, create_plain, compute_check_weights, true},
      {"EmbeddingWholeIds", {"numbers: float"}, {"ids: int32"}, {}, copy_shape, create_plain, compute_whole_ids, false},
      {"EmbeddingFeatureRows",
       {"ids: int32", "sizes: int32"},
       {"rows: int32"},
       {},
       like_ids_shape,
       create_plain,
       compute_feature_rows,
       false},
  };
  return list_of(ops);
}

}  // namespace te
