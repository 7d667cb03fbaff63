"""Cases that prove the runner: one for each thing that may become of a case."""
import numpy as np

from tensorflow.python.framework import dtypes
from tensorflow.python.framework import errors
from tensorflow.python.framework import test_util
from tensorflow.python.ops import gen_data_flow_ops
from tensorflow.python.ops import gen_ragged_math_ops
from tensorflow.python.ops import math_ops
from tensorflow.python.platform import test
from tensorflow.python.tpu.ops import gen_xla_ops


# Handles of the package pass between its kernels in graphs alone, where nobody else looks at them.
@test_util.run_all_in_deprecated_graph_mode_only
class SampleTest(test.TestCase):

  def _array(self, dtype, size=2):
    return gen_data_flow_ops.tensor_array_v3(size=size, dtype=dtype, clear_after_read=False)

  def _written(self, values, dtype):
    handle, flow = self._array(dtype)
    flow = gen_data_flow_ops.tensor_array_write_v3(handle, 1, values, flow)
    return self.evaluate(gen_data_flow_ops.tensor_array_read_v3(handle, 1, flow, dtype=dtype))

  def _written_outside(self):
    handle, flow = self._array(dtypes.float32)
    return self.evaluate(gen_data_flow_ops.tensor_array_write_v3(handle, 7, 1.0, flow))

  def test_values(self):
    texts = np.array([b'a', b'a text longer than what a word of text holds'])
    self.assertAllEqual([[1, 2]], self._written(np.float32([[1, 2]]), dtypes.float32))
    self.assertAllEqual(texts, self._written(texts, dtypes.string))
    self.assertAllEqual([1 + 2j], self._written(np.complex64([1 + 2j]), dtypes.complex64))
    self.assertAllEqual([5, -1], self._written(np.int64([5, -1]), dtypes.int64))
    self.assertAllEqual([], self._written(np.float32([]), dtypes.float32))

  def test_ragged(self):
    splits, values = self.evaluate(gen_ragged_math_ops.ragged_range([0, 5], [2, 8], [1, 2]))
    self.assertAllEqual([0, 2, 4], splits)
    self.assertAllEqual([0, 1, 5, 7], values)

  def test_casts(self):
    self.assertAllEqual([1.0, -2.0], self.evaluate(math_ops.cast(np.int32([1, -2]), dtypes.float32)))
    self.assertAllEqual([1.0, 0.0], self.evaluate(math_ops.cast(np.array([True, False]), dtypes.float32)))

  def test_sparse_cores(self):
    rows, columns, gains = self.evaluate(gen_xla_ops.convert_to_list_of_sparse_core_coo_tensors(
        indices_or_row_splits=[[0, 0], [0, 1], [3, 0]], values=[5, 5, 2], weights=1.0, sample_count=4,
        combiner='mean', num_sc_per_chip=4, row_offset=4, col_offset=16, col_shift=1, num_sc_shards=8,
        stacked_table_sample_count=8))
    self.assertAllEqual([1, 7], np.concatenate(rows))
    self.assertAllEqual([22, 19], np.concatenate(columns))
    self.assertAllEqual([1, 1], np.concatenate(gains))

  def test_error_of_the_class(self):
    with self.assertRaisesOpError('words of TensorFlow'):
      self._written_outside()
    with self.assertRaisesRegex(errors.InvalidArgumentError, 'words of TensorFlow'):
      self._written_outside()

  def test_error_of_another_class(self):
    with self.assertRaises(errors.NotFoundError):
      self._written_outside()

  def test_no_error(self):
    with self.assertRaisesOpError('no such words'):
      self._written(np.float32([1]), dtypes.float32)

  def test_wrong_value(self):
    self.assertAllEqual([3], self._written(np.float32([1]), dtypes.float32))

  def test_refused(self):
    self.assertAllEqual([0.1], self._written(np.float64([0.1]), dtypes.float64))

  def test_asks_nothing(self):
    self.assertEqual(2, 1 + 1)

  def test_skipped(self):
    self.skipTest('on purpose')


if __name__ == '__main__':
  test.main()
