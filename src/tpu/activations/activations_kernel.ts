/** The kernel `TPUEmbeddingActivations`: the identity of its second input, and where its gradient goes. */
import * as tf from '@tensorflow/tfjs';
import { runActivationsOp } from '../../backends/tensorflow/activations_op.js';
import { collectGradient } from './gradient_collection.js';

export const TPU_EMBEDDING_ACTIVATIONS = 'TPUEmbeddingActivations';

export interface Inputs {
  readonly embeddingVariable: tf.TensorInfo;
  readonly slicedActivations: tf.TensorInfo;
}

export interface Attributes {
  readonly tableId: number;
  readonly lookupId: number;
  /** Of the inputs, for their gradients. */
  readonly shapes: Readonly<Record<keyof Inputs, number[]>>;
}

const BACKENDS = ['cpu', 'wasm', 'webgl', 'webgpu', 'tensorflow'];

function kernelOf(backendName: string): tf.KernelFunc {
  return ({ inputs, attrs, backend }) => {
    const { embeddingVariable, slicedActivations } = inputs as unknown as Inputs;
    const { tableId, lookupId } = attrs as unknown as Attributes;
    if (backendName === 'tensorflow') {
      const found = runActivationsOp(backend, embeddingVariable, slicedActivations, tableId, lookupId);
      if (found !== null) return found;
    }
    const identity = tf.getKernel(tf.Identity, backendName);
    return identity.kernelFunc({ inputs: { x: slicedActivations }, attrs: {}, backend });
  };
}

/** Registers the kernel for a backend. May be called again. */
export function registerActivations(backendName: string): void {
  const known = tf.getKernel(TPU_EMBEDDING_ACTIVATIONS, backendName) as tf.KernelConfig | undefined;
  if (known !== undefined) return;
  tf.registerKernel({ kernelName: TPU_EMBEDDING_ACTIVATIONS, backendName, kernelFunc: kernelOf(backendName) });
}

/** Registers kernels and gradient; both do nothing where that was done. */
export function registerAllActivations(): void {
  BACKENDS.forEach(registerActivations);
  if ((tf.getGradient(TPU_EMBEDDING_ACTIVATIONS) as tf.GradConfig | undefined) !== undefined) return;
  tf.registerGradient({
    kernelName: TPU_EMBEDDING_ACTIVATIONS,
    gradFunc: (dy, _saved, attrs) => {
      const { tableId, lookupId, shapes } = attrs as unknown as Attributes;
      collectGradient(tableId, lookupId, dy as tf.Tensor);
      return {
        embeddingVariable: () => tf.zeros(shapes.embeddingVariable),
        slicedActivations: () => tf.zeros(shapes.slicedActivations),
      };
    },
  });
}
