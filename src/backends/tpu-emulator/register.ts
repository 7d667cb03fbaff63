/** Makes the emulator a tfjs backend. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../../errors.js';
import { state } from '../../state.js';
import { addBackendPart, type BackendPart } from '../registry.js';
import { DeviceTensors } from './device_tensors.js';
import { makeDevices } from './devices/device_set.js';
import { Emulator } from './emulator.js';
import { deriveBackend, startHost } from './host.js';
import { registerKernels } from './kernels.js';
import { Machine } from './machine.js';
import { BACKEND_NAME, emulatorSettings } from './settings.js';

/** Below every other backend: tfjs never chooses it by itself. */
const PRIORITY = -1;
const KEY = `${BACKEND_NAME} running`;
const MARK = Symbol.for('tfjs-embeddings.tpuEmulator');

/** What runs. */
export interface Running {
  readonly emulator: Emulator;
  readonly machine: Machine;
  readonly tensors: DeviceTensors;
  /** The backend that runs dense ops. */
  readonly host: string;
}

/** The running emulator, or null. */
export function running(): Running | null {
  return (state().perBackend.get(KEY) as Running | undefined) ?? null;
}

function current(): Running {
  const found = running();
  if (found !== null) return found;
  const note = `await tf.setBackend('${BACKEND_NAME}') starts it.`;
  throw new RuntimeError('backend', `a running ${BACKEND_NAME}`, described('none'), note);
}

async function start(): Promise<tf.KernelBackend> {
  const settings = emulatorSettings();
  const host = await startHost(settings.host);
  const count = settings.chips * settings.coresPerChip;
  const devices = await makeDevices({ count, kind: settings.devices, threads: settings.threadsPerDevice });
  const machine = new Machine(settings, devices);
  const tensors = new DeviceTensors();
  const memory = (): object => ({ devices: machine.counters.counters().devices.map((device) => device.memory) });
  const close = (): void => {
    if (running()?.machine === machine) state().perBackend.delete(KEY);
    void machine.close();
  };
  const derived = deriveBackend(host.name, host.backend, { tensors, memory, close });
  machine.beforeExchange = () => derived.pooled.settleAll();
  const emulator = new Emulator(machine, derived, tensors, host.name);
  state().perBackend.set(KEY, { emulator, machine, tensors, host: host.name } satisfies Running);
  registerKernels(host.name, current);
  return derived.backend;
}

const part: BackendPart = {
  sparseApply: (...args) => current().emulator.sparseApply(...args),
  settle: (table) => current().emulator.settle(table),
  info: () => current().machine.set.devices[0]!.kernels,
  get devices() {
    return current().emulator;
  },
};

/** Registers the backend. After `tf.removeBackend` it can be set again, with new devices. */
export function registerTpuEmulator(): void {
  addBackendPart(BACKEND_NAME, part);
  const engine = tf.engine() as unknown as { removeBackend(name: string): void; [MARK]?: true };
  if (engine[MARK] === true) return;
  engine[MARK] = true;
  const register = (): boolean => tf.registerBackend(BACKEND_NAME, start, PRIORITY);
  register();
  const { removeBackend } = engine;
  engine.removeBackend = (name: string): void => {
    removeBackend.call(engine, name);
    if (name === BACKEND_NAME) register();
  };
}
