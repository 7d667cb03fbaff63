/** The ops that plain kernels run. Signatures are those of TensorFlow 2.21; a test compares them. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { hostArray, integers } from './host_array.js';
import { ANY, FLOATS, NUMBERS, operation, type Operation } from './operation.js';
import { dynamicPartition, dynamicStitch } from './reference/partitions.js';
import { raggedGather, raggedRange, raggedTensorToSparse } from './reference/ragged.js';
import { raggedFillEmptyRows } from './reference/ragged_fill.js';
import { raggedTensorToTensor } from './reference/ragged_to_dense.js';
import {
  segmentReduce,
  sparseSegmentGrad,
  sparseSegmentGradV2,
  sparseSegmentReduce,
  unsortedSegmentReduce,
  type Reduction,
} from './reference/segments.js';
import {
  sparseConcat,
  sparseFillEmptyRows,
  sparseFillEmptyRowsGrad,
  sparseReorder,
  sparseReshape,
  sparseSlice,
  sparseSplit,
  sparseToDense,
} from './reference/sparse.js';
import { sparseAdd, sparseReduce, withDense } from './reference/sparse_sums.js';
import { checkScatter, scatter, type Meeting } from './reference/scatter.js';
import { sparseTensorDenseMatMul } from './reference/sparse_matmul.js';
import { reverseSequence } from './reference/reverse_sequence.js';
import { stridedSliceGrad } from './reference/strided_slice_grad.js';
import { listDiff, uniqueWithCounts } from './reference/unique.js';

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

const SEGMENTS: Operation[] = (['sum', 'mean', 'max', 'min', 'prod'] as const).flatMap((reduction) => {
  const name = capital(reduction);
  const sorted = operation(`Segment${name}(data: T, segment_ids: Tindices) -> output: T`, NUMBERS, (call) =>
    segmentReduce(reduction, call.one('data'), call.one('segment_ids')),
  );
  if (reduction === 'mean') return [sorted];
  const inputs = 'data: T, segment_ids: Tindices, num_segments: Tnumsegments';
  const unsorted = operation(`UnsortedSegment${name}(${inputs}) -> output: T`, NUMBERS, (call) =>
    unsortedSegmentReduce(reduction, call.one('data'), call.one('segment_ids'), call.one('num_segments')),
  );
  return [sorted, unsorted];
});

const REDUCTIONS: Readonly<Record<string, Reduction>> = { Sum: 'sum', Mean: 'mean', SqrtN: 'sqrtn' };

const SPARSE_SEGMENTS: Operation[] = Object.entries(REDUCTIONS).flatMap(([name, reduction]) => {
  const dtypes = reduction === 'sum' ? NUMBERS : FLOATS;
  const inputs = 'data: T, indices: Tidx, segment_ids: Tsegmentids';
  const gradient = 'grad: T, indices: Tidx, segment_ids: Tsegmentids';
  return [
    operation(`SparseSegment${name}(${inputs}) -> output: T`, dtypes, (call) =>
      sparseSegmentReduce(reduction, call.one('data'), call.one('indices'), call.one('segment_ids')),
    ),
    operation(
      `SparseSegment${name}WithNumSegments(${inputs}, num_segments: Tnumsegments) -> output: T`,
      dtypes,
      (call) => {
        const counted = call.one('num_segments');
        return sparseSegmentReduce(reduction, call.one('data'), call.one('indices'), call.one('segment_ids'), counted);
      },
    ),
    operation(
      `SparseSegment${name}Grad(${gradient}, output_dim0: int32) -> output: T`,
      FLOATS,
      (call) => {
        const [grad, indices, ids, rows] = call.all();
        return sparseSegmentGrad(reduction, grad!, indices!, ids!, rows!);
      },
      { notEmpty: 'indices' },
    ),
    operation(
      `SparseSegment${name}GradV2(${gradient}, dense_output_dim0: int32) -> output: T, sorted_unique_indices: Tidx`,
      FLOATS,
      (call) => {
        const [grad, indices, ids, rows] = call.all();
        return sparseSegmentGradV2(reduction, grad!, indices!, ids!, rows!);
      },
    ),
  ];
});

const RAGGED: Operation[] = [
  operation(
    'RaggedTensorToSparse(rt_nested_splits: Tsplits * RAGGED_RANK, rt_dense_values: T) -> ' +
      'sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64',
    ANY,
    (call) => raggedTensorToSparse(call.list('rt_nested_splits'), call.one('rt_dense_values')),
  ),
  operation(
    'RaggedGather(params_nested_splits: Tsplits * PARAMS_RAGGED_RANK, params_dense_values: Tvalues, ' +
      'indices: Tindices) -> output_nested_splits: Tsplits * OUTPUT_RAGGED_RANK, output_dense_values: Tvalues',
    ANY,
    (call) => {
      const results = raggedGather(
        call.list('params_nested_splits'),
        call.one('params_dense_values'),
        call.one('indices'),
      );
      // A scalar index takes the outermost axis away.
      return results.slice(results.length - 1 - call.int('OUTPUT_RAGGED_RANK'));
    },
    {
      checkCounts: (inputs, { OUTPUT_RAGGED_RANK: given }) => {
        // Splits of params, their values, and the indices.
        const rank = inputs.length - 2 + inputs[inputs.length - 1]!.shape.length - 1;
        if (given !== rank) throw new ValueError('OUTPUT_RAGGED_RANK', `${rank}, as params and indices have`, given);
      },
    },
  ),
  operation(
    'RaggedRange(starts: T, limits: T, deltas: T) -> rt_nested_splits: Tsplits, rt_dense_values: T',
    NUMBERS,
    (call) => raggedRange(call.one('starts'), call.one('limits'), call.one('deltas')),
  ),
  operation(
    'RaggedFillEmptyRows(value_rowids: int64, values: T, nrows: int64, default_value: T) -> ' +
      'output_value_rowids: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64',
    ANY,
    (call) =>
      raggedFillEmptyRows(call.one('value_rowids'), call.one('values'), call.one('nrows'), call.one('default_value')),
  ),
  operation(
    'RaggedFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T, d_default_value: T',
    NUMBERS,
    (call) => sparseFillEmptyRowsGrad(call.one('reverse_index_map'), call.one('grad_values')),
  ),
  operation(
    'RaggedTensorToTensor(shape: Tshape, values: T, default_value: T, ' +
      'row_partition_tensors: Tindex * num_row_partition_tensors) -> result: T',
    ANY,
    (call) =>
      raggedTensorToTensor(
        call.one('shape'),
        call.one('values'),
        call.one('default_value'),
        call.list('row_partition_tensors'),
        call.strings('row_partition_types'),
      ),
    { inTensorFlow: false },
  ),
];

const SPARSE: Operation[] = [
  operation(
    'SparseReorder(input_indices: int64, input_values: T, input_shape: int64) -> output_indices: int64, output_values: T',
    ANY,
    (call) => sparseReorder(call.one('input_indices'), call.one('input_values'), call.one('input_shape')),
  ),
  operation(
    'SparseConcat(indices: int64 * N, values: T * N, shapes: int64 * N) -> ' +
      'output_indices: int64, output_values: T, output_shape: int64',
    ANY,
    (call) => sparseConcat(call.list('indices'), call.list('values'), call.list('shapes'), call.int('concat_dim')),
    { attributes: { concat_dim: 'int' } },
  ),
  operation(
    'SparseSlice(indices: int64, values: T, shape: int64, start: int64, size: int64) -> ' +
      'output_indices: int64, output_values: T, output_shape: int64',
    ANY,
    (call) =>
      sparseSlice(call.one('indices'), call.one('values'), call.one('shape'), call.one('start'), call.one('size')),
  ),
  operation(
    'SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64) -> ' +
      'output_indices: int64 * num_split, output_values: T * num_split, output_shape: int64 * num_split',
    ANY,
    (call) =>
      sparseSplit(
        call.one('split_dim'),
        call.one('indices'),
        call.one('values'),
        call.one('shape'),
        call.int('num_split'),
      ),
  ),
  operation(
    'SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) -> output_indices: int64, output_shape: int64',
    ANY,
    (call) => sparseReshape(call.one('input_indices'), call.one('input_shape'), call.one('new_shape')),
  ),
  operation(
    'SparseFillEmptyRows(indices: int64, values: T, dense_shape: int64, default_value: T) -> ' +
      'output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64',
    ANY,
    (call) =>
      sparseFillEmptyRows(call.one('indices'), call.one('values'), call.one('dense_shape'), call.one('default_value')),
  ),
  operation(
    'SparseFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T, d_default_value: T',
    NUMBERS,
    (call) => sparseFillEmptyRowsGrad(call.one('reverse_index_map'), call.one('grad_values')),
  ),
  operation(
    'SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T) -> dense: T',
    ANY,
    (call) =>
      sparseToDense(
        call.one('sparse_indices'),
        call.one('output_shape'),
        call.one('sparse_values'),
        call.one('default_value'),
        call.bool('validate_indices', true),
      ),
    { attributes: { validate_indices: 'bool' } },
  ),
  ...(['sum', 'max'] as const).map((reduction) =>
    operation(
      `SparseReduce${capital(reduction)}(input_indices: int64, input_values: T, input_shape: int64, ` +
        'reduction_axes: int32) -> output: T',
      NUMBERS,
      (call) => sparseReduce(reduction, call.all(), call.bool('keep_dims', false)),
      { attributes: { keep_dims: 'bool' } },
    ),
  ),
  operation(
    'SparseAdd(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, ' +
      'thresh: Treal) -> sum_indices: int64, sum_values: T, sum_shape: int64',
    NUMBERS,
    (call) => sparseAdd(call.all()),
    { inTensorFlow: false },
  ),
  ...(['Add', 'Mul'] as const).map((name) =>
    operation(
      `SparseDenseCwise${name}(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T`,
      NUMBERS,
      (call) => {
        const times = call.one('dense').dtype === 'int32' ? Math.imul : (a: number, b: number): number => a * b;
        return withDense(name === 'Add' ? (a, b) => a + b : times, call.all());
      },
    ),
  ),
];

const MATRICES: Operation[] = [
  operation(
    'SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T) -> product: T',
    NUMBERS,
    (call) => {
      const [indices, values, shape, b] = call.all();
      const adjoints = { a: call.bool('adjoint_a', false), b: call.bool('adjoint_b', false) };
      return sparseTensorDenseMatMul(indices!, values!, shape!, b!, adjoints);
    },
    { attributes: { adjoint_a: 'bool', adjoint_b: 'bool' } },
  ),
];

const MASKS = {
  begin_mask: 'int',
  end_mask: 'int',
  ellipsis_mask: 'int',
  new_axis_mask: 'int',
  shrink_axis_mask: 'int',
} as const;

const scattered = (name: string, dtypes: readonly tf.DataType[], how: Meeting): Operation =>
  operation(
    `TensorScatter${name}(tensor: T, indices: Tindices, updates: T) -> output: T`,
    dtypes,
    (call) => scatter(call.one('tensor'), call.one('indices'), call.one('updates'), how),
    { checkCounts: ([tensor, indices, updates]) => checkScatter(tensor!.shape, indices!, updates!) },
  );

const DATA_FLOW: Operation[] = [
  operation(
    'ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> output: T',
    ANY,
    (call) => {
      const updates = call.one('updates');
      const zeros = hostArray(updates.dtype, Array.from(integers(call.one('shape'), 'shape')));
      return scatter(zeros, call.one('indices'), updates, 'add');
    },
    {
      checkCounts: ([indices, updates, shape]) => {
        // Sizes are compared where they are read.
        if (shape!.shape.length !== 1) {
          throw new ValueError('shape', 'a vector of sizes', described(`shape [${shape!.shape.join(', ')}]`));
        }
        checkScatter(new Array<null>(shape!.shape[0]!).fill(null), indices!, updates!);
      },
    },
  ),
  scattered('Update', ANY, 'update'),
  scattered('Add', NUMBERS, 'add'),
  scattered('Sub', NUMBERS, 'sub'),
  scattered('Min', NUMBERS, 'min'),
  scattered('Max', NUMBERS, 'max'),
  operation(
    'ReverseSequence(input: T, seq_lengths: Tlen) -> output: T',
    ANY,
    (call) => reverseSequence(call.one('input'), call.one('seq_lengths'), call.int('seq_dim'), call.int('batch_dim')),
    { attributes: { seq_dim: 'int', batch_dim: 'int' } },
  ),
  operation('ListDiff(x: T, y: T) -> out: T, idx: out_idx', ANY, (call) => listDiff(call.one('x'), call.one('y'))),
  operation('DynamicPartition(data: T, partitions: int32) -> outputs: T * num_partitions', ANY, (call) =>
    dynamicPartition(call.one('data'), call.one('partitions'), call.int('num_partitions')),
  ),
  ...['DynamicStitch', 'ParallelDynamicStitch'].map((name) =>
    operation(`${name}(indices: int32 * N, data: T * N) -> merged: T`, ANY, (call) =>
      dynamicStitch(call.list('indices'), call.list('data')),
    ),
  ),
  operation(
    'StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> output: T',
    ANY,
    (call) => {
      const [shape, begin, end, strides, dy] = call.all();
      return stridedSliceGrad(shape!, begin!, end!, strides!, dy!, {
        begin: call.int('begin_mask'),
        end: call.int('end_mask'),
        ellipsis: call.int('ellipsis_mask'),
        newAxis: call.int('new_axis_mask'),
        shrink: call.int('shrink_axis_mask'),
      });
    },
    { attributes: MASKS },
  ),
  operation('UniqueWithCounts(x: T) -> y: T, idx: out_idx, count: out_idx', ANY, (call) =>
    uniqueWithCounts(call.one('x'), null),
  ),
  operation('UniqueWithCountsV2(x: T, axis: Taxis) -> y: T, idx: out_idx, count: out_idx', ANY, (call) =>
    uniqueWithCounts(call.one('x'), call.one('axis')),
  ),
];

/** By name. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  [...SEGMENTS, ...SPARSE_SEGMENTS, ...RAGGED, ...SPARSE, ...MATRICES, ...DATA_FLOW].map((op) => [
    op.signature.name,
    op,
  ]),
);

/** The op of a name; there must be one. */
export function operationNamed(name: string): Operation {
  const found = OPERATIONS.get(name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
}
