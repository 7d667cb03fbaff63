/** Makes the devices of an emulator. */
import { RuntimeError, described } from '../../../base/errors.js';
import { nodeBuiltin } from '../../../base/platform.js';
import type { Addon } from '../../native/addon.js';
import type { NativeKernelSet } from '../../native/native_kernel_set.js';
import { kernelSet, namedKernelSet } from '../../registry.js';
import { compiledModule } from '../../wasm/module.js';
import type { DeviceSet } from '../../devices/device.js';
import { noThreadsBecause } from './device_thread.js';
import { InlineExchange, SharedExchange } from '../../devices/exchange_memory.js';
import { InlineDevice } from './inline_device.js';
import { startWorkerDevice } from './start_worker_device.js';
import type { WorkerDevice } from './worker_device.js';
import type { KernelsToMake } from './worker_messages.js';
import { WORKER_SOURCE } from './worker_source.js';

export interface DeviceRequest {
  readonly count: number;
  /** `auto`: workers where that is possible. */
  readonly kind: 'auto' | 'worker' | 'inline';
  /** Threads of the kernels of each device that is a worker. */
  readonly threads: number;
  /** Milliseconds that one of them may go without progress. */
  readonly timeoutMs: number;
}

/**
 * Resolves when all devices are ready. RuntimeError where workers are asked for and cannot be had, and where one does
 * not start. `source`: the program of a worker.
 */
export async function makeDevices(request: DeviceRequest, source: string = WORKER_SOURCE): Promise<DeviceSet> {
  const { count, kind, threads, timeoutMs } = request;
  if (kind === 'inline') return inline(count, null);
  const reason = noThreadsBecause(source);
  if (reason !== null) {
    if (kind === 'auto') return inline(count, reason);
    throw new RuntimeError(
      'devices',
      'a runtime that can run devices as workers',
      described('one that cannot'),
      `${reason}.`,
    );
  }
  const exchange = new SharedExchange();
  const setting = { source, threads, exchange, timeoutMs, kernels: kernelsToMake() };
  const starts = Array.from({ length: count }, (_, index) => startWorkerDevice(index, setting));
  const ends = await Promise.allSettled(starts);
  const failed = ends.find((end) => end.status === 'rejected');
  const devices = ends.flatMap((end): WorkerDevice[] => (end.status === 'fulfilled' ? [end.value] : []));
  if (failed === undefined) return { devices, exchange, addon: sharingAddon(devices), inlineBecause: null };
  await Promise.all(devices.map((device) => device.close()));
  // A page may forbid programs that are texts; only trying tells.
  const inPage = nodeBuiltin('node:worker_threads') === null;
  if (kind === 'auto' && inPage) return inline(count, (failed.reason as Error).message);
  throw failed.reason;
}

function inline(count: number, inlineBecause: string | null): DeviceSet {
  const exchange = new InlineExchange();
  const addon = nativeSet()?.addon ?? null;
  const devices = Array.from({ length: count }, (_, index) => new InlineDevice(index, kernelSet(), exchange, addon));
  return { devices, exchange, addon, inlineBecause };
}

function nativeSet(): NativeKernelSet | undefined {
  return namedKernelSet('native') as NativeKernelSet | undefined;
}

/** The addon of this thread where the workers have the same; its file may have been replaced meanwhile. */
function sharingAddon(devices: readonly WorkerDevice[]): Addon | null {
  const addon = nativeSet()?.addon ?? null;
  const book = addon?.sharedTensorRegistry() ?? 0;
  return book !== 0 && devices.every(({ sharedTensorRegistry }) => sharedTensorRegistry === book) ? addon : null;
}

/** The kernels that this thread uses, for workers to use too. */
function kernelsToMake(): KernelsToMake {
  const { name } = kernelSet();
  return { name, addonPath: nativeSet()?.path ?? null, module: name === 'wasm' ? compiledModule() : null };
}
