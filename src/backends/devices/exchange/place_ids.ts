/** Puts the ids of a batch into the exchange memory, and counts what they cost on the links. */
import type * as tf from '@tensorflow/tfjs';
import type { TableLayout, LayoutShard } from '../../../partition/table_layout.js';
import type { PlainBagsAt, Command, ExchangeMemory, SharedRowsAt, HostExchange } from '../device.js';
import type { Machine } from '../machine/machine.js';

import { type TensorValues, arrayValues, type TensorReader } from '../host/shared_tensors.js';
import { sharedUniformSplits, uniformLength } from '../../../ids/row_splits.js';
import type { BagTensors } from '../../bag_tensors.js';
import { firstOutOfRange, type BagOptions } from '../../kernel_set.js';
import type { LookupHandle } from '../../contract.js';

/** Bags of ids, which are read on first access. */
export class LazyBags {
  readonly nnz: number;
  readonly batch: number;

  /**
   * `length`: of every bag, or null where lengths differ. `kept`: where the ids and all else still lie in the exchange
   * memory, or null.
   */
  constructor(
    readonly ids: TensorValues<Int32Array>,
    readonly rowSplits: Int32Array,
    readonly length: number | null,
    readonly weights: Float32Array | null,
    readonly kept: KeptIds | null,
  ) {
    this.nnz = ids.size;
    this.batch = rowSplits.length - 1;
  }

  get values(): Int32Array {
    return this.ids.get();
  }

  /** The same numbers, whatever becomes of the tensors that they were read from. */
  copy(): LazyBags {
    const { rowSplits, length, weights } = this;
    return new LazyBags(arrayValues(this.values.slice()), rowSplits.slice(), length, weights?.slice() ?? null, null);
  }

  withWeights(weights: Float32Array): LazyBags {
    return new LazyBags(this.ids, this.rowSplits, this.length, weights, null);
  }
}

/** Bags in the exchange memory, and where all that was kept with them ends. */
export interface KeptIds {
  readonly at: PlainBagsAt;
  readonly end: number;
}

/** Every row of a table by itself. */
export function allRows(rows: number): LazyBags {
  const rowSplits = sharedUniformSplits(rows, 1);
  const values = rowSplits.subarray(0, rows); // The numbers of the rows are the same.
  return new LazyBags(arrayValues(values), rowSplits, 1, null, null);
}

/** What is kept of a lookup: its ids as they were read, and where devices have them. */
export class LookupIds {
  /** Devices found all ids in a table of so many rows; -1: not checked. */
  private rows = -1;
  private kept: (KeptIds & { readonly epoch: number }) | null = null;

  constructor(readonly batch: LazyBags) {}

  /** They lie in the exchange memory, where devices found no id outside a table of so many rows; null: did not look. */
  keep(kept: KeptIds, rows: number | null, exchange: HostExchange): void {
    this.rows = rows ?? -1;
    this.kept = { ...kept, epoch: exchange.epoch };
  }

  /** Where they still lie in the exchange memory, for a table of so many rows; null where they do not. */
  keptFor(rows: number, { outOfRange }: BagOptions, { epoch }: HostExchange): KeptIds | null {
    // Ids of a table are ids of a larger one too.
    const areChecked = outOfRange !== 'error' || (this.rows >= 0 && this.rows <= rows);
    return areChecked && this.kept?.epoch === epoch ? this.kept : null;
  }
}

/** Reads batches, each as it is at the time. */
export class IdReader {
  constructor(
    private readonly reader: TensorReader,
    private readonly exchange: HostExchange,
  ) {}

  /** The ids of a lookup, which are not looked at. */
  read(bags: BagTensors): LookupIds {
    return new LookupIds(readBatch(bags, this.reader.lentIds(bags.values)));
  }

  /** The ids of a lookup, which are looked at here: no call may follow in which devices copy them. */
  readHere(bags: BagTensors): LookupIds {
    return new LookupIds(readBatch(bags, this.reader.ids(bags.values)));
  }

  /**
   * The ids of a step; one outside the table is refused before anything is sent. `handle`: of the lookup, whose tensors
   * may be gone; `bags` hold the same numbers.
   */
  readChecked(
    bags: BagTensors,
    handle: LookupHandle | null | undefined,
    { kind, rows }: TableLayout,
    options: BagOptions,
  ): LazyBags {
    const known = handle instanceof LookupIds ? handle : null;
    // Where rows are dealt out, the host needs the numbers themselves.
    const kept = kind === 'rows' ? null : (known?.keptFor(rows, options, this.exchange) ?? null);
    const values = known?.batch.ids.isRead === true ? known.batch.ids : this.reader.ids(bags.values);
    const outOfRange = kept === null ? firstOutOfRange(values.get(), rows, options) : null;
    if (outOfRange !== null) throw outOfRange;
    if (known === null) return readBatch(bags, values);
    const { rowSplits, length, weights } = known.batch;
    return new LazyBags(values, rowSplits, length, weights, kept);
  }
}

function readBatch({ rowSplits, weights }: BagTensors, values: TensorValues<Int32Array>): LazyBags {
  const splits = (rowSplits as tf.Tensor).dataSync<'int32'>();
  const factors = weights === null ? null : weights.dataSync<'float32'>();
  return new LazyBags(values, splits, uniformLength(splits), factors, null);
}

/** Arrays begin at cache lines. */
const ALIGNMENT = 16;

export class ExchangeLayout {
  private next: number;
  private readonly writes: ((memory: ExchangeMemory) => void)[] = [];

  /** `start`: words before it are kept as they are. */
  constructor(private readonly start = 0) {
    this.next = start;
  }

  /** Where the room that was taken ends. */
  get end(): number {
    return this.next;
  }

  /** Room for `words` words; returns where it begins. */
  take(words: number): number {
    const at = this.next;
    this.next = at + Math.ceil(words / ALIGNMENT) * ALIGNMENT;
    return at;
  }

  idsOf(values: TensorValues<Int32Array>): number {
    const at = this.take(values.size);
    this.writes.push(({ ints }) => values.copyTo(ints.subarray(at, at + values.size)));
    return at;
  }

  ints(values: Int32Array): number {
    const at = this.take(values.length);
    this.writes.push(({ ints }) => ints.set(values, at));
    return at;
  }

  floats(values: Float32Array): number {
    const at = this.take(values.length);
    this.writes.push(({ floats }) => floats.set(values, at));
    return at;
  }

  /** Where rows of `columns` floats of a tensor lie: here, or in the tensor itself where it is shared with devices. */
  rowsOf(values: TensorValues<Float32Array>, columns: number): SharedRowsAt {
    const { shared, size } = values;
    if (shared !== null) return { at: shared.at, stride: shared.stride, sharedKey: shared.key };
    const at = this.take(size);
    this.writes.push(({ floats }) => values.copyTo(floats.subarray(at, at + size)));
    return { at, stride: columns, sharedKey: null };
  }

  /** Room that `write` fills. */
  filled(words: number, write: (floats: Float32Array, at: number) => void): number {
    const at = this.take(words);
    this.writes.push(({ floats }) => write(floats, at));
    return at;
  }

  /** Writes everything. */
  write(memory: ExchangeMemory): void {
    memory.reserve(this.next, this.start);
    for (const write of this.writes) write(memory);
  }
}

/** Where the part of each device begins in `count` bags; the last entry is `count`. Parts differ by at most one bag. */
function batchParts(count: number, devices: number): Int32Array {
  const starts = new Int32Array(devices + 1);
  const least = Math.floor(count / devices);
  const longer = count % devices;
  for (let device = 0; device <= devices; device++) starts[device] = device * least + Math.min(device, longer);
  return starts;
}

const BYTES = 4;

/** A layout that leaves bags alone which are kept in the exchange memory. */
export function layoutBehind(batches: readonly LazyBags[]): ExchangeLayout {
  return new ExchangeLayout(batches.reduce((end, { kept }) => Math.max(end, kept?.end ?? 0), 0));
}

/**
 * All bags of a batch, which may be kept there. `commands`: of a device, which then copies shared ids of TensorFlow to
 * where they go; absent where the host does that.
 */
export function placeIds(exchange: ExchangeLayout, bags: LazyBags, commands?: Command[]): PlainBagsAt {
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
export function placeShardIds(exchange: ExchangeLayout, { bags, values, rowSplits, weights }: ShardIds): PlainBagsAt {
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

/** What one device gets of a batch: bags that have an id there, with local rows and a factor for each. */
export interface ShardIds {
  readonly shard: LayoutShard;
  /** Number of the bag in the batch, for each bag of the route. */
  readonly bags: Int32Array;
  readonly values: Int32Array;
  readonly rowSplits: Int32Array;
  /** null: all factors are 1. */
  readonly weights: Float32Array | null;
  /** Place of each id in the batch. */
  readonly positions: Int32Array;
}
