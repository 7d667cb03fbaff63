/**
 * Registers the kernels of the `tensorflow` backend. Loads in any runtime: tfjs-node itself is never imported.
 *
 * Wiring: the any-runtime entry calls `registerTensorFlowBackend()`; the Node entry connects the addon to what it returns.
 * The addon's ops are registered at the first kernel that runs, so the order of imports does not matter; an entry that
 * wants to know early calls `addon.registerTensorFlow()` itself after tfjs-node is loaded.
 */
import * as tf from '@tensorflow/tfjs';
import { registerNaNCheck } from '../../ids/float_values.js';
import { UPDATE_NAMES, type UpdateName } from '../../rules/rules.js';
import {
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  SPARSE_APPLY,
  slotsAmong,
} from '../bag_tensors.js';
import { genericKernel } from '../generic/register.js';
import { addBackend, registeredBackend } from '../registry.js';
import { TensorFlowTables } from './tensorflow_tables.js';
import * as kernels from './kernels.js';
import { BACKEND_NAME, type NodeBackend } from './node_backend.js';
import { backendFor } from './op_inputs.js';

type Run = (backend: NodeBackend, inputs: never, attrs: never) => tf.TensorInfo | tf.TensorInfo[];

/** Makes the package known to the `tensorflow` backend, and returns what an addon is connected to. May be called again. */
export function registerTensorFlowBackend(): TensorFlowTables {
  const known = registeredBackend(BACKEND_NAME);
  // Lookups alone may have run here before, on stock ops.
  if (known !== undefined && 'connect' in known) return known as TensorFlowTables;
  const part = new TensorFlowTables();
  addBackend(BACKEND_NAME, part);
  registerNaNCheck(BACKEND_NAME, (weights) => hasNoNaN(part, weights));
  register(part, EMBEDDING_BAG, kernels.embeddingBag as Run);
  register(part, EMBEDDING_BAG_GRAD, kernels.embeddingBagGrad as Run);
  register(part, EMBEDDING_BAG_WEIGHTS_GRAD, kernels.embeddingBagWeightsGrad as Run);
  for (const optimizer of UPDATE_NAMES) {
    const kernelName = SPARSE_APPLY[optimizer];
    register(part, kernelName, (backend, inputs, attrs) => {
      kernels.sparseApplyInPlace(backend, optimizer, withSlots(optimizer, inputs), attrs);
      return [];
    });
  }
  return part;
}

/** The inputs of an update kernel, its slots as a list. */
function withSlots(optimizer: UpdateName, inputs: tf.NamedTensorInfoMap): kernels.SparseApplyInputs {
  return { ...inputs, slots: slotsAmong(optimizer, inputs) } as unknown as kernels.SparseApplyInputs;
}

/** Whether an op says so. */
function hasNoNaN({ ops }: TensorFlowTables, weights: tf.Tensor): boolean {
  if (ops === null) return false;
  try {
    ops.checkWeights(weights);
    return true;
  } catch {
    return false;
  }
}

function register(part: TensorFlowTables, kernelName: string, run: Run): void {
  if ((tf.getKernel(kernelName, BACKEND_NAME) as tf.KernelConfig | undefined) !== undefined) {
    tf.unregisterKernel(kernelName, BACKEND_NAME);
  }
  tf.registerKernel({
    kernelName,
    backendName: BACKEND_NAME,
    kernelFunc: ({ inputs, attrs, backend }) => {
      if (!part.hasOps()) return genericKernel(kernelName)({ inputs, attrs: attrs ?? {}, backend });
      return run(backendFor(inputs as tf.NamedTensorInfoMap), inputs as never, attrs as never);
    },
  });
}
