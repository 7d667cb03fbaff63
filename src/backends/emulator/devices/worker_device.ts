/** A device that is a worker. */
import type { KernelInfo } from '../../kernel_set.js';
import { DeviceFault, type Command, type Device, type FaultName } from '../../devices/device.js';
import type { DeviceThread } from './device_thread.js';
import type { SharedExchange, SharedSource } from '../../devices/exchange_memory.js';
import type { WorkerControl } from './worker_control.js';
import type { ReadyMessage } from './worker_messages.js';

/** Looks before the host goes to sleep: a few microseconds, as long as a short command takes. */
const SPINS = 500;
/** The host looks after a device that often while it sleeps. */
const TURN_MS = 50;
/** The most that one turn counts: a host that took longer was itself kept from running. */
const MOST_TURN_MS = 2 * TURN_MS;

export class WorkerDevice implements Device {
  readonly kind = 'worker';
  private sequence = 0;
  private sent: SharedSource;
  private fault: DeviceFault | null = null;
  private gone: Promise<void> | null = null;
  readonly kernels: KernelInfo;
  readonly sharedTensorRegistry: number;

  /** The worker is ready. */
  constructor(
    readonly index: number,
    { ready, sharedTensorRegistry }: ReadyMessage,
    private readonly thread: DeviceThread,
    private readonly control: WorkerControl,
    private readonly exchange: SharedExchange,
    /** How long it may go without progress. */
    private readonly timeoutMs: number,
  ) {
    this.kernels = ready;
    this.sharedTensorRegistry = sharedTensorRegistry;
    this.sent = exchange.source;
  }

  post(commands: readonly Command[]): void {
    this.check();
    const { source, floats } = this.exchange;
    const replaced = source === this.sent ? undefined : { exchange: source };
    this.sent = source;
    this.sequence = (this.sequence + 1) | 0;
    this.thread.post({ sequence: this.sequence, commands, words: floats.length, ...replaced });
  }

  finish(): void {
    if (this.fault !== null) throw this.fault;
    if (!this.control.isDone(this.sequence, SPINS)) this.wait();
    this.check();
  }

  injectFault(fault: FaultName): void {
    if (this.fault !== null) return;
    if (fault === 'terminate') void this.end();
    else this.thread.post({ fault });
  }

  close(): Promise<void> {
    this.fault ??= new DeviceFault(this.index, 'it was closed');
    return this.end();
  }

  /** The worker said so, or the runtime did. */
  ended(why: string): void {
    this.fault ??= new DeviceFault(this.index, this.control.failure ?? why);
  }

  /** Waits until all is done, or the device has not moved for too long. */
  private wait(): void {
    const { control, sequence, timeoutMs } = this;
    let progress = control.progressCount;
    let still = 0;
    let turn = performance.now();
    while (!control.isDone(sequence) && !control.hasExited) {
      control.wait(sequence, TURN_MS);
      const now = performance.now();
      still = control.progressCount === progress ? still + Math.min(now - turn, MOST_TURN_MS) : 0;
      progress = control.progressCount;
      turn = now;
      if (still < timeoutMs) continue;
      this.fault = new DeviceFault(this.index, `it gave no sign of life for ${timeoutMs / 1000} s`);
      void this.end();
      return;
    }
  }

  /** Throws what is known of the device's failure. */
  private check(): void {
    const { failure, hasExited } = this.control;
    if (failure !== null) this.ended(failure);
    else if (hasExited) this.ended('its worker has ended: it was terminated or ran out of memory');
    if (this.fault !== null) throw this.fault;
  }

  private end(): Promise<void> {
    return (this.gone ??= this.thread.terminate());
  }
}
