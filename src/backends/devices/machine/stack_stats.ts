/** Adds up what SparseCores looked up, stack by stack. */

/** One lookup of a stack. */
export interface StackLookupCounts {
  readonly name: string;
  readonly columns: number;
  readonly samples: number;
  /** Ids of each core for each shard, and runs of equal ones, which are the rows that it asks for: [cores, shards]. */
  readonly ids: Int32Array;
  readonly rows: Int32Array;
  /** Ids that found no slot. */
  readonly droppedIds: number;
  /** Slots of the buffers for ids, and those in use. */
  readonly slots: number;
  readonly slotsUsed: number;
  readonly minibatches: number;
}

/** Sums over the lookups of a stack. */
export interface StackCounts {
  readonly name: string;
  readonly columns: number;
  readonly lookUps: number;
  readonly samples: number;
  readonly ids: number;
  readonly droppedIds: number;
  readonly slots: number;
  readonly slotsUsed: number;
  readonly minibatches: number;
  /** [core][shard]: rows that were asked for. */
  readonly rows: readonly (readonly number[])[];
}

interface Sums extends Omit<StackCounts, 'name' | 'columns' | 'rows'> {
  readonly rows: number[][];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class StackStats {
  private stacks = new Map<string, Mutable<Sums> & { readonly columns: number }>();

  constructor(private readonly devices: number) {}

  reset(): void {
    this.stacks = new Map();
  }

  lookedUp(looked: StackLookupCounts): void {
    const { name, columns, ids, rows } = looked;
    const sums = this.stacks.get(name) ?? this.nothing(columns);
    this.stacks.set(name, sums);
    sums.lookUps++;
    sums.samples += looked.samples;
    sums.ids += ids.reduce((sum, count) => sum + count, 0);
    sums.droppedIds += looked.droppedIds;
    sums.slots += looked.slots;
    sums.slotsUsed += looked.slotsUsed;
    sums.minibatches += looked.minibatches;
    rows.forEach((count, place) => {
      sums.rows[Math.floor(place / this.devices)]![place % this.devices]! += count;
    });
  }

  counts(): StackCounts[] {
    return [...this.stacks].map(([name, sums]) => ({ name, ...sums, rows: sums.rows.map((row) => [...row]) }));
  }

  private nothing(columns: number): Mutable<Sums> & { readonly columns: number } {
    const rows = Array.from({ length: this.devices }, () => new Array<number>(this.devices).fill(0));
    const none = { lookUps: 0, samples: 0, ids: 0, droppedIds: 0, slots: 0, slotsUsed: 0, minibatches: 0 };
    return { columns, ...none, rows };
  }
}
