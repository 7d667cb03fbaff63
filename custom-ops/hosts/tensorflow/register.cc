/*
 * The C core as TensorFlow ops: definitions with shape functions, and CPU kernels that check sizes before they call.
 *
 * Registers when the file is loaded into a process that has TensorFlow (Python: tf.load_op_library), or later by
 * te_tensorflow_register() (Node: tfjs-node may be imported after this file).
 * TypeScript side: src/backends/tensorflow.
 */
#include <mutex>
#include <string>

#include "api.h"
#include "attributes.h"
#include "ops/ops.h"

#ifdef _WIN32
#define TE_EXPORT extern "C" __declspec(dllexport)
#else
#define TE_EXPORT extern "C" __attribute__((visibility("default")))
#endif

TE_EXPORT const char* te_tensorflow_register(void);

namespace te {
namespace {

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
  for (const OpList list : {bag_ops(), sparse_apply_ops(), many_ops(), dense_apply_ops(), row_penalty_ops(),
                            matrix_row_ops(), present_id_ops(), checked_input_ops(), element_ops(),
                            loss_ops(), pair_dot_ops(), product_ops(), table_ops(), graph_ops(), shared_tensor_ops(),
                            server_table_ops(), server_save_ops(), server_info_ops()}) {
    for (size_t i = 0; i < list.count && good; ++i) {
      good = list.ops[i].compute == nullptr || add(list.ops[i], status, &added);
      if (!good) *problem = std::string(list.ops[i].name) + ": " + tf.TF_Message(status);
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
