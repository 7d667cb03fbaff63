/** What users pass to a layer: ids in any form, and weights beside them. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkLive } from '../../base/live_tensor.js';
import { PAIR_ADVICE } from '../../ids/row_pair.js';
import { isSymbolic } from '../../base/layer_arguments.js';

/** The ids of a call and their weights. */
export interface LayerInputs {
  readonly ids: unknown;
  readonly weights: unknown;
}

const IDS = 'ids as a tensor, a RaggedTensor, sparse ids, or [ids, weights]';

/** A tensor, a RaggedTensor or sparse ids: anything but a plain or typed array. */
function isStructured(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/** A tensor or a symbolic tensor of rank 1. */
function isVector(value: unknown): value is tf.Tensor {
  return (value instanceof tf.Tensor || isSymbolic(value)) && value.rank === 1;
}

/** Ids in arrays and their weights: as a list they could not be told from rows of ids. */
class WeightedIds implements LayerInputs {
  constructor(
    readonly ids: unknown,
    readonly weights: unknown,
  ) {}
}

/**
 * The inputs of `apply(inputs, {weights})` with the weights among them, as tfjs takes them.
 *
 * @throws ValueError for weights that `inputs` has already.
 */
export function joinWeights(inputs: unknown, weights: unknown, read: (inputs: unknown) => LayerInputs): unknown {
  if (weights === undefined || weights === null) return inputs;
  const { ids, weights: listed } = read(inputs);
  if (listed !== null) {
    throw new ValueError('weights', 'weights beside the ids, or as {weights}', described('both'));
  }
  if (Array.isArray(ids) && ids.length === 2 && ids.every(isVector)) return [...ids, weights];
  return isStructured(ids) ? [ids, weights] : new WeightedIds(ids, weights);
}

/** `ids`, `[ids]` or `[ids, weights]`; plain nested arrays are ids. */
export function readEmbeddingInputs(inputs: unknown): LayerInputs {
  if (inputs instanceof WeightedIds) return inputs;
  if (inputs === undefined || inputs === null) throw new ArgumentTypeError('inputs', IDS, inputs);
  if (Array.isArray(inputs) && inputs.length === 0) throw new ValueError('inputs', IDS, inputs);
  if (!Array.isArray(inputs) || !isStructured(inputs[0])) return { ids: inputs, weights: null };
  if (inputs.length > 2) throw new ValueError('inputs', IDS, described(`${inputs.length} inputs`));
  return { ids: inputs[0] as unknown, weights: (inputs[1] as unknown) ?? null };
}

const RAGGED_IDS =
  'ragged ids: a RaggedTensor, {values, rowSplits}, sparse ids or a padded tensor [batch, maxLength]; ' +
  'then, if any, weights';

/**
 * Ragged ids with or without weights: `ids`, `[ids, weights]`, and of tensors `[values, rowSplits]`,
 * `[values, rowSplits, weights]`, `[[values, rowSplits], weights]`. Other arrays are refused: two of them may be rows.
 */
export function readRaggedInputs(inputs: unknown): LayerInputs {
  if (inputs === undefined || inputs === null) throw new ArgumentTypeError('inputs', RAGGED_IDS, inputs);
  if (!Array.isArray(inputs)) return { ids: inputs, weights: null };
  const list = inputs as unknown[];
  if (list.length === 0 || list.length > 3) {
    throw new ValueError('inputs', RAGGED_IDS, described(`a list of ${list.length}`), PAIR_ADVICE);
  }
  const [first, second, third] = list;
  if (isVector(first)) {
    if (!isVector(second)) {
      const note = 'Flat ids need their row splits: {values, rowSplits}, or two tensors [values, rowSplits].';
      throw new ValueError('inputs', RAGGED_IDS, inputs, note);
    }
    return { ids: [first, second], weights: third ?? null };
  }
  if (list.length > 2) throw new ArgumentTypeError('inputs', RAGGED_IDS, inputs, PAIR_ADVICE);
  const isPair = Array.isArray(first) && first.length === 2 && first.every(isVector);
  if (isPair || isStructured(first)) return { ids: first, weights: second ?? null };
  throw new ArgumentTypeError('inputs', RAGGED_IDS, inputs, PAIR_ADVICE);
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
  checkLive(weights as tf.Tensor, 'weights', expected);
  return weights;
}
