/** Ids of one feature as values and row splits over its samples. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described, describe } from '../../../base/errors.js';
import { isRecord } from '../../../base/options.js';
import { checkNoNaN, toFloat32 } from '../../../ids/float_values.js';
import { readNestedRows, type NestedRows } from '../../../ids/nested_rows.js';
import { RaggedTensor } from '../../../ids/ragged_tensor.js';
import { sharedUniformSplits, uniformSplits, checkRowSplits } from '../../../ids/row_splits.js';
import { readPlaces, vectorLength, type SparseInput } from '../../../ids/sparse_values.js';
import { isTypedArray, readInt32, readTensor, type FlatInput } from '../../../ids/values.js';
import { toInt32 } from '../../../ids/whole_ids.js';
import { kindOf, type IdKind } from '../../features/feature_ids.js';
import { product } from '../numbers.js';
import type { HostBags } from '../../../backends/kernel_set.js';

/** Values and row splits, as plain data. */
export interface RaggedParts {
  readonly kind?: 'ragged';
  readonly values: FlatInput;
  readonly rowSplits: FlatInput;
}

/** Sparse ids; with `kind` they are what goldens of TensorFlow look like. */
export type SparseParts = SparseInput & { readonly kind?: 'sparse' };

/** Ids of one feature. */
export type FeatureInput = NestedRows | FlatInput | tf.Tensor | RaggedTensor | RaggedParts | SparseParts;

/** Weights of one feature: in the form of its ids, or only their values; null: all ones. */
export type FeatureWeights = FeatureInput | { readonly values: FlatInput } | null | undefined;

const KIND_NAMES: Readonly<Record<IdKind, string>> = {
  dense: 'Tensor',
  sparse: 'SparseTensor',
  ragged: 'RaggedTensor',
};

function readDense(input: unknown, samples: number, argument: string): HostBags {
  const values =
    input instanceof tf.Tensor
      ? toInt32(readTensor(input, argument), argument)
      : toInt32(isTypedArray(input) ? input : flatOf(input, argument), argument);
  if (values.length !== samples) {
    throw new ValueError(argument, `one id for each of ${samples} samples`, described(`${values.length} ids`));
  }
  return { values, rowSplits: sharedUniformSplits(samples, 1), weights: null };
}

/** Numbers of nested arrays of even shape. */
function flatOf(input: unknown, argument: string): readonly number[] {
  const { flat, shape } = readNestedRows(input, argument);
  if (shape === null) throw new ValueError(argument, 'arrays of one length', described('uneven ones'));
  return flat;
}

function readRagged(input: RaggedTensor | RaggedParts, samples: number, argument: string): HostBags {
  if (input instanceof RaggedTensor && (input.nestedRowSplits.length > 1 || input.innerShape.length > 0)) {
    const received = described(`${input.nestedRowSplits.length + input.innerShape.length + 1} axes`);
    throw new ValueError(argument, 'a ragged tensor of rank 2', received);
  }
  const name = `${argument}.values`;
  vectorLength(input.values, name);
  const values = readInt32(input.values, name);
  const rowSplits = readInt32(input.rowSplits, `${argument}.rowSplits`);
  if (rowSplits.length !== samples + 1) {
    const expected = `row splits of ${samples} samples, ${samples + 1} of them`;
    throw new ValueError(`${argument}.rowSplits`, expected, described(`${rowSplits.length}`));
  }
  if (!(input instanceof RaggedTensor)) checkRowSplits(rowSplits, values.length, `${argument}.rowSplits`);
  return { values, rowSplits, weights: null };
}

function readSparse(input: SparseInput, outputShape: readonly number[], argument: string): HostBags {
  const { indices, denseShape, count } = readPlaces(input, argument);
  const rank = denseShape.length;
  if (rank < 2) throw new ValueError(`${argument}.denseShape`, 'two axes or more', described(`${rank}`));
  const values = readInt32(input.values, `${argument}.values`);
  const rowSplits = rowSplitsOf(indices, rank, count, leadingAxes(denseShape, outputShape, argument), argument);
  return { values, rowSplits, weights: null };
}

/**
 * The axes of the samples, which are all but the last. Two may be reshaped to more, as in `TPUEmbedding`; else they are
 * those of the output, of which a core's part has less along the first. For an output of one axis the first may be all
 * samples, as in TensorFlow: whatever lies behind it is then pooled. Where it is the only one, its length does not matter.
 */
function leadingAxes(
  denseShape: readonly number[],
  outputShape: readonly number[],
  argument: string,
): readonly number[] {
  const samples = product(outputShape);
  const leading = denseShape.slice(0, -1);
  if (leading.length === 1 || (outputShape.length === 1 && leading[0] === samples)) return [samples];
  const isReshaped = leading.length === 2 && outputShape.length > 2;
  const rest = outputShape.slice(1);
  if (product(leading) === samples && (isReshaped || leading.slice(1).join() === rest.join())) return leading;
  const expected = `${samples} samples before the last axis, of shape [${['?', ...rest].join(', ')}]`;
  throw new ValueError(`${argument}.denseShape`, expected, described(`[${denseShape.join(', ')}]`));
}

/** Splits of the samples, which lie along the `leading` axes of sparse ids; what comes behind these does not matter. */
export function rowSplitsOf(
  indices: Int32Array,
  rank: number,
  count: number,
  leading: readonly number[],
  argument: string,
): Int32Array {
  const rowSplits = uniformSplits(product(leading), 0);
  let last = 0;
  for (let i = 0; i < count; i++) {
    let row = 0;
    for (let axis = 0; axis < leading.length; axis++) {
      const index = indices[i * rank + axis]!;
      if (index < 0 || index >= leading[axis]!) {
        const where = leading.length === 1 ? 'rows' : `indices of axis ${axis}`;
        const received = described(`${index} at position ${i}`);
        throw new ValueError(`${argument}.indices`, `${where} in [0, ${leading[axis]!})`, received);
      }
      row = row * leading[axis]! + index;
    }
    if (row < last) {
      const received = described(`row ${row} after row ${last} at position ${i}`);
      throw new ValueError(`${argument}.indices`, 'rows in ascending order', received, 'sparse.reorder(…) sorts them.');
    }
    last = row;
    rowSplits[row + 1]!++;
  }
  for (let row = 1; row < rowSplits.length; row++) rowSplits[row]! += rowSplits[row - 1]!;
  return rowSplits;
}

function raggedOf(input: unknown): RaggedTensor | RaggedParts {
  return Array.isArray(input) ? RaggedTensor.fromRows(input as number[][]) : (input as RaggedParts);
}

function readWeights(weights: unknown, kind: IdKind, count: number, argument: string): Float32Array {
  const onlyValues = isRecord(weights) && 'values' in weights && !('rowSplits' in weights) && !('indices' in weights);
  const given = onlyValues ? kind : kindOf(weights);
  if (given !== kind) {
    const received = given === null ? describe(weights) : KIND_NAMES[given];
    throw new ValueError(argument, `weights of the type of the ids, ${KIND_NAMES[kind]}`, described(received));
  }
  const rows = kind === 'ragged' && Array.isArray(weights) ? floatRows(weights as number[][], argument) : weights;
  const inner: unknown = kind === 'dense' && !onlyValues ? weights : (rows as { readonly values: unknown }).values;
  const flat = Array.isArray(inner) ? flatOf(inner, argument) : inner;
  const values = toFloat32(flat instanceof tf.Tensor ? readTensor(flat, argument) : flat, argument);
  if (values.length === count) {
    checkNoNaN(values, argument);
    return values;
  }
  throw new ValueError(argument, `one weight for each of ${count} ids`, described(`${values.length} weights`));
}

/**
 * The ids and weights of a feature whose samples have the shape `outputShape`. Dense ids hold one id for each sample,
 * sparse ids have samples along all axes but their last. Throws ValueError for what is neither dense, sparse nor ragged,
 * for other numbers of samples or of weights, and for weights of another form.
 */
export function readFeatureInput(
  input: unknown,
  weights: unknown,
  outputShape: readonly number[],
  names: { readonly ids: string; readonly weights: string },
): HostBags {
  const kind = kindOf(input);
  const samples = product(outputShape);
  if (kind === null) throw new ValueError(names.ids, 'a Tensor, SparseTensor or RaggedTensor', input);
  const bags =
    kind === 'dense'
      ? readDense(input, samples, names.ids)
      : kind === 'ragged'
        ? readRagged(raggedOf(input), samples, names.ids)
        : readSparse(input as SparseInput, outputShape, names.ids);
  if (weights === null || weights === undefined) return bags;
  return { ...bags, weights: readWeights(weights, kind, bags.values.length, names.weights) };
}

function floatRows(rows: readonly (readonly number[])[], argument: string): { readonly values: Float32Array } {
  return { values: toFloat32(readNestedRows(rows, argument).flat, argument) };
}

/** A list of `length` entries. */
export function listOf(value: unknown, length: number, argument: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new ArgumentTypeError(argument, 'a list', value);
  if (value.length === length) return value as readonly unknown[];
  throw new ValueError(argument, `${length} entries, one for each feature`, described(`${value.length}`));
}
