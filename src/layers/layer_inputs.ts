/** What users pass to a layer: ids in any form, and weights beside them. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../errors.js';

/** The ids of a call and their weights. */
export interface LayerInputs {
  readonly ids: unknown;
  readonly weights: unknown;
}

/** Flat ids and the splits of their rows. */
export interface RaggedPair {
  readonly values: unknown;
  readonly rowSplits: unknown;
}

const IDS = 'ids as a tensor, a RaggedTensor, sparse ids, or [ids, weights]';

/** A tensor, a RaggedTensor or sparse ids: anything but a plain or typed array. */
function isStructured(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/** One-dimensional: a vector tensor, a typed array or an array of numbers. */
function isVector(value: unknown): boolean {
  if (value instanceof tf.Tensor || value instanceof tf.SymbolicTensor) return value.rank === 1;
  if (ArrayBuffer.isView(value)) return true;
  return Array.isArray(value) && value.every((item) => typeof item === 'number');
}

/** `ids`, `[ids]` or `[ids, weights]`; plain nested arrays are ids. */
export function readEmbeddingInputs(inputs: unknown): LayerInputs {
  if (inputs === undefined || inputs === null) throw new ArgumentTypeError('inputs', IDS, inputs);
  if (Array.isArray(inputs) && inputs.length === 0) throw new ValueError('inputs', IDS, inputs);
  if (!Array.isArray(inputs) || !isStructured(inputs[0])) return { ids: inputs, weights: null };
  if (inputs.length > 2) throw new ValueError('inputs', IDS, described(`${inputs.length} inputs`));
  return { ids: inputs[0] as unknown, weights: (inputs[1] as unknown) ?? null };
}

const RAGGED_IDS =
  'ragged ids: a RaggedTensor, [values, rowSplits], sparse ids or a padded tensor [batch, maxLength]; ' +
  'then, if any, weights';

/**
 * Ragged ids with or without weights: `ids`, `[ids, weights]`, `[values, rowSplits]`, `[values, rowSplits, weights]`,
 * `[[values, rowSplits], weights]`. A list that begins with two vectors is a pair.
 */
export function readRaggedInputs(inputs: unknown): { ids: unknown; pair: RaggedPair | null; weights: unknown } {
  if (inputs === undefined || inputs === null) throw new ArgumentTypeError('inputs', RAGGED_IDS, inputs);
  if (!Array.isArray(inputs)) return { ids: inputs, pair: null, weights: null };
  const list = inputs as unknown[];
  if (list.length === 0 || list.length > 3) {
    throw new ValueError('inputs', RAGGED_IDS, described(`a list of ${list.length}`));
  }
  const [first, second, third] = list;
  if (Array.isArray(first) && !isVector(first)) {
    const { pair } = readRaggedInputs(first);
    if (pair === null || list.length > 2) throw new ArgumentTypeError('inputs', RAGGED_IDS, inputs);
    return { ids: null, pair, weights: second ?? null };
  }
  if (isVector(first)) {
    if (!isVector(second)) {
      const note = 'Flat ids need their row splits: [values, rowSplits].';
      throw new ValueError('inputs', RAGGED_IDS, inputs, note);
    }
    refuseRows(first, second);
    return { ids: null, pair: { values: first, rowSplits: second }, weights: third ?? null };
  }
  if (!isStructured(first) || list.length > 2) throw new ArgumentTypeError('inputs', RAGGED_IDS, inputs);
  return { ids: first, pair: null, weights: second ?? null };
}

/** Two plain arrays of which the second is no row splits are most likely meant as rows of ids. */
function refuseRows(values: unknown, rowSplits: unknown): void {
  if (!Array.isArray(values) || !Array.isArray(rowSplits)) return;
  const [start] = rowSplits as unknown[];
  if (typeof start !== 'number' || start === 0) return;
  const note = 'Two arrays are read as [values, rowSplits]; rows of ids are RaggedTensor.fromRows([...]).';
  throw new ValueError('rowSplits', '0 as the first entry', start, note);
}

/** The tensor of weights for ids of this shape, or null. */
export function checkWeights(weights: unknown, shape: readonly (number | null)[]): tf.Tensor | null {
  if (weights === null || weights === undefined) return null;
  const expected = `a float32 tensor of the shape of the ids, [${shape.join(', ')}]`;
  if (!(weights instanceof tf.Tensor)) throw new ArgumentTypeError('weights', expected, weights);
  if (weights.dtype !== 'float32') throw new ArgumentTypeError('weights', expected, weights);
  if (weights.rank !== shape.length || weights.shape.some((size: number, axis: number) => size !== shape[axis])) {
    throw new ValueError('weights', expected, weights);
  }
  return weights;
}

/** Whether two shapes of a symbolic graph can be those of ids and their weights. */
export function checkWeightsShape(weights: readonly (number | null)[], ids: readonly (number | null)[]): void {
  const fits =
    weights.length === ids.length &&
    weights.every((size, axis) => size === null || ids[axis] === null || size === ids[axis]);
  if (!fits) {
    throw new ValueError('weights', `the shape of the ids, [${ids.join(', ')}]`, described(`[${weights.join(', ')}]`));
  }
}
