/** The kernels of the emulator: those of the host, which get local data, and our own on tables of the devices. */
import * as tf from '@tensorflow/tfjs';
import { EMBEDDING_BAG, EMBEDDING_BAG_WEIGHTS_GRAD, type BagTensors } from '../../bag_tensors.js';
import type { BagOptions } from '../../kernel_set.js';
import type { DeviceTensors } from './device_tensors.js';
import type { Emulator } from '../emulator.js';
import type { Machine } from '../machine/machine.js';
import { BACKEND_NAME } from '../machine/settings.js';

/** Optional inputs that are not given are undefined or null. */
type Inputs = Record<string, tf.TensorInfo | null | undefined>;
type Params = Parameters<tf.KernelFunc>[0];

interface Bags extends Inputs {
  table: tf.TensorInfo;
  values: tf.TensorInfo;
  rowSplits: tf.TensorInfo;
}

/** What a kernel is given, as far as reading it goes. */
function readable(info: tf.TensorInfo, backend: tf.KernelBackend): tf.Tensor {
  return { ...info, dataSync: () => backend.readSync(info.dataId) } as unknown as tf.Tensor;
}

function bagsOf({ values, rowSplits, weights }: Bags, backend: tf.KernelBackend): BagTensors {
  const as = (info: tf.TensorInfo): tf.Tensor1D => readable(info, backend) as tf.Tensor1D;
  return { values: as(values), rowSplits: as(rowSplits), weights: weights ? as(weights) : null };
}

/** Runs a kernel of the host with local copies of what lies on devices. */
function withLocal(tensors: DeviceTensors, kernel: tf.KernelFunc, params: Params): ReturnType<tf.KernelFunc> {
  const backend = params.backend as tf.KernelBackend;
  const copies: tf.Tensor[] = [];
  const given = params.inputs as unknown as Inputs;
  const inputs: Inputs = Array.isArray(given) ? ([] as unknown as Inputs) : {};
  try {
    for (const name of Object.keys(given)) {
      const info = given[name];
      const table = info === undefined || info === null ? undefined : tensors.get(info.dataId);
      if (table === undefined) {
        inputs[name] = info;
        continue;
      }
      const { shape, dtype } = info!;
      const dataId = backend.write(table.read(0, table.layout.rows), shape, dtype);
      // Some kernels of tensorflow tell tensors from other arguments.
      const copy = tf.engine().makeTensorFromTensorInfo({ dataId, shape, dtype }, backend);
      copies.push(copy);
      inputs[name] = copy;
    }
    return kernel({ ...params, inputs: inputs as never });
  } finally {
    for (const copy of copies) copy.dispose();
  }
}

function anyOnDevices(tensors: DeviceTensors, inputs: Inputs): boolean {
  for (const name of Object.keys(inputs)) {
    const info = inputs[name];
    if (info !== undefined && info !== null && tensors.get(info.dataId) !== undefined) return true;
  }
  return false;
}

/** The emulator that runs now. */
type Current = () => { emulator: Emulator; machine: Machine; tensors: DeviceTensors };

/** Kernels that need no local copy of a table. */
function ownKernels(current: Current): Readonly<Record<string, tf.KernelFunc>> {
  return {
    // A clone is one more reference; a step copies first where there are several.
    [tf.Identity]: ({ inputs, backend }) => {
      const { x } = inputs as unknown as { x: tf.TensorInfo };
      (backend as tf.KernelBackend).incRef(x.dataId);
      return { ...x };
    },
    [EMBEDDING_BAG]: ({ inputs, attrs, backend }) => {
      const given = inputs as unknown as Bags;
      const host = backend as tf.KernelBackend;
      const table = readable(given.table, host) as tf.Tensor2D;
      const [found] = current().emulator.lookUp([
        { table, bags: bagsOf(given, host), options: attrs as unknown as BagOptions },
      ]);
      return found!.pooled;
    },
    [EMBEDDING_BAG_WEIGHTS_GRAD]: ({ inputs, attrs, backend }) => {
      const given = inputs as unknown as Bags & { gradient: tf.TensorInfo };
      const host = backend as tf.KernelBackend;
      const gradient = readable(given.gradient, host) as tf.Tensor2D;
      const table = readable(given.table, host);
      const options = attrs as unknown as BagOptions;
      const values = current().emulator.weightsGradient(table, gradient, bagsOf(given, host), options);
      return tf.tensor1d(values, 'float32');
    },
  };
}

/** Registers the kernels of the host under the emulator's name. */
export function registerKernels(hostName: string, current: Current): void {
  for (const { kernelName } of tf.getKernelsForBackend(BACKEND_NAME)) tf.unregisterKernel(kernelName, BACKEND_NAME);
  const own = ownKernels(current);
  for (const { kernelName, kernelFunc, setupFunc } of tf.getKernelsForBackend(hostName)) {
    // The input that must lie on devices for our own kernel to run.
    const name = kernelName === tf.Identity ? 'x' : 'table';
    const run: tf.KernelFunc = (params) => {
      const { machine, tensors } = current();
      machine.checkHost();
      const inputs = params.inputs as unknown as Inputs;
      if (!anyOnDevices(tensors, inputs)) return kernelFunc(params);
      const ours = anyOnDevices(tensors, { [name]: inputs[name] }) ? own[kernelName] : undefined;
      return ours === undefined ? withLocal(tensors, kernelFunc, params) : ours(params);
    };
    tf.registerKernel({ kernelName, backendName: BACKEND_NAME, kernelFunc: run, ...(setupFunc && { setupFunc }) });
  }
}
