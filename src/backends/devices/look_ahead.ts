/** Lookups of a batch to come, which devices do while the host is at the dense part of the one before. */
import type * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../bag_tensors.js';
import { IdOutOfRange } from '../kernel_set.js';
import type { LookedUp, Lookup } from '../contract.js';
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

type Asked = HostLookup & { readonly target: null };

interface Pending {
  readonly asked: readonly Asked[];
  readonly finish: () => Found[];
}

export class LookAhead {
  private pending: Pending | null = null;
  /** What starts when the next ones are asked for. */
  private next: readonly Asked[] | null = null;

  /** `machine`: the same devices, with an exchange memory of its own. */
  constructor(
    private readonly machine: Machine,
    private readonly host: LookAheadHost,
  ) {}

  /**
   * Starts lookups with the next ones that are asked for, as they belong to the batch after those: of tables as they are
   * then. Nothing where one of them cannot be started.
   */
  begin(lookups: readonly Lookup[]): void {
    const asked: Asked[] = [];
    for (const { table, bags, options, idsArePlaced = false } of lookups) {
      const found = this.host.deviceTable(table);
      // Norms of whole rows may need the table elsewhere.
      if (found === null || (options.maxNorm > 0 && isSplitByColumns(found.layout))) return;
      asked.push({ table: found, bags: this.host.read(bags).batch.copy(), options, idsArePlaced, target: null });
    }
    if (asked.length === 0) return;
    this.next = asked;
  }

  /** The results of these lookups where they were started, and with the same ids; else null. */
  take(lookups: readonly Lookup[]): LookedUp[] | null {
    const { pending } = this;
    if (pending === null) {
      this.startNext();
      return null;
    }
    const start = performance.now();
    const ids = lookups.map(({ bags }) => this.host.read(bags));
    const isMeant =
      lookups.length === pending.asked.length &&
      lookups.every((lookup, i) => {
        return this.isSame(pending.asked[i]!, lookup, ids[i]!.batch);
      });
    // One that is to start next says that these are not asked for any more.
    if (!isMeant && this.next === null) return null;
    const found = finished(pending);
    const results =
      !isMeant || found === null
        ? null
        : found.map(({ pooled }, i): LookedUp => {
            const { table, bags } = pending.asked[i]!;
            const values = pooled!.inExchange ? pooled!.values.slice() : pooled!.values;
            const rows = this.host.make({ values, inExchange: false }, [bags.batch, table.layout.columns]);
            return { pooled: rows, handle: ids[i]! };
          });
    this.startNext();
    if (results !== null) {
      const answered = lookups.map((lookup, i) => ({ lookup, ids: ids[i]! }));
      this.host.answered(answered, (performance.now() - start) / 1000);
    }
    return results;
  }

  /** Forgets what was started, whose devices no longer know of it. */
  forget(): void {
    this.pending = null;
    this.next = null;
  }

  private startNext(): void {
    const asked = this.next;
    this.next = null;
    this.pending = asked === null ? null : { asked, finish: startLookups(this.machine, asked) };
  }

  private isSame(asked: Asked, { table, options }: Lookup, bags: LazyBags): boolean {
    const { combiner, outOfRange, maxNorm } = asked.options;
    const isSameKind =
      combiner === options.combiner && outOfRange === options.outOfRange && maxNorm === options.maxNorm;
    return isSameKind && this.host.deviceTable(table) === asked.table && areEqual(bags, asked.bags);
  }
}

/** What lookups found; null where an id lies outside its table: the lookup that has it tells it with its input. */
function finished(pending: Pending): Found[] | null {
  try {
    return pending.finish();
  } catch (error) {
    if (error instanceof IdOutOfRange) return null;
    throw error;
  }
}

const sameNumbers = (a: Int32Array | Float32Array | null, b: Int32Array | Float32Array | null): boolean =>
  a === b || (a !== null && b !== null && a.length === b.length && a.every((value, i) => Object.is(value, b[i])));

function areEqual(a: LazyBags, b: LazyBags): boolean {
  return sameNumbers(a.rowSplits, b.rowSplits) && sameNumbers(a.weights, b.weights) && sameNumbers(a.values, b.values);
}
