/** Steps whose cost grows with the table: stock ops of a GPU make a new table where kernels write a few rows. */
import * as tf from '@tensorflow/tfjs';
import { warnOnce } from '../../base/warn_once.js';

/** Backends on a GPU from which nothing is read where that can be helped. */
export const GPU_BACKENDS: readonly string[] = ['webgpu'];

/** From so many rows on it is felt. */
const LARGE = 10_000;

/** A line that runs as it stands: tfjs brings cpu, and wasm comes with a package of its own. */
function remedy(): string {
  const isThere = tf.engine().registryFactory['wasm'] !== undefined;
  if (isThere) return `await tf.setBackend('wasm');`;
  return `await tf.setBackend('cpu'); (or on wasm, once @tensorflow/tfjs-backend-wasm is imported)`;
}

/** Warns, once per process, where a table of so many rows is stepped on a GPU, or gets a gradient of its own size. */
export function sayLargeTable(rows: number): void {
  const backend = tf.getBackend();
  if (rows < LARGE || (backend !== 'webgl' && backend !== 'webgpu')) return;
  warnOnce(
    `on the backend ${backend} the cost of a training step grows with its tables (one has ${rows} rows), not with the ` +
      `batch. Train where a step touches only the rows of the batch: ${remedy()}`,
    'large table on a GPU',
  );
}
