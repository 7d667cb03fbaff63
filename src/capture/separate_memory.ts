/**
 * Variables and batches that share their data with other tensors get data of their own before a step is recorded: by its
 * data a step tells what it reads, and what two of them hold now may be two things in the next step.
 */
import * as tf from '@tensorflow/tfjs';
import type { NodeBackend } from '../backends/tensorflow/node_backend.js';
import type { StepData } from '../tfjs/training/step_runner.js';

interface Counted {
  refCount(dataId: object): number;
}

/** How many tensors have these data, on whatever backend they are. */
function holdersOf(dataId: object): number {
  const { state } = tf.engine() as unknown as { state: { tensorInfo: WeakMap<object, { backend: Counted }> } };
  return state.tensorInfo.get(dataId)?.backend.refCount(dataId) ?? 0;
}

/** The same numbers, in the same memory where TensorFlow has them, under data of their own. */
function aliasOf(backend: NodeBackend, { dataId, shape, dtype }: tf.Tensor): tf.Tensor {
  const { values, dtype: value } = backend.tensorMap.get(dataId) as { values: unknown; dtype: number };
  const info = { dataId, shape, dtype };
  if (values === null || values === undefined) {
    return backend.executeSingleOutput('Identity', [{ name: 'T', type: backend.binding.TF_ATTR_TYPE, value }], [info]);
  }
  const own = backend.write(values as Float32Array, shape, dtype as 'float32');
  return tf.engine().makeTensorFromTensorInfo({ dataId: own, shape, dtype });
}

/** Gives each of these tensors data that no other tensor has. Their numbers stay. */
export function separateMemory(backend: NodeBackend, tensors: StepData): void {
  for (const tensor of new Set(tensors)) {
    if (tensor === null || tensor === undefined || tensor.isDisposed || holdersOf(tensor.dataId) < 2) continue;
    const alias = aliasOf(backend, tensor);
    const shared = tensor.dataId;
    tensor.dataId = alias.dataId;
    alias.dataId = shared;
    alias.dispose();
  }
}
