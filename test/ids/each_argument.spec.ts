/** Every argument of ragged tensors and of functions on sparse ones, right and odd. */
import * as tf from '@tensorflow/tfjs';
import { RaggedTensor, sparse } from '../../src/index.js';
import { itTreatsEachArgument, type Call } from '../helpers/each_argument.js';

type Args = Record<string, unknown>;

/** A function of arguments by position. */
function called(run: (...given: never[]) => unknown, args: () => Args): Call {
  const places = Object.keys(args());
  return { args, run: (given: Args) => run(...(places.map((name) => given[name]) as never[])) };
}

/** A function of one argument and an object of options. */
function withOptions(run: (first: never, options: never) => unknown, first: string, args: () => Args): Call {
  return {
    args,
    run: ({ [first]: given, ...options }: Args) => run(given as never, options as never),
  };
}

const { fromRowSplits, fromNestedRowSplits, fromRowLengths, fromValueRowIds } = RaggedTensor;
const { fromRowStarts, fromRowLimits, fromUniformRowLength } = RaggedTensor;
const all = (result: RaggedTensor): object => ({ rows: result.toRows(), shape: result.shape, dtype: result.dtype });
const values = (): number[] => [1, 2, 3, 4, 5, 6];
const rows = (): RaggedTensor => RaggedTensor.fromRows([[1, 2], [], [3]]);
const entries = (): Args => ({ indices: [[0, 0], [0, 1], [2, 0]], values: [3, 1, 4], denseShape: [3, 2] }); // prettier-ignore

itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
  fromRowSplits: called(
    (...given) => all(fromRowSplits.call(RaggedTensor, ...(given as unknown as Parameters<typeof fromRowSplits>))),
    () => ({ values: values(), rowSplits: [0, 2, 2, 3], innerShape: [2] }),
  ),
  fromNestedRowSplits: called(
    (given, splits, inner) => all(fromNestedRowSplits.call(RaggedTensor, given, splits, inner)),
    () => ({ values: values(), nestedRowSplits: [[0, 2], [0, 1, 3]], innerShape: [2] }), // prettier-ignore
  ),
  fromRowLengths: called(
    (given, lengths, inner) => all(fromRowLengths.call(RaggedTensor, given, lengths, inner)),
    () => ({ values: values(), lengths: [2, 0, 1], innerShape: [2] }),
  ),
  fromValueRowIds: called(
    (given, ids, count, inner) => all(fromValueRowIds.call(RaggedTensor, given, ids, count, inner)),
    () => ({ values: values(), valueRowIds: [0, 0, 2], rows: 4, innerShape: [2] }),
  ),
  fromRowStarts: called(
    (given, starts, inner) => all(fromRowStarts.call(RaggedTensor, given, starts, inner)),
    () => ({ values: values(), rowStarts: [0, 2, 2], innerShape: [2] }),
  ),
  fromRowLimits: called(
    (given, limits, inner) => all(fromRowLimits.call(RaggedTensor, given, limits, inner)),
    () => ({ values: values(), rowLimits: [2, 2, 3], innerShape: [2] }),
  ),
  fromUniformRowLength: called(
    (given, length, count, inner) => all(fromUniformRowLength.call(RaggedTensor, given, length, count, inner)),
    () => ({ values: values(), rowLength: 3, rows: 1, innerShape: [2] }),
  ),
  'fromUniformRowLength of empty rows': called(
    (given, length, count) => all(fromUniformRowLength.call(RaggedTensor, given, length, count)),
    () => ({ values: [], rowLength: 0, rows: 3 }),
  ),
  fromRows: withOptions((given, options) => all(RaggedTensor.fromRows(given, options)), 'rows', () => ({
    rows: [[1, 2], [], [3]],
    dtype: 'float32',
  })), // prettier-ignore
  fromPadded: withOptions((given, options) => all(RaggedTensor.fromPadded(given, options)), 'padded', () => ({
    padded: tf.tensor2d([[1, -1], [2, 3], [-1, -1]], [3, 2], 'int32'),
    padding: -1,
  })), // prettier-ignore
  'fromPadded by lengths': withOptions((given, options) => all(RaggedTensor.fromPadded(given, options)), 'padded', () => ({
    padded: [[1, 9], [2, 3], [9, 9]],
    lengths: [1, 2, 0],
  })), // prettier-ignore
  fromSparse: {
    args: () => ({ ...entries(), dtype: 'float32' }),
    run: ({ dtype, ...of }: Args) => all(RaggedTensor.fromSparse(of as never, { dtype } as never)),
  },
  'sparse.reorder': {
    args: () => ({ indices: [[2, 0], [0, 1], [0, 0]], values: [3, 1, 4], denseShape: [3, 2] }), // prettier-ignore
    run: (of: Args) => sparse.reorder(of as never),
  },
  concat: called(
    (tensors, axis) => all(RaggedTensor.concat(tensors, axis)),
    () => ({ tensors: [rows(), rows()], axis: 1 }),
  ),
  stack: called((tensors) => all(RaggedTensor.stack(tensors)), () => ({ tensors: [rows(), rows()] })), // prettier-ignore
  gather: called((places) => all(rows().gather(places)), () => ({ rows: [2, 0] })), // prettier-ignore
  slice: called((start, end) => all(rows().slice(start, end)), () => ({ start: 1, end: 3 })), // prettier-ignore
  booleanMask: called((mask) => all(rows().booleanMask(mask)), () => ({ mask: [true, false, true] })), // prettier-ignore
  map: withOptions((f, options) => all(rows().map(f, options)), 'f', () => ({
    f: (value: number, place: number) => value + place,
    dtype: 'float32',
  })), // prettier-ignore
  toPadded: {
    args: () => ({ defaultValue: -2, maxLength: 3 }),
    run: (options: Args) => rows().toPadded(options as never),
  },
  hasSplitsOf: called((other) => rows().hasSplitsOf(other), () => ({ other: rows() })), // prettier-ignore
});
