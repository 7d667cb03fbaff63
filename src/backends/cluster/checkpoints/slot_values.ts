/** Slots that optimizers make at their first step, which may come after a checkpoint was restored. */
import type { DeviceTable } from '../../devices/machine/device_table.js';

export class SlotValues {
  private readonly firstValues = new Map<string, number>();
  private readonly waiting = new Map<string, (slot: DeviceTable) => void>();

  /** A slot is there: it gets what waits for it. */
  made(slot: DeviceTable, value: number | null): void {
    if (value !== null) this.firstValues.set(slot.name, value);
    const restore = this.waiting.get(slot.name);
    this.waiting.delete(slot.name);
    restore?.(slot);
  }

  /** What all numbers of a new slot are, where that is known. */
  firstValue(name: string): number | undefined {
    return this.firstValues.get(name);
  }

  /** Replaces what waits, by the names of slots. */
  await(waiting: ReadonlyMap<string, (slot: DeviceTable) => void>): void {
    this.waiting.clear();
    for (const [name, restore] of waiting) this.waiting.set(name, restore);
  }
}
