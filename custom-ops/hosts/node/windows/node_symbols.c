/*
 * Where the functions of Node-API are on Windows. A library there names the file that each function comes from; ours
 * takes them from whatever program has loaded it, so that a renamed node.exe and Electron will do. What is declared as
 * imported is called through pointers of these names.
 */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#define EACH_FUNCTION(f)              \
  f(napi_add_env_cleanup_hook)        \
  f(napi_call_threadsafe_function)    \
  f(napi_create_array_with_length)    \
  f(napi_create_arraybuffer)          \
  f(napi_create_double)               \
  f(napi_create_error)                \
  f(napi_create_function)             \
  f(napi_create_object)               \
  f(napi_create_promise)              \
  f(napi_create_reference)            \
  f(napi_create_string_utf8)          \
  f(napi_create_threadsafe_function)  \
  f(napi_create_typedarray)           \
  f(napi_get_array_length)            \
  f(napi_get_arraybuffer_info)        \
  f(napi_get_boolean)                 \
  f(napi_get_cb_info)                 \
  f(napi_get_element)                 \
  f(napi_get_instance_data)           \
  f(napi_get_typedarray_info)         \
  f(napi_get_undefined)               \
  f(napi_get_value_double)            \
  f(napi_get_value_string_utf8)       \
  f(napi_is_array)                    \
  f(napi_is_arraybuffer)              \
  f(napi_is_typedarray)               \
  f(napi_reject_deferred)             \
  f(napi_release_threadsafe_function) \
  f(napi_resolve_deferred)            \
  f(napi_set_element)                 \
  f(napi_set_instance_data)           \
  f(napi_set_named_property)          \
  f(napi_throw)                       \
  f(napi_throw_error)                 \
  f(napi_throw_range_error)           \
  f(napi_throw_type_error)            \
  f(napi_typeof)

#define POINTER(name) FARPROC __imp_##name;
EACH_FUNCTION(POINTER)

/* The program cannot load this library where it lacks one. */
BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved) {
  const HMODULE program = GetModuleHandleW(NULL);
  (void)library;
  (void)reserved;
  if (reason != DLL_PROCESS_ATTACH) return TRUE;
#define FIND(name) \
  if ((__imp_##name = GetProcAddress(program, #name)) == NULL) return FALSE;
  EACH_FUNCTION(FIND)
  return TRUE;
}
#endif
