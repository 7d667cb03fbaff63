/** What a device runs: commands on its buffers and on the exchange memory, by the kernels of one implementation. */
import { RuntimeError, described } from '../../../base/errors.js';
import { placeFor, type Place } from '../../cpu/place.js';
import { fillPart } from '../../fill.js';
import type { Addon } from '../../native/addon.js';
import {
  IdOutOfRange,
  SINGLE_ROW,
  type BagOptions,
  type HostBags,
  type HostTable,
  type KernelSet,
} from '../../kernel_set.js';
import type { BagsAt, Command, EntryAt, ExchangeMemory, RowsAt, SharedRowsAt, TableAt } from './device.js';
import { CsrProgram } from './csr_program.js';
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

/** Several uses of a table as one batch. */
interface Uses {
  readonly gradient: Float32Array;
  readonly bags: HostBags;
  readonly starts: Int32Array;
}

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
  private readonly csr: CsrProgram;

  /** `progress` is called now and then during commands that take long. */
  constructor(
    private readonly kernels: KernelSet,
    private readonly exchange: () => Pick<ExchangeMemory, 'floats' | 'ints'>,
    private readonly progress: () => void,
    /** Reads and writes shared tensors of TensorFlow; null where there is no addon. */
    private readonly sharing: Pick<Addon, 'readSharedTensor' | 'writeSharedTensor'> | null,
  ) {
    const { scratch, uniform } = this;
    const [table, view] = [
      (at: TableAt): HostTable => this.table(at),
      (buffer: number): Float32Array => this.view(buffer),
    ];
    this.csr = new CsrProgram({ kernels, exchange, scratch, uniform, table, view });
  }

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
        return this.read(command);
      case 'write':
        return this.write(command);
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
      default:
        return this.csr.run(command);
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

  private read({ table, firstRow, rows, where }: Op<'read'>): void {
    const { dim } = table;
    const source = this.view(table.buffer).subarray(firstRow * dim, (firstRow + rows) * dim);
    spread(source, dim, this.exchange().floats, where, rows);
  }

  private write({ table, firstRow, rows, where }: Op<'write'>): void {
    const { dim } = table;
    const target = this.view(table.buffer).subarray(firstRow * dim, (firstRow + rows) * dim);
    gather(this.exchange().floats, where, dim, target, rows);
  }

  private copyShared({ sharedKey, words, at }: Op<'copyShared'>): void {
    const rows = { sharedKey, at: 0, stride: words };
    this.copyRows(rows, 1, words, this.exchange().floats.subarray(at, at + words));
  }

  private lookUp({ table, bags, options, pooled, distinct }: Op<'lookUp'>): void {
    const { floats, ints } = this.exchange();
    const host = this.bags(bags);
    const size = bags.bags * table.dim;
    const { at, stride, sharedKey } = pooled;
    const isCompact = sharedKey === null && stride === table.dim;
    const target = isCompact ? floats.subarray(at, at + size) : this.scratch.take(size);
    try {
      this.kernels.lookUp([{ table: this.table(table), bags: host, options, pooled: target }]);
    } catch (error) {
      // The caller, who gave the id, is at fault, not the device.
      if (!(error instanceof IdOutOfRange)) throw error;
      ints[distinct] = -1 - (host.first + error.position);
      return;
    }
    ints[distinct] = this.distinct.count(host.values, table.rows);
    if (sharedKey !== null) this.shared().writeSharedTensor(sharedKey, at, stride, bags.bags, table.dim, target);
    else if (!isCompact) spread(target, table.dim, floats, pooled, bags.bags);
  }

  private weightsGradient({ table, bags, options, gradient, out }: Op<'weightsGradient'>): void {
    const host = this.bags(bags);
    const target = this.exchange().floats.subarray(out, out + host.values.length);
    const pooled = this.compact(gradient, bags.bags, table.dim);
    this.kernels.weightsGradient(this.table(table), pooled, host, options, target);
  }

  private rowGradients({ table, entries, room, out }: Op<'rowGradients'>): void {
    const { floats, ints } = this.exchange();
    let count = 0;
    for (const { ids, gradients } of entries.map((entry) => this.rowsOf(table, entry))) {
      if (count + ids.length > room) {
        throw new RuntimeError('room', `at least ${count + ids.length} rows`, described(`${room}`));
      }
      ints.set(ids, out + 1 + count);
      floats.set(gradients, out + 1 + room + count * table.dim);
      count += ids.length;
    }
    ints[out] = count;
  }

  private step({ optimizer, table, slots, entries, hyper }: Op<'step'>): void {
    const [first] = entries as [EntryAt];
    const numbers = Float32Array.from(hyper);
    const apply = (gradient: Float32Array, bags: HostBags, options: BagOptions, useStarts: Int32Array | null): void => {
      const given = { table: this.table(table), slots: slots.map((slot) => this.view(slot)) };
      this.kernels.step(optimizer, [{ ...given, gradient, bags, options, hyper: numbers, useStarts }]);
    };
    if (entries.length === 1 && !first.ofRows) {
      const { gradient, bags, options } = first;
      return apply(this.compact(gradient, bags.bags, table.dim), this.bags(bags), options, null);
    }
    // Several uses of a table make one step, over the sum of their gradients.
    if (areAlike(entries)) {
      const { gradient, bags, starts } = this.inOne(entries, table.dim);
      return apply(gradient, bags, first.options, starts);
    }
    const { ids, gradients } = united(entries.map((entry) => this.rowsOf(table, entry)));
    const bags = { values: ids, rowSplits: this.uniform.of(ids.length, 1), weights: null };
    apply(gradients, bags, SINGLE_ROW, null);
  }

  /** The bags and gradients of all entries one after the other, and where each but the first begins. */
  private inOne(entries: readonly EntryAt[], dim: number): Uses {
    const parts = entries.map(({ bags }) => this.bags(bags));
    const nnz = parts.reduce((all, { values }) => all + values.length, 0);
    const batch = entries.reduce((all, { bags }) => all + bags.bags, 0);
    const gradient = this.scratch.take(batch * dim);
    const values = this.scratch.takeInts(nnz);
    const rowSplits = this.scratch.takeInts(batch + 1);
    const weights = parts[0]!.weights === null ? null : this.scratch.take(nnz);
    const starts = new Int32Array(entries.length);
    let [bag, id] = [0, 0];
    rowSplits[0] = 0;
    parts.forEach((part, place) => {
      const { gradient: from, bags } = entries[place]!;
      this.copyRows(from, bags.bags, dim, gradient.subarray(bag * dim, (bag + bags.bags) * dim));
      values.set(part.values, id);
      weights?.set(part.weights!, id);
      for (let i = 1; i <= bags.bags; i++) rowSplits[bag + i] = id + part.rowSplits[i]!;
      starts[place] = bag;
      bag += bags.bags;
      id += part.values.length;
    });
    return { gradient, bags: { values, rowSplits, weights }, starts: starts.subarray(1) };
  }

  private rowsOf(table: TableAt, { gradient, bags, options, ofRows }: EntryAt): Rows {
    const host = this.bags(bags);
    const compact = this.compact(gradient, bags.bags, table.dim);
    if (ofRows) return { ids: host.values, gradients: compact };
    const { uniqueIds, rowGradients } = this.kernels.rowGradients(compact, host, this.table(table), options);
    return { ids: uniqueIds, gradients: rowGradients };
  }

  private view(buffer: number): Float32Array {
    const place = this.buffers.get(buffer);
    if (place === undefined) throw new RuntimeError('buffer', 'a buffer of this device', buffer);
    return place.view();
  }

  private table({ buffer, rows, dim }: TableAt): HostTable {
    return { data: this.view(buffer), rows, dim };
  }

  /** The bags that are meant, with splits from 0 on. */
  private bags({ values, rowSplits, length, weights, firstBag, bags }: BagsAt): PartOfBags {
    const { floats, ints } = this.exchange();
    const given = rowSplits === null ? null : ints.subarray(rowSplits + firstBag, rowSplits + firstBag + bags + 1);
    const start = given === null ? firstBag * length : given[0]!;
    const end = given === null ? (firstBag + bags) * length : given[bags]!;
    return {
      first: start,
      values: ints.subarray(values + start, values + end),
      rowSplits: given === null ? this.uniform.of(bags, length) : start === 0 ? given : given.map((at) => at - start),
      weights: weights === null ? null : floats.subarray(weights + start, weights + end),
    };
  }

  /** Rows without gaps between them: where they lie, or a copy that is good for this command. */
  private compact({ sharedKey, ...rows }: SharedRowsAt, count: number, dim: number): Float32Array {
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
function areAlike(entries: readonly EntryAt[]): boolean {
  const [{ options, bags }] = entries as [EntryAt];
  return entries.every((entry) => {
    const { combiner, outOfRange, maxNorm } = entry.options;
    const isSame = combiner === options.combiner && outOfRange === options.outOfRange && maxNorm === options.maxNorm;
    return isSame && !entry.ofRows && (entry.bags.weights === null) === (bags.weights === null);
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
