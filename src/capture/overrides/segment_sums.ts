/** Override of the gradient of `tf.gather`, sums of rows by segment. */
import * as tf from '@tensorflow/tfjs';
import { replaceStockKernel } from '../../tfjs/engine/stock_kernel.js';
import { Substitute, type Override } from '../../tfjs/training/substitute.js';
import { asNodeBackend } from '../../backends/tensorflow/node_backend.js';
import { rowsAttribute } from '../../backends/tensorflow/op_inputs.js';

/** What such a sum takes, as the kernel of tfjs is given it. */
export interface SegmentSum {
  readonly x: tf.TensorInfo;
  readonly segmentIds: tf.TensorInfo;
  readonly numSegments: number;
}

/** The sums; null: what tfjs gives. */
export type SegmentSumBy = (sum: SegmentSum) => tf.TensorInfo | null;

const sums = new Substitute<SegmentSumBy>('segment sum');

/** Installs the hook into tfjs. */
function installSegmentSums(): void {
  replaceStockKernel(tf.UnsortedSegmentSum, 'tensorflow', 'segment sums', (stock) => (args) => {
    const now = sums.now;
    if (now === null) return stock(args);
    const { inputs, attrs } = args as unknown as {
      readonly inputs: Pick<SegmentSum, 'x' | 'segmentIds'>;
      readonly attrs: Pick<SegmentSum, 'numSegments'>;
    };
    return now({ ...inputs, ...attrs }) ?? stock(args);
  });
}

/** The sums of the rows of a matrix; null for other tensors, and for an id that TensorFlow refuses: it says which. */
export function nativeSegmentSum({ x, segmentIds, numSegments }: SegmentSum): tf.TensorInfo | null {
  const isOfRows = x.dtype === 'float32' && x.shape.length === 2;
  if (!isOfRows || segmentIds.dtype !== 'int32' || segmentIds.shape.length !== 1) return null;
  const backend = asNodeBackend(tf.backend());
  try {
    return backend.executeSingleOutput('EmbeddingSegmentSum', [rowsAttribute(backend, numSegments)], [x, segmentIds]);
  } catch {
    return null;
  }
}

const nativeSums = sums.as(nativeSegmentSum);

/** Sums of rows by segment are an op of ours. */
export const SEGMENT_SUMS: Override = {
  begin() {
    // tfjs-node may be loaded after this package.
    installSegmentSums();
    return nativeSums.begin();
  },
};
