"""Arrays of numpy as tensors of tfjs, which has float32, int32, bool, string and complex64 alone.

Numbers of another width travel where all of them have the same value in the type of tfjs; others are refused.
"""
import base64

import numpy as np

_CARRIERS = {
    'f': np.float32,
    'i': np.int32,
    'u': np.int32,
    'b': np.bool_,
    'c': np.complex64,
}


def carrier_of(dtype):
  """The type of tfjs for numbers of a dtype, None for strings; raises TypeError where there is none."""
  if dtype.kind in 'OSU':
    return None
  if dtype.kind == 'V' or dtype.name == 'bfloat16':
    if dtype.name == 'bfloat16':
      return np.float32
    raise TypeError(f'dtype {dtype.name}')
  if dtype.kind not in _CARRIERS:
    raise TypeError(f'dtype {dtype.name}')
  return _CARRIERS[dtype.kind]


def encode(array, buffers):
  """A tensor for a call; its numbers are put into `buffers`. TypeError for values that tfjs cannot hold."""
  array = np.asarray(array)
  carrier = carrier_of(array.dtype)
  if carrier is None:
    texts = [each if isinstance(each, bytes) else str(each).encode() for each in array.ravel().tolist()]
    return {'dtype': 'string', 'shape': list(array.shape), 'texts': [base64.b64encode(each).decode() for each in texts]}
  with np.errstate(all='ignore'):
    carried = array.astype(carrier)
    if carried.dtype != array.dtype and not np.array_equal(carried.astype(array.dtype), array, equal_nan=array.dtype.kind in 'fc'):
      raise TypeError(f'values of {array.dtype.name} that {carried.dtype.name} does not hold')
  buffers.append(np.ascontiguousarray(carried).tobytes())
  return {'dtype': carried.dtype.name, 'shape': list(array.shape), 'buffer': len(buffers) - 1}


def decode(tensor, buffers):
  """The array of a tensor that came back."""
  shape = tensor['shape']
  if tensor['dtype'] == 'string':
    array = np.empty(len(tensor['texts']), dtype=object)
    array[:] = [base64.b64decode(each) for each in tensor['texts']]
    return array.reshape(shape)
  return np.frombuffer(buffers[tensor['buffer']], dtype=np.dtype(tensor['dtype'])).reshape(shape)
