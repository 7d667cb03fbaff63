/** Ids that count: padding is left out before the lookup, so that its row is neither summed nor trained. */
import * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../../backends/bag_tensors.js';
import { currentBackend } from '../../backends/registry.js';
import type { StepOps } from '../../backends/step_ops.js';
import type { IdBatch } from '../../ids/parse_ids.js';
import { toInt32 } from '../../ids/whole_ids.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';

/** Which ids stand for nothing. */
export interface IdMask {
  /** The id 0 (`maskZero`). */
  readonly zero: boolean;
  /** Negative ids (padding of ragged rows). */
  readonly negative: boolean;
}

export interface UnmaskedIds {
  readonly values: Int32Array;
  readonly rowSplits: Int32Array;
  /** Where each value lay among all ids; null where every id counts. */
  readonly positions: Int32Array | null;
}

/** The ids that count, in order, with the splits of their rows. */
export function unmaskedIds(ids: Int32Array, rowSplits: Int32Array, mask: IdMask): UnmaskedIds {
  const rows = rowSplits.length - 1;
  const values = new Int32Array(ids.length);
  const positions = new Int32Array(ids.length);
  const splits = new Int32Array(rows + 1);
  let kept = 0;
  for (let row = 0; row < rows; row++) {
    const end = rowSplits[row + 1]!;
    for (let i = rowSplits[row]!; i < end; i++) {
      const id = ids[i]!;
      if ((mask.zero && id === 0) || (mask.negative && id < 0)) continue;
      values[kept] = id;
      positions[kept] = i;
      kept++;
    }
    splits[row + 1] = kept;
  }
  if (kept === ids.length) return { values, rowSplits: splits, positions: null };
  return { values: values.slice(0, kept), rowSplits: splits, positions: positions.slice(0, kept) };
}

/**
 * The weights at these positions (each at most once), differentiable. The gradient of tf.gather would be missing on
 * some backends and quadratic on another; a scatter is linear everywhere.
 */
export function takeAt(weights: tf.Tensor1D, positions: Int32Array): tf.Tensor1D {
  const op = tf.customGrad((all, save) => {
    const index = tf.tensor1d(positions, 'int32');
    (save as tf.GradSaveFunc)([index]);
    const size = (all as tf.Tensor).size;
    return {
      value: tf.gather(all as tf.Tensor1D, index),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [places] = saved as [tf.Tensor1D];
        return places.size === 0 ? tf.zeros([size]) : tf.scatterND(places.expandDims(1), dy, [size]);
      },
    };
  });
  return op(weights) as tf.Tensor1D;
}

/** Ids on the host, checked to be whole. */
export function hostIds(ids: tf.Tensor): Int32Array {
  return toInt32(ids.dataSync(), 'ids');
}

/** The ids of a batch that count, as bags. */
export interface UnmaskedBags {
  readonly bags: BagTensors;
  /** Where each of them lay among all ids; null: where it lies now. May read the ids. */
  positions(): Int32Array | null;
}

/** `weights`: one per id, flat. Call inside a tidy. */
function unmaskedBags(ids: Int32Array, rowSplits: Int32Array, weights: tf.Tensor1D | null, mask: IdMask): UnmaskedBags {
  const { values, rowSplits: splits, positions } = unmaskedIds(ids, rowSplits, mask);
  const bags = {
    values: tf.tensor1d(values, 'int32'),
    rowSplits: tf.tensor1d(splits, 'int32'),
    weights: weights === null || positions === null ? weights : takeAt(weights, positions),
  };
  return { bags, positions: () => positions };
}

/** The weights of the ids that count, by an op, differentiable. */
function presentWeights(ops: StepOps, ids: tf.Tensor1D, weights: tf.Tensor1D, mask: IdMask): tf.Tensor1D {
  return withLazyGradient(
    { weights },
    (save) => {
      save([ids]);
      return ops.presentWeights(ids, weights, mask);
    },
    (dy, saved) => ({ weights: () => ops.spreadWeights(saved[0] as tf.Tensor1D, dy as tf.Tensor1D, mask) }),
  ) as tf.Tensor1D;
}

/** The same by ops, which never show the ids to JavaScript; null where the backend has none. */
function unmaskedByOps(
  ids: tf.Tensor,
  rowSplits: Int32Array,
  weights: tf.Tensor1D | null,
  mask: IdMask,
): UnmaskedBags | null {
  const { ops } = currentBackend();
  if (ops === null || ids.dtype !== 'int32') return null;
  const flat = ids.as1D();
  const bags = {
    ...ops.presentIds(flat, tf.tensor1d(rowSplits, 'int32'), mask),
    weights: weights === null ? null : presentWeights(ops, flat, weights, mask),
  };
  return { bags, positions: () => unmaskedIds(flat.dataSync<'int32'>(), rowSplits, mask).positions };
}

/** The position among all ids of one of those that count. */
export function positionAmongAll({ positions }: UnmaskedBags, position: number): number {
  return positions()?.[position] ?? position;
}

/** A batch as bags with these splits, without the absent ids. Call inside a tidy. */
export function bagsOfIds(
  { values, weights: given }: Pick<IdBatch, 'values' | 'weights'>,
  rowSplits: Int32Array,
  mask: IdMask | null,
): UnmaskedBags {
  const perId = given instanceof Float32Array ? tf.tensor1d(given, 'float32') : given;
  const weights = perId === null ? null : perId.as1D();
  if (mask !== null) {
    const byOps = values instanceof tf.Tensor ? unmaskedByOps(values, rowSplits, weights, mask) : null;
    if (byOps !== null) return byOps;
    return unmaskedBags(values instanceof tf.Tensor ? hostIds(values) : values, rowSplits, weights, mask);
  }
  const bags = {
    values: values instanceof tf.Tensor ? values.as1D() : tf.tensor1d(values, 'int32'),
    rowSplits: tf.tensor1d(rowSplits, 'int32'),
    weights,
  };
  return { bags, positions: () => null };
}
