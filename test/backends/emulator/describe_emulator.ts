/** Suites on a running emulator whose devices run in line. */
import * as tf from '@tensorflow/tfjs';
import util from 'node:util';
import type { DevicesBackend } from '../../../src/backends/devices/devices_backend.js';
import { running, type Running } from '../../../src/backends/emulator/register.js';
import { BACKEND_NAME, configure, type TpuEmulatorArgs } from '../../../src/backends/emulator/settings.js';
import { skipOrFail } from '../../helpers/backends.js';

export type HostName = 'cpu' | 'tensorflow' | 'wasm';
export const HOSTS: readonly HostName[] = ['cpu', 'tensorflow', 'wasm'];

/** Makes a host backend known to tfjs; returns why that cannot be, or null. */
export async function loadHost(host: HostName): Promise<string | null> {
  try {
    // Node 23 dropped a function that tfjs-node calls; the /node entry mends it, but may be imported later.
    const old = util as unknown as Record<string, unknown>;
    old['isNullOrUndefined'] ??= (value: unknown) => value === null || value === undefined;
    if (host === 'tensorflow') await import('@tensorflow/tfjs-node');
    if (host === 'wasm') await import('@tensorflow/tfjs-backend-wasm');
    const { ready } = await import('../../../src/node.js');
    await ready();
    return null;
  } catch (error) {
    return `${host} is not there: ${(error as Error).message}`;
  }
}

/** Starts an emulator; one that runs already is removed first. */
export async function startEmulator(args: TpuEmulatorArgs): Promise<Running> {
  if (running() !== null) tf.removeBackend(BACKEND_NAME);
  configure({ devices: 'inline', ...args }, false);
  if (!(await tf.setBackend(BACKEND_NAME))) throw new Error('the emulator does not start');
  return running()!;
}

/** Ends the emulator, forgets its settings and puts a backend in its place. */
export async function stopEmulator(before: string): Promise<void> {
  if (running() !== null) tf.removeBackend(BACKEND_NAME);
  configure({}, false);
  await tf.setBackend(before);
}

export function emulator(): DevicesBackend {
  return running()!.devices;
}

/** A suite on one emulator per host; each spec must leave as many tensors and as much device memory as it found. */
export function describeEmulator(
  title: string,
  args: TpuEmulatorArgs,
  define: (host: HostName) => void,
  hosts: readonly HostName[] = ['cpu'],
): void {
  for (const host of hosts) {
    describe(`${title} [${host}]`, () => {
      let before: string;
      let missing: string | null = null;
      let found: { tensors: number; bytes: number[][] } | undefined; // undefined where the spec was skipped
      beforeAll(async () => {
        await tf.ready();
        before = tf.getBackend();
        missing = await loadHost(host);
        if (missing === null) await startEmulator({ ...args, host });
      });
      const bytes = (): number[][] =>
        running()!
          .machine.counters.counters()
          .devices.map(({ memory: { tables, slots, host } }) => [tables, slots, host]);
      beforeEach(() => {
        found = undefined;
        if (missing !== null) skipOrFail(missing);
        found = { tensors: tf.memory().numTensors, bytes: bytes() };
      });
      afterEach(() => {
        if (found === undefined) return;
        expect(tf.memory().numTensors).withContext('number of tensors').toBe(found.tensors);
        expect(bytes()).withContext('bytes on the devices').toEqual(found.bytes);
      });
      afterAll(() => stopEmulator(before));
      define(host);
    });
  }
}
