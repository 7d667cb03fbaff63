/* TensorFlow kernels of the dot products of all pairs of features, and of their gradients. */
#include <stdint.h>

#include <vector>

#include "../../../kernels/embedding.h"
#include "../../shared/memory.h"
#include "../api.h"
#include "../attributes.h"
#include "../call.h"
#include "../shapes.h"
#include "ops.h"

namespace te {
namespace {

/* with_self: one number; from `first` on features: N [batch, dim]. The call has failed where they do not fit. */
struct Pairs {
  Pairs(Call* call, int with_self, int first, int count) {
    TF_Tensor* flag = call->input(with_self, "with_self", 0);
    if (call->failed()) return;
    int64_t dims[2] = {0, 0};
    for (int i = 0; i < count; ++i) {
      TF_Tensor* feature = call->input(first + i, "features", 2);
      if (feature == nullptr) return;
      const int64_t batch = tf.TF_Dim(feature, 0), dim = tf.TF_Dim(feature, 1);
      if (i == 0) dims[0] = batch, dims[1] = dim;
      if (batch != dims[0] || dim != dims[1] || dim < 1) {
        call->fail(TF_INVALID_ARGUMENT, "features: expected matrices of one shape, received [%lld, %lld] for number %d",
                   static_cast<long long>(batch), static_cast<long long>(dim), i);
        return;
      }
      features.push_back(Call::floats(feature));
    }
    of.features = features.data();
    of.count = count;
    of.batch = dims[0];
    of.dim = dims[1];
    of.with_self = *static_cast<const int32_t*>(Call::data(flag));
  }

  size_t scratch_bytes(int32_t workers) const {
    return static_cast<size_t>(te_pair_scratch(&of)) * static_cast<size_t>(workers) * sizeof(float);
  }

  te_pairs of = {};
  std::vector<const float*> features;
};

/* with_self, features: N -> dots [batch, pairs]. */
void compute_pair_dots(void*, TF_OpKernelContext* context) {
  Call call(context);
  const Pairs pairs(&call, 0, 1, tf.TF_NumInputs(context) - 1);
  if (call.failed()) return;
  const int64_t dims[] = {pairs.of.batch, te_pair_count(&pairs.of)};
  TF_Tensor* dots = call.output(0, TF_FLOAT, dims, 2, "features", "products");
  if (call.failed()) return;
  const int32_t workers = te_get_threads();
  Workspace workspace(pairs.scratch_bytes(workers));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  te_pair_dots(&pairs.of, static_cast<float*>(workspace.data()), workers, Call::floats(dots));
}

/* with_self, upstream [batch, pairs], features: N -> the gradient of each. */
void compute_pair_dots_grad(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* upstream = call.input(1, "upstream", 2);
  const int count = tf.TF_NumInputs(context) - 2;
  const Pairs pairs(&call, 0, 2, count);
  if (call.failed()) return;
  const int64_t wide = te_pair_count(&pairs.of);
  if (tf.TF_Dim(upstream, 0) != pairs.of.batch || tf.TF_Dim(upstream, 1) != wide) {
    return call.fail(TF_INVALID_ARGUMENT, "upstream: expected shape [%lld, %lld], received [%lld, %lld]",
                     static_cast<long long>(pairs.of.batch), static_cast<long long>(wide),
                     static_cast<long long>(tf.TF_Dim(upstream, 0)), static_cast<long long>(tf.TF_Dim(upstream, 1)));
  }
  const int64_t dims[] = {pairs.of.batch, pairs.of.dim};
  std::vector<float*> gradients;
  for (int i = 0; i < count; ++i) {
    TF_Tensor* gradient = call.output(i, TF_FLOAT, dims, 2, "features", "gradients");
    if (call.failed()) return;
    gradients.push_back(Call::floats(gradient));
  }
  const int32_t workers = te_get_threads();
  Workspace workspace(pairs.scratch_bytes(workers));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  te_pair_dots_grad(&pairs.of, Call::floats(upstream), static_cast<float*>(workspace.data()), workers,
                    gradients.data());
}

}  // namespace

OpList pair_dot_ops() {
  static const Op ops[] = {
      {"EmbeddingPairDots",
       {"with_self: int32", "features: N * float"},
       {"dots: float"},
       {"N: int >= 1"},
       step_shape,
       create_plain,
       compute_pair_dots,
       false},
      {"EmbeddingPairDotsGrad",
       {"with_self: int32", "upstream: float", "features: N * float"},
       {"gradients: N * float"},
       {"N: int >= 1"},
       step_shape,
       create_plain,
       compute_pair_dots_grad,
       false},
  };
  return list_of(ops);
}

}  // namespace te
