/*
 * The C core in Node: functions of typed arrays, through Node-API.
 *
 * Every argument is checked here, whatever JavaScript passes: kind, length (a detached array has length 0), range and
 * overlap of what is written with what is read. No JavaScript runs between the checks and the kernel. Ids and row
 * splits in memory that other threads can write (SharedArrayBuffer) are copied first.
 * The same file is opened by Python as a TensorFlow library, so Node's symbols are weak.
 */
#include "functions.h"

#include <stddef.h>
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#include "tables.h"

#if defined(TE_WITH_TENSORFLOW)
const char* te_tensorflow_register(void);
#endif

/* ---- settings ---- */

/* tableOffset(buffer, bytes): where a table of so many bytes should begin in an ArrayBuffer (see tables.h). */
static napi_value table_offset_in(napi_env env, napi_callback_info info) {
  call c;
  void* data = NULL;
  size_t room = 0;
  bool is_plain = false;
  begin(&c, env, info);
  const int64_t bytes = whole(&c, 1, "bytes", 0, 9007199254740991.0);
  if (c.failed) return NULL;
  if (napi_is_arraybuffer(env, c.arguments[0], &is_plain) != napi_ok || !is_plain ||
      napi_get_arraybuffer_info(env, c.arguments[0], &data, &room) != napi_ok) {
    fail_type(&c, "buffer", "expected an ArrayBuffer");
    return NULL;
  }
  return new_number(env, (double)table_offset(data, room, (size_t)bytes));
}

static napi_value new_text(napi_env env, const char* text) {
  napi_value result = NULL;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &result);
  return result;
}

static napi_value set_threads(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t threads = whole(&c, 0, "threads", 1, 64);
  return c.failed ? NULL : new_number(env, te_set_threads((int32_t)threads));
}

static napi_value get_threads(napi_env env, napi_callback_info info) {
  (void)info;
  return new_number(env, te_get_threads());
}

/* setOwnThreads(threads): for kernels that are called from this JavaScript thread. */
static napi_value set_own_threads(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t threads = whole(&c, 0, "threads", 0, 64);
  return c.failed ? NULL : new_number(env, te_set_own_threads((int32_t)threads));
}

static void tell_exit(void* word) {
#if defined(_MSC_VER) && !defined(__clang__)
  InterlockedExchange((volatile LONG*)word, 1);
#else
  __atomic_store_n((int32_t*)word, 1, __ATOMIC_SEQ_CST);
#endif
}

/*
 * watchExit(words, index): sets words[index] to 1 when this environment ends, for whatever reason: a worker that
 * exhausts its heap runs no JavaScript any more. The words lie in shared memory. The reference is never given back, so
 * that they outlive the hook: hooks run before references go.
 */
static napi_value watch_exit(napi_env env, napi_callback_info info) {
  call c;
  instance* own = NULL;
  napi_ref kept;
  begin(&c, env, info);
  const array words = typed(&c, 0, "words", napi_int32_array);
  if (!c.failed && !words.shared) fail_type(&c, "words", "expected shared memory");
  const int64_t index = whole(&c, 1, "index", 0, words.length == 0 ? 0 : (double)(words.length - 1));
  if (!c.failed && words.length == 0) fail_range(&c, "words", "must not be empty");
  if (!c.failed && (napi_get_instance_data(env, (void**)&own) != napi_ok || own == NULL || own->exit_word != NULL)) {
    fail_type(&c, "words", "this environment is watched already");
  }
  if (c.failed) return NULL;
  int32_t* word = (int32_t*)words.data + index;
  if (napi_create_reference(env, c.arguments[0], 1, &kept) != napi_ok ||
      napi_add_env_cleanup_hook(env, tell_exit, word) != napi_ok) {
    fail_type(&c, "words", "cannot be watched");
    return NULL;
  }
  own->exit_word = word;
  return NULL;
}

static napi_value instruction_set(napi_env env, napi_callback_info info) {
  (void)info;
  return new_text(env, te_instruction_set());
}

/* Places of the fields of te_hyper, in the order of the names given. Tests compare them with HYPER_FIELDS. */
static napi_value hyper_fields(napi_env env, napi_callback_info info) {
#define FIELD(name)                                 \
  {                                                 \
    #name, offsetof(te_hyper, name) / sizeof(float) \
  }
  static const struct {
    const char* name;
    size_t place;
  } fields[] = {FIELD(learning_rate),
                FIELD(epsilon),
                FIELD(momentum),
                FIELD(use_nesterov),
                FIELD(exponent),
                FIELD(beta1),
                FIELD(beta2),
                FIELD(correction1),
                FIELD(correction2),
                FIELD(sum_inside_sqrt),
                FIELD(lazy),
                FIELD(learning_rate_power),
                FIELD(l1),
                FIELD(l2),
                FIELD(beta),
                FIELD(multiply_linear_by_learning_rate),
                FIELD(clip_gradient_min),
                FIELD(clip_gradient_max),
                FIELD(clip_norm),
                FIELD(clip_weight_min),
                FIELD(clip_weight_max),
                FIELD(weight_decay),
                FIELD(idle_decay),
                FIELD(constraint),
                FIELD(constraint_min),
                FIELD(constraint_max),
                FIELD(constraint_rate),
                FIELD(rounding_key0),
                FIELD(rounding_key1),
                FIELD(rounding_key2),
                FIELD(rounding_key3)};
#undef FIELD
  napi_value result;
  (void)info;
  if (napi_create_array_with_length(env, TE_HYPER_FIELDS, &result) != napi_ok) return NULL;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    napi_set_element(env, result, (uint32_t)fields[i].place, new_text(env, fields[i].name));
  }
  return result;
}

/* "registered", "already", or why TensorFlow's ops are not there. */
static napi_value register_tensorflow(napi_env env, napi_callback_info info) {
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  return new_text(env, te_tensorflow_register());
#else
  return new_text(env, "the addon has none: `npx tfjs-embeddings setup` builds one that has, with a C++ compiler");
#endif
}

/* ---- module ---- */

static void free_instance(napi_env env, void* data, void* hint) {
  (void)env;
  (void)hint;
  free(((instance*)data)->workspace);
  free(data);
}

/* Threads of the pool outlive the environment that loaded this file, so it must stay in memory. */
static void stay_loaded(void) {
#if defined(_WIN32)
  HMODULE module;
  GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN, (LPCSTR)&stay_loaded,
                     &module);
#else
  static const char here = 0;
  Dl_info self;
  if (dladdr(&here, &self) != 0) dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT int32_t node_api_module_get_api_version_v1(void);
EXPORT int32_t node_api_module_get_api_version_v1(void) { return 8; }

EXPORT napi_value napi_register_module_v1(napi_env env, napi_value exports);
EXPORT napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  static const struct {
    const char* name;
    napi_callback function;
  } functions[] = {{"embeddingBag", embedding_bag},
                   {"embeddingBagGrad", embedding_bag_grad},
                   {"embeddingBagWeightsGrad", embedding_bag_weights_grad},
                   {"sparseApply", sparse_apply},
                   {"embeddingBags", embedding_bags},
                   {"sparseApplyMany", sparse_apply_many},
                   {"matMul", mat_mul},
                   {"topK", top_k},
                   {"scanLists", scan_lists},
                   {"rankRows", rank_rows},
                   {"foldIn", fold_in},
                   {"partitionCsr", partition_csr},
                   {"indexTexts", index_texts},
                   {"findTexts", find_texts},
                   {"indexNumbers", index_numbers},
                   {"findNumbers", find_numbers},
                   {"hashTexts", hash_texts},
                   {"hashNumbers", hash_numbers},
                   {"splitTexts", split_texts},
                   {"fingerprintTexts", fingerprint_texts},
                   {"findKeys", find_keys},
                   {"touchKeys", touch_keys},
                   {"lowestRows", lowest_rows},
                   {"fillKeyedRows", fill_keyed_rows},
                   {"tableOffset", table_offset_in},
                   {"setThreads", set_threads},
                   {"getThreads", get_threads},
                   {"setOwnThreads", set_own_threads},
                   {"watchExit", watch_exit},
                   {"instructionSet", instruction_set},
                   {"hyperFields", hyper_fields},
                   {"registerTensorFlow", register_tensorflow},
                   {"exchangeFolders", exchange_folders},
                   {"openRowFile", open_row_file},
                   {"rowFileIsDirect", row_file_is_direct},
                   {"startReads", start_reads},
                   {"finishReads", finish_reads},
                   {"closeRowFile", close_row_file},
                   {"findSlots", find_slots},
                   {"extendCrc32c", crc32c_of},
                   {"sharedTensorRegistry", shared_tensor_registry},
                   {"newSharedTensorKey", new_shared_tensor_key},
                   {"readSharedTensor", read_shared_tensor},
                   {"writeSharedTensor", write_shared_tensor},
                   {"releaseSharedTensor", release_shared_tensor},
                   {"buildGraph", build_graph},
                   {"unsizedPlace", unsized_place},
                   {"releaseGraph", release_graph},
                   {"graphCount", graph_count},
                   {"startServer", start_server},
                   {"openSession", open_session},
                   {"extendSession", extend_session},
                   {"closeSession", close_session},
                   {"sessionInfo", session_info},
                   {"kernelsAtWork", kernels_at_work},
                   {"startRuns", start_runs},
                   {"runsAreDone", runs_are_done},
                   {"finishRuns", finish_runs},
                   {"finishRunsAsync", finish_runs_async},
                   {"forgetRuns", forget_runs}};
  instance* own = calloc(1, sizeof *own);
  if (own == NULL || napi_set_instance_data(env, own, free_instance, NULL) != napi_ok) {
    free(own);
    napi_throw_error(env, "ERR_MEMORY", "the addon cannot be set up");
    return NULL;
  }
  stay_loaded();
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    napi_value function;
    if (napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function, NULL, &function) !=
            napi_ok ||
        napi_set_named_property(env, exports, functions[i].name, function) != napi_ok) {
      return NULL;
    }
  }
  return exports;
}
