/** Makes the emulator a tfjs backend. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import { afterBackendRemoval } from '../../tfjs/removed_backends.js';
import type { Backend } from '../contract.js';
import { KERNEL_GRADIENTS } from '../kernel_calls.js';
import { addBackend } from '../registry.js';
import { DeviceTensors } from './host/shared_tensors.js';
import { makeDevices } from './devices/device_set.js';
import { Emulator } from './emulator.js';
import type { ColumnViews } from './host/column_views.js';
import { deriveBackend, startHost, type HostBackend } from './host/derived_backend.js';
import { Machine } from './machine/machine.js';
import { BACKEND_NAME, emulatorSettings } from './machine/settings.js';
import { EMBEDDING_BAG, EMBEDDING_BAG_WEIGHTS_GRAD, type BagTensors } from '../bag_tensors.js';
import type { BagOptions } from '../kernel_set.js';

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
type Current = () => { emulator: Emulator; machine: Machine; tensors: DeviceTensors; columns: ColumnViews | null };

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

/** Registers the kernels of the host under the emulator's name. */
function registerKernels(hostName: string, current: Current): void {
  for (const { kernelName } of tf.getKernelsForBackend(BACKEND_NAME)) tf.unregisterKernel(kernelName, BACKEND_NAME);
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
    tf.registerKernel({ kernelName, backendName: BACKEND_NAME, kernelFunc: run, ...(setupFunc && { setupFunc }) });
  }
}

const START = `await tf.setBackend('${BACKEND_NAME}') starts it.`;

/** Below every other backend: tfjs never chooses it by itself. */
const PRIORITY = -1;

/** What runs. */
export interface Running {
  readonly emulator: Emulator;
  readonly machine: Machine;
  readonly tensors: DeviceTensors;
  readonly backend: tf.KernelBackend;
  /** null where the host is not TensorFlow. */
  readonly columns: ColumnViews | null;
  /** The backend that runs dense ops. */
  readonly host: string;
}

/** A start that is under way; a removal forgets it. */
interface Start {
  backend: Promise<tf.KernelBackend>;
}

const life = (): { running: Running | null; starting: Start | null } =>
  perProcess('tpu-emulator', () => ({ running: null, starting: null }));

/** The running emulator, or null. */
export function running(): Running | null {
  return life().running;
}

/** The emulator where it is the current backend; RuntimeError where it is not, which names what needs it. */
export function currentEmulator(argument: string): Emulator {
  const found = running();
  if (found !== null && tf.getBackend() === BACKEND_NAME) return found.emulator;
  const received = described(`the backend ${tf.getBackend()}`);
  throw new RuntimeError(argument, `the backend ${BACKEND_NAME}`, received, START);
}

function current(): Running {
  const found = running();
  if (found !== null) return found;
  throw new RuntimeError('backend', `a running ${BACKEND_NAME}`, described('none'), START);
}

/** Whether a machine runs or is being built, whose settings are thus fixed. */
export function isBuilt(): boolean {
  return running() !== null || life().starting !== null;
}

/** There is one machine: who sets the backend again gets the same, also while it starts. */
async function start(): Promise<tf.KernelBackend> {
  const found = running();
  if (found !== null) return found.backend;
  const shared = life();
  if (shared.starting !== null) return shared.starting.backend;
  const own = {} as Start;
  const isWanted = (): boolean => shared.starting === own;
  shared.starting = own;
  own.backend = build(isWanted).finally(() => {
    if (isWanted()) shared.starting = null;
  });
  return own.backend;
}

/** Builds the machine, unless it is removed meanwhile. */
async function build(isWanted: () => boolean): Promise<tf.KernelBackend> {
  const settings = emulatorSettings();
  const host = await startHost(settings.host);
  checkWanted(isWanted);
  const count = settings.chips * settings.coresPerChip;
  const { devices: kind, threadsPerDevice: threads, timeoutMs } = settings;
  const devices = await makeDevices({ count, kind, threads, timeoutMs });
  const machine = new Machine(settings, devices);
  try {
    checkWanted(isWanted);
    if (tf.findBackend(host.name) !== host.backend) machine.loseHost(host.name);
    machine.checkHost();
    return install(machine, host);
  } catch (error) {
    await machine.close();
    throw error;
  }
}

function checkWanted(isWanted: () => boolean): void {
  if (isWanted()) return;
  throw new RuntimeError('backend', `a ${BACKEND_NAME} that stays`, described('one that was removed as it started'));
}

function install(machine: Machine, host: HostBackend): tf.KernelBackend {
  const tensors = new DeviceTensors();
  const memory = (): object => ({ devices: machine.counters.counters().devices.map((device) => device.memory) });
  const close = (): void => {
    if (running()?.machine === machine) life().running = null;
    void machine.close();
  };
  const derived = deriveBackend(host.name, host.backend, {
    tensors,
    addon: machine.set.addon,
    hosted: machine,
    memory,
    close,
  });
  machine.beforeExchange = () => derived.pooled.materializeAll();
  const emulator = new Emulator(machine, derived, tensors, host.name);
  registerKernels(host.name, current);
  const { backend, columns } = derived;
  life().running = { emulator, machine, tensors, backend, columns, host: host.name };
  return backend;
}

/** Ends what `tf.removeBackend` does not know: a start, and a machine that tfjs did not wait for. */
function remove(): void {
  life().starting = null;
  running()?.backend.dispose();
}

const backend: Backend = {
  lookUp: (lookups) => current().emulator.lookUp(lookups),
  step: (updates) => current().emulator.update(updates),
  gradient: KERNEL_GRADIENTS,
  get tables() {
    return current().emulator;
  },
  ops: null,
  info: () => current().machine.set.devices[0]!.kernels,
};

/** Registers the backend. After `tf.removeBackend` it can be set again, with new devices. */
export function registerTpuEmulator(): void {
  addBackend(BACKEND_NAME, backend);
  const register = (): boolean => tf.registerBackend(BACKEND_NAME, start, PRIORITY);
  const isFirst = afterBackendRemoval((name) => {
    const found = running();
    if (found?.host === name) found.machine.loseHost(name);
    if (name !== BACKEND_NAME) return;
    remove();
    register();
  });
  if (isFirst) register();
}
