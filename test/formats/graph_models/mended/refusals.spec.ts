/** What mended ops of graphs refuse, by the name that TensorFlow gives the input, and the last input that is taken. */
import * as tf from '@tensorflow/tfjs';
import { GRAPH_OPS } from '../../../../src/formats/graph_models/graph_ops.js';
import { describeForBackends } from '../../../helpers/backends.js';
import { expectError } from '../../../helpers/errors.js';

const ints = (...values: number[]): tf.Tensor => tf.tensor1d(values, 'int32');
const scalar = (value: number): tf.Tensor => tf.scalar(value, 'int32');
const ones = (...shape: number[]): tf.Tensor => tf.ones(shape);
const x = (): tf.Tensor => ones(2, 3);

type Inputs = () => readonly (tf.Tensor | null)[];
type Refused = readonly [op: string, inputs: Inputs, argument: string, received: string, attrs?: object];

const slice =
  (begin: number[], end: number[], strides: number[]): Inputs =>
  () => [x(), ints(...begin), ints(...end), ints(...strides)];
const einsum = (equation: string): object => ({ equation, N: 2 });
const types = { output_type: 'int32' };

/** For each its name, inputs, and what of them is wrong. */
const REFUSED: readonly Refused[] = [
  ['Equal', () => [tf.tensor1d(['a', 'b']), tf.tensor1d(['a', 'b', 'c'])], 'y', '[2], [3]'],
  ['FloorDiv', () => [ints(1, 2), ints(1, 0)], 'y', '0'],
  ['FloorMod', () => [ints(1, 2), ints(0, 1)], 'y', '0'],
  ['Pow', () => [ints(1, 2), ints(1, -1)], 'y', '-1'],
  ['BitwiseAnd', () => [ints(1, 2), ints(1, 2, 3)], 'y', '[2], [3]'],
  ['LeftShift', () => [ints(1, 2), ints(1, 2, 3)], 'y', '[2], [3]'],
  ['Cumsum', () => [x(), scalar(2)], 'axis', '2'],
  ['Cumprod', () => [x(), scalar(-3)], 'axis', '-3'],
  ['MatrixBandPart', () => [ones(3), scalar(1), scalar(1)], 'input', '[3]'],
  ['MatrixBandPart', () => [x(), scalar(3), scalar(0)], 'num_lower', '3'],
  ['MatrixBandPart', () => [x(), scalar(0), scalar(4)], 'num_upper', '4'],
  ['LowerBound', () => [ones(2, 3), ones(3, 3)], 'values', '[3, 3]'],
  ['UpperBound', () => [ones(2, 3), ones(2)], 'values', '[2]'],
  ['UpperBound', () => [ones(2), ones(2, 2)], 'values', '[2, 2]'],
  ['ConcatV2', () => [x(), x(), scalar(-3)], 'axis', '-3'],
  ['StridedSlice', slice([0], [1], [0]), 'strides', '0 in entry 0'],
  ['StridedSlice', slice([0, 0, 0], [1, 1, 1], [1, 1, 1]), 'begin', ''],
  ['Gather', () => [x(), ints(0, 2)], 'indices', '2'],
  ['Gather', () => [x(), ints(-1)], 'indices', '-1'],
  ['GatherV2', () => [x(), ints(3), scalar(1)], 'indices', '3'],
  ['GatherV2', () => [x(), ints(0), scalar(2)], 'axis', '2'],
  ['GatherNd', () => [x(), tf.zeros([1, 3], 'int32')], 'indices', '3'],
  ['BroadcastTo', () => [x(), ints(3)], 'shape', '[3]'],
  ['BroadcastTo', () => [x(), ints(3, 3)], 'shape', '[3, 3]'],
  ['BroadcastTo', () => [x(), ints(2, 2, 4)], 'shape', '[2, 2, 4]'],
  ['Fill', () => [ints(2), tf.tensor1d(['a', 'b', 'c'])], 'shape', '[2]'],
  ['Select', () => [tf.ones([2, 2], 'bool'), x(), x()], 't', '[2, 2], [2, 3], [2, 3]'],
  ['SelectV2', () => [tf.ones([2], 'bool'), x(), x()], 't', '[2], [2, 3], [2, 3]'],
  ['SelectV2', () => [tf.ones([1], 'bool'), x(), ones(2, 2)], 't', '[1], [2, 3], [2, 2]'],
  ['OneHot', () => [ints(0, 1), scalar(-1), tf.scalar(1), tf.scalar(0)], 'depth', '-1'],
  ['OneHot', () => [ints(0, 1), scalar(2), tf.scalar(1), tf.scalar(0)], 'axis', '2', { axis: 2 }],
  ['OneHot', () => [ints(0, 1), scalar(2), tf.scalar(1), tf.scalar(0)], 'axis', '-2', { axis: -2 }],
  ['Transpose', () => [x(), ints(0, 1, 2)], 'perm', '[0, 1, 2]'],
  ['ReverseV2', () => [x(), ints(1, 1)], 'axis', '[1, 1]'],
  ['ReverseV2', () => [x(), ints(-3)], 'axis', '-3'],
  ['Tile', () => [x(), ints(2)], 'multiples', '[2]'],
  ['Tile', () => [x(), ints(1, 2, 3)], 'multiples', '[1, 2, 3]'],
  ['Split', () => [scalar(1), x()], 'num_split', '2', { num_split: 2 }],
  ['Split', () => [scalar(2), x()], 'axis', '2', { num_split: 1 }],
  ['SplitV', () => [x(), ints(-2, 5), scalar(1)], 'size_splits', '[-2, 5]'],
  ['SplitV', () => [x(), ints(1, 2), scalar(-3)], 'axis', '-3'],
  ['PadV2', () => [x(), tf.zeros([2, 3], 'int32'), tf.scalar(1)], 'paddings', '[[0, 0, 0]'],
  ['MirrorPad', () => [x(), tf.tensor2d([[0, 0], [0, 3]], [2, 2], 'int32')], 'paddings', '3', { mode: 'REFLECT' }], // prettier-ignore
  ['MatMul', () => [ones(3), ones(3, 2)], 'a', 'ranks 1 and 2'],
  ['BatchMatMulV2', () => [ones(2, 3), ones(3)], 'a', 'ranks 2 and 1'],
  ['MatMul', () => [x(), x()], 'b', '[2, 3]'],
  ['MatMul', () => [x(), ones(3, 2)], 'b', '[3, 2]', { transpose_a: true }],
  ['MatMul', () => [x(), ones(3, 2)], 'b', '[3, 2]', { transpose_b: true }],
  ['_FusedMatMul', () => [x(), ones(3, 2)], 'fused_ops', 'other', { fused_ops: ['Other'] }],
  ['_FusedMatMul', () => [x(), ones(3, 2)], 'fused_ops', 'tostring', { fused_ops: ['toString'] }],
  ['Einsum', () => [x(), x()], 'equation', 'ij,jk', einsum('ij,jk')],
  ['Einsum', () => [x()], 'equation', 'ij,jk->ik', einsum('ij,jk->ik')],
  ['Einsum', () => [x(), ones(3, 2)], 'equation', 'ij,jk->il', einsum('ij,jk->il')],
  ['Einsum', () => [x(), ones(3, 2)], 'equation', 'ij,jk->ii', einsum('ij,jk->ii')],
  ['Einsum', () => [x(), ones(2, 2)], 'inputs', '[2, 2]', einsum('ij,jk->ik')],
  ['Einsum', () => [x(), ones(3)], 'inputs', 'one of rank 1', einsum('ij,jk->ik')],
  ['Einsum', () => [ones(2), ones(3)], 'inputs', 'one of rank 1', einsum('ij...,j->i')],
  ['Sum', () => [x(), ints(2)], 'reduction_indices', '2'],
  ['Mean', () => [x(), ints(-3)], 'reduction_indices', '-3'],
  ['Max', () => [x(), ints(1, -1)], 'reduction_indices', '[1, 1]'],
  ['ArgMax', () => [x(), scalar(2)], 'axis', '2', types],
  ['ArgMin', () => [ones(2, 0), scalar(1)], 'input', '[2, 0]', types],
  ['Range', () => [scalar(0), scalar(3), scalar(0)], 'delta', '0'],
  ['Range', () => [scalar(3), scalar(0), scalar(1)], 'limit', '0'],
  ['Range', () => [scalar(0), scalar(3), scalar(-1)], 'limit', '3'],
  ['DenseBincount', () => [ints(1), scalar(-1), ones(0)], 'size', '-1'],
  ['DenseBincount', () => [ints(1, -2), scalar(3), ones(0)], 'input', '-2'],
  ['DenseBincount', () => [ints(1, 2), scalar(3), ones(3)], 'weights', '3'],
  ['StringToHashBucketFast', () => [tf.tensor1d(['a'])], 'num_buckets', '0', { num_buckets: 0 }],
  ['StringJoin', () => [tf.tensor1d(['a', 'b']), tf.tensor1d(['a'])], 'inputs', '[1]', { N: 2 }],
  ['CheckNumerics', () => [tf.tensor1d([1, Infinity])], 'CheckNumerics', 'Infinity: of x', { message: 'of x' }],
  ['ReverseSequence', () => [x(), ints(1, 4)], 'seq_lengths', '4', { seq_dim: 1, batch_dim: 0 }],
  ['ReverseSequence', () => [x(), ints(1)], 'seq_lengths', '[1]', { seq_dim: 1, batch_dim: 0 }],
  ['ReverseSequence', () => [x(), ints(1, 1)], 'seq_dim', '0', { seq_dim: 0, batch_dim: 0 }],
  ['SparseSoftmaxCrossEntropyWithLogits', () => [x(), ints(0, 3)], 'labels', '3'],
  ['SparseSoftmaxCrossEntropyWithLogits', () => [x(), ints(0)], 'labels', '[1]'],
  ['SoftmaxCrossEntropyWithLogits', () => [x(), ones(2, 2)], 'labels', '[2, 3], [2, 2]'],
  ['FakeQuantWithMinMaxArgs', () => [x()], 'max', '-7', { max: -7 }],
  ['FakeQuantWithMinMaxArgs', () => [x()], 'num_bits', '17', { num_bits: 17 }],
  ['FakeQuantWithMinMaxVarsPerChannel', () => [x(), ones(2), ones(3)], 'min', '[2]'],
  ['FusedBatchNormV3', () => [ones(1, 1, 2, 3), ones(2), ones(3), ones(3), ones(3)], 'scale', '[2]'],
  ['TopKV2', () => [x(), scalar(4)], 'k', '4'],
  ['Conv2D', () => [ones(1, 4, 4, 3), ones(2, 2, 2, 4)], 'filter', '[2, 2, 2, 4]', { strides: [1, 1, 1, 1], padding: 'SAME' }], // prettier-ignore
  ['Conv2D', () => [ones(1, 4, 4, 3), ones(5, 2, 3, 4)], 'input', '[1, 4, 4, 3]', { strides: [1, 1, 1, 1], padding: 'VALID' }], // prettier-ignore
  ['Conv2D', () => [ones(1, 4, 4, 3), ones(2, 2, 3, 4)], 'strides', '[2, 1, 1, 1]', { strides: [2, 1, 1, 1], padding: 'SAME' }], // prettier-ignore
  ['MaxPool', () => [ones(1, 4, 4, 3)], 'padding', 'explicit', { strides: [1, 1, 1, 1], ksize: [1, 2, 2, 1], padding: 'EXPLICIT' }], // prettier-ignore
  ['SpaceToDepth', () => [ones(1, 4, 3, 1)], 'block_size', '2', { block_size: 2 }],
];

/** What is at the edge, with the shape of what comes. */
const TAKEN: readonly (readonly [op: string, inputs: Inputs, shape: number[], attrs?: object])[] = [
  ['MatrixBandPart', () => [x(), scalar(2), scalar(3)], [2, 3]],
  ['MatrixBandPart', () => [x(), scalar(-1), scalar(-1)], [2, 3]],
  ['Pow', () => [ints(1, 2), ints(1, 0)], [2]],
  ['Cumsum', () => [x(), scalar(-2)], [2, 3]],
  ['Gather', () => [x(), ints(0, 1)], [2, 3]],
  ['GatherNd', () => [x(), tf.zeros([1, 2], 'int32')], [1]],
  ['GatherNd', () => [x(), tf.zeros([4, 0], 'int32')], [4, 2, 3]],
  ['BroadcastTo', () => [x(), ints(4, 2, 3)], [4, 2, 3]],
  ['BroadcastTo', () => [ones(2, 1), ints(2, 0)], [2, 0]],
  ['BroadcastTo', () => [tf.scalar(1), ints()], []],
  ['OneHot', () => [ints(0, 1), scalar(0), tf.scalar(1), tf.scalar(0)], [2, 0]],
  ['OneHot', () => [ints(0, 1), scalar(3), tf.scalar(1), tf.scalar(0)], [3, 2], { axis: 0 }],
  ['OneHot', () => [ints(0, 1), scalar(3), tf.scalar(1), tf.scalar(0)], [2, 3], { axis: 1 }],
  ['ReverseV2', () => [x(), ints()], [2, 3]],
  ['Tile', () => [x(), ints(2, 0)], [4, 0]],
  ['Range', () => [scalar(3), scalar(3), scalar(1)], [0]],
  ['Range', () => [scalar(3), scalar(3), scalar(-1)], [0]],
  ['DenseBincount', () => [ints(1, 9), scalar(0), ones(0)], [0]],
  ['DenseBincount', () => [ints(0, 2), scalar(3), ones(2)], [3]],
  ['Sum', () => [x(), ints(-2)], [3]],
  ['ArgMax', () => [ones(0, 2), scalar(1)], [0], types],
];

describeForBackends('Mended ops of graphs', () => {
  const run = (op: string, inputs: Inputs, attrs: object): tf.Tensor[] => {
    const raw = Object.entries({ T: 'DT_FLOAT', ...attrs }).map(([name, value]) => {
      return [name, String(value).startsWith('DT_') ? { type: value } : { s: btoa(String(value)) }];
    });
    const rawAttrs = Object.fromEntries(raw) as object;
    const node = { name: op, op, inputs: [], attrs, node: { name: op, rawAttrs } } as unknown as tf.GraphNode;
    return GRAPH_OPS.get(op)!.run(inputs() as tf.Tensor[], node) as tf.Tensor[];
  };

  for (const [op, inputs, argument, received, attrs = {}] of REFUSED) {
    it(`refuse ${argument} ${received}: ${op}`, () =>
      tf.tidy(() => expectError(() => run(op, inputs, attrs), 'ValueError', argument, received)));
  }

  for (const [op, inputs, shape, attrs = {}] of TAKEN) {
    it(`give [${shape.join(', ')}]: ${op}`, () =>
      tf.tidy(() => {
        expect(run(op, inputs, attrs)[0]!.shape).toEqual(shape);
      }));
  }

  it('refuse texts where numbers are', () => {
    tf.tidy(() => {
      expectError(() => run('Where', () => [tf.tensor1d(['a'])], {}), 'TypeError', 'input');
      expectError(
        () => run('Cast', () => [tf.tensor1d(['a'])], { SrcT: 'DT_STRING', DstT: 'DT_FLOAT' }),
        'TypeError',
        'x',
      );
    });
  });
});
