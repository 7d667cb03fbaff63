"""Kernels of TensorFlow's ops that hand each call to the package under test, in place of TensorFlow's own.

They are registered through TensorFlow's C API, by ctypes, with a priority above that of its kernels. Graphs, sessions,
loops, gradients and the shapes of results are TensorFlow's; values are the package's.
"""
import ctypes
import glob
import itertools
import os

import numpy as np
import tensorflow as tf
from google.protobuf import json_format
from tensorflow.core.framework import node_def_pb2
from tensorflow.core.framework import resource_handle_pb2
from tensorflow.python.framework import dtypes
from tensorflow.python.framework import op_def_registry

import arrays
import package as package_lib

_CODES = {'ValueError': 3, 'TypeError': 3, 'RuntimeError': 12}
_INTERNAL = 13
_RESOURCE = dtypes.resource.as_datatype_enum
_STRING = dtypes.string.as_datatype_enum

_OWN = [dtypes.float32, dtypes.int32, dtypes.bool, dtypes.string, dtypes.int64]
# Values that only pass through an op, which no rounding changes.
_CARRIED = _OWN + [dtypes.float64, dtypes.half, dtypes.bfloat16, dtypes.complex64, dtypes.complex128]

_PLAIN = ('float32', 'int32', 'int64', 'bool', 'object', 'complex64')

_LIBRARY = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(tf.__file__), 'libtensorflow_framework.so.2'))[0])
_POINTER = ctypes.c_void_p


def _function(name, result, *arguments):
  function = getattr(_LIBRARY, name)
  function.restype = result
  function.argtypes = arguments
  return function


_CREATE = ctypes.CFUNCTYPE(_POINTER, _POINTER)
_COMPUTE = ctypes.CFUNCTYPE(None, _POINTER, _POINTER)
_DELETE = ctypes.CFUNCTYPE(None, _POINTER)


class _Buffer(ctypes.Structure):
  _fields_ = [('data', _POINTER), ('length', ctypes.c_size_t), ('release', _POINTER)]


_new_builder = _function('TF_NewKernelBuilder', _POINTER, ctypes.c_char_p, ctypes.c_char_p, _CREATE, _COMPUTE, _DELETE)
_set_priority = _function('TF_KernelBuilder_Priority', None, _POINTER, ctypes.c_int32)
_constrain = _function('TF_KernelBuilder_TypeConstraint', None, _POINTER, ctypes.c_char_p, ctypes.c_int, _POINTER)
_register = _function('TF_RegisterKernelBuilder', None, ctypes.c_char_p, _POINTER, _POINTER)
_node_def = _function('TF_OpKernelConstruction_GetNodeDef', ctypes.POINTER(_Buffer), _POINTER, _POINTER)
_delete_buffer = _function('TF_DeleteBuffer', None, ctypes.POINTER(_Buffer))
_new_status = _function('TF_NewStatus', _POINTER)
_delete_status = _function('TF_DeleteStatus', None, _POINTER)
_set_status = _function('TF_SetStatus', None, _POINTER, ctypes.c_int, ctypes.c_char_p)
_get_code = _function('TF_GetCode', ctypes.c_int, _POINTER)
_get_message = _function('TF_Message', ctypes.c_char_p, _POINTER)
_count_inputs = _function('TF_NumInputs', ctypes.c_int, _POINTER)
_get_input = _function('TF_GetInput', None, _POINTER, ctypes.c_int, ctypes.POINTER(_POINTER), _POINTER)
_expected_type = _function('TF_ExpectedOutputDataType', ctypes.c_int, _POINTER, ctypes.c_int)
_set_output = _function('TF_SetOutput', None, _POINTER, ctypes.c_int, _POINTER, _POINTER)
_fail = _function('TF_OpKernelContext_Failure', None, _POINTER, _POINTER)
_fail_construction = _function('TF_OpKernelConstruction_Failure', None, _POINTER, _POINTER)
_tensor_type = _function('TF_TensorType', ctypes.c_int, _POINTER)
_rank = _function('TF_NumDims', ctypes.c_int, _POINTER)
_dim = _function('TF_Dim', ctypes.c_int64, _POINTER, ctypes.c_int)
_bytes = _function('TF_TensorByteSize', ctypes.c_size_t, _POINTER)
_data = _function('TF_TensorData', _POINTER, _POINTER)
_allocate = _function(
    'TF_AllocateTensor', _POINTER, ctypes.c_int, ctypes.POINTER(ctypes.c_int64), ctypes.c_int, ctypes.c_size_t)
_delete_tensor = _function('TF_DeleteTensor', None, _POINTER)

_TEXT_BYTES = 24


def _read_text(address):
  """A TString: its low two bits tell how it is stored."""
  raw = ctypes.string_at(address, _TEXT_BYTES)
  kind = raw[0] & 3
  if kind == 0:
    return raw[1:1 + (raw[0] >> 2)]
  if kind == 2:
    size, offset = int.from_bytes(raw[0:4], 'little') >> 2, int.from_bytes(raw[4:8], 'little')
    return ctypes.string_at(address + offset, size)
  # A text of its own has its capacity before its place; a view has none.
  place = raw[16:24] if kind == 1 else raw[8:16]
  return ctypes.string_at(int.from_bytes(place, 'little'), int.from_bytes(raw[0:8], 'little') >> 2)


class _Texts:
  """Texts of results, which TensorFlow looks at where they lie and never frees."""

  kept = []

  @classmethod
  def pack(cls, text):
    if len(text) < _TEXT_BYTES - 1:
      return bytes([len(text) << 2]) + text.ljust(_TEXT_BYTES - 1, b'\0')
    held = ctypes.create_string_buffer(text, len(text))
    cls.kept.append(held)
    return ((len(text) << 2) | 3).to_bytes(8, 'little') + ctypes.addressof(held).to_bytes(8, 'little') + b'\0' * 8


def _check(status):
  if _get_code(status) != 0:
    raise RuntimeError(_get_message(status).decode())


def _shape(tensor):
  return [_dim(tensor, i) for i in range(_rank(tensor))]


def _read(tensor):
  """The array of a tensor of TensorFlow; of a resource the number that stands for it.

  What stands for a resource passes between kernels of the package alone, as TensorFlow's graphs hand it on unseen.
  """
  kind, shape, data = _tensor_type(tensor), _shape(tensor), _data(tensor)
  if kind == _RESOURCE:
    handle = resource_handle_pb2.ResourceHandleProto.FromString(ctypes.string_at(data, _bytes(tensor)))
    return np.int32(handle.name)
  count = int(np.prod(shape, dtype=np.int64))
  if kind == _STRING:
    array = np.empty(count, dtype=object)
    array[:] = [_read_text(data + _TEXT_BYTES * i) for i in range(count)]
    return array.reshape(shape)
  dtype = dtypes.as_dtype(kind)
  if dtype.as_numpy_dtype is None or dtype.is_quantized:
    raise TypeError(f'dtype {dtype.name}')
  raw = ctypes.string_at(data, _bytes(tensor)) if count > 0 else b''
  return np.frombuffer(raw, dtype=dtype.as_numpy_dtype).reshape(shape)


def _write(context, index, array, status):
  kind = _expected_type(context, index)
  shape = list(array.shape)
  if kind == _RESOURCE:
    raw = resource_handle_pb2.ResourceHandleProto(
        device='/job:localhost/replica:0/task:0/device:CPU:0', container='tfjs-embeddings', name=str(int(array)),
    ).SerializeToString()
    shape = []
  elif kind == _STRING:
    raw = b''.join(_Texts.pack(each) for each in array.ravel().tolist())
  else:
    raw = np.ascontiguousarray(array.astype(dtypes.as_dtype(kind).as_numpy_dtype)).tobytes()
  tensor = _allocate(kind, (ctypes.c_int64 * len(shape))(*shape), len(shape), len(raw))
  ctypes.memmove(_data(tensor), raw, len(raw))
  _set_output(context, index, tensor, status)
  _delete_tensor(tensor)
  _check(status)


def _inputs(context, status):
  for i in range(_count_inputs(context)):
    tensor = _POINTER()
    _get_input(context, i, ctypes.byref(tensor), status)
    _check(status)
    try:
      yield _read(tensor)
    finally:
      _delete_tensor(tensor)


class Kernels:
  """Registers kernels for ops; `run` gets a NodeDef and arrays and gives arrays."""

  def __init__(self, package):
    self._package = package
    self._nodes = {}
    self._runs = {}
    self._callbacks = (_CREATE(self._create), _COMPUTE(self._compute), _DELETE(self._delete))

  def register(self, op, run=None):
    """For all dtypes that tfjs has, and for int64, which tfjs keeps as int32."""
    held = _CARRIED if op.startswith('TensorArray') else _OWN
    definition = op_def_registry.get(op)
    if definition is None:
      return  # an op of the package alone
    args = [*definition.input_arg, *definition.output_arg]
    used = {arg.type_attr for arg in args if arg.type_attr}
    choices = []
    for attr in definition.attr:
      if attr.name not in used:
        continue
      allowed = list(attr.allowed_values.list.type) or [each.as_datatype_enum for each in held]
      choices.append([(attr.name, each.as_datatype_enum) for each in held if each.as_datatype_enum in allowed])
    for number, types in enumerate(itertools.product(*choices)):
      status = _new_status()
      builder = _new_builder(op.encode(), b'CPU', *self._callbacks)
      for name, kind in types:
        _constrain(builder, name.encode(), kind, status)
        _check(status)
      _set_priority(builder, 100)
      _register(f'Package{op}{number}'.encode(), builder, status)
      _check(status)
      _delete_status(status)
    self._runs[op] = run

  def _create(self, construction):
    status = _new_status()
    try:
      buffer = _node_def(construction, status)
      _check(status)
      node = node_def_pb2.NodeDef.FromString(ctypes.string_at(buffer.contents.data, buffer.contents.length))
      _delete_buffer(buffer)
      key = len(self._nodes) + 1
      # A kernel is made once and run many times.
      self._nodes[key] = (node, json_format.MessageToDict(node).get('attr', {}))
      return key
    except BaseException as error:  # pylint: disable=broad-except
      _set_status(status, _INTERNAL, str(error).encode())
      _fail_construction(construction, status)
      return None
    finally:
      _delete_status(status)

  def _delete(self, key):
    pass

  def _compute(self, key, context):
    status = _new_status()
    try:
      node, attr = self._nodes[key]
      try:
        given = list(_inputs(context, status))
        self._package.carried.update(each.dtype.name for each in given if each.dtype.name not in _PLAIN)
        run = self._runs[node.op]
        results = self._run_op(node, attr, given) if run is None else run(node, given)
      except TypeError as error:
        raise self._package.refuse(f'{error}, which tfjs lacks') from error
      for i, array in enumerate(results):
        _write(context, i, array, status)
    except package_lib.PackageError as error:
      _set_status(status, _CODES.get(error.kind, _INTERNAL), str(error).encode())
      _fail(context, status)
    except BaseException as error:  # pylint: disable=broad-except
      _set_status(status, _INTERNAL, repr(error).encode())
      _fail(context, status)
    finally:
      _delete_status(status)

  def _run_op(self, node, attr, given):
    buffers = []
    if 'dtype' in node.attr:
      name = dtypes.as_dtype(node.attr['dtype'].type).name
      if name not in _PLAIN and name != 'string':
        self._package.carried.add(name)
    inputs = [arrays.encode(each, buffers) for each in given]
    result, found = self._package.call(
        'op', {'name': node.name, 'op': node.op, 'attr': attr, 'inputs': inputs}, buffers)
    return [arrays.decode(each, found) for each in result]
