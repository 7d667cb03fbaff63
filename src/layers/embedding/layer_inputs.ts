/** What users pass to a layer: ids in any form, and weights beside them. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkLive } from '../../base/live_tensor.js';
import { PAIR_ADVICE } from '../../ids/row_pair.js';
import { isSymbolic, type SymbolicShape } from '../../base/layer_arguments.js';
import { isWeighing, type Combiner, type OutOfRange } from '../../base/types.js';

/** As `Embedding`, as `RaggedEmbedding`, or as a feature of Keras RS. */
export type FeatureKind = 'embedding' | 'ragged' | 'reduce';

/** How the ids of one feature are looked up. */
export interface Feature {
  readonly kind: FeatureKind;
  readonly combiner: Combiner | null;
  readonly maskZero: boolean;
  readonly maxNorm: number | null;
  readonly outOfRange: OutOfRange;
  readonly inputLength: number | SymbolicShape | null;
  /** Ids are row numbers that keys have; whether negative ones, which stand for nothing, may be among them. */
  readonly keysPad?: boolean;
}

/** What ids and weights of a feature are called in errors. */
export interface FeaturePaths {
  readonly ids: string;
  readonly weights: string;
}

function checkRank(rank: number, path: string): void {
  if (rank >= 2) return;
  const note = 'Ids of rank 1 are ambiguous: give them a batch axis, or use no combiner.';
  throw new ValueError(path, 'rank 2 or more when a combiner is given', described(`rank ${rank}`), note);
}

/** Throws for weights of a feature whose rows stay apart. */
export function checkWeighted({ combiner }: Feature, isWeighted: boolean, path: string): void {
  if (!isWeighted || isWeighing(combiner)) return;
  throw new ValueError(
    path,
    `no weights, as ${combiner === null ? 'there is no combiner' : `the combiner is '${combiner}'`}`,
    described('weights', `\`${path}\`: weights need a combiner, 'sum', 'mean' or 'sqrtn'.`),
  );
}

/** The shape of dense ids, with the sizes that `inputLength` knows. */
function withInputLength({ inputLength }: Feature, ids: SymbolicShape, path: string): SymbolicShape {
  if (inputLength === null) return ids;
  const lengths = Array.isArray(inputLength) ? inputLength : [inputLength];
  const fits =
    lengths.length === ids.length - 1 &&
    lengths.every((length, axis) => length === null || ids[axis + 1] === null || length === ids[axis + 1]);
  if (!fits) {
    const expected = `ids of shape [batch, ${lengths.map(String).join(', ')}], as inputLength says`;
    throw new ValueError(path, expected, described(`[${ids.map(String).join(', ')}]`));
  }
  return [ids[0]!, ...lengths.map((length, axis) => length ?? ids[axis + 1]!)];
}

/** Whether ids of this rank are looked up one by one in spite of a combiner. */
function isSingle({ kind, combiner }: Feature, rank: number): boolean {
  return kind === 'reduce' && combiner !== null && rank < 2;
}

/** Checks the shape of dense ids; returns it with the sizes that `inputLength` knows. */
export function checkDense(feature: Feature, shape: SymbolicShape, path: string): SymbolicShape {
  const { kind, combiner } = feature;
  if (kind === 'ragged' || (kind === 'embedding' && combiner !== null)) checkRank(shape.length, path);
  return withInputLength(feature, shape, path);
}

/** The shape of a feature's result for dense ids, and weights, of these shapes in a symbolic graph. */
export function featureShape(
  feature: Feature,
  dim: number,
  ids: SymbolicShape,
  weights: SymbolicShape | null,
  paths: FeaturePaths,
): SymbolicShape {
  const full = checkDense(feature, ids, paths.ids);
  checkWeighted(feature, weights !== null, paths.weights);
  if (weights !== null) checkWeightsShape(weights, ids, paths.weights);
  const isPooled = feature.combiner !== null && !isSingle(feature, ids.length);
  return isPooled ? [...full.slice(0, -1), dim] : [...full, dim];
}

/** Throws where the shapes of weights and ids in a symbolic graph cannot be the same. */
export function checkWeightsShape(weights: SymbolicShape, ids: SymbolicShape, path = 'weights'): void {
  const fits =
    weights.length === ids.length &&
    weights.every((size, axis) => size === null || ids[axis] === null || size === ids[axis]);
  if (fits) return;
  const expected = `the shape of the ids, [${ids.map(String).join(', ')}]`;
  throw new ValueError(path, expected, described(`[${weights.map(String).join(', ')}]`));
}

/** The shapes of all results in a symbolic graph. `shapes`: of the ids of each feature, then of those weights there are. */
export function featureShapes(
  features: readonly Feature[],
  dims: readonly number[],
  shapes: readonly SymbolicShape[],
  weighted: readonly number[],
  paths: { readonly ids: readonly string[]; readonly weights: readonly string[] },
): SymbolicShape[] {
  const count = features.length + weighted.length;
  if (shapes.length !== count) {
    const expected = `${count} shapes, of the ids of each feature and then of weights`;
    throw new ValueError('inputs', expected, described(`${shapes.length}`));
  }
  const batch = shapes.map(([size]) => size ?? null).find((size) => size !== null) ?? null;
  return features.map((feature, i) => {
    const ids = shapes[i]!;
    if (batch !== null && typeof ids[0] === 'number' && ids[0] !== batch) {
      throw new ValueError(`inputs[${i}]`, `a batch of ${batch}, as another input has`, described(`one of ${ids[0]}`));
    }
    const place = weighted.indexOf(i);
    const weights = place < 0 ? null : shapes[features.length + place]!;
    return featureShape(feature, dims[i]!, ids, weights, { ids: paths.ids[i]!, weights: paths.weights[i]! });
  });
}

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
