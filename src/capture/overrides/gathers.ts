/**
 * `tf.gather` by somebody else: tfjs-node reads the row numbers to check them before TensorFlow, which checks them too,
 * gathers the rows, and what JavaScript reads cannot be repeated as a graph.
 */
import * as tf from '@tensorflow/tfjs';
import { replaceStockKernel } from '../../tfjs/engine/stock_kernel.js';
import { Substitute } from '../../tfjs/training/substitute.js';

/** What a gather takes, as the kernel of tfjs is given it. */
export interface Gather {
  readonly x: tf.TensorInfo;
  readonly indices: tf.TensorInfo;
  readonly axis: number;
  readonly batchDims: number;
}

/** The rows; null: what tfjs gives. */
export type GatherBy = (gather: Gather) => tf.TensorInfo | null;

const gathers = new Substitute<GatherBy>('gather');

/** Runs `f` while `by` gathers on `tensorflow`. */
export function withGathers<T>(by: GatherBy, f: () => T): T {
  // tfjs-node may be loaded after this package.
  openGathers();
  return gathers.during(by, f);
}

function openGathers(): void {
  replaceStockKernel(tf.GatherV2, 'tensorflow', 'gathers', (stock) => (args) => {
    const by = gathers.now;
    if (by === null) return stock(args);
    const { inputs, attrs } = args as unknown as {
      readonly inputs: Pick<Gather, 'x' | 'indices'>;
      readonly attrs: Pick<Gather, 'axis' | 'batchDims'>;
    };
    return by({ ...inputs, ...attrs }) ?? stock(args);
  });
}
