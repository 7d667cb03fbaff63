/** The ids of a feature and their weights, in the kinds that TensorFlow tells apart. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { parseIds, type IdBatch, type IdsInput, type WeightsInput } from '../../ids/parse_ids.js';
import { RaggedTensor } from '../../ids/ragged_tensor.js';
import { isSparse } from '../../ids/sparse_values.js';
import { isTypedArray } from '../../ids/values.js';
import { isRecord } from '../../base/options.js';

export type IdKind = 'dense' | 'ragged' | 'sparse';

/** What a value is; null for what is no ids at all. */
export function kindOf(value: unknown): IdKind | null {
  if (value instanceof RaggedTensor) return 'ragged';
  if (value instanceof tf.Tensor || isTypedArray(value) || typeof value === 'number') return 'dense';
  if (Array.isArray(value)) return isEven(value as unknown[]) ? 'dense' : 'ragged';
  if (isRecord(value) && 'values' in value && 'rowSplits' in value) return 'ragged';
  return isSparse(value) ? 'sparse' : null;
}

/** Whether nested arrays have one length on each level, as far as two levels tell. */
function isEven(rows: readonly unknown[]): boolean {
  const lengths = new Set(rows.map((row) => (Array.isArray(row) ? row.length : -1)));
  return lengths.size <= 1 && rows.every((row) => !Array.isArray(row) || isEven(row as unknown[]));
}

/** Weights must be of the kind of their ids: TensorFlow reads their values alone. */
function checkKinds(ids: unknown, weights: unknown, path: string, weightsPath: string): void {
  const [kind, given] = [kindOf(ids), kindOf(weights)];
  if (kind === null) return;
  if (kind === 'dense') {
    throw new ValueError(weightsPath, `no weights for the dense ids ${path}`, described(`${given ?? 'other'} weights`));
  }
  if (kind === given) return;
  throw new ValueError(
    weightsPath,
    `${kind} weights, as the ids ${path} are`,
    described(`${given ?? 'other'} weights`),
  );
}

/**
 * The ids of one feature and its weights, checked.
 * Throws ValueError for weights of dense ids and weights of another kind than the ids; else as `parseIds`.
 */
export function readFeatureIds(ids: unknown, weights: unknown, path: string, weightsPath: string): IdBatch {
  const hasWeights = weights !== null && weights !== undefined;
  if (hasWeights) checkKinds(ids, weights, path, weightsPath);
  const names = { ids: path, weights: weightsPath };
  const batch = parseIds(ids as IdsInput, hasWeights ? (weights as WeightsInput) : null, names);
  const rank = (batch.nestedRowSplits?.length ?? 1) + 1;
  if (batch.kind === 'ragged' && rank > 2)
    throw new ValueError(path, 'ragged ids of rank 2', described(`rank ${rank}`));
  return batch;
}

/** The ids on the host. */
export function hostIds({ values }: IdBatch): Int32Array {
  return values instanceof tf.Tensor ? values.dataSync<'int32'>() : values;
}

/** The weights on the host; null where there are none. */
export function hostWeights({ weights }: IdBatch): Float32Array | null {
  return weights instanceof tf.Tensor ? (weights.dataSync() as Float32Array) : weights;
}
