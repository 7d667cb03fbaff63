/** Puts the ids of a batch into the exchange memory, and counts what they cost on the links. */
import type { TableLayout } from '../../../partition/table_layout.js';
import { batchParts } from './batch_parts.js';
import type { BagsAt, Command } from '../devices/device.js';
import { ExchangeLayout } from './exchange_layout.js';
import type { LazyBags } from './id_batch.js';
import type { Machine } from '../machine/machine.js';
import type { ShardIds } from './row_sharding.js';

const BYTES = 4;

/** A layout that leaves bags alone which are kept in the exchange memory. */
export function layoutBehind(batches: readonly LazyBags[]): ExchangeLayout {
  return new ExchangeLayout(batches.reduce((end, { kept }) => Math.max(end, kept?.end ?? 0), 0));
}

/**
 * All bags of a batch, which may be kept there. `commands`: of a device, which then copies shared ids of TensorFlow to
 * where they go; absent where the host does that.
 */
export function placeIds(exchange: ExchangeLayout, bags: LazyBags, commands?: Command[]): BagsAt {
  const { ids, rowSplits, weights, batch, length, kept } = bags;
  if (kept !== null) return kept.at;
  const { shared, size } = ids;
  const isShared = commands !== undefined && shared !== null && !ids.isRead;
  const values = isShared ? exchange.take(size) : exchange.idsOf(ids);
  if (isShared) commands.push({ op: 'copyShared', sharedKey: shared.key, words: size, at: values });
  return {
    values,
    nnz: size,
    rowSplits: length === null ? exchange.ints(rowSplits) : null,
    length: length ?? 0,
    batch,
    weights: weights === null ? null : exchange.floats(weights),
    firstBag: 0,
    bags: batch,
  };
}

/** The bags of one device where rows are dealt out. */
export function placeShardIds(exchange: ExchangeLayout, { bags, values, rowSplits, weights }: ShardIds): BagsAt {
  return {
    values: exchange.ints(values),
    nnz: values.length,
    rowSplits: exchange.ints(rowSplits),
    length: 0,
    batch: bags.length,
    weights: weights === null ? null : exchange.floats(weights),
    firstBag: 0,
    bags: bags.length,
  };
}

/** Bytes of some ids on the way: themselves, their weights, and the lengths of bags where these differ. */
function bytesOfIds({ weights, length }: LazyBags, ids: number, bags: number): number {
  return BYTES * (ids + (weights === null ? 0 : ids) + (length === null ? bags : 0));
}

/** What one lookup moves between devices, each of which begins with its part of the batch. */
export class Traffic {
  private readonly parts: Int32Array;

  constructor(
    private readonly machine: Machine,
    /** The table it is about, by its owner. */
    private readonly owner: object,
    private readonly bags: LazyBags,
  ) {
    this.parts = batchParts(bags.batch, machine.count);
  }

  /** The part of the batch that a device begins with: its first bag, how many there are, and their ids. */
  part(device: number): { first: number; bags: number; ids: number } {
    const { rowSplits } = this.bags;
    const [first, end] = [this.parts[device]!, this.parts[device + 1]!];
    return { first, bags: end - first, ids: rowSplits[end]! - rowSplits[first]! };
  }

  /** Ids of all other devices come to one that holds columns of the table. */
  idsTo(device: number): void {
    for (let from = 0; from < this.machine.count; from++) {
      const { bags, ids } = this.part(from);
      this.send(from, device, bytesOfIds(this.bags, ids, bags), ids);
    }
  }

  /** One number per id goes from a device to those that began with the bags: derivatives by the weights. */
  numbersFrom(device: number): void {
    for (let to = 0; to < this.machine.count; to++) {
      this.send(device, to, BYTES * this.part(to).ids);
    }
  }

  /** Rows for all bags leave a device, or come to it as gradients. */
  rowsOf(device: number, width: number, direction: 'out' | 'in'): void {
    for (let other = 0; other < this.machine.count; other++) {
      const bytes = BYTES * this.part(other).bags * width;
      if (direction === 'out') this.send(device, other, bytes);
      else this.send(other, device, bytes);
    }
  }

  /** Ids of a route come to its device. */
  routeTo({ shard, bags, rowSplits, weights }: ShardIds): void {
    const perId = weights === null ? 1 : 2;
    this.eachPart(bags, (from, first, end) => {
      const ids = rowSplits[end]! - rowSplits[first]!;
      this.send(from, shard.device, BYTES * (perId * ids + (end - first)), ids);
    });
  }

  /** One number per id of a route goes back from its device. */
  numbersOfRoute({ shard, bags, rowSplits }: ShardIds): void {
    this.eachPart(bags, (to, first, end) => {
      this.send(shard.device, to, BYTES * (rowSplits[end]! - rowSplits[first]!));
    });
  }

  /** Rows for the bags of a route leave its device, or come to it as gradients. */
  rowsOfRoute({ shard, bags }: ShardIds, width: number, direction: 'out' | 'in'): void {
    this.eachPart(bags, (other, first, end) => {
      const bytes = BYTES * (end - first) * width;
      if (direction === 'out') this.send(shard.device, other, bytes);
      else this.send(other, shard.device, bytes);
    });
  }

  private send(from: number, to: number, bytes: number, ids = 0): void {
    this.machine.counters.send(this.owner, from, to, bytes, ids);
  }

  /** The stretches of a route's bags by the device that begins with them. */
  private eachPart(bags: Int32Array, visit: (device: number, first: number, end: number) => void): void {
    let first = 0;
    for (let device = 0; device < this.machine.count; device++) {
      let end = first;
      while (end < bags.length && bags[end]! < this.parts[device + 1]!) end++;
      if (end > first) visit(device, first, end);
      first = end;
    }
  }
}

/** Whether several devices hold different columns of a table. */
export function isSplitByColumns({ kind, shards }: TableLayout): boolean {
  return kind === 'columns' && shards.length > 1;
}
