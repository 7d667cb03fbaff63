/** The one door for ids: whatever form they come in, below it they are flat values, row splits and weights. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { readNestedRows, type NestedRows } from './nested_rows.js';
import { RaggedTensor } from './ragged_tensor.js';
import { readRowPair, type RowPair, type RowPairInput } from './row_pair.js';
import { uniformSplits, sharedUniformSplits } from './row_splits.js';
import { isSparse, readSparse, type SparseInput, type SparsePlaces } from './sparse_values.js';
import { checkTensor, isTypedArray, readTensor, type NumericArray } from './values.js';
import { readWeights, type WeightsInput } from './weights.js';
import { toInt32 } from './whole_ids.js';

export type { SparseInput } from './sparse_values.js';
export type { WeightsInput } from './weights.js';

/** A typed array of whole numbers. */
type IdArray = Int32Array | Float32Array | NumericArray;

/** Ids whose rows may have different lengths. */
export type RaggedIds = RaggedTensor | RowPairInput;

/** Ids of even shape. Nested arrays are dense where they are even, else ragged: types cannot tell. */
export type DenseIds = tf.Tensor | number | readonly number[] | IdArray;

/** Ids as callers give them. */
export type IdsInput = DenseIds | NestedRows | RaggedIds | SparseInput;

/** Ids and weights of a batch, checked. */
export interface IdBatch {
  readonly kind: 'dense' | 'ragged' | 'sparse';
  /** int32, row-major, `nnz` of them. An int32 tensor is handed through as it came, with its own shape, unread. */
  readonly values: Int32Array | tf.Tensor;
  /** Of the innermost axis, [bags + 1]; null for dense ids of rank 0 and 1, which have no bags. */
  readonly rowSplits: Int32Array | null;
  /** float32, one per id; a tensor is handed through so that gradients flow. */
  readonly weights: Float32Array | tf.Tensor | null;
  /** With a combiner the result has the shape [...batchShape, dim]; for nested ragged ids: [innermost rows]. */
  readonly batchShape: readonly number[];
  /** Shape of dense ids, else null. */
  readonly idsShape: readonly number[] | null;
  /** Splits of every ragged axis, outermost first; null for ids that are not ragged. */
  readonly nestedRowSplits: readonly Int32Array[] | null;
  /** Ragged ids, else null. */
  readonly ragged: RaggedTensor | null;
  /** Where the values of sparse ids lie, else null. */
  readonly places: SparsePlaces | null;
}

/** What arguments are called in errors. */
export interface ArgumentNames {
  readonly ids: string;
  readonly weights: string;
}

const NAMES: ArgumentNames = { ids: 'ids', weights: 'weights' };
const EXPECTED = 'a tensor, nested arrays, a typed array, a RaggedTensor, {values, rowSplits} or sparse ids';

/** Ids without their weights. */
type IdsOnly = Omit<IdBatch, 'weights'>;

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

const NO_ROWS = { nestedRowSplits: null, ragged: null };

function dense(values: Int32Array | tf.Tensor, shape: readonly number[]): IdsOnly {
  const batchShape = shape.slice(0, -1);
  const rowSplits = shape.length < 2 ? null : sharedUniformSplits(sizeOf(batchShape), shape.at(-1)!);
  return { kind: 'dense', values, rowSplits, batchShape, idsShape: shape, ...NO_ROWS, places: null };
}

/** int32 tensors stay unread: kernels check their ids. float32 ones are read, for they may hold anything. */
function readIdTensor(tensor: tf.Tensor, argument: string): Int32Array | tf.Tensor {
  checkTensor(tensor, argument);
  return tensor.dtype === 'int32' ? tensor : toInt32(readTensor(tensor, argument), argument);
}

function fromRagged(ragged: RaggedTensor, argument: string): IdsOnly {
  if (ragged.innerShape.length > 0) {
    const received = described(`an inner shape of [${ragged.innerShape.join(', ')}]`);
    throw new ValueError(argument, 'ragged ids without inner axes', received);
  }
  const values = toInt32(ragged.values, argument);
  const { nestedRowSplits } = ragged;
  const rowSplits = nestedRowSplits.at(-1)!;
  const batchShape = [rowSplits.length - 1];
  return { kind: 'ragged', values, rowSplits, batchShape, idsShape: null, nestedRowSplits, ragged, places: null };
}

function fromPair({ values: given, valuesName, rowSplits }: RowPair): IdsOnly {
  const values = given instanceof tf.Tensor ? readIdTensor(given, valuesName) : toInt32(given, valuesName);
  let ragged: RaggedTensor | null = null;
  return {
    kind: 'ragged',
    values,
    rowSplits,
    batchShape: [rowSplits.length - 1],
    idsShape: null,
    nestedRowSplits: [rowSplits],
    places: null,
    // Made only when asked for, because it reads the values.
    get ragged() {
      return (ragged ??= RaggedTensor.fromRowSplits(values as Int32Array, rowSplits));
    },
  };
}

function fromSparse(sparse: SparseInput, argument: string): IdsOnly {
  const places = readSparse(sparse, argument);
  const { indices, denseShape, count } = places;
  const rank = denseShape.length;
  if (rank < 2) throw new ValueError(`${argument}.denseShape`, 'two axes or more', sparse.denseShape);
  const given: unknown = sparse.values;
  const name = `${argument}.values`;
  const values = given instanceof tf.Tensor ? readIdTensor(given, name) : toInt32(given, name);
  const batchShape = denseShape.slice(0, -1);
  // Entries are in order, so the end of each row is where the next one starts; rows without entries stay empty.
  const rowSplits = uniformSplits(sizeOf(batchShape), 0);
  for (let i = 0; i < count; i++) {
    let row = 0;
    for (let axis = 0; axis + 1 < rank; axis++) row = row * denseShape[axis]! + indices[i * rank + axis]!;
    rowSplits[row + 1]!++;
  }
  for (let row = 1; row < rowSplits.length; row++) rowSplits[row]! += rowSplits[row - 1]!;
  return { kind: 'sparse', values, rowSplits, batchShape, idsShape: null, ...NO_ROWS, places };
}

function parseIdsOnly(ids: unknown, argument: string): IdsOnly {
  if (ids instanceof tf.Tensor) return dense(readIdTensor(ids, argument), ids.shape);
  if (ids instanceof RaggedTensor) return fromRagged(ids, argument);
  if (isTypedArray(ids)) return dense(toInt32(ids, argument), [(ids as Int32Array).length]);
  const pair = readRowPair(ids, argument, EXPECTED);
  if (pair !== null) return fromPair(pair);
  if (Array.isArray(ids) || typeof ids === 'number') {
    const { flat, shape, nestedRowSplits } = readNestedRows(ids, argument);
    const values = toInt32(flat, argument);
    if (shape !== null) return dense(values, shape);
    return fromRagged(RaggedTensor.fromNestedRowSplits(values, nestedRowSplits), argument);
  }
  if (isSparse(ids)) return fromSparse(ids, argument);
  throw new ArgumentTypeError(argument, EXPECTED, ids);
}

/**
 * Returns the ids of a batch in the one form that everything below the door knows.
 *
 * Dense ids keep their shape; even nested arrays are dense, uneven ones ragged (never truncated). Ragged ids have the
 * splits of their innermost axis. Sparse ids of rank n have one bag per place of the first n - 1 axes, trailing
 * empty ones included; duplicates count. Weights come in the form of the ids, or flat, one per id.
 * int32 tensors are not read (kernels check ids). Weights that are tensors are read once, to refuse NaN, except on
 * webgpu, where `validate` asks for it.
 * Source: the ids that tf.nn.embedding_lookup and tf.nn.safe_embedding_lookup_sparse take (TensorFlow 2.21).
 *
 * @throws TypeError for what is no ids at all, for dtypes other than int32 and float32 and for weights of another form;
 * ValueError for fractions, NaN, overflow, float32 ids beyond 2^24, bad splits, unsorted or outlying sparse indices and
 * weights of another shape.
 *
 * @example
 * parseIds([[3, 1], [4]]).rowSplits; // Int32Array [0, 2, 3]
 */
export function parseIds(
  ids: IdsInput,
  weights?: WeightsInput | null,
  names: ArgumentNames = NAMES,
  validate?: boolean,
): IdBatch {
  const batch = parseIdsOnly(ids, names.ids);
  const count = batch.values instanceof tf.Tensor ? batch.values.size : batch.values.length;
  const perId = weights === undefined || weights === null ? null : readWeights(weights, batch, count, names, validate);
  // Spreading would call the getter of `ragged`.
  return Object.defineProperty(batch, 'weights', { value: perId, enumerable: true }) as unknown as IdBatch;
}
