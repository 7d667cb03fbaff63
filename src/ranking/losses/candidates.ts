/** Which item each column of scores stands for: a positive of the row, and negatives of its own or of all rows. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { toInt32 } from '../../ids/whole_ids.js';
import { asWholeIds } from '../../layers/embedding/feature_lookup.js';
import { shapeText, type LossArguments } from './loss.js';

/** Where the positive of a row stands: in its first column, or in the column of its number, among those of the others. */
export type Positives = 'first' | 'diagonal';

export interface Candidates {
  /** Ids of the positives, [batch, 1]. */
  readonly positive: tf.Tensor2D;
  /** Ids of the columns that hold negatives, for `diagonal` of all columns: [batch, n], or [1, n] for all rows. */
  readonly others: tf.Tensor2D;
}

/** What `yTrue` must be like, for errors. */
const TARGETS = {
  first: 'ids [batch, 1 + negatives] of the positive and the negatives of each row',
  diagonal: 'ids [batch] of the positives, or [batch, 1 + negatives]',
} as const;

/** Whether `yTrue` holds ids: those are int32, and float32 says nothing of the items. */
export function areIds({ labels }: LossArguments): boolean {
  return labels.dtype === 'int32';
}

/** The same arguments with ids: float32 numbers, as of labels whose dtype nobody named, are whole or an error. */
export function withIds(given: LossArguments): LossArguments {
  const { labels } = given;
  if (labels.dtype === 'int32') return given;
  const ids = asWholeIds(labels.cast('float32')) as tf.Tensor;
  if (ids.dtype === 'int32') return { ...given, labels: ids };
  return { ...given, labels: tf.tensor(toInt32(ids.dataSync(), 'yTrue'), ids.shape, 'int32') };
}

/** The ids of all columns, from those of the items that the rows brought. */
export function candidatesOf({ labels, scores }: LossArguments, positives: Positives, option: string): Candidates {
  if (labels.dtype !== 'int32') {
    throw new ArgumentTypeError('yTrue', `int32 ids, which \`${option}\` asks for`, labels);
  }
  const [batch, columns] = scores.shape;
  if (labels.rank === 0 || labels.size === 0) throw new ValueError('yTrue', 'an id for each row', labels);
  const ids = labels.reshape([labels.shape[0]!, -1]) as tf.Tensor2D;
  const [rows, each] = ids.shape;
  const positive = ids.slice([0, 0], [-1, 1]) as tf.Tensor2D;
  const own = ids.slice([0, 1], [-1, -1]) as tf.Tensor2D;
  if (rows === batch) {
    const flat = (): tf.Tensor2D => own.reshape([1, -1]);
    if (positives === 'first' && each === columns) return { positive, others: own };
    if (positives === 'first' && columns === 1 + batch * (each - 1)) return { positive, others: flat() };
    if (positives === 'diagonal' && columns === batch * each) {
      const all = positive.reshape([1, -1]) as tf.Tensor2D;
      return { positive, others: each === 1 ? all : tf.concat([all, flat()], 1) };
    }
  }
  const expected = `${TARGETS[positives]}, for scores of shape ${shapeText(scores)}`;
  throw new ValueError('yTrue', expected, described(shapeText(labels)));
}

/** True where a negative is the positive of its row: an accidental hit. `diagonal`: but for the positive itself. */
export function accidentalHits({ positive, others }: Candidates, positives: Positives): tf.Tensor2D {
  const hits = tf.equal(others, positive);
  if (positives === 'first') return hits as tf.Tensor2D;
  const [batch, columns] = hits.shape as [number, number];
  return tf.logicalAnd(hits, tf.logicalNot(diagonal(batch, columns)));
}

/** True in the column of each row's number. Made in the step: a constant of this size would be too large. */
export function diagonal(batch: number, columns: number): tf.Tensor2D {
  return tf.equal(tf.range(0, batch, 1, 'int32').expandDims(1), tf.range(0, columns, 1, 'int32').expandDims(0));
}
