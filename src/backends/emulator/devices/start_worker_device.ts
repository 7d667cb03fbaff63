/** Starts a device that is a worker. */
import { RuntimeError, described } from '../../../base/errors.js';
import { startDeviceThread, type DeviceThread } from './device_thread.js';
import type { SharedExchange } from '../../devices/exchange_memory.js';
import { WorkerControl } from './worker_control.js';
import { WorkerDevice } from './worker_device.js';
import type { KernelsToMake, WorkerMessage } from './worker_messages.js';

const START_MS = 30_000;

export interface WorkerSetting {
  /** The program as text. */
  readonly source: string;
  readonly kernels: KernelsToMake;
  readonly threads: number;
  readonly exchange: SharedExchange;
  /** How long a device may go without progress. */
  readonly timeoutMs: number;
}

/** Resolves when the device is ready; rejects with a RuntimeError that names it, and why. */
export async function startWorkerDevice(index: number, setting: WorkerSetting): Promise<WorkerDevice> {
  const { source, kernels, threads, exchange, timeoutMs } = setting;
  const control = new WorkerControl();
  let thread: DeviceThread | null = null;
  let device: WorkerDevice | null = null;
  try {
    thread = startDeviceThread(source, `tpu-emulator device ${index}`);
    const answer = new Promise<WorkerMessage>((resolve, reject) => {
      const ended = (why: string): void => {
        device?.ended(why);
        reject(new Error(control.failure ?? why));
      };
      thread!.listen(resolve, ended);
    });
    thread.post({ start: true, kernels, threads, control: control.memory, exchange: exchange.source });
    const message = await within(START_MS, answer, control);
    if ('notReady' in message) throw new Error(message.notReady);
    thread.release();
    return (device = new WorkerDevice(index, message, thread, control, exchange, timeoutMs));
  } catch (error) {
    await thread?.terminate();
    const received = described('one that did not');
    throw new RuntimeError('devices', 'workers that start', received, `Device ${index}: ${(error as Error).message}.`);
  }
}

/** Rejects after some time, unless the worker is ready and only its message waits for this thread. */
function within<T>(milliseconds: number, answer: Promise<T>, control: WorkerControl): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (!control.isReady) reject(new Error(`it is not ready after ${milliseconds / 1000} s`));
    }, milliseconds);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
