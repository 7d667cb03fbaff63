/* Shared tensors of TensorFlow, read and written from JavaScript. */
#include "../shared/shared_tensors.h"
#include "functions.h"

/* sharedTensorRegistry(): tells shared tensors of this library from those of another copy in the process; without
   TensorFlow 0. */
napi_value shared_tensor_registry(napi_env env, napi_callback_info info) {
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  return new_number(env, (double)(uintptr_t)te_shared_registry());
#else
  return new_number(env, 0);
#endif
}

/* newSharedTensorKey(): a key that no tensor is shared under. */
napi_value new_shared_tensor_key(napi_env env, napi_callback_info info) {
  (void)info;
#if defined(TE_WITH_TENSORFLOW)
  return new_number(env, te_shared_new_key());
#else
  napi_throw_error(env, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "built without TensorFlow");
  return NULL;
#endif
}

/* key, at, stride, rows, columns, array: the arguments of reading and of writing; `name`: of the array */
static void use_shared_tensor(napi_env env, napi_callback_info info, const char* name, bool writes) {
  call c;
  begin(&c, env, info);
  const int64_t key = whole(&c, 0, "key", 0, INT32_MAX);
  te_shared_rows place;
  place.at = (uint64_t)whole(&c, 1, "at", 0, 9007199254740991.0);
  place.stride = (uint64_t)whole(&c, 2, "stride", 0, 9007199254740991.0);
  const int64_t rows = whole(&c, 3, "rows", 0, 9007199254740991.0);
  const int64_t columns = whole(&c, 4, "columns", 0, 9007199254740991.0);
  place.rows = (uint64_t)rows;
  place.columns = (uint64_t)columns;
  const array other = floats(&c, 5, name, c.failed ? 0 : area(&c, rows, columns, "rows"));
  if (c.failed) return;
#if defined(TE_WITH_TENSORFLOW)
  const te_shared_status status =
      writes ? te_shared_write((int32_t)key, &place, other.data) : te_shared_read((int32_t)key, &place, other.data);
  switch (status) {
    case TE_SHARED_OK:
      return;
    case TE_SHARED_UNKNOWN:
      fail_range(&c, "key", "no tensor is shared under it");
      return;
    case TE_SHARED_OVERLAPS:
      fail_range(&c, name, "expected memory of its own, received memory of the tensor that is shared");
      return;
    default:
      fail_range(&c, "at", "the rows lie outside the tensor that is shared");
  }
#else
  (void)key;
  (void)place;
  (void)other;
  (void)writes;
  fail_type(&c, "key", "built without TensorFlow");
#endif
}

/* readSharedTensor(key, at, stride, rows, columns, target): copies rows of a shared tensor of TensorFlow. */
napi_value read_shared_tensor(napi_env env, napi_callback_info info) {
  use_shared_tensor(env, info, "target", false);
  return NULL;
}

/* writeSharedTensor(key, at, stride, rows, columns, source): copies rows to a shared tensor of TensorFlow. */
napi_value write_shared_tensor(napi_env env, napi_callback_info info) {
  use_shared_tensor(env, info, "source", true);
  return NULL;
}

/* releaseSharedTensor(key): a key that no tensor is shared under is no error: a call may have failed before it was
   used. */
napi_value release_shared_tensor(napi_env env, napi_callback_info info) {
  call c;
  begin(&c, env, info);
  const int64_t key = whole(&c, 0, "key", 0, INT32_MAX);
#if defined(TE_WITH_TENSORFLOW)
  if (!c.failed) te_shared_release((int32_t)key);
#else
  (void)key;
#endif
  return NULL;
}
