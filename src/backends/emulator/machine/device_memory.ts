/** What lies in the memory of each device, and what still fits. */
import { ValueError, described } from '../../../base/errors.js';
import type { DeviceMemoryCounts } from './counters.js';

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

  /** `capacity`: bytes of each device; null: no limit. */
  constructor(
    devices: number,
    readonly capacity: number | null,
  ) {
    this.accounts = Array.from({ length: devices }, () => ({ tables: 0, slots: 0, host: 0, exchange: 0, peak: 0 }));
  }

  /** Bytes that a device still has; Infinity without a limit. */
  free(device: number): number {
    const { tables, slots, exchange } = this.accounts[device]!;
    return this.capacity === null ? Infinity : this.capacity - tables - slots - exchange;
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
        `at most ${free} bytes, which device ${device} still has of its ${this.capacity}`,
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
    return { ...this.accounts[device]!, capacity: this.capacity };
  }

  resetPeaks(): void {
    for (const account of this.accounts) account.peak = account.tables + account.slots + account.exchange;
  }
}
