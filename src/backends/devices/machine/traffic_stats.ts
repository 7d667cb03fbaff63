/** Adds up what the devices do, what they send each other, and what lies in the memory of each. */
import type { LookupInput } from '../../contract.js';
import type { Counters, ServedInputs, ServedLayer, TableCounts, DeviceMemoryCounts } from './counters.js';
import { StackStats } from './stack_stats.js';
import { ValueError, described } from '../../../base/errors.js';

export type MemoryKind = 'tables' | 'slots' | 'host';

interface Account {
  tables: number;
  slots: number;
  host: number;
  exchange: number;
  peak: number;
}

export class DeviceMemory {
  private readonly accounts: Account[];
  private readonly capacity: (number | null)[];

  /** `capacity`: bytes of each device; null: no limit. */
  constructor(capacity: readonly (number | null)[]) {
    this.capacity = [...capacity];
    this.accounts = capacity.map(() => ({ tables: 0, slots: 0, host: 0, exchange: 0, peak: 0 }));
  }

  /** A device has another limit from now on. */
  limit(device: number, bytes: number | null): void {
    this.capacity[device] = bytes;
  }

  /** Bytes that a device still has; Infinity without a limit. */
  free(device: number): number {
    const { tables, slots, exchange } = this.accounts[device]!;
    const capacity = this.capacity[device]!;
    return capacity === null ? Infinity : capacity - tables - slots - exchange;
  }

  /** Throws ValueError where one of the wishes does not fit, naming device, table and bytes; takes nothing. */
  check(name: string, wishes: readonly { readonly device: number; readonly bytes: number }[]): void {
    const wanted = new Map<number, number>();
    for (const { device, bytes } of wishes) wanted.set(device, (wanted.get(device) ?? 0) + bytes);
    for (const [device, bytes] of wanted) {
      const free = this.free(device);
      if (bytes <= free) continue;
      throw new ValueError(
        name,
        `at most ${free} bytes, which device ${device} still has of its ${this.capacity[device]}`,
        described(`${bytes} bytes`),
        'More devices, another strategy, a lower columnSliceThreshold or rowSliceThreshold, or deviceMemory help.',
      );
    }
  }

  take(device: number, kind: MemoryKind, bytes: number): void {
    const account = this.accounts[device]!;
    account[kind] += bytes;
    account.peak = Math.max(account.peak, account.tables + account.slots + account.exchange);
  }

  give(device: number, kind: MemoryKind, bytes: number): void {
    this.accounts[device]![kind] -= bytes;
  }

  /**
   * Books what a call exchanges with each device: the largest so far stays reserved. Throws ValueError, and books
   * nothing, where it does not fit.
   */
  exchange(bytes: readonly number[]): void {
    const wishes = bytes.map((wanted, device) => ({ device, bytes: wanted - this.accounts[device]!.exchange }));
    const more = wishes.filter((wish) => wish.bytes > 0);
    this.check('exchange buffers', more);
    for (const wish of more) {
      const account = this.accounts[wish.device]!;
      account.exchange += wish.bytes;
      account.peak = Math.max(account.peak, account.tables + account.slots + account.exchange);
    }
  }

  counts(device: number): DeviceMemoryCounts {
    return { ...this.accounts[device]!, capacity: this.capacity[device]! };
  }

  resetPeaks(): void {
    for (const account of this.accounts) account.peak = account.tables + account.slots + account.exchange;
  }
}

const square = (devices: number): number[][] =>
  Array.from({ length: devices }, () => new Array<number>(devices).fill(0));

/** One lookup of a layer's call. */
export interface ServedInput extends LookupInput {
  readonly bags: { readonly batch: number; readonly nnz: number; readonly weights: Float32Array | null };
}

/** Sums over the calls of one layer. */
class ServedSums {
  private calls = 0;
  private readonly samples: number[] = [];
  private readonly bags: number[] = [];
  private readonly ids: number[] = [];
  private readonly weights: number[] = [];

  add(served: readonly ServedInput[]): void {
    this.calls++;
    for (const { input, samples, bags } of served) {
      this.samples[input] = (this.samples[input] ?? 0) + samples;
      this.bags[input] = (this.bags[input] ?? 0) + bags.batch;
      this.ids[input] = (this.ids[input] ?? 0) + bags.nnz;
      this.weights[input] = (this.weights[input] ?? 0) + (bags.weights === null ? 0 : bags.nnz);
    }
  }

  sums(): ServedInputs {
    const whole = (sums: readonly number[]): number[] => Array.from(sums, (sum) => sum ?? 0);
    const { calls, samples, bags, ids, weights } = this;
    return { calls, samples: whole(samples), bags: whole(bags), ids: whole(ids), weights: whole(weights) };
  }
}

export class TrafficStats {
  private bytes: number[][] = [];
  private linkIds: number[][] = [];
  private load: { ids: number; uniqueIds: number; elements: number }[] = [];
  private lookUps = 0;
  private updates = 0;
  private bags = 0;
  private seconds = { lookUp: 0, update: 0 };
  private layers = new WeakMap<object, { readonly all: ServedSums; readonly training: ServedSums }>();
  private tables = new WeakMap<object, { ids: number; linkBytes: number }>();

  /** Of SparseCores. */
  readonly stacks: StackStats;

  constructor(
    private readonly devices: number,
    private readonly memory: DeviceMemory,
  ) {
    this.stacks = new StackStats(devices);
    this.reset();
  }

  reset(): void {
    this.bytes = square(this.devices);
    this.linkIds = square(this.devices);
    this.load = Array.from({ length: this.devices }, () => ({ ids: 0, uniqueIds: 0, elements: 0 }));
    this.lookUps = this.updates = this.bags = 0;
    this.seconds = { lookUp: 0, update: 0 };
    this.layers = new WeakMap();
    this.tables = new WeakMap();
    this.stacks.reset();
    this.memory.resetPeaks();
  }

  /** Something goes from one device to another, for a table known by its owner; to itself nothing goes. */
  send(owner: object, from: number, to: number, bytes: number, ids = 0): void {
    if (from === to) return;
    this.bytes[from]![to]! += bytes;
    this.linkIds[from]![to]! += ids;
    this.sumsOf(owner).linkBytes += bytes;
  }

  /** A lookup in a table has so many ids. */
  lookedUp(owner: object, ids: number): void {
    this.sumsOf(owner).ids += ids;
  }

  read(device: number, ids: number, width: number): void {
    const load = this.load[device]!;
    load.ids += ids;
    load.elements += ids * width;
  }

  unique(device: number, ids: number): void {
    this.load[device]!.uniqueIds += ids;
  }

  called(kind: 'lookUp' | 'update', bags: number, seconds: number): void {
    if (kind === 'lookUp') this.lookUps++;
    else this.updates++;
    this.bags += bags;
    this.seconds[kind] += seconds;
  }

  /** So long the host waited for a step after its call. */
  waitedForSteps(seconds: number): void {
    this.seconds.update += seconds;
  }

  /** The lookups of one call that serve inputs of layers. `isTraining`: gradients are taken. */
  served(inputs: readonly ServedInput[], isTraining: boolean): void {
    for (const owner of new Set(inputs.map((served) => served.owner))) {
      const own = inputs.filter((served) => served.owner === owner);
      const sums = this.layers.get(owner) ?? { all: new ServedSums(), training: new ServedSums() };
      this.layers.set(owner, sums);
      sums.all.add(own);
      if (isTraining) sums.training.add(own);
    }
  }

  /** What was looked up for a layer; null: nothing. */
  layer(owner: object): ServedLayer | null {
    const sums = this.layers.get(owner);
    return sums === undefined ? null : { all: sums.all.sums(), training: sums.training.sums() };
  }

  /** What was done for a table, known by its owner. */
  table(owner: object): TableCounts {
    return { ...(this.tables.get(owner) ?? { ids: 0, linkBytes: 0 }) };
  }

  private sumsOf(owner: object): { ids: number; linkBytes: number } {
    let sums = this.tables.get(owner);
    if (sums === undefined) this.tables.set(owner, (sums = { ids: 0, linkBytes: 0 }));
    return sums;
  }

  counters(): Counters {
    const { bytes, linkIds } = this;
    const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
    return {
      lookUps: this.lookUps,
      updates: this.updates,
      bags: this.bags,
      links: { bytes: bytes.map((row) => [...row]), ids: linkIds.map((row) => [...row]) },
      devices: this.load.map((load, device) => ({
        ...load,
        bytesOut: sum(bytes[device]!),
        bytesIn: sum(bytes.map((row) => row[device]!)),
        memory: this.memory.counts(device),
      })),
      seconds: { ...this.seconds },
    };
  }
}
