/*
 * TensorFlow's C API, found at run time in a TensorFlow that is already in the process.
 *
 * Nothing is linked: one file serves plain Node (no TensorFlow), tfjs-node and Python's tf.load_op_library. The headers
 * give the types of the functions only.
 */
#ifndef TFJS_EMBEDDINGS_TENSORFLOW_API_H_
#define TFJS_EMBEDDINGS_TENSORFLOW_API_H_

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN /* else `hyper` is a type */
#endif
#include <windows.h>
#else
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NODELETE, dladdr */
#endif
#include <dlfcn.h>
#endif

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

/* Of tensorflow/c/env.h, which not every TensorFlow comes with. */
extern "C" TF_CAPI_EXPORT void TF_DeleteFile(const char* filename, TF_Status* status);

namespace te {

#define TE_TENSORFLOW_FUNCTIONS(X)                   \
  X(TF_NewStatus)                                    \
  X(TF_DeleteStatus)                                 \
  X(TF_SetStatus)                                    \
  X(TF_GetCode)                                      \
  X(TF_Message)                                      \
  X(TF_DeleteBuffer)                                 \
  X(TF_AllocateTensor)                               \
  X(TF_NewTensor)                                    \
  X(TF_DeleteTensor)                                 \
  X(TF_TensorType)                                   \
  X(TF_NumDims)                                      \
  X(TF_Dim)                                          \
  X(TF_TensorData)                                   \
  X(TF_TensorByteSize)                               \
  X(TF_TensorElementCount)                           \
  X(TF_NumInputs)                                    \
  X(TF_NumOutputs)                                   \
  X(TF_GetInput)                                     \
  X(TF_SetOutput)                                    \
  X(TF_AllocateOutput)                               \
  X(TF_NewKernelBuilder)                             \
  X(TF_RegisterKernelBuilder)                        \
  X(TF_GetRegisteredKernelsForOp)                    \
  X(TF_OpKernelContext_Failure)                      \
  X(TF_OpKernelConstruction_Failure)                 \
  X(TF_OpKernelConstruction_GetAttrFloat)            \
  X(TF_OpKernelConstruction_GetAttrInt64)            \
  X(TF_OpKernelConstruction_GetAttrSize)             \
  X(TF_OpKernelConstruction_GetAttrString)           \
  X(TF_NewOpDefinitionBuilder)                       \
  X(TF_OpDefinitionBuilderAddAttr)                   \
  X(TF_OpDefinitionBuilderAddInput)                  \
  X(TF_OpDefinitionBuilderAddOutput)                 \
  X(TF_OpDefinitionBuilderSetIsStateful)             \
  X(TF_OpDefinitionBuilderSetShapeInferenceFunction) \
  X(TF_RegisterOpDefinition)                         \
  X(TF_NewShapeHandle)                               \
  X(TF_DeleteShapeHandle)                            \
  X(TF_NewDimensionHandle)                           \
  X(TF_DeleteDimensionHandle)                        \
  X(TF_DimensionHandleValueKnown)                    \
  X(TF_DimensionHandleValue)                         \
  X(TF_ShapeInferenceContextNumInputs)               \
  X(TF_ShapeInferenceContextGetInput)                \
  X(TF_ShapeInferenceContextSetUnknownShape)         \
  X(TF_ShapeInferenceContextSetOutput)               \
  X(TF_ShapeInferenceContextVectorFromSize)          \
  X(TF_ShapeInferenceContextScalar)                  \
  X(TF_ShapeInferenceContextWithRank)                \
  X(TF_ShapeInferenceContextDim)                     \
  X(TF_ShapeInferenceContextSubshape)                \
  X(TF_ShapeInferenceContextConcatenateShapes)

/* What captured steps need beside; a TensorFlow without it has no such steps. */
#define TE_SESSION_FUNCTIONS(X)              \
  X(TF_NewGraph)                             \
  X(TF_DeleteGraph)                          \
  X(TF_NewBufferFromString)                  \
  X(TF_NewImportGraphDefOptions)             \
  X(TF_DeleteImportGraphDefOptions)          \
  X(TF_ImportGraphDefOptionsAddInputMapping) \
  X(TF_GraphImportGraphDef)                  \
  X(TF_GraphOperationByName)                 \
  X(TF_GraphGetTensorNumDims)                \
  X(TF_GraphGetTensorShape)                  \
  X(TF_OperationNumOutputs)                  \
  X(TF_NewSessionOptions)                    \
  X(TF_DeleteSessionOptions)                 \
  X(TF_SetConfig)                            \
  X(TF_NewSession)                           \
  X(TF_CloseSession)                         \
  X(TF_DeleteSession)                        \
  X(TF_SessionRun)

/* What servers and sessions on them need beside. */
#define TE_SERVER_FUNCTIONS(X) \
  X(TF_NewServer)              \
  X(TF_ServerStart)            \
  X(TF_ServerTarget)           \
  X(TF_DeleteServer)           \
  X(TF_SetTarget)

/* What servers need to take files away; a TensorFlow without it keeps them. */
#define TE_FILE_FUNCTIONS(X) X(TF_DeleteFile)

/* One pointer per function, under the function's own name. */
#define TE_DECLARE(name) decltype(&::name) name = nullptr;
struct Api {
  TE_TENSORFLOW_FUNCTIONS(TE_DECLARE)
};
struct SessionApi {
  TE_SESSION_FUNCTIONS(TE_DECLARE)
};
struct ServerApi {
  TE_SERVER_FUNCTIONS(TE_DECLARE)
};
struct FileApi {
  TE_FILE_FUNCTIONS(TE_DECLARE)
};
#undef TE_DECLARE

/* Filled by resolve_api(); read by everything that runs after a registration. */
inline Api tf;
inline SessionApi session_api;
inline ServerApi server_api;
inline FileApi file_api;
/* Whether `session_api` is whole. */
inline bool has_sessions = false;
/* Whether `session_api` and `server_api` are. */
inline bool has_servers = false;
/* Whether `file_api` is. */
inline bool has_files = false;

/* The libraries that may hold the C API: the wheel splits it over two, libtensorflow has all in one or two. */
#if defined(_WIN32)
inline constexpr const char* kLibraries[] = {"tensorflow_framework.2.dll", "tensorflow_cc.2.dll", "tensorflow.dll"};
using Library = HMODULE;
inline Library loaded_library(const char* name) { return GetModuleHandleA(name); }
inline void* find_symbol(Library library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(library, name));
}
inline void keep_loaded() {
  HMODULE self = nullptr;
  GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                     reinterpret_cast<const char*>(&keep_loaded), &self);
}
#else
#if defined(__APPLE__)
inline constexpr const char* kLibraries[] = {"@rpath/libtensorflow_framework.2.dylib",
                                             "@rpath/libtensorflow_cc.2.dylib", "@rpath/libtensorflow.2.dylib"};
#else
inline constexpr const char* kLibraries[] = {"libtensorflow_framework.so.2", "libtensorflow_cc.so.2",
                                             "libtensorflow.so.2"};
#endif
using Library = void*;
/* Node opens addons with local scope, so a search of the global scope finds nothing: ask each library by name. */
inline Library loaded_library(const char* name) { return dlopen(name, RTLD_LAZY | RTLD_NOLOAD); }
inline void* find_symbol(Library library, const char* name) { return dlsym(library, name); }
/* TensorFlow keeps pointers to our functions for the life of the process: a worker's end must not unload them. */
inline void keep_loaded() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&keep_loaded), &info) != 0 && info.dli_fname != nullptr) {
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
}
#endif

/* Fills `tf`. Returns nullptr, or the reason why not. Call under a lock. */
inline const char* resolve_api() {
  constexpr int kCount = sizeof(kLibraries) / sizeof(kLibraries[0]);
  Library libraries[kCount];
  int found = 0;
  for (const char* name : kLibraries) {
    Library library = loaded_library(name);
    if (library != nullptr) libraries[found++] = library;
  }
  if (found == 0) return "no TensorFlow library is loaded in this process";
  Api api;
#define TE_RESOLVE(name)                                                               \
  for (int i = 0; i < found && api.name == nullptr; ++i) {                             \
    api.name = reinterpret_cast<decltype(api.name)>(find_symbol(libraries[i], #name)); \
  }                                                                                    \
  if (api.name == nullptr) return "the loaded TensorFlow is too old or too small: it lacks " #name;
  TE_TENSORFLOW_FUNCTIONS(TE_RESOLVE)
#undef TE_RESOLVE
  tf = api;
#define TE_RESOLVE(part, whole, name)                                                    \
  for (int i = 0; i < found && part.name == nullptr; ++i) {                              \
    part.name = reinterpret_cast<decltype(part.name)>(find_symbol(libraries[i], #name)); \
  }                                                                                      \
  if (part.name == nullptr) whole = false;
#define TE_RESOLVE_OF_SESSIONS(name) TE_RESOLVE(session_api, has_sessions, name)
#define TE_RESOLVE_OF_SERVERS(name) TE_RESOLVE(server_api, has_servers, name)
#define TE_RESOLVE_OF_FILES(name) TE_RESOLVE(file_api, has_files, name)
  has_sessions = true;
  TE_SESSION_FUNCTIONS(TE_RESOLVE_OF_SESSIONS)
  has_servers = has_sessions;
  TE_SERVER_FUNCTIONS(TE_RESOLVE_OF_SERVERS)
  has_files = true;
  TE_FILE_FUNCTIONS(TE_RESOLVE_OF_FILES)
#undef TE_RESOLVE_OF_FILES
#undef TE_RESOLVE_OF_SESSIONS
#undef TE_RESOLVE_OF_SERVERS
#undef TE_RESOLVE
  return nullptr;
}

}  // namespace te

#endif /* TFJS_EMBEDDINGS_TENSORFLOW_API_H_ */
