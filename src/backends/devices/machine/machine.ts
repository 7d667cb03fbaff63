/** The devices of a running emulator, their memory, and what became of them. */
import { RuntimeError, described } from '../../../base/errors.js';
import { TrafficStats } from './traffic_stats.js';
import type { TableLayout } from '../../../partition/table_layout.js';
import { DeviceFault, type Command, type DeviceSet, type HostExchange } from '../device.js';
import { DeviceMemory } from './traffic_stats.js';

/** What lies on the devices, as far as the machine and reports ask. */
export interface TableOnDevices {
  readonly name: string;
  readonly shape: readonly number[];
  readonly layout: TableLayout;
  readonly role: 'tables' | 'slots';
  /** The table that it is, or of which it is a slot. */
  readonly owner: object;
}

/** What devices are to those who use them. */
export interface MachineForm {
  /** The backend of tfjs that has them. */
  readonly backend: string;
  /** Bytes of the memory of each; null: no limit. */
  readonly capacity: readonly (number | null)[];
  /** Bytes of each that plans keep to by default; null: plans are told, or there is no limit. */
  readonly plannedMemory: number | null;
  /** Whether what plans leave to the memory of the host lies there, and takes none of the devices'. */
  readonly hasHostMemory: boolean;
  /** Whether tables were made by others, with values that count. */
  readonly isShared: boolean;
  /** Whether a table to which other values are assigned takes them where it lies, as others know its place. */
  readonly keepsAssigned: boolean;
  /** Throws where tables must not be written. */
  checkWrites(): void;
  /** Runs what reads tables; once more where they turn out to be others than those that were known. */
  again<T>(read: () => T): T;
  /** How errors name a device. */
  nameOf(device: number): string;
  /** What brings devices back after a fault, as a sentence. */
  readonly afterFault: string;
}

export class Machine {
  readonly memory: DeviceMemory;
  readonly counters: TrafficStats;
  /** Everything that lies on the devices. */
  readonly tables = new Set<TableOnDevices>();
  /** What devices and host share for a call. Who reserves it again has it anew. */
  readonly exchange: HostExchange;
  /** Called before what the exchange memory holds is lost. */
  beforeExchange: () => void = () => undefined;
  private buffers = 0;
  /** A step was begun, and not all devices have said that it was done. */
  private isStepOpen = false;
  /** Releases what steps need that have not been waited for yet. */
  private needed: (() => void)[] = [];
  private readonly state: { fault: RuntimeError | null };
  private lostHost: RuntimeError | null = null;
  private closed: Promise<void> | null = null;

  /** `beside`: another one with the same devices, which may use them at the same time. */
  constructor(
    readonly form: MachineForm,
    readonly set: DeviceSet,
    beside: Machine | null = null,
  ) {
    const { exchange } = set;
    const settle = (): void => this.settle();
    const beforeExchange = (): void => this.beforeExchange();
    this.exchange = {
      epoch: 0,
      get floats() {
        settle();
        return exchange.floats;
      },
      get ints() {
        settle();
        return exchange.ints;
      },
      reserve(words, kept = 0) {
        settle();
        beforeExchange();
        if (kept === 0) this.epoch++;
        exchange.reserve(words, kept);
      },
    };
    this.memory = beside?.memory ?? new DeviceMemory(form.capacity);
    this.counters = beside?.counters ?? new TrafficStats(this.count, this.memory);
    this.state = beside?.state ?? { fault: null };
  }

  get count(): number {
    return this.set.devices.length;
  }

  nextBuffer(): number {
    return this.buffers++;
  }

  /** Queues commands on a device. */
  post(device: number, commands: readonly Command[]): void {
    this.checkAlive();
    this.guarded(() => this.set.devices[device]!.post(commands));
  }

  /** Queues the commands of each device, which then work at the same time. */
  start(commands: readonly (readonly Command[])[]): void {
    commands.forEach((list, device) => {
      if (list.length > 0) this.post(device, list);
    });
  }

  /** The same, and waits for all. */
  run(commands: readonly (readonly Command[])[]): void {
    try {
      this.start(commands);
    } catch (error) {
      this.giveUp();
      throw error;
    }
    this.finish();
  }

  /** Waits for what was queued beside something that was refused, where devices go on: nobody asks for it any more. */
  private giveUp(): void {
    if (this.state.fault !== null || this.closed !== null) return;
    for (const device of this.set.devices) {
      try {
        device.finish();
      } catch {
        // The error that came first is told.
      }
    }
  }

  /**
   * The commands of a step: where devices are workers the host goes on without waiting for them, until a call needs a
   * device or the exchange memory. `release` is called when devices are done with what they read, or have failed.
   */
  step(commands: readonly (readonly Command[])[], release: () => void): void {
    this.needed.push(release);
    this.isStepOpen = true;
    if (this.set.devices.every(({ kind }) => kind === 'inline')) return this.run(commands);
    try {
      this.start(commands);
    } catch (error) {
      this.releaseNeeded();
      throw error;
    }
  }

  /** Waits until all devices have done what was queued. */
  finish(): void {
    try {
      this.checkAlive();
      for (const device of this.set.devices) this.guarded(() => device.finish());
      this.isStepOpen = false;
    } catch (error) {
      this.giveUp();
      throw error;
    } finally {
      this.releaseNeeded();
    }
  }

  /** Waits for steps that are under way. */
  settle(): void {
    if (this.needed.length === 0) return;
    const start = performance.now();
    this.finish();
    this.counters.waitedForSteps((performance.now() - start) / 1000);
  }

  private releaseNeeded(): void {
    for (const release of this.needed.splice(0)) release();
  }

  /** Frees a buffer; on a machine that has ended there is nothing to free. */
  release(device: number, buffer: number): void {
    if (this.state.fault !== null || this.closed !== null) return;
    try {
      this.set.devices[device]!.post([{ op: 'free', buffer }]);
    } catch {
      // The next call that uses the device reports it.
    }
  }

  /** Ends all devices. */
  close(): Promise<void> {
    this.closed ??= Promise.all(this.set.devices.map((device) => device.close())).then(() => this.releaseNeeded());
    return this.closed;
  }

  /**
   * Lets `work` bring tables back after a fault: devices take commands again while it runs, and go on doing so where it
   * ends well.
   */
  recover<T>(work: () => T): T {
    const { fault } = this.state;
    this.state.fault = this.lostHost;
    try {
      return work();
    } catch (error) {
      this.state.fault ??= fault;
      throw error;
    }
  }

  /** Tables are not what they should be, for this reason: no call is answered before `recover`. */
  distrust(received: string): void {
    this.releaseNeeded();
    const { afterFault } = this.form;
    this.state.fault =
      this.lostHost ?? new RuntimeError('tables', 'tables that count', described(received), afterFault);
  }

  /** Whether it is unknown of a step on which devices it was done; known again when all tables were written. */
  isStepUnknown = false;

  get isFaulty(): boolean {
    return this.state.fault !== null;
  }

  /** The backend for dense ops is gone: neither its tensors nor new ones can be used any more. */
  loseHost(name: string): void {
    const received = described('one that was removed');
    const note = `tf.removeBackend('${this.form.backend}') and tf.setBackend start new devices, on another host.`;
    this.lostHost ??= new RuntimeError('host', `the backend ${name}, on which dense ops run`, received, note);
    this.state.fault ??= this.lostHost;
  }

  get hasHost(): boolean {
    return this.lostHost === null;
  }

  /** Which of these devices has most room. */
  roomiestOf(devices: readonly number[]): number {
    const { memory } = this;
    return devices.reduce((best, device) => (memory.free(device) > memory.free(best) ? device : best));
  }

  /** The device with most room; of those with as much, the one that holds the fewest numbers. */
  emptiest(): number {
    const used = new Array<number>(this.count).fill(0);
    for (const { layout } of this.tables)
      for (const { device, rows } of layout.shards) used[device]! += rows.count * layout.columns;
    let best = 0;
    for (let device = 1; device < this.count; device++) {
      const [free, most] = [this.memory.free(device), this.memory.free(best)];
      if (free > most || (free === most && used[device]! < used[best]!)) best = device;
    }
    return best;
  }

  /** Throws where the backend for dense ops was removed. */
  checkHost(): void {
    if (this.lostHost !== null) throw this.lostHost;
  }

  private checkAlive(): void {
    if (this.state.fault !== null) throw this.state.fault;
    if (this.closed === null) return;
    throw new RuntimeError('backend', `the running ${this.form.backend}`, described('one that was removed'));
  }

  /** The first fault of a device ends the machine: tables are lost, so no number that came after could be right. */
  private guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof DeviceFault)) throw error;
      // A device that refused a step has not done it, nor has any other.
      this.isStepUnknown ||= this.isStepOpen && !error.isRefusal;
      this.isStepOpen = false;
      this.state.fault = new RuntimeError(
        this.form.nameOf(error.device),
        'a device that does its work',
        described(error.message),
        this.form.afterFault,
      );
      throw this.state.fault;
    }
  }
}
