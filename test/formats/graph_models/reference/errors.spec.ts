/** What the plain kernels refuse, by the name that TensorFlow gives the input. */
import { hostArray, int32Array, int32Vector, type HostArray } from '../../../../src/formats/graph_models/host_array.js';
import { dynamicPartition, dynamicStitch } from '../../../../src/formats/graph_models/reference/partitions.js';
import { raggedFillEmptyRows } from '../../../../src/formats/graph_models/reference/ragged_fill.js';
import { raggedTensorToTensor } from '../../../../src/formats/graph_models/reference/ragged_to_dense.js';
import {
  sparseConcat,
  sparseFillEmptyRows,
  sparseFillEmptyRowsGrad,
  sparseReshape,
  sparseSlice,
  sparseSplit,
  sparseToDense,
} from '../../../../src/formats/graph_models/reference/sparse.js';
import { sparseTensorDenseMatMul } from '../../../../src/formats/graph_models/reference/sparse_matmul.js';
import { expectError } from '../../../helpers/errors.js';

const vector = (...values: number[]): HostArray => int32Vector(values, 'vector');
const matrix = (...rows: number[][]): HostArray => int32Array([rows.length, rows[0]!.length], rows.flat(), 'matrix');
const scalar = (value: number): HostArray => int32Array([], [value], 'scalar');
const floats = (...values: number[]): HostArray => hostArray('float32', [values.length], Float32Array.from(values));
const zero = hostArray('float32', [], Float32Array.of(0));
const refuses = (argument: string, received: string, run: () => unknown): void =>
  expectError(run, 'ValueError', argument, received);

describe('plain kernels of sparse tensors', () => {
  const indices = matrix([0, 1], [2, 0]);
  const values = floats(5, 6);
  const shape = vector(3, 2);

  it('refuse parts that do not belong together', () => {
    refuses('values', '1', () => sparseSlice(indices, floats(5), shape, vector(0, 0), vector(1, 1)));
    refuses('shape', '1', () => sparseSlice(indices, values, vector(3), vector(0, 0), vector(1, 1)));
    refuses('start', '1', () => sparseSlice(indices, values, shape, vector(0), vector(1, 1)));
    refuses('size', '3', () => sparseSlice(indices, values, shape, vector(0, 0), vector(1, 1, 1)));
    refuses('size', '-1', () => sparseSlice(indices, values, shape, vector(0, 0), vector(1, -1)));
  });

  it('are joined and split along an axis that is there', () => {
    const join = (axis: number, other = shape): HostArray[] =>
      sparseConcat([indices, indices], [values, values], [shape, other], axis);
    refuses('concat_dim', '2', () => join(2));
    refuses('concat_dim', '-3', () => join(-3));
    expect(Array.from(join(-2)[2]!.values as Int32Array)).toEqual([6, 2]);
    expect(Array.from(join(-1)[2]!.values as Int32Array)).toEqual([3, 4]);
    refuses('shapes[1]', '[3, 3]', () => join(0, vector(3, 3)));
    const split = (axis: number, count: number): HostArray[] =>
      sparseSplit(scalar(axis), indices, values, shape, count);
    refuses('split_dim', '2', () => split(2, 1));
    refuses('split_dim', '-1', () => split(-1, 1));
    refuses('num_split', '0', () => split(0, 0));
    refuses('num_split', '4', () => split(0, 4));
    expect(split(0, 3).length).toBe(9);
  });

  it('are given a new shape of as many elements', () => {
    const reshape = (...sizes: number[]): HostArray[] => sparseReshape(indices, shape, vector(...sizes));
    expect(reshape(-1).map((output) => Array.from(output.values as Int32Array))).toEqual([[1, 4], [6]]);
    refuses('input_shape', '3', () => sparseReshape(indices, vector(3), vector(3)));
    refuses('new_shape', '[-1, -1]', () => reshape(-1, -1));
    refuses('new_shape', '[-2, -3]', () => reshape(-2, -3));
    refuses('new_shape', '[0, -1]', () => reshape(0, -1));
    refuses('new_shape', '5', () => reshape(5));
    refuses('new_shape', '[4, -1]', () => reshape(4, -1));
    const most = 2 ** 31 - 1;
    refuses('input_shape', '', () => sparseReshape(matrix([0, 0]), vector(most, most), vector(-1)));
  });

  it('get a default in rows that exist', () => {
    const fill = (of: HostArray, size = shape, value = zero): HostArray[] =>
      sparseFillEmptyRows(of, values, size, value);
    refuses('default_value', '[1]', () => fill(indices, shape, floats(1)));
    refuses('indices', '3 at index 1', () => fill(matrix([0, 1], [3, 0])));
    refuses('indices', '-1 at index 0', () => fill(matrix([-1, 1], [2, 0])));
    refuses('reverse_index_map', '2', () => sparseFillEmptyRowsGrad(vector(0, 2), floats(1, 2)));
    refuses('reverse_index_map', '-1', () => sparseFillEmptyRowsGrad(vector(-1), floats(1, 2)));
    refuses('nrows', '[1]', () => raggedFillEmptyRows(vector(0), floats(1), vector(1), zero));
    refuses('nrows', '-1', () => raggedFillEmptyRows(vector(0), floats(1), scalar(-1), zero));
  });

  it('become dense where their places are in order and inside', () => {
    const dense = (of: HostArray, size = shape, given = values, rest = zero, validate = true): HostArray =>
      sparseToDense(of, size, given, rest, validate);
    expect(Array.from(dense(indices).values as Float32Array)).toEqual([0, 5, 0, 0, 6, 0]);
    expect(Array.from(dense(vector(1, 2), vector(3)).values as Float32Array)).toEqual([0, 5, 6]);
    refuses('output_shape', '[3, -2]', () => dense(indices, vector(3, -2)));
    refuses('sparse_indices', '[2, 2]', () => dense(indices, vector(3)));
    refuses('sparse_values', '[1]', () => dense(indices, shape, floats(1)));
    refuses('default_value', '[1]', () => dense(indices, shape, values, floats(1)));
    refuses('sparse_indices', '2 in axis 1 of index 1', () => dense(matrix([0, 1], [2, 2])));
    const backwards = matrix([2, 0], [0, 1]);
    refuses('sparse_indices', 'index 1', () => dense(backwards));
    refuses('sparse_indices', 'index 1', () => dense(matrix([0, 1], [0, 1])));
    expect(Array.from(dense(backwards, shape, values, zero, false).values as Float32Array)).toEqual([0, 6, 0, 0, 5, 0]);
  });

  it('are multiplied with a matrix that fits', () => {
    const b = hostArray('float32', [2, 1], Float32Array.of(2, 3));
    const plain = { a: false, b: false };
    const multiply = (of: HostArray, given = values, size = shape, by = b): HostArray =>
      sparseTensorDenseMatMul(of, given, size, by, plain);
    expect(Array.from(multiply(indices).values as Float32Array)).toEqual([15, 0, 12]);
    refuses('a_indices', '[2, 1]', () => multiply(matrix([0], [1])));
    refuses('a_values', '1', () => multiply(indices, floats(1)));
    refuses('a_shape', '[3]', () => multiply(indices, values, vector(3, 2, 1)));
    refuses('a_shape', '[-3, 2]', () => multiply(indices, values, vector(-3, 2)));
    refuses('b', '2', () => multiply(indices, values, vector(3, 3)));
    refuses('a_indices', '[3, 0] at index 1', () => multiply(matrix([0, 1], [3, 0])));
    refuses('a_indices', '[0, 2] at index 0', () => multiply(matrix([0, 2], [2, 0])));
    refuses('a_indices', '[-1, 0] at index 0', () => multiply(matrix([-1, 0], [2, 0])));
  });
});

describe('plain kernels of partitions', () => {
  it('send rows to lists that are there', () => {
    const data = floats(1, 2);
    refuses('partitions', '[3]', () => dynamicPartition(data, vector(0, 1, 0), 2));
    refuses('partitions', '2 at position 1', () => dynamicPartition(data, vector(0, 2), 2));
    refuses('partitions', '-1 at position 0', () => dynamicPartition(data, vector(-1, 0), 2));
    refuses('indices[1]', '-1', () => dynamicStitch([vector(0), vector(-1)], [floats(1), floats(2)]));
    refuses('data[1]', '[2]', () => dynamicStitch([vector(0), vector(1)], [floats(1), floats(2, 3)]));
  });

  it('lay ragged values out as the partitions say', () => {
    const none = scalar(-1);
    const lay = (partitions: HostArray[], types: string[], shape = none, rest = zero): HostArray =>
      raggedTensorToTensor(shape, floats(1, 2, 3), rest, partitions, types);
    expect(lay([vector(0, 2, 3)], ['ROW_SPLITS']).shape).toEqual([2, 2]);
    expect(lay([scalar(2), vector(0, 0, 1)], ['FIRST_DIM_SIZE', 'VALUE_ROWIDS']).shape).toEqual([2, 2]);
    refuses('row_partition_types', 'SPLITS', () => lay([vector(0, 3)], ['SPLITS']));
    refuses('row_partition_types', '', () => lay([vector(0, 3)], ['ROW_SPLITS', 'ROW_SPLITS']));
    refuses('row_partition_types', '', () => lay([], []));
    refuses('row_partition_types', '', () => lay([vector(0, 3), scalar(1)], ['ROW_SPLITS', 'FIRST_DIM_SIZE']));
    refuses('row_partition_types', '', () => lay([vector(0, 0, 1)], ['VALUE_ROWIDS']));
    refuses('row_partition_tensors[0]', '1', () => lay([vector(1, 3)], ['ROW_SPLITS']));
    refuses('row_partition_tensors[0]', '2 at 2', () => lay([vector(0, 3, 2, 3)], ['ROW_SPLITS']));
    refuses('row_partition_tensors[1]', '2', () =>
      lay([scalar(2), vector(0, 1, 2)], ['FIRST_DIM_SIZE', 'VALUE_ROWIDS']),
    );
    refuses('row_partition_tensors[1]', '0', () =>
      lay([scalar(2), vector(0, 1, 0)], ['FIRST_DIM_SIZE', 'VALUE_ROWIDS']),
    );
    refuses('values', '[3]', () => lay([vector(0, 2)], ['ROW_SPLITS']));
    refuses('shape', '2', () => lay([vector(0, 3)], ['ROW_SPLITS'], vector(2)));
    refuses('default_value', '[2]', () => lay([vector(0, 3)], ['ROW_SPLITS'], none, floats(1, 2)));
    // More axes than an element has, though of one place alone.
    refuses('default_value', '[1]', () => lay([vector(0, 3)], ['ROW_SPLITS'], none, floats(0)));
    const cut = lay([vector(0, 2, 3)], ['ROW_SPLITS'], vector(1, 1));
    expect(Array.from(cut.values as Float32Array)).toEqual([1]);
  });
});
