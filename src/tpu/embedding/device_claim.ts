/** Devices hold the tables of one embedding object at a time, as a TPU does. */
import type { Devices } from '../../backends/contract.js';
import { isEmulated } from '../../backends/emulator/register.js';
import { devicesInUse } from '../../backends/registry.js';
import { RuntimeError, ValueError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import * as tf from '@tensorflow/tfjs';

const owners = (): WeakMap<Devices, object> => perProcess('tpu embedding owners', () => new WeakMap());

/** Throws RuntimeError where another object holds the devices. */
export function claimDevices(devices: Devices, owner: object): void {
  const held = owners().get(devices);
  if (held !== undefined && held !== owner) {
    const received = described('another one that was built on these devices');
    const note = 'The TPU is already initialized for embeddings: dispose() of the other one permits another build.';
    throw new RuntimeError('build', 'one TPUEmbedding for the devices', received, note);
  }
  owners().set(devices, owner);
}

export function releaseDevices(devices: Devices, owner: object): void {
  if (owners().get(devices) === owner) owners().delete(devices);
}

/** The devices of the backend in use. Throws RuntimeError where it has none. */
export function currentDevices(method: string): Devices {
  const devices = devicesInUse();
  if (devices !== null && isEmulated()) return devices;
  const note = `await tf.setBackend('tpu-emulator') first; TPUEmbeddingForServing looks up on any backend.`;
  throw new RuntimeError(method, 'the backend tpu-emulator', described(`the backend ${tf.getBackend()}`), note);
}

/** The number of the core that a device string names. */
export function coreOf(device: unknown, devices: Pick<Devices, 'count'>): number {
  const expected = `a TPU device from '/device:TPU:0' to '/device:TPU:${devices.count - 1}'`;
  const found = typeof device === 'string' ? /device:TPU:(\d+)$/i.exec(device) : null;
  if (found === null) throw new ValueError('device', expected, device);
  const core = Number(found[1]);
  if (core >= devices.count) throw new ValueError('device', expected, device);
  return core;
}
