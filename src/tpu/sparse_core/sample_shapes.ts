/** The shape of a feature's samples, from its config or from what is fed. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { isSparse } from '../../ids/sparse_values.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { isTypedArray } from '../../ids/values.js';
import type { FeatureConfig } from '../config/feature_config.js';
import { product } from './numbers.js';

/** The output shape of a config where it is fully known, else null. */
export function knownShape({ outputShape }: FeatureConfig): readonly number[] | null {
  if (outputShape === null || outputShape.some((length) => length === null)) return null;
  return outputShape as readonly number[];
}

/** The shape of the samples that an input holds; null for what is no input. */
function shapeOf(input: unknown): readonly number[] | null {
  if (input instanceof RaggedTensor) return [input.rowSplits.length - 1];
  if (input instanceof tf.Tensor) return denseShape(input.shape);
  if (isTypedArray(input)) return [input.length];
  if (Array.isArray(input)) return denseShape(nestedShape(input));
  if (isRecord(input) && 'rowSplits' in input) {
    const splits = input['rowSplits'] as { readonly length?: number; readonly size?: number };
    return [(splits instanceof tf.Tensor ? splits.size : (splits.length ?? 1)) - 1];
  }
  if (!isSparse(input)) return null;
  const lengths = input.denseShape instanceof tf.Tensor ? input.denseShape.dataSync() : input.denseShape;
  const shape = Array.from(lengths, Number);
  return shape.length > 1 ? shape.slice(0, -1) : null;
}

/** One id for each sample; a last axis of length 1 does not count. */
function denseShape(shape: readonly number[]): readonly number[] {
  return shape.length > 1 && shape.at(-1) === 1 ? shape.slice(0, -1) : shape;
}

function nestedShape(value: unknown): number[] {
  return Array.isArray(value) ? [value.length, ...nestedShape(value[0])] : [];
}

/**
 * The output shape of a feature that is fed `input`: that of the config, its unknown lengths from the input.
 * ValueError where it cannot be known.
 */
export function outputShapeOf(config: FeatureConfig, input: unknown, path: string): readonly number[] {
  const known = knownShape(config);
  if (known !== null) return known;
  const expected = 'an outputShape that is fully known, or an input that tells it';
  if (config.maxSequenceLength > 0) {
    throw new ValueError(path, 'outputShape with TPUEmbeddingV2', described('maxSequenceLength'));
  }
  const fed = shapeOf(input);
  if (fed === null) throw new ValueError(path, expected, described('neither'));
  const { outputShape } = config;
  if (outputShape === null) return fed;
  const unknown = outputShape.filter((length) => length === null).length;
  const others = product(outputShape.map((length) => length ?? 1));
  const missing = product(fed) / others;
  if (unknown > 1 || !Number.isInteger(missing)) {
    throw new ValueError(path, expected, described(`[${outputShape.map((length) => length ?? '?').join(', ')}]`));
  }
  return outputShape.map((length) => length ?? missing);
}
