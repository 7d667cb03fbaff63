/**
 * Override of `tf.gather`: tfjs-node reads the row numbers to check them before TensorFlow, which checks them too,
 * gathers the rows, and what JavaScript reads cannot be repeated as a graph.
 */
import * as tf from '@tensorflow/tfjs';
import { replaceStockKernel } from '../../tfjs/engine/stock_kernel.js';
import { Substitute, type Override } from '../../tfjs/training/substitute.js';
import { asNodeBackend, withTensor } from '../../backends/tensorflow/node_backend.js';

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

/** Installs the hook into tfjs. */
function installGathers(): void {
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

const TYPES = { float32: 'TF_FLOAT', int32: 'TF_INT32' } as const;

/** The rows of a matrix, or of a tensor of more axes; null for other gathers, and where a row is not there: tfjs says which. */
export function nativeGather({ x, indices, axis, batchDims }: Gather): tf.TensorInfo | null {
  const type = TYPES[x.dtype as keyof typeof TYPES];
  if (axis !== 0 || batchDims !== 0 || type === undefined || indices.dtype !== 'int32') return null;
  const backend = asNodeBackend(tf.backend());
  const { binding } = backend;
  const attributes = [
    { name: 'batch_dims', type: binding.TF_ATTR_INT, value: 0 },
    { name: 'Tparams', type: binding.TF_ATTR_TYPE, value: binding[type] },
    { name: 'Tindices', type: binding.TF_ATTR_TYPE, value: binding.TF_INT32 },
    { name: 'Taxis', type: binding.TF_ATTR_TYPE, value: binding.TF_INT32 },
  ];
  try {
    return withTensor(backend, Int32Array.of(0), [], (first) =>
      backend.executeSingleOutput(tf.GatherV2, attributes, [x, indices, first]),
    );
  } catch {
    return null;
  }
}

const nativeGathers = gathers.as(nativeGather);

/** Rows are gathered by TensorFlow, whose own check of their numbers does. */
export const GATHERS: Override = {
  begin() {
    // tfjs-node may be loaded after this package.
    installGathers();
    return nativeGathers.begin();
  },
};
