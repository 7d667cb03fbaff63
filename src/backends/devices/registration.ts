/** A backend of tfjs whose tables lie on devices: its start, its end, and what runs in between. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import { afterBackendRemoval } from '../../tfjs/removed_backends.js';
import type { Backend } from '../contract.js';
import { KERNEL_GRADIENTS } from '../kernel_calls.js';
import { addBackend } from '../registry.js';
import { registerKernels, type RunningDevices } from './device_kernels.js';
import { DevicesBackend } from './devices_backend.js';
import { deriveBackend, startHost, type HostBackend } from './host/derived_backend.js';
import { DeviceTensors } from './host/shared_tensors.js';
import type { DevicesBeside } from './look_ahead.js';
import type { Machine } from './machine/machine.js';

/** Devices that were made, and what is known of them beside. */
export interface Made<Settings> {
  readonly machine: Machine;
  /** The same devices for lookups of batches to come; null: there are none. */
  readonly beside: DevicesBeside | null;
  readonly settings: Settings;
  /** What `backendInfo()` tells of the devices. */
  info(host: string): object;
}

/** A kind of devices. */
export interface DeviceKind<Settings, Start = Settings> {
  /** The backend's name. */
  readonly backend: string;
  /** How it is started, as a sentence. */
  readonly start: string;
  /** What is in force when a start begins; throws where nothing can be started. */
  settings(): Start & { readonly host: string | null };
  make(settings: Start): Promise<Made<Settings>>;
}

export type Running<Settings> = RunningDevices & { readonly settings: Settings };

/** A start that is under way; a removal forgets it. */
interface StartUnderWay {
  backend: Promise<tf.KernelBackend>;
}

interface Life<Settings> {
  running: Running<Settings> | null;
  starting: StartUnderWay | null;
}

/** Below every other backend: tfjs never chooses it by itself. */
const PRIORITY = -1;

export class DevicesRegistration<Settings, Start = Settings> {
  /** What kernels hold, which stay when devices go: a function made beside these would keep them. */
  private readonly now = (): Running<Settings> => this.current();

  constructor(private readonly kind: DeviceKind<Settings, Start>) {}

  /** What runs, or null. */
  get running(): Running<Settings> | null {
    return this.life.running;
  }

  /** Whether devices run or are being made, whose settings are thus fixed. */
  get isBuilt(): boolean {
    return this.life.running !== null || this.life.starting !== null;
  }

  /** What runs; RuntimeError where nothing does. */
  current(): Running<Settings> {
    const { running } = this;
    if (running !== null) return running;
    throw new RuntimeError('backend', `a running ${this.kind.backend}`, described('none'), this.kind.start);
  }

  /** What runs where it is the current backend; RuntimeError where it is not, which names what needs it. */
  inUse(argument: string): Running<Settings> {
    const { running } = this;
    const { backend, start } = this.kind;
    if (running !== null && tf.getBackend() === backend) return running;
    throw new RuntimeError(argument, `the backend ${backend}`, described(`the backend ${tf.getBackend()}`), start);
  }

  /** Registers the backend. After `tf.removeBackend` it can be set again, with new devices. */
  register(): void {
    const { backend: name } = this.kind;
    const current = (): Running<Settings> => this.current();
    const backend: Backend = {
      lookUp: (lookups) => current().devices.lookUp(lookups),
      step: (updates) => current().devices.update(updates),
      gradient: KERNEL_GRADIENTS,
      get store() {
        return current().devices;
      },
      ops: null,
      info: () => current().machine.set.devices[0]!.kernels,
    };
    addBackend(name, backend);
    const register = (): boolean => tf.registerBackend(name, () => this.start(), PRIORITY);
    const isFirst = afterBackendRemoval(name, (removed) => {
      const { running } = this;
      if (running?.host === removed) running.machine.loseHost(removed);
      if (removed !== name) return;
      // A start, and devices that tfjs did not wait for, are unknown to `tf.removeBackend`.
      this.life.starting = null;
      running?.backend.dispose();
      register();
    });
    if (isFirst) register();
  }

  private get life(): Life<Settings> {
    return perProcess(this.kind.backend, () => ({ running: null, starting: null }));
  }

  /** There is one machine: who sets the backend again gets the same, also while it starts. */
  private async start(): Promise<tf.KernelBackend> {
    const { life } = this;
    if (life.running !== null) return life.running.backend;
    if (life.starting !== null) return life.starting.backend;
    const own = {} as StartUnderWay;
    const isWanted = (): boolean => life.starting === own;
    life.starting = own;
    own.backend = this.build(isWanted).finally(() => {
      if (isWanted()) life.starting = null;
    });
    return own.backend;
  }

  /** Makes the devices, unless the backend is removed meanwhile. */
  private async build(isWanted: () => boolean): Promise<tf.KernelBackend> {
    const settings = this.kind.settings();
    const host = await startHost(settings.host);
    this.checkWanted(isWanted);
    const made = await this.kind.make(settings);
    const { machine } = made;
    try {
      this.checkWanted(isWanted);
      if (tf.findBackend(host.name) !== host.backend) machine.loseHost(host.name);
      machine.checkHost();
      return this.install(made, host);
    } catch (error) {
      await machine.close();
      throw error;
    }
  }

  private checkWanted(isWanted: () => boolean): void {
    if (isWanted()) return;
    const received = described('one that was removed as it started');
    throw new RuntimeError('backend', `a ${this.kind.backend} that stays`, received);
  }

  private install({ machine, beside, settings, info }: Made<Settings>, host: HostBackend): tf.KernelBackend {
    const { backend: backendName } = this.kind;
    const { life } = this;
    const tensors = new DeviceTensors();
    const memory = (): object => ({ devices: machine.counters.counters().devices.map((device) => device.memory) });
    const close = (): void => {
      if (life.running?.machine === machine) life.running = null;
      void machine.close();
    };
    const derived = deriveBackend(host.name, host.backend, {
      backendName,
      tensors,
      addon: machine.set.addon,
      hosted: machine,
      memory,
      close,
    });
    for (const each of [machine, beside?.machine]) {
      if (each !== undefined) each.beforeExchange = () => derived.pooled.materializeAll();
    }
    const devices = new DevicesBackend(machine, derived, tensors, () => info(host.name), beside);
    registerKernels(backendName, host.name, this.now);
    const { backend, columns } = derived;
    life.running = { devices, machine, tensors, settings, backend, columns, host: host.name };
    return backend;
  }
}
