/** Makes the emulator a tfjs backend. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import { afterBackendRemoval } from '../../tfjs/removed_backends.js';
import type { Backend } from '../contract.js';
import { KERNEL_GRADIENTS } from '../kernel_calls.js';
import { addBackend } from '../registry.js';
import { DeviceTensors } from './host/device_tensors.js';
import { makeDevices } from './devices/device_set.js';
import { Emulator } from './emulator.js';
import type { ColumnViews } from './host/column_views.js';
import { deriveBackend, startHost, type HostBackend } from './host/derived_backend.js';
import { registerKernels } from './host/kernels.js';
import { Machine } from './machine/machine.js';
import { BACKEND_NAME, emulatorSettings } from './machine/settings.js';

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

function current(): Running {
  const found = running();
  if (found !== null) return found;
  const note = `await tf.setBackend('${BACKEND_NAME}') starts it.`;
  throw new RuntimeError('backend', `a running ${BACKEND_NAME}`, described('none'), note);
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
