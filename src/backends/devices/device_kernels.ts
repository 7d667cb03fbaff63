/** The kernels of a backend with devices: those of its host, which get local copies of what lies on devices. */
import * as tf from '@tensorflow/tfjs';
import { EMBEDDING_BAG, EMBEDDING_BAG_WEIGHTS_GRAD, type BagTensors } from '../bag_tensors.js';
import type { BagOptions } from '../kernel_set.js';
import { tableOf } from '../table.js';
import type { DevicesBackend } from './devices_backend.js';
import type { ColumnViews } from './host/column_views.js';
import type { DeviceTensors } from './host/shared_tensors.js';
import type { Machine } from './machine/machine.js';

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

/** What runs now. */
export type Current = () => Pick<RunningDevices, 'devices' | 'machine' | 'tensors' | 'columns'>;

/** Devices that run, and the backend that they are. */
export interface RunningDevices {
  readonly devices: DevicesBackend;
  readonly machine: Machine;
  readonly tensors: DeviceTensors;
  readonly backend: tf.KernelBackend;
  /** null where the host is not TensorFlow. */
  readonly columns: ColumnViews | null;
  /** The backend that runs dense ops. */
  readonly host: string;
}

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
      const [found] = current().devices.lookUp([
        { table: tableOf(table), bags: bagsOf(given, host), options: attrs as unknown as BagOptions },
      ]);
      return found!.pooled;
    },
    [EMBEDDING_BAG_WEIGHTS_GRAD]: ({ inputs, attrs, backend }) => {
      const given = inputs as unknown as Bags & { gradient: tf.TensorInfo };
      const host = backend as tf.KernelBackend;
      const gradient = readable(given.gradient, host) as tf.Tensor2D;
      const table = readable(given.table, host);
      const options = attrs as unknown as BagOptions;
      const values = current().devices.weightsGradient(table, gradient, bagsOf(given, host), options);
      return tf.tensor1d(values, 'float32');
    },
  };
}

const isByColumns = ({ shape, dtype }: tf.TensorInfo, axis: number): boolean =>
  shape.length === 2 && dtype === 'float32' && (axis === 1 || axis === -1);

type ColumnKernel = (views: ColumnViews, kernel: tf.KernelFunc, params: Params) => ReturnType<tf.KernelFunc>;

/** Kernels of TensorFlow that need not move columns: see ColumnViews. */
const COLUMN_KERNELS: Readonly<Record<string, ColumnKernel>> = {
  [tf.SplitV]: (views, kernel, params) => {
    const { x } = params.inputs as unknown as { x: tf.TensorInfo };
    const { numOrSizeSplits, axis } = params.attrs as unknown as tf.SplitVAttrs;
    if (!isByColumns(x, axis) || !views.isInTensorFlow(x)) return kernel(params);
    return views.of(x, tf.backend_util.prepareSplitSize(x as tf.Tensor, numOrSizeSplits, 1));
  },
  [tf.Concat]: (views, kernel, params) => {
    const given = params.inputs as unknown as tf.TensorInfo[];
    const { axis } = params.attrs as unknown as tf.ConcatAttrs;
    if (!given.every((each) => isByColumns(each, axis))) return kernel(params);
    const inputs = views.joined(given);
    return inputs.length > 1 ? kernel({ ...params, inputs: inputs as never }) : again(inputs[0]!, params);
  },
  // Layers reshape what they make to the shape that it has.
  [tf.Reshape]: (views, kernel, params) => {
    const { x } = params.inputs as unknown as { x: tf.TensorInfo };
    const { shape } = params.attrs as unknown as tf.ReshapeAttrs;
    const isSame = tf.util.arraysEqual(tf.util.inferFromImplicitShape(shape, tf.util.sizeFromShape(x.shape)), x.shape);
    return isSame && views.placeOf(x) !== null ? again(x, params) : kernel(params);
  },
};

/** Another reference to a tensor. */
function again({ dataId, shape, dtype }: tf.TensorInfo, { backend }: Params): tf.TensorInfo {
  (backend as tf.KernelBackend).incRef(dataId);
  return { dataId, shape, dtype };
}

/** Registers the kernels of the host under the name of a backend with devices. */
export function registerKernels(backendName: string, hostName: string, current: Current): void {
  for (const { kernelName } of tf.getKernelsForBackend(backendName)) tf.unregisterKernel(kernelName, backendName);
  const own = ownKernels(current);
  for (const { kernelName, kernelFunc, setupFunc } of tf.getKernelsForBackend(hostName)) {
    // The input that must lie on devices for our own kernel to run.
    const name = kernelName === tf.Identity ? 'x' : 'table';
    const ofColumns = COLUMN_KERNELS[kernelName];
    const run: tf.KernelFunc = (params) => {
      const { machine, tensors, columns } = current();
      machine.checkHost();
      const inputs = params.inputs as unknown as Inputs;
      if (!anyOnDevices(tensors, inputs)) {
        return columns === null || ofColumns === undefined
          ? kernelFunc(params)
          : ofColumns(columns, kernelFunc, params);
      }
      const ours = anyOnDevices(tensors, { [name]: inputs[name] }) ? own[kernelName] : undefined;
      return ours === undefined ? withLocal(tensors, kernelFunc, params) : ours(params);
    };
    tf.registerKernel({ kernelName, backendName, kernelFunc: run, ...(setupFunc && { setupFunc }) });
  }
}
