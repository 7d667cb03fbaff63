/** Ops that cross columns: for each row all combinations of a value of each, as one text or as the number of a bucket. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { fingerprint64, joinedFingerprint } from '../../preprocessing/hashes/farm_hash.js';
import { textAttribute, wholeAttribute } from '../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from './graph_op.js';
import { checkRank, int32Vector, integers, readValues, type HostArray } from './host_array.js';

/** Values of a row are those from one place to another. */
interface Column {
  readonly name: string;
  readonly rows: number;
  readonly values: HostArray;
  readonly splits: ArrayLike<number>;
}

function hostOf(tensor: tf.Tensor, name: string): HostArray {
  const { dtype, shape } = tensor;
  if (dtype !== 'string' && dtype !== 'int32') throw new ArgumentTypeError(name, 'strings or whole numbers', tensor);
  return { dtype, shape, values: readValues(tf.backend(), tensor, name) };
}

function denseColumn(tensor: tf.Tensor, name: string): Column {
  const values = hostOf(tensor, name);
  checkRank(values, 2, name);
  const [rows, width] = tensor.shape as [number, number];
  return { name, rows, values, splits: Int32Array.from({ length: rows + 1 }, (_, row) => row * width) };
}

function sparseColumn(indices: tf.Tensor, values: tf.Tensor, shape: tf.Tensor, names: readonly string[]): Column {
  const [at, size] = [hostOf(indices, names[0]!), hostOf(shape, names[2]!)];
  const own = hostOf(values, names[1]!);
  checkRank(at, 2, names[0]!);
  checkRank(own, 1, names[1]!);
  if (own.shape[0] !== at.shape[0]) {
    throw new ValueError(names[1]!, `${at.shape[0]} values, one per index`, described(`${own.shape[0]}`));
  }
  if (size.shape.length !== 1 || size.shape[0] !== 2 || at.shape[1] !== 2) {
    throw new ValueError(names[2]!, 'sizes of a matrix', described(`shape [${size.shape.join(', ')}]`));
  }
  const places = integers(at, names[0]!);
  const rows = integers(size, names[2]!)[0]!;
  const splits = new Int32Array(rows + 1);
  for (let i = 0; i < own.shape[0]!; i++) {
    const row = places[2 * i]!;
    const least = i === 0 ? 0 : places[2 * i - 2]!;
    if (row < least || row >= rows) throw new ValueError(names[0]!, `rows in order, in [${least}, ${rows})`, row);
    splits[row + 1]!++;
  }
  for (let row = 0; row < rows; row++) splits[row + 1]! += splits[row]!;
  return { name: names[0]!, rows, values: own, splits };
}

function raggedColumn(values: tf.Tensor, rowSplits: tf.Tensor, names: readonly string[]): Column {
  const [own, given] = [hostOf(values, names[0]!), hostOf(rowSplits, names[1]!)];
  checkRank(own, 1, names[0]!);
  checkRank(given, 1, names[1]!);
  const splits = integers(given, names[1]!);
  const isOrdered = splits.every((split, i) => (i === 0 ? split === 0 : split >= splits[i - 1]!));
  if (splits.length === 0 || !isOrdered || splits[splits.length - 1] !== own.shape[0]) {
    throw new ValueError(names[1]!, `row splits from 0 to ${own.shape[0]} that never fall`, Array.from(splits));
  }
  return { name: names[1]!, rows: splits.length - 1, values: own, splits };
}

const SEPARATOR = new TextEncoder().encode('_X_');
const encoder = new TextEncoder();

const textOf = ({ values }: HostArray, at: number): Uint8Array =>
  Array.isArray(values) ? values[at]! : encoder.encode(`${values[at]}`);

/** A value of a column: its text, or its hash. */
type Part = Uint8Array | bigint;

/** What crossed values are: of a value of each column, and of all of them as an output. */
interface Crosser {
  readonly of: (column: HostArray, at: number) => Part;
  readonly join: (parts: readonly Part[]) => Uint8Array | number;
  readonly dtype: 'string' | 'int32';
}

const textCrosser = (separator: Uint8Array): Crosser => ({
  of: textOf,
  join: (parts) =>
    Uint8Array.from((parts as Uint8Array[]).flatMap((part, i) => [...(i === 0 ? [] : separator), ...part])),
  dtype: 'string',
});

const hashCrosser = (key: bigint, buckets: bigint): Crosser => ({
  of: ({ values }, at) =>
    Array.isArray(values) ? fingerprint64(values[at]!) : BigInt.asUintN(64, BigInt(values[at]!)),
  join: (parts) => Number((parts as bigint[]).reduce(joinedFingerprint, BigInt.asUintN(64, key)) % buckets),
  dtype: 'int32',
});

/** The crossed values of all rows, one after the other, and how many each row has. */
function crossed(columns: readonly Column[], { of, join }: Crosser): [(Uint8Array | number)[], number[]] {
  const [first] = columns;
  if (first === undefined) throw new ValueError('dense_inputs', 'at least one column', described('none'));
  const other = columns.find(({ rows }) => rows !== first.rows);
  if (other !== undefined) throw new ValueError(other.name, `${first.rows} rows, as the first column`, other.rows);
  const results: (Uint8Array | number)[] = [];
  const counts = Array.from({ length: first.rows }, (_, row) => {
    const lists = columns.map(({ values, splits }) =>
      Array.from({ length: splits[row + 1]! - splits[row]! }, (_unused, i) => of(values, splits[row]! + i)),
    );
    // The last column changes fastest.
    const combinations = lists.reduce<Part[][]>(
      (all, list) => all.flatMap((parts) => list.map((part) => [...parts, part])),
      [[]],
    );
    results.push(...combinations.map(join));
    return combinations.length;
  });
  return [results, counts];
}

function valuesOf(results: readonly (Uint8Array | number)[], { dtype }: Crosser): tf.Tensor {
  const values = dtype === 'string' ? results : int32Vector(results as number[], 'num_buckets').values;
  return tf.engine().makeTensor(values as unknown as tf.DataValues, [results.length], dtype) as tf.Tensor;
}

/** Bucket numbers, or texts. */
function crosserOf(node: tf.GraphNode): Crosser {
  if (node.attrs['hashed_output'] !== true) return textCrosser(SEPARATOR);
  const buckets = wholeAttribute(node, 'num_buckets');
  return hashCrosser(wholeAttribute(node, 'hash_key'), buckets > 0n ? buckets : 2n ** 63n - 1n);
}

/** Tensors of the argument that stands after so many others. */
const lengthOf = (node: tf.GraphNode, types: string): number =>
  (node.attrs[types] as string[] | undefined)?.length ?? 0;

function sparseCross(inputs: tf.Tensor[], node: tf.GraphNode, crosser: Crosser): tf.Tensor[] {
  const count = lengthOf(node, 'sparse_types');
  const sparse = Array.from({ length: count }, (_, i) =>
    sparseColumn(inputs[i]!, inputs[count + i]!, inputs[2 * count + i]!, [
      `indices[${i}]`,
      `values[${i}]`,
      `shapes[${i}]`,
    ]),
  );
  const dense = inputs
    .slice(3 * count, 3 * count + lengthOf(node, 'dense_types'))
    .map((each, i) => denseColumn(each, `dense_inputs[${i}]`));
  const [results, counts] = crossed([...sparse, ...dense], crosser);
  const places = counts.flatMap((own, row) => Array.from({ length: own }, (_, at) => [row, at]).flat());
  return [
    tf.tensor2d(places, [results.length, 2], 'int32'),
    valuesOf(results, crosser),
    tf.tensor1d([counts.length, Math.max(0, ...counts)], 'int32'),
  ];
}

function raggedCross(inputs: tf.Tensor[], node: tf.GraphNode): tf.Tensor[] {
  const [ragged, sparse] = [lengthOf(node, 'ragged_values_types'), lengthOf(node, 'sparse_values_types')];
  const after = 2 * ragged;
  // By the letters of `input_order`.
  const columns: Readonly<Record<string, Column[]>> = {
    R: Array.from({ length: ragged }, (_, i) =>
      raggedColumn(inputs[i]!, inputs[ragged + i]!, [`ragged_values[${i}]`, `ragged_row_splits[${i}]`]),
    ),
    S: Array.from({ length: sparse }, (_, i) =>
      sparseColumn(inputs[after + i]!, inputs[after + sparse + i]!, inputs[after + 2 * sparse + i]!, [
        `sparse_indices[${i}]`,
        `sparse_values[${i}]`,
        `sparse_shape[${i}]`,
      ]),
    ),
    D: inputs.slice(after + 3 * sparse).map((each, i) => denseColumn(each, `dense_inputs[${i}]`)),
  };
  const order = textAttribute(node, 'input_order');
  const inOrder = [...order].map((letter) => columns[letter]?.shift());
  if (inOrder.includes(undefined) || Object.values(columns).some(({ length }) => length > 0)) {
    throw new ValueError('input_order', 'R, S or D for each column', order);
  }
  const crosser = crosserOf(node);
  const [results, counts] = crossed(inOrder as Column[], crosser);
  let end = 0;
  const splits = [0, ...counts.map((own) => (end += own))];
  return [valuesOf(results, crosser), tf.tensor1d(splits, 'int32')];
}

const SPARSE_INPUTS =
  'indices: int64 * sparse_types, values: sparse_types * sparse_types, shapes: int64 * sparse_types, ' +
  'dense_inputs: dense_types * dense_types';
const SPARSE_OUTPUTS = 'output_indices: int64, output_values: out_type, output_shape: int64';

export const CROSS_OPS: readonly GraphOp[] = [
  graphOp(`SparseCross(${SPARSE_INPUTS}) -> ${SPARSE_OUTPUTS}`, (inputs, node) =>
    sparseCross(inputs, node, crosserOf(node)),
  ),
  graphOp(`SparseCrossV2(${SPARSE_INPUTS}, sep: string) -> ${SPARSE_OUTPUTS}`, (inputs, node) => {
    const separator = (readValues(tf.backend(), inputs.at(-1)!, 'sep') as Uint8Array[])[0]!;
    return sparseCross(inputs, node, textCrosser(separator));
  }),
  graphOp(
    'RaggedCross(ragged_values: ragged_values_types * ragged_values_types, ' +
      'ragged_row_splits: ragged_splits_types * ragged_splits_types, sparse_indices: int64 * sparse_values_types, ' +
      'sparse_values: sparse_values_types * sparse_values_types, sparse_shape: int64 * sparse_values_types, ' +
      'dense_inputs: dense_types * dense_types) -> output_values: out_values_type, output_row_splits: out_row_splits_type',
    raggedCross,
  ),
];
