/** Adds up what the devices do and what they send each other. */
import type { Counters } from './counters.js';
import type { MemoryBook } from './memory_book.js';

const square = (devices: number): number[][] =>
  Array.from({ length: devices }, () => new Array<number>(devices).fill(0));

export class CounterBook {
  private bytes: number[][] = [];
  private linkIds: number[][] = [];
  private load: { ids: number; uniqueIds: number; elements: number }[] = [];
  private lookUps = 0;
  private updates = 0;
  private bags = 0;
  private seconds = { lookUp: 0, update: 0 };

  constructor(
    private readonly devices: number,
    private readonly memory: MemoryBook,
  ) {
    this.reset();
  }

  reset(): void {
    this.bytes = square(this.devices);
    this.linkIds = square(this.devices);
    this.load = Array.from({ length: this.devices }, () => ({ ids: 0, uniqueIds: 0, elements: 0 }));
    this.lookUps = this.updates = this.bags = 0;
    this.seconds = { lookUp: 0, update: 0 };
    this.memory.resetPeaks();
  }

  /** Something goes from one device to another; to itself nothing goes. */
  send(from: number, to: number, bytes: number, ids = 0): void {
    if (from === to) return;
    this.bytes[from]![to]! += bytes;
    this.linkIds[from]![to]! += ids;
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
