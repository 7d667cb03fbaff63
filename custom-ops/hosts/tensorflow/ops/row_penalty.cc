/* The rows that a step touches, and penalties on them, as TensorFlow ops. */
#include <stdint.h>
#include <string.h>

#include <vector>

#include "../../../kernels/embedding.h"
#include "../api.h"
#include "../attributes.h"
#include "../call.h"
#include "../shapes.h"
#include "../tables/table_locks.h"
#include "ops.h"

namespace te {
namespace {

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

/* l1 and l2. */
const float* factors_of(Call* call, int index) {
  TF_Tensor* factors = call->input(index, "factors", 1);
  if (factors == nullptr) return nullptr;
  if (tf.TF_Dim(factors, 0) == 2) return Call::floats(factors);
  call->fail(TF_INVALID_ARGUMENT, "factors: expected two numbers, received %lld",
             static_cast<long long>(tf.TF_Dim(factors, 0)));
  return nullptr;
}

/* Input 0, of rows that train. */
te_rows trained_rows(Call& call, const Attributes& attributes) {
  if (!te_trains(attributes.codec)) {
    call.fail(TF_INVALID_ARGUMENT, "storage: expected float32 or float16, received another one");
  }
  return call.rows(0, attributes);
}

/* rows, ids, factors -> penalty */
void compute_row_penalty(void* kernel, TF_OpKernelContext* context) {
  Call call(context);
  const te_rows table = trained_rows(call, *static_cast<const Attributes*>(kernel));
  TF_Tensor* ids = call.input(1, "ids", 1);
  const float* factors = factors_of(&call, 2);
  TF_Tensor* penalty = call.output(0, TF_FLOAT, nullptr, 0, "ids", "penalties");
  if (call.failed()) return;
  te_bags none = {};
  const TableLock lock({table.data}, TableUse::kRead);
  call.check(te_row_penalty(&table, static_cast<const int32_t*>(Call::data(ids)), tf.TF_Dim(ids, 0), factors[0],
                            factors[1], Call::floats(penalty)),
             none, table.rows);
}

/* rows, ids, factors, upstream -> gradient, one row per id */
void compute_row_penalty_grad(void* kernel, TF_OpKernelContext* context) {
  Call call(context);
  const te_rows table = trained_rows(call, *static_cast<const Attributes*>(kernel));
  TF_Tensor* ids = call.input(1, "ids", 1);
  const float* factors = factors_of(&call, 2);
  TF_Tensor* upstream = call.input(3, "upstream", 0);
  if (call.failed()) return;
  const int64_t dims[] = {tf.TF_Dim(ids, 0), table.dim};
  TF_Tensor* gradient = call.output(0, TF_FLOAT, dims, 2, "ids", "row gradients");
  if (call.failed()) return;
  te_bags none = {};
  const TableLock lock({table.data}, TableUse::kRead);
  call.check(te_row_penalty_grad(&table, static_cast<const int32_t*>(Call::data(ids)), dims[0], factors[0], factors[1],
                                 *Call::floats(upstream), Call::floats(gradient)),
             none, table.rows);
}

}  // namespace

OpList row_penalty_ops() {
  static const Op ops[] = {
      {"EmbeddingTouchedRows",
       {"ids: N * int32"},
       {"touched: int32"},
       {"N: int >= 1", "rows: int"},
       touched_shape,
       create_rows,
       compute_touched_rows,
       false},
      {"EmbeddingRowPenalty",
       {"table: float", "ids: int32", "factors: float"},
       {"penalty: float"},
       {},
       row_penalty_shape,
       create_plain,
       compute_row_penalty,
       false},
      {"EmbeddingRowPenaltyGrad",
       {"table: float", "ids: int32", "factors: float", "upstream: float"},
       {"gradient: float"},
       {},
       row_penalty_grad_shape,
       create_plain,
       compute_row_penalty_grad,
       false},
      {"EmbeddingPackedRowPenalty",
       {"table: int32", "ids: int32", "factors: float"},
       {"penalty: float"},
       {TE_PACKED_ATTRIBUTES},
       row_penalty_shape,
       create_packed_rows,
       compute_row_penalty,
       false},
      {"EmbeddingPackedRowPenaltyGrad",
       {"table: int32", "ids: int32", "factors: float", "upstream: float"},
       {"gradient: float"},
       {TE_PACKED_ATTRIBUTES},
       packed_row_penalty_grad_shape,
       create_packed_rows,
       compute_row_penalty_grad,
       false},
  };
  return list_of(ops);
}

}  // namespace te
