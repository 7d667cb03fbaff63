/*
 * The C core as TensorFlow ops: definitions with shape functions, and CPU kernels that check sizes before they call.
 *
 * Registers when the file is loaded into a process that has TensorFlow (Python: tf.load_op_library), or later by
 * te_tensorflow_register() (Node: tfjs-node may be imported after this file).
 * TypeScript side: src/backends/tensorflow.
 */
#include <stdint.h>
#include <string.h>

#include <mutex>
#include <string>

#include "../kernels/embedding.h"
#include "shared_tensors.h"
#include "memory.h"
#include "tensorflow_api.h"
#include "tensorflow_attributes.h"
#include "tensorflow_call.h"
#include "tensorflow_graphs.h"
#include "tensorflow/checked_inputs.h"
#include "tensorflow/dense_apply.h"
#include "tensorflow/elements.h"
#include "tensorflow/huge_pages.h"
#include "tensorflow/losses.h"
#include "tensorflow/matrix_rows.h"
#include "tensorflow/present_ids.h"
#include "tensorflow/row_penalty.h"
#include "tensorflow/table_step.h"
#include "tensorflow_many.h"
#include "products/tensorflow_pair_dots.h"
#include "products/tensorflow_products.h"
#include "packed/tensorflow_packed.h"
#include "tensorflow_shared_tensors.h"
#include "tensorflow_shapes.h"
#include "tables/tensorflow_tables.h"

#ifdef _WIN32
#define TE_EXPORT extern "C" __declspec(dllexport)
#else
#define TE_EXPORT extern "C" __attribute__((visibility("default")))
#endif

extern "C" const char* te_tensorflow_register(void);

namespace te {
namespace {

/* ---- kernels ---- */

void compute_bag(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_table table = call.table(0);
  const te_bags bags = call.bags(1, attributes);
  const int64_t dims[] = {bags.batch, table.dim};
  TF_Tensor* pooled = call.output(0, TF_FLOAT, dims, 2, "table", kPooledRows);
  if (call.failed()) return;
  call.check(te_embedding_bag(&table, &bags, Call::floats(pooled)), bags, table.rows);
  looked_up(table, bags);
}

void compute_bag_grad(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_bags bags = call.bags(1, attributes);
  te_table table = call.table(4);
  if (call.failed()) return;
  if (attributes.max_norm > 0) {
    if (table.rows != attributes.rows) {
      return call.fail(TF_INVALID_ARGUMENT, "table: expected %lld rows as max_norm is set, received %lld",
                       static_cast<long long>(attributes.rows), static_cast<long long>(table.rows));
    }
  } else {
    table.data = nullptr;
    table.rows = attributes.rows;
  }
  const float* gradient = call.gradient(0, bags.batch, table.dim);
  if (call.failed()) return;
  if (!te_addressable(table.rows, table.dim)) {
    return call.fail(TF_INVALID_ARGUMENT, "rows: expected at most %lld rows of %lld columns, received %lld",
                     static_cast<long long>(PTRDIFF_MAX / 4 / table.dim), static_cast<long long>(table.dim),
                     static_cast<long long>(table.rows));
  }

  Workspace workspace(te_embedding_bag_grad_workspace(bags.nnz, bags.batch, table.rows, table.dim));
  if (workspace.data() == nullptr) return call.no_memory(workspace.bytes());
  int64_t unique = 0;
  call.check(te_embedding_bag_grad_group(&table, &bags, workspace.data(), workspace.bytes(), &unique), bags,
             table.rows);
  const int64_t dims[] = {unique, table.dim};
  TF_Tensor* unique_ids = call.output(0, TF_INT32, dims, 1, "values", "unique ids");
  TF_Tensor* row_gradients = call.output(1, TF_FLOAT, dims, 2, "gradient", "row gradients");
  if (call.failed()) return;
  call.check(te_embedding_bag_grad_rows(&table, &bags, gradient, workspace.data(), workspace.bytes(),
                                        static_cast<int32_t*>(Call::data(unique_ids)), Call::floats(row_gradients)),
             bags, table.rows);
}

void compute_bag_weights_grad(void* kernel, TF_OpKernelContext* context) {
  const Attributes& attributes = *static_cast<Attributes*>(kernel);
  Call call(context);
  const te_table table = call.table(0);
  const te_bags bags = call.bags(2, attributes, true);
  const float* gradient = call.gradient(1, bags.batch, table.dim);
  TF_Tensor* weights_gradient = call.output(0, TF_FLOAT, &bags.nnz, 1, "values", "gradients of weights");
  if (call.failed()) return;
  call.check(te_embedding_bag_weights_grad(&table, &bags, gradient, Call::floats(weights_gradient)), bags, table.rows);
}

void compute_tpu_activations(void*, TF_OpKernelContext* context) {
  Call call(context);
  TF_Tensor* activations = call.input(1, "sliced_activations", -1);
  if (activations != nullptr) call.pass_through(0, activations);
}

/* ---- registration ---- */

using ShapeFunction = void (*)(TF_ShapeInferenceContext*, TF_Status*);
using CreateFunction = void* (*)(TF_OpKernelConstruction*);
using ComputeFunction = void (*)(void*, TF_OpKernelContext*);

constexpr int kMostSpecs = 12;
struct Op {
  const char* name;
  const char* inputs[kMostSpecs];
  const char* outputs[3];
  const char* attributes[5];
  ShapeFunction shape; /* nullptr: TensorFlow declares the op, and only a kernel is missing */
  CreateFunction create;
  ComputeFunction compute; /* nullptr: there is no such op */
  bool stateful;
};

/* No defaults: TensorFlow ignores a misspelt attribute, and only a missing one is an error. */
#define TE_BAG_ATTRIBUTES "combiner: string", "out_of_range: string", "max_norm: float"
#define TE_BAG_INPUTS "values: int32", "row_splits: int32", "weights: float"
/* As many as the optimizer has; the others are left out. */
#define TE_SLOT_INPUTS(slots, type) \
  slots > 0 ? "slot0: " type : nullptr, slots > 1 ? "slot1: " type : nullptr, slots > 2 ? "slot2: " type : nullptr

/*
 * The names begin with Embedding because TensorFlow has SparseApplyAdagrad and SparseApplyFtrl of its own. Hyper
 * parameters are a tensor, as every new value of an attribute would make a kernel that is kept for ever. Stateful:
 * graph passes must not drop, merge or reorder ops that write in place.
 */
#define TE_SPARSE_APPLY(optimizer, name, slots, per_row, idle)                                           \
  Op{"EmbeddingSparseApply" name,                                                                        \
     {"table: float", TE_SLOT_INPUTS(slots, "float"), "gradient: float", TE_BAG_INPUTS, "hyper: float"}, \
     {},                                                                                                 \
     {TE_BAG_ATTRIBUTES},                                                                                \
     nothing_shape,                                                                                      \
     create_bag,                                                                                         \
     compute_sparse_apply<optimizer>,                                                                    \
     true},
/* Rows of float16, in words. */
#define TE_PACKED_APPLY(optimizer, name, slots, per_row, idle)                                           \
  Op{"EmbeddingPackedApply" name,                                                                        \
     {"table: int32", TE_SLOT_INPUTS(slots, "float"), "gradient: float", TE_BAG_INPUTS, "hyper: float"}, \
     {},                                                                                                 \
     {TE_BAG_ATTRIBUTES, "storage: string", "dim: int"},                                                 \
     nothing_shape,                                                                                      \
     create_packed,                                                                                      \
     compute_packed_apply<optimizer>,                                                                    \
     true},
/* Many tables in one op; bags and gradients of the uses of each, after those of the table before it. */
#define TE_SPARSE_APPLY_MANY(optimizer, name, slots, per_row, idle)                                            \
  Op{"EmbeddingSparseApplyMany" name,                                                                          \
     {"tables: N * float", TE_SLOT_INPUTS(slots, "N * float"), "gradients: U * float", "values: U * int32",    \
      "row_splits: U * int32", "weights: U * float", "hypers: N * float", "modes: int32", "max_norms: float"}, \
     {},                                                                                                       \
     {"N: int >= 1", "U: int >= 1"},                                                                           \
     nothing_shape,                                                                                            \
     create_plain,                                                                                             \
     compute_sparse_apply_many<optimizer>,                                                                     \
     true},
/* Dense variables, all in one op, in place: as the rows of tables, for updates that step rows without ids. */
#define TE_DENSE_UPDATE(optimizer, name, slots, per_row, idle)                                             \
  Op{"EmbeddingDenseApplyRows" name,                                                                       \
     {"variables: N * float", TE_SLOT_INPUTS(slots, "N * float"), "gradients: N * float", "hyper: float"}, \
     {},                                                                                                   \
     {"N: int >= 1"},                                                                                      \
     nothing_shape,                                                                                        \
     create_plain,                                                                                         \
     idle ? compute_dense_update<optimizer> : nullptr,                                                     \
     true},
/* The same as stock optimizers. */
#define TE_DENSE_APPLY(name, optimizer, ...)                                                               \
  Op {                                                                                                     \
    "EmbeddingDenseApply" name, {"variables: N * float", __VA_ARGS__ "hyper: float"}, {}, {"N: int >= 1"}, \
        nothing_shape, create_plain, compute_dense_apply<optimizer>, true                                  \
  }

const Op kOps[] = {
    {"EmbeddingBag",
     {"table: float", TE_BAG_INPUTS},
     {"pooled: float"},
     {TE_BAG_ATTRIBUTES},
     bag_shape,
     create_bag,
     compute_bag,
     false},
    {"EmbeddingBagGrad",
     {"gradient: float", TE_BAG_INPUTS, "table: float"},
     {"unique_ids: int32", "row_gradients: float"},
     {TE_BAG_ATTRIBUTES, "rows: int"},
     bag_grad_shape,
     create_bag_grad,
     compute_bag_grad,
     false},
    {"EmbeddingNormGrad",
     {"rows: float", "gradient: float"},
     {"row_gradients: float"},
     {TE_BAG_ATTRIBUTES},
     cross_entropy_shape,
     create_bag,
     compute_norm_grad,
     false},
    {"EmbeddingBagWeightsGrad",
     {"table: float", "gradient: float", TE_BAG_INPUTS},
     {"weights_gradient: float"},
     {TE_BAG_ATTRIBUTES},
     bag_weights_grad_shape,
     create_bag,
     compute_bag_weights_grad,
     false},
    {"EmbeddingPackedBag",
     {"table: int32", TE_BAG_INPUTS},
     {"pooled: float"},
     {TE_BAG_ATTRIBUTES, "storage: string", "dim: int"},
     packed_bag_shape,
     create_packed,
     compute_packed_bag,
     false},
    {"EmbeddingPackedBagWeightsGrad",
     {"table: int32", "gradient: float", TE_BAG_INPUTS},
     {"weights_gradient: float"},
     {TE_BAG_ATTRIBUTES, "storage: string", "dim: int"},
     packed_bag_weights_grad_shape,
     create_packed,
     compute_packed_bag_weights_grad,
     false},
    TE_EACH_OPTIMIZER(TE_SPARSE_APPLY)
        TE_EACH_OPTIMIZER(TE_PACKED_APPLY){"EmbeddingBags",
                                           {"tables: N * float", "values: N * int32", "row_splits: N * int32",
                                            "weights: N * float", "modes: int32", "max_norms: float"},
                                           {"pooled: N * float"},
                                           {"N: int >= 1"},
                                           step_shape,
                                           create_plain,
                                           compute_bags,
                                           false},
    TE_EACH_OPTIMIZER(TE_SPARSE_APPLY_MANY) TE_EACH_OPTIMIZER(TE_DENSE_UPDATE)
        TE_DENSE_APPLY("Sgd", TE_DENSE_SGD, "gradients: N * float", ),
    TE_DENSE_APPLY("Momentum", TE_DENSE_MOMENTUM, "slot0: N * float", "gradients: N * float", ),
    TE_DENSE_APPLY("Adagrad", TE_DENSE_ADAGRAD, "slot0: N * float", "gradients: N * float", ),
    TE_DENSE_APPLY("Adam", TE_DENSE_ADAM, "slot0: N * float", "slot1: N * float", "power1: float", "power2: float",
                   "gradients: N * float", ),
    {"EmbeddingTouchedRows",
     {"ids: N * int32"},
     {"touched: int32"},
     {"N: int >= 1", "rows: int"},
     touched_shape,
     create_rows,
     compute_touched_rows,
     false},
    {"EmbeddingSegmentSum",
     {"terms: float", "ids: int32"},
     {"sums: float"},
     {"rows: int"},
     step_shape,
     create_rows,
     compute_segment_sum,
     false},
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
    {"EmbeddingSingleSplits",
     {"ids: int32"},
     {"row_splits: int32"},
     {},
     single_splits_shape,
     create_plain,
     compute_single_splits,
     false},
    {"EmbeddingRowPenalty",
     {"table: float", "ids: int32", "factors: float"},
     {"penalty: float"},
     {},
     row_penalty_shape,
     create_plain,
     compute_row_penalty<float_rows>,
     false},
    {"EmbeddingRowPenaltyGrad",
     {"table: float", "ids: int32", "factors: float", "upstream: float"},
     {"gradient: float"},
     {},
     row_penalty_grad_shape,
     create_plain,
     compute_row_penalty_grad<float_rows>,
     false},
    {"EmbeddingPackedRowPenalty",
     {"table: int32", "ids: int32", "factors: float"},
     {"penalty: float"},
     {"storage: string", "dim: int"},
     row_penalty_shape,
     create_packed_rows,
     compute_row_penalty<half_rows>,
     false},
    {"EmbeddingPackedRowPenaltyGrad",
     {"table: int32", "ids: int32", "factors: float", "upstream: float"},
     {"gradient: float"},
     {"storage: string", "dim: int"},
     packed_row_penalty_grad_shape,
     create_packed_rows,
     compute_row_penalty_grad<half_rows>,
     false},
    {"EmbeddingTakeRows",
     {"rows: int32", "sources: N * T"},
     {"taken: N * T"},
     {"N: int >= 1", "T: {float, int32}"},
     step_shape,
     create_plain,
     compute_take_rows,
     false},
    {"EmbeddingDropout",
     {"x: float", "rate: float", "seed: int32"},
     {"y: float"},
     {},
     copy_shape,
     create_plain,
     compute_dropout,
     false},
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
    TE_GRADIENT_OPS,
    TE_PAIR_OPS,
    {"EmbeddingRowDots",
     {"a: float", "b: float"},
     {"dots: float"},
     {},
     row_dots_shape,
     create_plain,
     compute_row_dots,
     false},
    {"EmbeddingScaledRows",
     {"factors: float", "matrix: float"},
     {"scaled: float"},
     {},
     scaled_rows_shape,
     create_plain,
     compute_scaled_rows,
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
    {"EmbeddingSoftmaxGrad",
     {"upstream: float", "y: float"},
     {"gradient: float"},
     {},
     categorical_loss_grad_shape,
     create_plain,
     compute_softmax_grad,
     false},
    {"EmbeddingProducts",
     {"a: N * float", "b: N * float"},
     {"products: N * float"},
     {"N: int >= 1", "transpose_a: int", "transpose_b: int"},
     step_shape,
     create_product,
     compute_products,
     false},
    {"EmbeddingProductSum",
     {"start: S * float", "a: N * float", "b: N * float"},
     {"sum: float"},
     {"S: int >= 0", "N: int >= 1", "transpose_a: int", "transpose_b: int"},
     step_shape,
     create_product,
     compute_product_sum,
     false},
    {"EmbeddingSum",
     {"terms: N * float"},
     {"sum: float"},
     {"N: int >= 2"},
     step_shape,
     create_plain,
     compute_sum,
     false},
    {"EmbeddingStep",
     {"graph: int32", "floats: N * float", "ints: M * int32"},
     {"fetched: K * float"},
     {"N: int >= 0", "M: int >= 0", "K: int >= 1"},
     step_shape,
     create_plain,
     compute_step,
     true},
    {"EmbeddingNewTable", {"shape: int32"}, {"table: float"}, {}, step_shape, create_plain, compute_new_table, true},
    {"EmbeddingWriteRows",
     {"table: float", "values: float", "first_row: int32"},
     {},
     {},
     nothing_shape,
     create_plain,
     compute_write_rows,
     true},
    {"EmbeddingCopy",
     {"input: T"},
     {"output: T"},
     {"T: {float, int32}"},
     copy_shape,
     create_plain,
     compute_copy,
     false},
    {"EmbeddingShareTensors",
     {"keys: int32", "sources: N * T"},
     {},
     {"N: int >= 1", "T: {float, int32}"},
     nothing_shape,
     create_plain,
     compute_share,
     true},
    {"TPUEmbeddingActivations", {}, {}, {}, nullptr, create_plain, compute_tpu_activations, false},
};

/* Registering an op twice ends the process: a second copy of this file may have been first. */
bool has_kernel(const char* name, TF_Status* status) {
  TF_Buffer* kernels = tf.TF_GetRegisteredKernelsForOp(name, status);
  const bool present = kernels != nullptr && kernels->length > 0;
  if (kernels != nullptr) tf.TF_DeleteBuffer(kernels);
  return present;
}

void define(const Op& op, TF_Status* status) {
  TF_OpDefinitionBuilder* builder = tf.TF_NewOpDefinitionBuilder(op.name);
  for (const char* spec : op.inputs) {
    if (spec != nullptr) tf.TF_OpDefinitionBuilderAddInput(builder, spec);
  }
  for (const char* spec : op.outputs) {
    if (spec != nullptr) tf.TF_OpDefinitionBuilderAddOutput(builder, spec);
  }
  for (const char* spec : op.attributes) {
    if (spec != nullptr) tf.TF_OpDefinitionBuilderAddAttr(builder, spec);
  }
  if (op.stateful) tf.TF_OpDefinitionBuilderSetIsStateful(builder, true); /* TensorFlow ignores a `false` */
  tf.TF_OpDefinitionBuilderSetShapeInferenceFunction(builder, op.shape);
  tf.TF_RegisterOpDefinition(builder, status);
}

/* Registers what is missing; false with a status that says why not. */
bool add(const Op& op, TF_Status* status, bool* added) {
  if (has_kernel(op.name, status)) return true;
  if (tf.TF_GetCode(status) == TF_OK && op.shape != nullptr) define(op, status);
  if (tf.TF_GetCode(status) != TF_OK) return false;
  TF_KernelBuilder* builder = tf.TF_NewKernelBuilder(op.name, "CPU", op.create, op.compute, delete_kernel);
  tf.TF_RegisterKernelBuilder(op.name, builder, status);
  *added = true;
  return tf.TF_GetCode(status) == TF_OK;
}

const char* register_all() {
  static std::mutex* const mutex = new std::mutex; /* worker threads register too */
  static bool done = false;
  std::lock_guard<std::mutex> lock(*mutex);
  if (done) return "already";
  const char* reason = resolve_api();
  if (reason != nullptr) return reason;
  keep_loaded();
  TF_Status* status = tf.TF_NewStatus();
  bool added = false;
  bool good = true;
  static std::string* const problem = new std::string;
  for (const Op& op : kOps) {
    if (good && op.compute != nullptr && !add(op, status, &added)) {
      *problem = std::string(op.name) + ": " + tf.TF_Message(status);
      good = false;
    }
  }
  tf.TF_DeleteStatus(status);
  if (!good) return problem->c_str();
  done = true;
  return added ? "registered" : "already";
}

/* Runs when the file is loaded: Python calls nothing else. Without TensorFlow in the process it does nothing. */
struct AtLoad {
  AtLoad() { te_tensorflow_register(); }
};
const AtLoad at_load;

}  // namespace
}  // namespace te

/*
 * Makes the ops known to the TensorFlow in this process. Returns "registered", "already" (this or another copy of the
 * file did it) or the reason why not; may be called again after TensorFlow was loaded. The text lives for ever.
 */
TE_EXPORT const char* te_tensorflow_register(void) { return te::register_all(); }

extern "C" int32_t te_graph_build(const void* definition, size_t bytes, const char* feeds, const char* fetches,
                                  const char* targets, char* problem, size_t room) {
  std::string wrong;
  if (!te::has_sessions) {
    wrong = "the loaded TensorFlow has no sessions";
  } else {
    auto graph = std::make_shared<te::Graph>();
    wrong = graph->build(definition, bytes, feeds, fetches, targets);
    if (wrong.empty()) return te::Graphs::book().add(std::move(graph));
  }
  snprintf(problem, room, "%s", wrong.c_str());
  return 0;
}
extern "C" void te_graph_release(int32_t number) { te::Graphs::book().release(number); }
extern "C" int32_t te_graph_count(void) { return te::Graphs::book().count(); }
