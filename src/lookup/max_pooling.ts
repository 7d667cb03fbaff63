/** The combiner `max`: rows are looked up one by one, and stock ops take the largest of each column of a bag. */
import * as tf from '@tensorflow/tfjs';
import type { Lookup } from '../backends/contract.js';
import { singleRows } from '../backends/kernel_calls.js';
import { refuseRecording } from '../backends/recordings.js';
import { ValueError, described } from '../base/errors.js';
import { lengthsOfSplits, longestRow } from '../ids/row_splits.js';
import { refuseSecond, withLazyGradient } from '../tfjs/lazy_gradient.js';

/** The lookup that backends run: that of single rows where these are to be pooled by `max`. Call inside a tidy. */
export function withoutMax<T extends Pick<Lookup, 'bags' | 'options'>>(lookup: T): T {
  const { bags, options } = lookup;
  if (options.combiner !== 'max') return lookup;
  if (bags.weights !== null) {
    throw new ValueError('weights', `nothing where the combiner is 'max'`, described('weights'));
  }
  return { ...lookup, bags: singleRows(bags.values), options: { ...options, combiner: 'sum' } };
}

/** Bags side by side. */
interface SideBySide {
  /** [batch, longest, dim], -Infinity behind the end of each. */
  readonly rows: tf.Tensor3D;
  /** Where each row went, [nnz]. */
  readonly places: tf.Tensor1D;
  readonly lengths: Int32Array;
}

function sideBySide(rows: tf.Tensor2D, rowSplits: tf.Tensor1D): SideBySide {
  refuseRecording(`the combiner 'max' reads the row splits of each batch`);
  const [count, dim] = rows.shape;
  const splits = rowSplits.dataSync<'int32'>();
  const [lengths, longest] = [lengthsOfSplits(splits), longestRow(splits)];
  const sources = new Int32Array(lengths.length * longest).fill(count);
  const places = new Int32Array(count);
  lengths.forEach((length, bag) => {
    for (let i = 0; i < length; i++) {
      places[splits[bag]! + i] = bag * longest + i;
      sources[bag * longest + i] = splits[bag]! + i;
    }
  });
  const behind = tf.concat([rows, tf.fill<tf.Rank.R2>([1, dim], -Infinity)], 0);
  const padded = tf.gather(behind, tf.tensor1d(sources, 'int32'));
  return { rows: padded.reshape([lengths.length, longest, dim]), places: tf.tensor1d(places, 'int32'), lengths };
}

/** Rows [nnz, dim] of bags become [batch, dim]; those of empty bags are zeros. */
function largest(rows: tf.Tensor2D, rowSplits: tf.Tensor1D): tf.Tensor2D {
  const batch = rowSplits.shape[0] - 1;
  if (rows.size === 0) return tf.zeros([batch, rows.shape[1]]);
  const { rows: padded, lengths } = sideBySide(rows, rowSplits);
  const isEmpty = tf
    .tensor1d(
      Uint8Array.from(lengths, (length) => Number(length === 0)),
      'bool',
    )
    .expandDims(1);
  const most = padded.max<tf.Tensor2D>(1);
  return tf.where(isEmpty, tf.zerosLike(most), most);
}

/** The gradient of each row, [nnz, dim], by that of its bag: it goes to the first row that is the largest. */
export function gradientOfMax(rows: tf.Tensor2D, rowSplits: tf.Tensor1D, gradient: tf.Tensor2D): tf.Tensor2D {
  if (rows.size === 0) return tf.zerosLike(rows);
  const { rows: padded, places } = sideBySide(rows, rowSplits);
  const isLargest = padded.equal(padded.max(1, true)).toFloat();
  const isFirst = isLargest.cumsum(1).equal(1).toFloat();
  const spread = isLargest.mul(isFirst).mul<tf.Tensor3D>(gradient.expandDims(1));
  return tf.gather(spread.reshape<tf.Tensor2D>([-1, rows.shape[1]]), places);
}

/** The largest of the rows of each bag, with a gradient of its own. Call inside a tidy. */
export function maxPooled(rows: tf.Tensor2D, rowSplits: tf.Tensor1D): tf.Tensor2D {
  const refuse = (): never => refuseSecond(`the gradient of the combiner 'max'`);
  return withLazyGradient(
    { rows },
    (save) => {
      save([rows, rowSplits]);
      return largest(rows, rowSplits);
    },
    (dy, [saved, splits]) => ({
      rows: () =>
        withLazyGradient(
          { gradient: dy },
          () => gradientOfMax(saved as tf.Tensor2D, splits as tf.Tensor1D, dy as tf.Tensor2D),
          () => ({ gradient: refuse }),
        ),
    }),
  ) as tf.Tensor2D;
}
