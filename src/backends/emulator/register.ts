/** The emulator as a tfjs backend: virtual devices. */
import * as tf from '@tensorflow/tfjs';
import type { DevicesBackend } from '../devices/devices_backend.js';
import { Machine } from '../devices/machine/machine.js';
import { DevicesRegistration, type Running as RunningKind } from '../devices/registration.js';
import { makeDevices } from './devices/device_set.js';
import { BACKEND_NAME, emulatorSettings, type EmulatorSettings } from './settings.js';

export type Running = RunningKind<EmulatorSettings>;

const registration = new DevicesRegistration<EmulatorSettings>({
  backend: BACKEND_NAME,
  start: `await tf.setBackend('${BACKEND_NAME}') starts it.`,
  settings: emulatorSettings,
  make: async (settings) => {
    const { chips, coresPerChip, hbmBytesPerChip, devices: kind, threadsPerDevice: threads, timeoutMs } = settings;
    const count = chips * coresPerChip;
    const set = await makeDevices({ count, kind, threads, timeoutMs });
    const capacity = hbmBytesPerChip === null ? null : Math.floor(hbmBytesPerChip / coresPerChip);
    const form = {
      backend: BACKEND_NAME,
      capacity: new Array<number | null>(count).fill(capacity),
      plannedMemory: null,
      hasHostMemory: true,
      isShared: false,
      keepsAssigned: false,
      checkWrites: () => undefined,
      again: <T>(read: () => T): T => read(),
      nameOf: (device: number) => `device ${device}`,
      afterFault: `Tables on the devices are lost. tf.removeBackend('${BACKEND_NAME}') and tf.setBackend start new devices.`,
    };
    const reason = set.inlineBecause === null ? {} : { inlineBecause: set.inlineBecause };
    const shown = { count, kind: set.devices[0]!.kind, ...reason, chips, coresPerChip, hbmBytesPerChip };
    const info = (host: string): object => ({ ...shown, threadsPerDevice: threads, host });
    return { machine: new Machine(form, set), beside: null, settings, info };
  },
});

/** The running emulator, or null. */
export function running(): Running | null {
  return registration.running;
}

/** The emulator where it is the current backend; RuntimeError where it is not, which names what needs it. */
export function currentEmulator(argument: string): DevicesBackend {
  return registration.inUse(argument).devices;
}

/** Whether the emulator is the current backend. */
export function isEmulated(): boolean {
  return running() !== null && tf.getBackend() === BACKEND_NAME;
}

/** Chips and cores of the current emulator. */
export function emulatedMachine(argument: string): EmulatorSettings {
  return registration.inUse(argument).settings;
}

/** Whether a machine runs or is being built, whose settings are thus fixed. */
export function isBuilt(): boolean {
  return registration.isBuilt;
}

/** Registers the backend. After `tf.removeBackend` it can be set again, with new devices. */
export function registerTpuEmulator(): void {
  registration.register();
}
