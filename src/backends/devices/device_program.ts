/** What a device runs: commands on its buffers and on the exchange memory, by the kernels of one implementation. */
import { RuntimeError } from '../../base/errors.js';
import { placeFor, type Place } from '../cpu/place.js';
import { fillPart } from '../fill.js';
import {
  IdOutOfRange,
  SINGLE_ROW,
  type HostBags,
  type HostStep,
  floatTable,
  type HostTable,
  type KernelSet,
} from '../kernel_set.js';
import { occurrenceRounds } from '../../ids/occurrence_rounds.js';
import { withoutDecay } from '../../rules/hyper.js';
import { quantize } from '../quantize.js';
import {
  runCommand,
  type Command,
  type CommandOf,
  type Commands,
  type EntryAt,
  type ExchangedTableAt,
  type RowsAt,
  type TableAt,
} from './device.js';
import { joinedInts, unitedGradient, unitedIds } from '../united_uses.js';
import { DistinctIds } from './distinct_ids.js';
import { areAlike, gather, spread, useForm, type Operands, type PartOfBags, type RowGradients } from './operands.js';

/** The uses of a table as one batch. */
type Uses = Pick<HostStep, 'gradient' | 'bags' | 'options' | 'useStarts'>;

export class DeviceProgram implements Commands {
  private readonly buffers = new Map<number, Place>();
  private readonly distinct = new DistinctIds();

  /** `progress` is called now and then during commands that take long. */
  constructor(
    private readonly kernels: KernelSet,
    private readonly operands: Operands,
    private readonly progress: () => void = () => undefined,
  ) {}

  run(command: Command): void {
    this.operands.scratch.reset();
    runCommand(this, command);
  }

  /** Frees all memory. */
  close(): void {
    for (const place of this.buffers.values()) place.free();
    this.buffers.clear();
    this.operands.close();
  }

  /** A buffer of so many floats, which may hold anything. */
  hold(buffer: number, length: number): Place {
    const place = placeFor(this.kernels, length);
    this.buffers.set(buffer, place);
    return place;
  }

  allocate({ buffer, part, fill }: CommandOf<'allocate'>): void {
    const place = this.hold(buffer, part.rows * part.columns);
    fillPart(place.view(), part, fill, this.progress);
  }

  free({ buffer }: Pick<CommandOf<'free'>, 'buffer'>): void {
    this.buffers.get(buffer)?.free();
    this.buffers.delete(buffer);
  }

  copy({ buffer, from }: CommandOf<'copy'>): void {
    const place = this.hold(buffer, this.view(from).length);
    place.view().set(this.view(from));
  }

  read(command: CommandOf<'read' | 'write'>): void {
    this.move(command);
  }

  write(command: CommandOf<'read' | 'write'>): void {
    this.move(command);
  }

  private move(command: CommandOf<'read' | 'write'>): void {
    const { op, table, rows, where } = command;
    const { floats, ints } = this.operands.exchange();
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

  copyShared({ sharedKey, words, at }: CommandOf<'copyShared'>): void {
    const rows = { sharedKey, at: 0, stride: words };
    this.operands.copyRows(rows, 1, words, this.operands.exchange().floats.subarray(at, at + words));
  }

  lookUp({ table, bags, options, pooled, distinct, quantization }: CommandOf<'lookUp'>): void {
    const { ints } = this.operands.exchange();
    const host = this.operands.bags(bags);
    const count = host.rowSplits.length - 1;
    const target = this.operands.room(pooled, count, table.dim);
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
    this.operands.putRows(target, pooled, count, table.dim);
  }

  weightsGradient({ table, bags, options, gradient, out }: CommandOf<'weightsGradient'>): void {
    const host = this.operands.bags(bags);
    const target = this.operands.exchange().floats.subarray(out, out + host.values.length);
    const pooled = this.operands.compact(gradient, host, table.dim);
    this.kernels.weightsGradient(this.table(table), pooled, host, options, target);
  }

  rowGradients({ table, entries, room, out }: CommandOf<'rowGradients'>): void {
    const found = entries.map((entry) => this.rowsOf(table, entry, this.operands.bags(entry.bags)));
    this.operands.putRowGradients(found, table.dim, room, out);
  }

  step(command: CommandOf<'step'>): void {
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
  private usesOf({ table, entries }: CommandOf<'step'>): Uses {
    const [{ gradient, options, ofRows }] = entries as [EntryAt];
    const parts = entries.map(({ bags }) => this.operands.bags(bags));
    if (entries.length === 1 && !ofRows) {
      const [bags] = parts as [PartOfBags];
      return { gradient: this.operands.compact(gradient, bags, table.dim), bags, options, useStarts: null };
    }
    if (areAlike(entries.map((entry, i) => useForm(entry, parts[i]!)))) return this.inOne(entries, parts, table.dim);
    const rows = entries.map((entry, i) => this.rowsOf(table, entry, parts[i]!));
    return this.single(joinedInts(rows.map(({ ids }) => ids)), unitedGradient(rows.map(({ gradients }) => gradients)));
  }

  /** The rounds of a step in which each occurrence of an id of the one entry is a step of its own. */
  private occurrencesOf({ table, entries }: CommandOf<'step'>, order: number): Uses[] {
    const [entry] = entries as [EntryAt];
    const bags = this.operands.bags(entry.bags);
    const gradient = this.operands.compact(entry.gradient, bags, table.dim);
    const places = this.operands.exchange().ints.subarray(order, order + bags.rowSplits.length - 1);
    const rounds = occurrenceRounds([{ ...bags, gradient, order: places }], entry.options.combiner, table.dim);
    // Without ids there is a step all the same: rows that were not looked up may move.
    if (rounds.length === 0) return [this.single(new Int32Array(0), new Float32Array(0))];
    return rounds.map(({ ids, factors, gradients }) => this.single(ids, gradients, Float32Array.from(factors)));
  }

  private single(values: Int32Array, gradient: Float32Array, weights: Float32Array | null = null): Uses {
    const bags = { values, rowSplits: this.operands.uniform.of(values.length, 1), weights };
    return { gradient, bags, options: SINGLE_ROW, useStarts: null };
  }

  /** The bags and gradients of all entries one after the other, and where each but the first begins. */
  private inOne(entries: readonly EntryAt[], parts: readonly HostBags[], dim: number): Uses {
    const { useStarts, ...bags } = unitedIds(parts);
    const gradient = this.operands.scratch.take((bags.rowSplits.length - 1) * dim);
    let at = 0;
    parts.forEach(({ rowSplits }, place) => {
      const size = (rowSplits.length - 1) * dim;
      this.operands.copyRows(entries[place]!.gradient, rowSplits.length - 1, dim, gradient.subarray(at, at + size));
      at += size;
    });
    return { gradient, bags, options: entries[0]!.options, useStarts };
  }

  private rowsOf(table: TableAt, { gradient, options, ofRows }: EntryAt, host: HostBags): RowGradients {
    const compact = this.operands.compact(gradient, host, table.dim);
    if (ofRows) return { ids: host.values, gradients: compact };
    const { uniqueIds, rowGradients } = this.kernels.rowGradients(compact, host, this.table(table), options);
    return { ids: uniqueIds, gradients: rowGradients };
  }

  private view(buffer: number): Float32Array {
    const place = this.buffers.get(buffer);
    if (place === undefined) throw new RuntimeError('buffer', 'a buffer of this device', buffer);
    return place.view();
  }

  private table(table: TableAt | ExchangedTableAt): HostTable<Float32Array> {
    const { rows, dim } = table;
    if ('buffer' in table) return floatTable(this.view(table.buffer), rows, dim);
    return floatTable(this.operands.exchange().floats.subarray(table.at, table.at + rows * dim), rows, dim);
  }
}
