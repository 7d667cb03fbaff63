/* Ids that count, and their weights, as TensorFlow ops: padding is left out of its bags. */
#include <stdint.h>
#include <string.h>

#include <vector>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../call.h"
#include "../shapes.h"
#include "ops.h"

namespace te {
namespace {

/* Whether 0, and whether negative ids stand for nothing; nullptr after an error. */
const int32_t* skip_of(Call* call, int index) {
  TF_Tensor* skip = call->input(index, "skip", 1);
  if (skip == nullptr) return nullptr;
  if (tf.TF_Dim(skip, 0) == 2) return static_cast<const int32_t*>(Call::data(skip));
  call->fail(TF_INVALID_ARGUMENT, "skip: expected two numbers, received %lld",
             static_cast<long long>(tf.TF_Dim(skip, 0)));
  return nullptr;
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

}  // namespace

OpList present_id_ops() {
  static const Op ops[] = {
      {"EmbeddingPresentIds",
       {"ids: int32", "row_splits: int32", "skip: int32"},
       {"values: int32", "present_splits: int32"},
       {},
       present_ids_shape,
       create_plain,
       compute_present_ids,
       false},
      {"EmbeddingPresentWeights",
       {"ids: int32", "weights: float", "skip: int32"},
       {"present: float"},
       {},
       touched_shape,
       create_plain,
       compute_present_weights,
       false},
      {"EmbeddingSpreadWeights",
       {"ids: int32", "present: float", "skip: int32"},
       {"weights: float"},
       {},
       like_ids_shape,
       create_plain,
       compute_spread_weights,
       false},
      {"EmbeddingSingleSplits",
       {"ids: int32"},
       {"row_splits: int32"},
       {},
       single_splits_shape,
       create_plain,
       compute_single_splits,
       false},
  };
  return list_of(ops);
}

}  // namespace te
