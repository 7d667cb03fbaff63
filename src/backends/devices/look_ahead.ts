/** Lookups of a batch to come, which devices do in the call of the step before it: they find the rows that it left. */
import type * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../bag_tensors.js';
import type { LookedUp, Lookup } from '../contract.js';
import { firstOutOfRange } from '../kernel_set.js';
import { isSplitByColumns, type LazyBags, type LookupIds } from './exchange/place_ids.js';
import { startLookups, type Found, type HostLookup, type PooledRows } from './exchange/pooled_lookup.js';
import type { DeviceTable } from './machine/device_table.js';
import type { Machine } from './machine/machine.js';

/** What is asked of the backend whose lookups these are. */
export interface LookAheadHost {
  deviceTable(tensor: tf.Tensor): DeviceTable | null;
  read(bags: BagTensors): LookupIds;
  make(rows: PooledRows, shape: [batch: number, columns: number]): tf.Tensor2D;
  /** Tells that lookups have been answered. */
  answered(lookups: readonly { readonly lookup: Lookup; readonly ids: LookupIds }[], seconds: number): void;
}

/** Devices for lookups of batches to come. */
export interface DevicesBeside {
  /** The same devices, with an exchange memory of its own. */
  readonly machine: Machine;
  /** Runs, and has devices get what is started meanwhile at once. */
  together(run: () => void): void;
}

/** A lookup that will be asked for. */
interface Wanted extends Omit<HostLookup, 'table' | 'target'> {
  readonly table: tf.Tensor;
}

type Asked = HostLookup & { readonly target: null };

interface Pending {
  readonly asked: readonly Asked[];
  readonly finish: () => Found[];
}

export class LookAhead {
  /** What the next step starts. */
  private wanted: readonly Wanted[] = [];
  private pending: Pending | null = null;

  constructor(
    private readonly beside: DevicesBeside,
    private readonly host: LookAheadHost,
  ) {}

  /** Has the next step start these lookups, which belong to the batch after it. */
  begin(lookups: readonly Lookup[]): void {
    this.wanted = lookups.map(({ table, bags, options, idsArePlaced = false }): Wanted => {
      return { table: table.tensor, bags: this.host.read(bags).batch.copy(), options, idsArePlaced };
    });
  }

  /** Runs a step, and starts the lookups of the batch after it with it. What was looked up before lacks the step. */
  withStep(step: () => void): void {
    this.drop();
    const { wanted } = this;
    this.wanted = [];
    if (wanted.length === 0) return step();
    this.beside.together(() => {
      step();
      const asked = this.asked(wanted);
      if (asked !== null) this.pending = { asked, finish: startLookups(this.beside.machine, asked) };
    });
  }

  /** The results of these lookups where they were started, and with the same ids; else null. */
  take(lookups: readonly Lookup[]): LookedUp[] | null {
    const { pending } = this;
    if (pending === null || lookups.length !== pending.asked.length) return null;
    const start = performance.now();
    const ids = lookups.map(({ bags }) => this.host.read(bags));
    if (!lookups.every((lookup, i) => this.isSame(pending.asked[i]!, lookup, ids[i]!.batch))) return null;
    this.pending = null;
    const results = pending.finish().map(({ pooled }, i): LookedUp => {
      const { table, bags } = pending.asked[i]!;
      const rows = this.host.make(pooled!, [bags.batch, table.layout.columns]);
      return { pooled: rows, handle: ids[i]! };
    });
    const answered = lookups.map((lookup, i) => ({ lookup, ids: ids[i]! }));
    this.host.answered(answered, (performance.now() - start) / 1000);
    return results;
  }

  /** Waits for what was started, and forgets it: tables are about to change. */
  drop(): void {
    const { pending } = this;
    this.pending = null;
    pending?.finish();
  }

  /** Forgets what was started, whose devices no longer know of it. */
  forget(): void {
    this.pending = null;
    this.wanted = [];
  }

  /** With the tables as they lie now; null where one of the lookups cannot be done there, or would fail. */
  private asked(wanted: readonly Wanted[]): Asked[] | null {
    const asked: Asked[] = [];
    for (const { table, ...lookup } of wanted) {
      const found = this.host.deviceTable(table);
      const { bags, options } = lookup;
      // Norms of whole rows may need the table elsewhere.
      if (found === null || (options.maxNorm > 0 && isSplitByColumns(found.layout))) return null;
      // The lookup that has such an id tells it with its input; here it would end the step.
      if (firstOutOfRange(bags.values, found.layout.rows, options) !== null) return null;
      asked.push({ ...lookup, table: found, target: null });
    }
    return asked;
  }

  private isSame(asked: Asked, { table, options }: Lookup, bags: LazyBags): boolean {
    const { combiner, outOfRange, maxNorm } = asked.options;
    const isSameKind =
      combiner === options.combiner && outOfRange === options.outOfRange && maxNorm === options.maxNorm;
    return isSameKind && this.host.deviceTable(table.tensor) === asked.table && areEqual(bags, asked.bags);
  }
}

function sameNumbers(a: Int32Array | Float32Array | null, b: Int32Array | Float32Array | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || a.length !== b.length) return false;
  // `every` takes ten times as long.
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
  return true;
}

function areEqual(a: LazyBags, b: LazyBags): boolean {
  return sameNumbers(a.rowSplits, b.rowSplits) && sameNumbers(a.weights, b.weights) && sameNumbers(a.values, b.values);
}
