/** What a device runs: commands on its buffers and on the exchange memory, by the kernels of one implementation. */
import { RuntimeError, described } from '../../../base/errors.js';
import { placeFor, type Place } from '../../cpu/place.js';
import { fillPart } from '../../fill.js';
import type { Addon } from '../../native/addon.js';
import {
  IdOutOfRange,
  SINGLE_ROW,
  type HostBags,
  type HostStep,
  type HostTable,
  type KernelSet,
} from '../../kernel_set.js';
import { occurrenceRounds } from '../../../ids/occurrence_rounds.js';
import { withoutDecay } from '../../../rules/hyper.js';
import { quantize } from '../../quantize.js';
import { CsrBuckets } from './csr_buckets.js';
import type {
  BagsAt,
  Command,
  EntryAt,
  ExchangedTableAt,
  ExchangeMemory,
  RowsAt,
  SharedRowsAt,
  TableAt,
} from './device.js';
import { Scratch, UniformSplits } from './exchange_memory.js';

/** Counts distinct ids: with one bit per row where that is little, else with a hash table of the ids that occur. */
const HASH = 0x9e3779b1; // 2^32 divided by the golden ratio
const NONE = -1;

export class DistinctIds {
  private bits = new Uint32Array(0);
  private slots = new Int32Array(0);

  /** How many different ids there are; ids outside [0, rows) do not count. */
  count(ids: Int32Array, rows: number): number {
    // What has to be cleared beforehand is no more than what is counted.
    return rows <= 32 * ids.length ? this.byBits(ids, rows) : this.byHash(ids, rows);
  }

  private byBits(ids: Int32Array, rows: number): number {
    const words = Math.ceil(rows / 32);
    if (this.bits.length < words) this.bits = new Uint32Array(words);
    const bits = this.bits.fill(0, 0, words);
    let distinct = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id < 0 || id >= rows) continue;
      const word = bits[id >>> 5]!;
      distinct += ~(word >>> (id & 31)) & 1;
      bits[id >>> 5] = word | (1 << (id & 31));
    }
    return distinct;
  }

  private byHash(ids: Int32Array, rows: number): number {
    const power = Math.max(4, 33 - Math.clz32(ids.length)); // less than half full
    const size = 2 ** power;
    if (this.slots.length < size) this.slots = new Int32Array(size);
    const slots = this.slots.fill(NONE, 0, size);
    let distinct = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id < 0 || id >= rows) continue;
      let at = Math.imul(id, HASH) >>> (32 - power);
      while (slots[at] !== id && slots[at] !== NONE) at = (at + 1) & (size - 1);
      if (slots[at] === id) continue;
      slots[at] = id;
      distinct++;
    }
    return distinct;
  }
}

type Op<Name extends Command['op']> = Extract<Command, { op: Name }>;

/** Ids and the gradients of their rows. */
interface Rows {
  readonly ids: Int32Array;
  readonly gradients: Float32Array;
}

/** The uses of a table as one batch. */
type Uses = Pick<HostStep, 'gradient' | 'bags' | 'options' | 'useStarts'>;

/** Some bags of a batch. */
interface PartOfBags extends HostBags {
  /** Place of the first of their values in the batch. */
  readonly first: number;
}

export class DeviceProgram {
  private readonly buffers = new Map<number, Place>();
  private readonly uniform = new UniformSplits();
  private readonly distinct = new DistinctIds();
  private readonly scratch = new Scratch();

  /** `progress` is called now and then during commands that take long. */
  constructor(
    private readonly kernels: KernelSet,
    private readonly exchange: () => Pick<ExchangeMemory, 'floats' | 'ints'>,
    private readonly progress: () => void,
    /** Reads and writes shared tensors of TensorFlow; null where there is no addon. */
    private readonly sharing: Pick<Addon, 'readSharedTensor' | 'writeSharedTensor'> | null,
  ) {}

  run(command: Command): void {
    this.scratch.reset();
    switch (command.op) {
      case 'allocate':
        return this.allocate(command);
      case 'free':
        return this.free(command.buffer);
      case 'copy':
        return this.copy(command);
      case 'read':
      case 'write':
        return this.move(command);
      case 'copyShared':
        return this.copyShared(command);
      case 'lookUp':
        return this.lookUp(command);
      case 'weightsGradient':
        return this.weightsGradient(command);
      case 'rowGradients':
        return this.rowGradients(command);
      case 'step':
        return this.step(command);
    }
  }

  /** Frees all memory. */
  close(): void {
    for (const place of this.buffers.values()) place.free();
    this.buffers.clear();
    this.scratch.close();
  }

  private allocate({ buffer, part, fill }: Op<'allocate'>): void {
    const place = placeFor(this.kernels, part.rows * part.columns);
    this.buffers.set(buffer, place);
    fillPart(place.view(), part, fill, this.progress);
  }

  private free(buffer: number): void {
    this.buffers.get(buffer)?.free();
    this.buffers.delete(buffer);
  }

  private copy({ buffer, from }: Op<'copy'>): void {
    const place = placeFor(this.kernels, this.view(from).length);
    this.buffers.set(buffer, place);
    place.view().set(this.view(from));
  }

  private move(command: Op<'read' | 'write'>): void {
    const { op, table, rows, where } = command;
    const { floats, ints } = this.exchange();
    const data = this.view(table.buffer);
    const moveRows = (first: number, count: number, place: RowsAt): void => {
      const part = data.subarray(first * table.dim, (first + count) * table.dim);
      if (op === 'read') spread(part, table.dim, floats, place, count);
      else gather(floats, place, table.dim, part, count);
    };
    if ('firstRow' in command) return moveRows(command.firstRow, rows, where);
    for (let i = 0; i < rows; i++) {
      moveRows(ints[command.ids + i]!, 1, { at: where.at + i * where.stride, stride: table.dim });
    }
  }

  private copyShared({ sharedKey, words, at }: Op<'copyShared'>): void {
    const rows = { sharedKey, at: 0, stride: words };
    this.copyRows(rows, 1, words, this.exchange().floats.subarray(at, at + words));
  }

  private lookUp({ table, bags, options, pooled, distinct, quantization }: Op<'lookUp'>): void {
    const { floats, ints } = this.exchange();
    const host = this.bags(bags);
    const count = host.rowSplits.length - 1;
    const size = count * table.dim;
    const { at, stride, sharedKey } = pooled;
    const isCompact = sharedKey === null && stride === table.dim;
    const target = isCompact ? floats.subarray(at, at + size) : this.scratch.take(size);
    try {
      this.kernels.lookUp([{ table: this.table(table), bags: host, options, pooled: target }]);
    } catch (error) {
      // The caller, who gave the id, is at fault, not the device.
      if (distinct === null || !(error instanceof IdOutOfRange)) throw error;
      ints[distinct] = -1 - (host.first + error.position);
      return;
    }
    if (distinct !== null) ints[distinct] = this.distinct.count(host.values, table.rows);
    if (quantization !== null) quantize(target, quantization);
    if (sharedKey !== null) this.shared().writeSharedTensor(sharedKey, at, stride, count, table.dim, target);
    else if (!isCompact) spread(target, table.dim, floats, pooled, count);
  }

  private weightsGradient({ table, bags, options, gradient, out }: Op<'weightsGradient'>): void {
    const host = this.bags(bags);
    const target = this.exchange().floats.subarray(out, out + host.values.length);
    const pooled = this.compact(gradient, host, table.dim);
    this.kernels.weightsGradient(this.table(table), pooled, host, options, target);
  }

  private rowGradients({ table, entries, room, out }: Op<'rowGradients'>): void {
    const { floats, ints } = this.exchange();
    let count = 0;
    for (const { ids, gradients } of entries.map((entry) => this.rowsOf(table, entry, this.bags(entry.bags)))) {
      if (count + ids.length > room) {
        throw new RuntimeError('room', `at least ${count + ids.length} rows`, described(`${room}`));
      }
      ints.set(ids, out + 1 + count);
      floats.set(gradients, out + 1 + room + count * table.dim);
      count += ids.length;
    }
    ints[out] = count;
  }

  private step(command: Op<'step'>): void {
    const { optimizer, table, slots, hyper, order } = command;
    const numbers = Float32Array.from(hyper);
    const steps = order === null ? [this.usesOf(command)] : this.occurrencesOf(command, order);
    steps.forEach((uses, round) => {
      const given = { table: this.table(table), slots: slots.map((slot) => this.view(slot)) };
      const ofStep = { ...given, ...uses, hyper: round === 0 ? numbers : withoutDecay(numbers) };
      this.kernels.step(optimizer, [ofStep]);
    });
  }

  /** Several uses of a table make one step, over the sum of their gradients. */
  private usesOf({ table, entries }: Op<'step'>): Uses {
    const [{ gradient, options, ofRows }] = entries as [EntryAt];
    const parts = entries.map(({ bags }) => this.bags(bags));
    if (entries.length === 1 && !ofRows) {
      const [bags] = parts as [PartOfBags];
      return { gradient: this.compact(gradient, bags, table.dim), bags, options, useStarts: null };
    }
    if (areAlike(entries, parts)) return this.inOne(entries, parts, table.dim);
    const { ids, gradients } = united(entries.map((entry, i) => this.rowsOf(table, entry, parts[i]!)));
    return this.single(ids, gradients);
  }

  /** The rounds of a step in which each occurrence of an id of the one entry is a step of its own. */
  private occurrencesOf({ table, entries }: Op<'step'>, order: number): Uses[] {
    const [entry] = entries as [EntryAt];
    const bags = this.bags(entry.bags);
    const gradient = this.compact(entry.gradient, bags, table.dim);
    const places = this.exchange().ints.subarray(order, order + bags.rowSplits.length - 1);
    const rounds = occurrenceRounds([{ ...bags, gradient, order: places }], entry.options.combiner, table.dim);
    // Without ids there is a step all the same: rows that were not looked up may move.
    if (rounds.length === 0) return [this.single(new Int32Array(0), new Float32Array(0))];
    return rounds.map(({ ids, factors, gradients }) => this.single(ids, gradients, Float32Array.from(factors)));
  }

  private single(values: Int32Array, gradient: Float32Array, weights: Float32Array | null = null): Uses {
    const bags = { values, rowSplits: this.uniform.of(values.length, 1), weights };
    return { gradient, bags, options: SINGLE_ROW, useStarts: null };
  }

  /** The bags and gradients of all entries one after the other, and where each but the first begins. */
  private inOne(entries: readonly EntryAt[], parts: readonly HostBags[], dim: number): Uses {
    const nnz = parts.reduce((all, { values }) => all + values.length, 0);
    const batch = parts.reduce((all, { rowSplits }) => all + rowSplits.length - 1, 0);
    const gradient = this.scratch.take(batch * dim);
    const values = this.scratch.takeInts(nnz);
    const rowSplits = this.scratch.takeInts(batch + 1);
    const weights = parts[0]!.weights === null ? null : this.scratch.take(nnz);
    const starts = new Int32Array(entries.length);
    let [bag, id] = [0, 0];
    rowSplits[0] = 0;
    parts.forEach((part, place) => {
      const bags = part.rowSplits.length - 1;
      this.copyRows(entries[place]!.gradient, bags, dim, gradient.subarray(bag * dim, (bag + bags) * dim));
      values.set(part.values, id);
      weights?.set(part.weights!, id);
      for (let i = 1; i <= bags; i++) rowSplits[bag + i] = id + part.rowSplits[i]!;
      starts[place] = bag;
      bag += bags;
      id += part.values.length;
    });
    const { options } = entries[0]!;
    return { gradient, bags: { values, rowSplits, weights }, options, useStarts: starts.subarray(1) };
  }

  private rowsOf(table: TableAt, { gradient, options, ofRows }: EntryAt, host: HostBags): Rows {
    const compact = this.compact(gradient, host, table.dim);
    if (ofRows) return { ids: host.values, gradients: compact };
    const { uniqueIds, rowGradients } = this.kernels.rowGradients(compact, host, this.table(table), options);
    return { ids: uniqueIds, gradients: rowGradients };
  }

  private view(buffer: number): Float32Array {
    const place = this.buffers.get(buffer);
    if (place === undefined) throw new RuntimeError('buffer', 'a buffer of this device', buffer);
    return place.view();
  }

  private table(table: TableAt | ExchangedTableAt): HostTable {
    const { rows, dim } = table;
    if ('buffer' in table) return { data: this.view(table.buffer), rows, dim };
    return { data: this.exchange().floats.subarray(table.at, table.at + rows * dim), rows, dim };
  }

  /** The bags that are meant, with splits from 0 on. */
  private bags(given: BagsAt): PartOfBags {
    const exchange = this.exchange();
    if ('csr' in given) {
      return { first: 0, ...new CsrBuckets(exchange, given.csr, this.scratch).bags(given, this.uniform) };
    }
    const { floats, ints } = exchange;
    const { values, rowSplits, length, weights, firstBag, bags } = given;
    const splits = rowSplits === null ? null : ints.subarray(rowSplits + firstBag, rowSplits + firstBag + bags + 1);
    const start = splits === null ? firstBag * length : splits[0]!;
    const end = splits === null ? (firstBag + bags) * length : splits[bags]!;
    return {
      first: start,
      values: ints.subarray(values + start, values + end),
      rowSplits:
        splits === null ? this.uniform.of(bags, length) : start === 0 ? splits : splits.map((at) => at - start),
      weights: weights === null ? null : floats.subarray(weights + start, weights + end),
    };
  }

  /** A row for each of the bags, without gaps between them: where they lie, or a copy that is good for this command. */
  private compact({ sharedKey, ...rows }: SharedRowsAt, { rowSplits }: HostBags, dim: number): Float32Array {
    const count = rowSplits.length - 1;
    const { floats } = this.exchange();
    if (sharedKey === null && rows.stride === dim) return floats.subarray(rows.at, rows.at + count * dim);
    const target = this.scratch.take(count * dim);
    this.copyRows({ sharedKey, ...rows }, count, dim, target);
    return target;
  }

  /** Copies rows to rows without gaps. */
  private copyRows({ sharedKey, ...rows }: SharedRowsAt, count: number, dim: number, target: Float32Array): void {
    if (sharedKey === null) gather(this.exchange().floats, rows, dim, target, count);
    else this.shared().readSharedTensor(sharedKey, rows.at, rows.stride, count, dim, target);
  }

  private shared(): Pick<Addon, 'readSharedTensor' | 'writeSharedTensor'> {
    if (this.sharing !== null) return this.sharing;
    throw new RuntimeError('sharedKey', 'a device that shares tensors of TensorFlow', described('one that cannot'));
  }
}

/** Copies rows without gaps to rows with a stride. */
function spread(source: Float32Array, dim: number, target: Float32Array, { at, stride }: RowsAt, rows: number): void {
  if (stride === dim) return target.set(source.subarray(0, rows * dim), at);
  for (let row = 0, from = 0, to = at; row < rows; row++, to += stride) {
    for (let column = 0; column < dim; column++) target[to + column] = source[from++]!;
  }
}

/** Copies rows with a stride to rows without gaps. */
function gather(source: Float32Array, { at, stride }: RowsAt, dim: number, target: Float32Array, rows: number): void {
  if (stride === dim) return target.set(source.subarray(at, at + rows * dim));
  for (let row = 0, from = at, to = 0; row < rows; row++, from += stride) {
    for (let column = 0; column < dim; column++) target[to++] = source[from + column]!;
  }
}

/** Whether uses of a table can be one batch: of bags, under the same options, all with weights or none. */
function areAlike(entries: readonly EntryAt[], parts: readonly HostBags[]): boolean {
  const [{ options }] = entries as [EntryAt];
  return entries.every((entry, i) => {
    const { combiner, outOfRange, maxNorm } = entry.options;
    const isSame = combiner === options.combiner && outOfRange === options.outOfRange && maxNorm === options.maxNorm;
    return isSame && !entry.ofRows && (parts[i]!.weights === null) === (parts[0]!.weights === null);
  });
}

function united(parts: readonly Rows[]): Rows {
  if (parts.length === 1) return parts[0]!;
  const ids = new Int32Array(parts.reduce((sum, part) => sum + part.ids.length, 0));
  const gradients = new Float32Array(parts.reduce((sum, part) => sum + part.gradients.length, 0));
  let [row, value] = [0, 0];
  for (const part of parts) {
    ids.set(part.ids, row);
    gradients.set(part.gradients, value);
    row += part.ids.length;
    value += part.gradients.length;
  }
  return { ids, gradients };
}
