/** The kernels of a backend by name, made of one function per operation. */
import type * as tf from '@tensorflow/tfjs';
import { OPTIMIZER_NAMES, type OptimizerName } from '../rules/rules.js';
import {
  EMBEDDING_BAG,
  EMBEDDING_BAG_GRAD,
  EMBEDDING_BAG_WEIGHTS_GRAD,
  PACKED_APPLY,
  PACKED_BAG,
  PACKED_BAG_WEIGHTS_GRAD,
  SPARSE_APPLY,
} from './bag_tensors.js';

/** What a backend offers; `Call` is how it sees the inputs, attributes and itself. */
export interface KernelRuns<Call> {
  embeddingBag(call: Call): tf.TensorInfo[];
  embeddingBagGrad(call: Call): tf.TensorInfo[];
  embeddingBagWeightsGrad(call: Call): tf.TensorInfo[];
  packedBag(call: Call): tf.TensorInfo[];
  packedBagWeightsGrad(call: Call): tf.TensorInfo[];
  packedApply(call: Call): tf.TensorInfo[];
  sparseApply(optimizer: OptimizerName, call: Call): tf.TensorInfo[];
}

/** tfjs takes a kernel's only output without the array around it. */
function asKernel<Call>(run: (call: Call) => tf.TensorInfo[]): tf.KernelFunc {
  return (params) => {
    const outputs = run(params as unknown as Call);
    return outputs.length === 1 ? outputs[0]! : outputs;
  };
}

/** The functions that tfjs registers, by kernel name. */
export function kernelTable<Call>(runs: KernelRuns<Call>): Readonly<Record<string, tf.KernelFunc>> {
  return {
    [EMBEDDING_BAG]: asKernel(runs.embeddingBag),
    [EMBEDDING_BAG_GRAD]: asKernel(runs.embeddingBagGrad),
    [EMBEDDING_BAG_WEIGHTS_GRAD]: asKernel(runs.embeddingBagWeightsGrad),
    [PACKED_BAG]: asKernel(runs.packedBag),
    [PACKED_BAG_WEIGHTS_GRAD]: asKernel(runs.packedBagWeightsGrad),
    [PACKED_APPLY]: asKernel(runs.packedApply),
    ...Object.fromEntries(
      OPTIMIZER_NAMES.map((name) => [SPARSE_APPLY[name], asKernel((call: Call) => runs.sparseApply(name, call))]),
    ),
  };
}
