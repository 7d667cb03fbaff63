/** A device that is a worker. */
import type { KernelInfo } from '../../kernel_set.js';
import { CommandWork } from './command_work.js';
import { DeviceFault, type Command, type Device, type FaultName } from './device.js';
import type { DeviceThread } from './device_thread.js';
import type { SharedExchange, SharedSource } from './exchange_memory.js';
import { HangWatch, patienceFor } from './hang_watch.js';
import { activityOf, type ThreadActivity } from './thread_activity.js';
import type { WorkerControl } from './worker_control.js';
import type { ReadyMessage } from './worker_messages.js';

/** Looks before the host goes to sleep: a few microseconds, as long as a short command takes. */
const SPINS = 500;
/** The host looks after a device that often while it sleeps. */
const TURN_MS = 50;

export class WorkerDevice implements Device {
  readonly kind = 'worker';
  private readonly work = new CommandWork();
  private readonly activity: () => ThreadActivity | null;
  private sequence = 0;
  /** Elements of the largest command since all was done. */
  private largest = 0;
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
  ) {
    this.kernels = ready;
    this.sharedTensorRegistry = sharedTensorRegistry;
    this.sent = exchange.source;
    this.activity = activityOf(control.thread);
  }

  post(commands: readonly Command[]): void {
    this.check();
    const { source, floats } = this.exchange;
    const replaced = source === this.sent ? undefined : { exchange: source };
    this.sent = source;
    for (const command of commands) this.largest = Math.max(this.largest, this.work.of(command));
    this.sequence = (this.sequence + 1) | 0;
    this.thread.post({ sequence: this.sequence, commands, words: floats.length, ...replaced });
  }

  finish(): void {
    if (this.fault !== null) throw this.fault;
    if (!this.control.isDone(this.sequence, SPINS)) this.wait();
    this.largest = 0;
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

  private wait(): void {
    const { control, sequence } = this;
    const patience = patienceFor(this.largest, this.kernels.implementation);
    const watch = new HangWatch(patience, control.progressCount, this.activity);
    while (!control.isDone(sequence)) {
      if (control.hasExited) return; // the check that follows says why
      control.wait(sequence, TURN_MS);
      if (!watch.hangs(control.progressCount)) continue;
      const seconds = Math.round(patience / 1000);
      this.fault = new DeviceFault(this.index, `it gave no sign of life for ${seconds} s`);
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
