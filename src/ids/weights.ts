/** Per-id weights, in the form of their ids. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkLive } from '../base/live_tensor.js';
import { isReadAsync } from '../base/waiting_reads.js';
import { checkNoNaN, checkNoNaNIn, toFloat32 } from './float_values.js';
import { placeOf } from './id_place.js';
import { readNestedRows, type NestedRows } from './nested_rows.js';
import { RaggedTensor } from './ragged_tensor.js';
import { readRowPair, type RowPair, type RowPairInput } from './row_pair.js';
import { sameNumbers } from './row_splits.js';
import { isSparse, readPlaces, vectorLength, type SparseInput, type SparsePlaces } from './sparse_values.js';
import { isTypedArray, type NumericArray } from './values.js';

/** Weights as callers give them: like the ids, or flat. */
export type WeightsInput =
  tf.Tensor | NestedRows | Float32Array | Int32Array | NumericArray | RaggedTensor | SparseInput | RowPairInput;

/** What weights must match. */
export interface WeightedIds {
  readonly kind: 'dense' | 'ragged' | 'sparse';
  readonly idsShape: readonly number[] | null;
  readonly nestedRowSplits: readonly Int32Array[] | null;
  readonly places: SparsePlaces | null;
}

type Weights = Float32Array | tf.Tensor;

class WeightsReader {
  constructor(
    private readonly ids: WeightedIds,
    private readonly count: number,
    private readonly argument: string,
    private readonly idsArgument: string,
  ) {}

  read(weights: unknown): Weights {
    if (weights instanceof RaggedTensor) return this.fromRagged(weights);
    if (weights instanceof tf.Tensor) return this.fromTensor(weights);
    if (isTypedArray(weights)) return this.checkCount(toFloat32(weights, this.argument));
    const expected = `weights in the form of \`${this.idsArgument}\``;
    const pair = readRowPair(weights, this.argument, expected);
    if (pair !== null) return this.fromPair(pair);
    if (Array.isArray(weights) || typeof weights === 'number') return this.fromArray(weights);
    if (isSparse(weights)) return this.fromSparse(weights);
    throw new ArgumentTypeError(this.argument, expected, weights);
  }

  private fromTensor(tensor: tf.Tensor, isFlat = false): tf.Tensor {
    if (tensor.dtype !== 'float32') throw new ArgumentTypeError(this.argument, 'a float32 tensor', tensor);
    checkLive(tensor, this.argument);
    const fitsFlat = tensor.rank === 1 && tensor.size === this.count;
    const { idsShape } = this.ids;
    const fits = fitsFlat || (!isFlat && idsShape !== null && sameNumbers(tensor.shape, idsShape));
    if (fits) return tensor;
    throw new ValueError(this.argument, this.shapes(), tensor);
  }

  private fromArray(weights: number | readonly unknown[]): Weights {
    const { flat, shape, depth, nestedRowSplits } = readNestedRows(weights, this.argument);
    const values = toFloat32(flat, this.argument);
    if (depth === 1) return this.checkCount(values);
    const { idsShape } = this.ids;
    if (idsShape !== null && (shape === null || !sameNumbers(shape, idsShape))) this.refuseShape(shape);
    if (this.ids.kind === 'sparse') {
      throw new ArgumentTypeError(this.argument, 'sparse weights, or flat ones, for sparse ids', weights);
    }
    if (this.ids.kind === 'ragged') {
      if (depth === 0) this.refuseShape(shape);
      this.checkSplits(nestedRowSplits);
    }
    return values;
  }

  private fromPair({ values, valuesName, rowSplits }: RowPair): Weights {
    this.checkKind('ragged');
    this.checkSplits([rowSplits]);
    return values instanceof tf.Tensor ? this.fromTensor(values, true) : toFloat32(values, valuesName);
  }

  private fromRagged(weights: RaggedTensor): Float32Array {
    this.checkKind('ragged');
    if (weights.innerShape.length > 0) throw new ValueError(this.argument, this.shapes(), weights);
    this.checkSplits(weights.nestedRowSplits);
    return toFloat32(weights.values, this.argument);
  }

  private fromSparse(weights: SparseInput): Weights {
    this.checkKind('sparse');
    const name = `${this.argument}.values`;
    const length = vectorLength(weights.values, name);
    if (length !== this.count) throw new ValueError(name, this.shapes(), described(`${length} values`));
    this.checkPlaces(readPlaces(weights, this.argument));
    const values: unknown = weights.values;
    return values instanceof tf.Tensor ? this.fromTensor(values) : toFloat32(values, name);
  }

  private checkKind(kind: WeightedIds['kind']): void {
    if (this.ids.kind === kind) return;
    const expected = `${this.ids.kind} weights, or flat ones, for ${this.ids.kind} ids`;
    throw new ArgumentTypeError(this.argument, expected, described(`${kind} weights`));
  }

  private checkCount(values: Float32Array): Float32Array {
    if (values.length === this.count) return values;
    throw new ValueError(this.argument, this.shapes(), described(`${values.length} weights`));
  }

  private checkSplits(actual: readonly Int32Array[]): void {
    const expected = this.ids.nestedRowSplits!;
    const same = actual.length === expected.length && actual.every((each, axis) => sameNumbers(each, expected[axis]!));
    if (same) return;
    const note = firstDifference(actual.at(-1)!, expected.at(-1)!);
    throw new ValueError(this.argument, `the row splits of \`${this.idsArgument}\``, described('others'), note);
  }

  /** Sparse weights lie where their ids lie: pairing them by their order would weigh other ids. */
  private checkPlaces(given: SparsePlaces): void {
    const { denseShape, indices } = this.ids.places!;
    if (!sameNumbers(given.denseShape, denseShape)) {
      const received = described(`[${given.denseShape.join(', ')}]`);
      throw new ValueError(
        this.argument,
        `the denseShape of \`${this.idsArgument}\`, [${denseShape.join(', ')}]`,
        received,
      );
    }
    const rank = denseShape.length;
    const at = indices.findIndex((index, i) => index !== given.indices[i]);
    if (at < 0) return;
    const entry = Math.floor(at / rank);
    const place = ({ indices: all }: SparsePlaces): string =>
      `[${all.subarray(entry * rank, (entry + 1) * rank).join(', ')}]`;
    const expected = `the indices of \`${this.idsArgument}\` (${place(this.ids.places!)} for entry ${entry})`;
    throw new ValueError(this.argument, expected, described(place(given)));
  }

  private refuseShape(shape: readonly number[] | null): never {
    const received = described(shape === null ? 'uneven rows' : `shape [${shape.join(', ')}]`);
    throw new ValueError(this.argument, this.shapes(), received);
  }

  private shapes(): string {
    const { idsShape } = this.ids;
    const flat = `one weight per id (${this.count})`;
    return idsShape === null ? flat : `the shape of \`${this.idsArgument}\` [${idsShape.join(', ')}], or ${flat}`;
  }
}

/** The first row that has another number of weights than of ids, in words. */
function firstDifference(weights: Int32Array, ids: Int32Array): string | undefined {
  const lengthOf = (splits: Int32Array, row: number): number => splits[row + 1]! - splits[row]!;
  for (let row = 0; row + 1 < Math.min(weights.length, ids.length); row++) {
    const [given, wanted] = [lengthOf(weights, row), lengthOf(ids, row)];
    if (given !== wanted) return `Row ${row} has ${wanted} ids and ${given} weights.`;
  }
  return weights.length === ids.length ? undefined : `${ids.length - 1} rows of ids, ${weights.length - 1} of weights.`;
}

/**
 * Returns float32 weights, one per id; a tensor stays a tensor so that gradients flow to it.
 *
 * @throws TypeError for another form or dtype than fits the ids; ValueError for another shape, other splits or NaN.
 */
export function readWeights(
  weights: unknown,
  ids: WeightedIds,
  count: number,
  names: { readonly ids: string; readonly weights: string },
  validate: boolean | undefined,
): Weights {
  const read = new WeightsReader(ids, count, names.weights, names.ids).read(weights);
  const place = (position: number): string | null => placeOf(ids, position);
  if (!(read instanceof tf.Tensor)) checkNoNaN(read, names.weights, place);
  else if (validate ?? !isReadAsync()) checkNoNaNIn(read, names.weights, place);
  return read;
}
