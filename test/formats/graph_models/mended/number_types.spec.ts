/** Sums and products of types that tfjs lacks: what the numbers are there, or an error that names the node. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { describeForBackends } from '../../../helpers/backends.js';
import { expectNoLeakAsync } from '../../../helpers/tensors.js';
import { FLOAT, INT32, execute, loadGraph, placeholder, text } from '../small_graph.js';

interface Row {
  readonly op: string;
  readonly attr?: object;
  /** What the op takes: the numbers in their places, and its other inputs. */
  readonly inputs: (numbers: number[], dtype: 'int32' | 'float32') => tf.Tensor[];
  /** What it gives, without an end to numbers. */
  readonly exact: (...numbers: bigint[]) => bigint[];
  /** Whole numbers whose result is beyond int32. */
  readonly wide: readonly number[];
  /** Whole numbers of uint8, whose result is beyond. */
  readonly bytes?: readonly number[];
  /** Floats, and their result as halves, which are 2 apart from 2048 to 4096. */
  readonly halves?: readonly [given: readonly number[], results: readonly number[]];
}

const ids = (...values: number[]): tf.Tensor => tf.tensor1d(values, 'int32');
const places = (): tf.Tensor => tf.tensor2d([0, 0], [2, 1], 'int32');
const pair: Row['inputs'] = (numbers, dtype) => numbers.map((each) => tf.tensor1d([each], dtype));
const vector: Row['inputs'] = (numbers, dtype) => [tf.tensor1d(numbers, dtype)];
const rowAndColumn: Row['inputs'] = ([a, b, c, d], dtype) => [
  tf.tensor2d([a!, b!], [1, 2], dtype),
  tf.tensor2d([c!, d!], [2, 1], dtype),
];
const behind =
  (inputs: Row['inputs'], ...others: (() => tf.Tensor)[]): Row['inputs'] =>
  (numbers, dtype) => [...inputs(numbers, dtype), ...others.map((make) => make())];

const sum = (...numbers: bigint[]): bigint[] => [numbers.reduce((a, b) => a + b)];
const product = (...numbers: bigint[]): bigint[] => [numbers.reduce((a, b) => a * b)];
const difference = (a: bigint, b: bigint): bigint[] => [a - b];
const inner = (a: bigint, b: bigint, c: bigint, d: bigint): bigint[] => [a * c + b * d];

const SUMS = {
  exact: sum,
  wide: [2_000_000_000, 2_000_000_001],
  bytes: [200, 100],
  halves: [[2048, 1], [2048]],
} as const;
const PRODUCTS = {
  exact: product,
  wide: [2_147_483_647, 2_147_483_647],
  bytes: [20, 19],
  halves: [[683, 3], [2048]],
} as const;
const INNER = {
  exact: inner,
  wide: [2_147_483_647, 3, 2_147_483_647, 5],
  bytes: [20, 3, 15, 9],
  halves: [[64, 1, 32, 1], [2048]],
} as const;
const QUOTIENTS = { exact: (a: bigint, b: bigint) => [a / b], wide: [-2_147_483_648, -1] } as const;

const ROWS: readonly Row[] = [
  ...['Add', 'AddV2'].map((op) => ({ op, inputs: pair, ...SUMS })),
  { op: 'AddN', attr: { N: { i: '2' } }, inputs: pair, ...SUMS },
  { op: 'Sum', inputs: behind(vector, () => ids(0)), ...SUMS },
  {
    op: 'Cumsum',
    inputs: behind(vector, () => tf.scalar(0, 'int32')),
    ...SUMS,
    exact: (a, b) => [a, a + b],
    halves: [
      [2048, 1],
      [2048, 2048],
    ],
  },
  { op: 'SegmentSum', inputs: behind(vector, () => ids(0, 0)), ...SUMS },
  {
    op: 'UnsortedSegmentSum',
    inputs: behind(
      vector,
      () => ids(0, 0),
      () => tf.scalar(1, 'int32'),
    ),
    ...SUMS,
  },
  {
    op: 'SparseSegmentSum',
    inputs: behind(
      vector,
      () => ids(0, 1),
      () => ids(0, 0),
    ),
    ...SUMS,
  },
  {
    op: 'SparseSegmentSumWithNumSegments',
    inputs: behind(
      vector,
      () => ids(0, 1),
      () => ids(0, 0),
      () => tf.scalar(1, 'int32'),
    ),
    ...SUMS,
  },
  { op: 'ScatterNd', inputs: (numbers, dtype) => [places(), tf.tensor1d(numbers, dtype), ids(1)], ...SUMS },
  {
    op: 'TensorScatterAdd',
    inputs: ([a, b], dtype) => [tf.tensor1d([a!], dtype), tf.tensor2d([0], [1, 1], 'int32'), tf.tensor1d([b!], dtype)],
    ...SUMS,
  },
  {
    op: 'DenseBincount',
    inputs: (numbers, dtype) => [ids(0, 0), tf.scalar(1, 'int32'), tf.tensor1d(numbers, dtype)],
    exact: sum,
    wide: SUMS.wide,
  },
  {
    op: 'Sub',
    inputs: pair,
    exact: difference,
    wide: [-2_000_000_000, 2_000_000_000],
    bytes: [3, 5],
    halves: [[2050, 1], [2048]],
  },
  {
    op: 'TensorScatterSub',
    inputs: ([a, b], dtype) => [tf.tensor1d([a!], dtype), tf.tensor2d([0], [1, 1], 'int32'), tf.tensor1d([b!], dtype)],
    exact: difference,
    wide: [-2_000_000_000, 2_000_000_000],
    bytes: [3, 5],
    halves: [[2050, 1], [2048]],
  },
  { op: 'Neg', inputs: vector, exact: (a) => [-a], wide: [-2_147_483_648], bytes: [5], halves: [[2049], [-2048]] },
  { op: 'Mul', inputs: pair, ...PRODUCTS },
  { op: 'Prod', inputs: behind(vector, () => ids(0)), ...PRODUCTS },
  {
    op: 'Cumprod',
    inputs: behind(vector, () => tf.scalar(0, 'int32')),
    ...PRODUCTS,
    exact: (a, b) => [a, a * b],
    halves: [
      [683, 3],
      [683, 2048],
    ],
  },
  { op: 'SegmentProd', inputs: behind(vector, () => ids(0, 0)), ...PRODUCTS },
  {
    op: 'UnsortedSegmentProd',
    inputs: behind(
      vector,
      () => ids(0, 0),
      () => tf.scalar(1, 'int32'),
    ),
    ...PRODUCTS,
  },
  { op: 'Square', inputs: vector, exact: (a) => [a * a], wide: [2_147_483_647], bytes: [20], halves: [[47], [2208]] },
  {
    op: 'SquaredDifference',
    inputs: pair,
    exact: (a, b) => [(a - b) ** 2n],
    wide: [2_147_483_647, 2],
    bytes: [25, 5],
    halves: [[50, 3], [2208]],
  },
  { op: 'Pow', inputs: pair, exact: (a, b) => [a ** b], wide: [1_291, 3], bytes: [20, 2], halves: [[47, 2], [2208]] },
  { op: 'LeftShift', inputs: pair, exact: (a, b) => [a << b], wide: [3, 31], bytes: [200, 3] },
  ...['MatMul', 'BatchMatMul', 'BatchMatMulV2'].map((op) => ({ op, inputs: rowAndColumn, ...INNER })),
  { op: 'Einsum', attr: { N: { i: '2' }, equation: text('ij,jk->ik') }, inputs: rowAndColumn, ...INNER },
  {
    op: 'SparseTensorDenseMatMul',
    inputs: ([a, b, c, d], dtype) => [
      tf.tensor2d([0, 0, 0, 1], [2, 2], 'int32'),
      tf.tensor1d([a!, b!], dtype),
      ids(1, 2),
      tf.tensor2d([c!, d!], [2, 1], dtype),
    ],
    ...INNER,
  },
  ...['Div', 'TruncateDiv', 'FloorDiv'].map((op) => ({ op, inputs: pair, ...QUOTIENTS })),
];

describeForBackends(
  'numbers of types that tfjs lacks',
  () => {
    beforeAll(() => void emb.converter.registerOps());

    /** What a graph of the op alone gives for a type. */
    async function run({ op, attr, inputs }: Row, numbers: readonly number[], type: string): Promise<number[]> {
      const dtype = /FLOAT|HALF/.test(type) ? 'float32' : 'int32';
      const given = inputs([...numbers], dtype);
      const nodes = given.map((each, i) => placeholder(`x${i}`, each.dtype === 'float32' ? FLOAT : INT32));
      const node = { name: 'judged', op, input: nodes.map(({ name }) => name), attr: { T: { type }, ...attr } };
      const model = await loadGraph([...nodes, node]);
      try {
        return execute(model, Object.fromEntries(given.map((each, i) => [`x${i}`, each])), 'judged')[0]!;
      } finally {
        model.dispose();
      }
    }

    const exactly = ({ exact }: Row, numbers: readonly number[]): bigint[] => exact(...numbers.map(BigInt));

    for (const row of ROWS) {
      it(`${row.op}: 64 bits fit int32 or are refused, 32 wrap`, async () => {
        await expectNoLeakAsync(async () => {
          const wrapped = exactly(row, row.wide).map((value) => Number(BigInt.asIntN(32, value)));
          if (row.op.endsWith('Div')) {
            await expectAsync(run(row, [7, -2], 'DT_INT64')).toBeResolvedTo([row.op === 'FloorDiv' ? -4 : -3]);
          } else {
            const small = row.wide.map((_, i) => i + 2);
            await expectAsync(run(row, small, 'DT_INT64')).toBeResolvedTo(exactly(row, small).map(Number));
            await expectAsync(run(row, row.wide, 'DT_INT32')).toBeResolvedTo(wrapped);
          }
          for (const type of ['DT_INT64', 'DT_UINT32', 'DT_UINT64']) {
            const named = new RegExp(`^\`judged\`: expected results of ${type} that fit int32.*received about -?\\d`);
            await expectAsync(run(row, row.wide, type)).toBeRejectedWithError(emb.ValueError, named);
          }
        });
      });

      if (row.bytes !== undefined) {
        it(`${row.op}: 8 bits wrap`, async () => {
          const results = exactly(row, row.bytes!);
          const bytes = results.map((value) => Number(BigInt.asUintN(8, value)));
          await expectAsync(run(row, row.bytes!, 'DT_UINT8')).toBeResolvedTo(bytes);
          const signed = results.map((value) => Number(BigInt.asIntN(8, value)));
          await expectAsync(run(row, row.bytes!, 'DT_INT8')).toBeResolvedTo(signed);
        });
      }

      if (row.halves !== undefined) {
        it(`${row.op}: halves are rounded`, async () => {
          const [given, results] = row.halves!;
          await expectAsync(run(row, given, 'DT_HALF')).toBeResolvedTo([...results]);
        });
      }
    }

    const rowOf = (op: string): Row => ROWS.find((row) => row.op === op)!;

    it('wrap at 16 bits as at 8', async () => {
      await expectAsync(run(rowOf('Add'), [30_000, 30_000], 'DT_INT16')).toBeResolvedTo([-5536]);
      await expectAsync(run(rowOf('Mul'), [300, 300], 'DT_UINT16')).toBeResolvedTo([24_464]);
    });

    it('keep the bits of bfloat16, and those of float32 as they are', async () => {
      await expectAsync(run(rowOf('Add'), [256, 1], 'DT_BFLOAT16')).toBeResolvedTo([256]);
      await expectAsync(run(rowOf('Add'), [256, 3], 'DT_BFLOAT16')).toBeResolvedTo([260]);
      await expectAsync(run(rowOf('Add'), [2048, 1], 'DT_FLOAT')).toBeResolvedTo([2049]);
    });

    it('without a sign are refused below 0, where TensorFlow has large numbers', async () => {
      for (const type of ['DT_UINT32', 'DT_UINT64']) {
        const refused = expectAsync(run(rowOf('Sub'), [3, 5], type));
        await refused.toBeRejectedWithError(emb.ValueError, /^`judged`: .*received about -2\.$/);
      }
      await expectAsync(run(rowOf('Sub'), [3, 5], 'DT_INT64')).toBeResolvedTo([-2]);
    });

    const unary = { inputs: vector, exact: sum, wide: [] };

    it('are inverted within their bits', async () => {
      const invert = { op: 'Invert', ...unary };
      await expectAsync(run(invert, [5, 250], 'DT_UINT8')).toBeResolvedTo([250, 5]);
      await expectAsync(run(invert, [5, -6], 'DT_INT8')).toBeResolvedTo([-6, 5]);
      await expectAsync(run(invert, [5, -6], 'DT_INT64')).toBeResolvedTo([-6, 5]);
      await expectAsync(run(invert, [5], 'DT_UINT32')).toBeRejectedWithError(emb.ValueError, /^`judged`/);
    });

    // As TensorFlow 2.21: 1 << 10 and 3 << 7, 255 >> 10 and 200 >> 9, -5 >> 20 and 200 >> 17.
    it('are shifted by one bit less than they have at most', async () => {
      const [left, right] = ['LeftShift', 'RightShift'].map((op) => ({ ...unary, op, inputs: pair }));
      await expectAsync(run(left!, [1, 10], 'DT_INT8')).toBeResolvedTo([-128]);
      await expectAsync(run(left!, [3, 7], 'DT_UINT8')).toBeResolvedTo([128]);
      await expectAsync(run(left!, [1, 40], 'DT_INT32')).toBeResolvedTo([-2_147_483_648]);
      await expectAsync(run(left!, [1, -2], 'DT_INT32')).toBeResolvedTo([1]);
      await expectAsync(run(right!, [255, 10], 'DT_UINT8')).toBeResolvedTo([1]);
      await expectAsync(run(right!, [-5, 20], 'DT_INT16')).toBeResolvedTo([-1]);
      await expectAsync(run(right!, [200, 17], 'DT_INT16')).toBeResolvedTo([0]);
    });

    it('are multiplied along an axis, backwards and without themselves, and keep the lower 32 bits', async () => {
      const [a, b] = [2_147_483_647, 1_234_567];
      const inputs: Row['inputs'] = (numbers) => [tf.tensor2d(numbers, [3, 2], 'int32'), tf.scalar(0, 'int32')];
      const attr = { exclusive: { b: true }, reverse: { b: true } };
      const row = { op: 'Cumprod', attr, inputs, exact: sum, wide: [] };
      const last = Number(BigInt.asIntN(32, BigInt(a) * BigInt(b)));
      await expectAsync(run(row, [9, 8, b, 7, a, 5], 'DT_INT32')).toBeResolvedTo([last, 35, a, 5, 1, 1]);
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
