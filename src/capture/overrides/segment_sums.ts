/** Sums of rows by segment, the gradient of `tf.gather`, by somebody else. */
import * as tf from '@tensorflow/tfjs';
import { replaceStockKernel } from '../../tfjs/engine/stock_kernel.js';
import { Substitute } from '../../tfjs/training/substitute.js';

/** What such a sum takes, as the kernel of tfjs is given it. */
export interface SegmentSum {
  readonly x: tf.TensorInfo;
  readonly segmentIds: tf.TensorInfo;
  readonly numSegments: number;
}

/** The sums; null: what tfjs gives. */
export type SegmentSumBy = (sum: SegmentSum) => tf.TensorInfo | null;

const sums = new Substitute<SegmentSumBy>('segment sum');

/** Runs `f` while `by` sums rows by segment on `tensorflow`. */
export function withSegmentSums<T>(by: SegmentSumBy, f: () => T): T {
  // tfjs-node may be loaded after this package.
  replaceStockKernel(tf.UnsortedSegmentSum, 'tensorflow', 'segment sums', (stock) => (args) => {
    const now = sums.now;
    if (now === null) return stock(args);
    const { inputs, attrs } = args as unknown as {
      readonly inputs: Pick<SegmentSum, 'x' | 'segmentIds'>;
      readonly attrs: Pick<SegmentSum, 'numSegments'>;
    };
    return now({ ...inputs, ...attrs }) ?? stock(args);
  });
  return sums.during(by, f);
}
