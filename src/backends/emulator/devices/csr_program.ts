/** Commands over the CSR of a stack: what the SparseCores do with it. */
import { occurrenceRounds } from '../../../ids/occurrence_rounds.js';
import { HYPER_FIELDS } from '../../../rules/hyper.js';
import { quantize } from '../../quantize.js';
import { SINGLE_ROW, type BagOptions, type HostBags, type HostTable, type KernelSet } from '../../kernel_set.js';
import { CsrBuckets } from './csr_buckets.js';
import type { CsrAt, CsrCommand, ExchangeMemory, TableAt } from './device.js';
import type { Scratch, UniformSplits } from './exchange_memory.js';

type Op<Name extends CsrCommand['op']> = Extract<CsrCommand, { op: Name }>;

/** A row decays once in a step, whatever its occurrences. */
function withoutDecay(hyper: readonly number[]): readonly number[] {
  return hyper.map((value, i) => (HYPER_FIELDS[i] === 'weightDecay' ? 0 : value));
}

/** All samples in the order of the batch: those of a feature on all cores, then those of the next. */
function* inBatchOrder({ cores, samples }: CsrAt, featureStarts: readonly number[]): Generator<number> {
  for (const [feature, start] of featureStarts.entries()) {
    const end = featureStarts[feature + 1] ?? samples;
    for (let core = 0; core < cores; core++) {
      for (let sample = start; sample < end; sample++) yield core * samples + sample;
    }
  }
}

const SUM: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };

/** What the commands run on. */
export interface CsrMachine {
  readonly kernels: KernelSet;
  readonly exchange: () => Pick<ExchangeMemory, 'floats' | 'ints'>;
  readonly scratch: Scratch;
  readonly uniform: UniformSplits;
  /** A buffer as it lies now: kernels may grow the memory that it is in. */
  readonly table: (table: TableAt) => HostTable;
  readonly view: (buffer: number) => Float32Array;
}

export class CsrProgram {
  constructor(private readonly machine: CsrMachine) {}

  run(command: CsrCommand): void {
    switch (command.op) {
      case 'csrGather':
        return this.gather(command);
      case 'csrCombine':
        return this.combine(command);
      case 'csrStep':
        return this.step(command);
      case 'csrRowGradients':
        return this.rowGradients(command);
      case 'readRows':
        return this.readRows(command);
      case 'writeRows':
        return this.writeRows(command);
    }
  }

  private buckets(csr: CsrAt): CsrBuckets {
    return new CsrBuckets(this.machine.exchange(), csr, this.machine.scratch);
  }

  private floats(at: number, length: number): Float32Array {
    return this.machine.exchange().floats.subarray(at, at + length);
  }

  private single(ids: Int32Array): HostBags {
    return { values: ids, rowSplits: this.machine.uniform.of(ids.length, 1), weights: null };
  }

  private lookUp(table: HostTable, bags: HostBags, options: BagOptions, pooled: Float32Array): void {
    this.machine.kernels.lookUp([{ table, bags, options, pooled }]);
  }

  private gather({ table, csr, shard, to, quantization }: Op<'csrGather'>): void {
    const buckets = this.buckets(csr);
    to.forEach((at, core) => {
      const ids = buckets.runs(core, shard);
      if (ids.length === 0) return;
      const rows = this.floats(at, ids.length * table.dim);
      this.lookUp(this.machine.table(table), this.single(ids), SINGLE_ROW, rows);
      if (quantization !== null) quantize(rows, quantization);
    });
  }

  private combine({ csr, core, rows, count, dim, out }: Op<'csrCombine'>): void {
    const bags = this.buckets(csr).bagsOfCore(core);
    const data = this.floats(rows, count * dim);
    this.lookUp({ data, rows: count, dim }, bags, SUM, this.floats(out, csr.samples * dim));
  }

  private step(command: Op<'csrStep'>): void {
    const { table, csr, shard, gradient, order } = command;
    const bags = this.buckets(csr).bagsOfShard(shard);
    const all = this.floats(gradient, csr.cores * csr.samples * table.dim);
    if (order === null) return this.apply(command, bags, all);
    let next = command;
    for (const round of this.rounds(bags, all, table.dim, inBatchOrder(csr, order))) {
      this.apply(next, round.bags, round.gradient);
      next = { ...command, hyper: withoutDecay(command.hyper) };
    }
  }

  private apply({ optimizer, table, slots, hyper }: Op<'csrStep'>, bags: HostBags, gradient: Float32Array): void {
    const { kernels, view } = this.machine;
    const numbers = Float32Array.from(hyper);
    const given = { table: this.machine.table(table), slots: slots.map(view), useStarts: null };
    kernels.step(optimizer, [{ ...given, gradient, bags, options: SUM, hyper: numbers }]);
  }

  /** The first occurrences of all rows, then their second ones, and so on, each with the gradient of its sample. */
  private *rounds(
    { values, rowSplits, weights }: HostBags,
    gradient: Float32Array,
    dim: number,
    order: Iterable<number>,
  ): Generator<{ bags: HostBags; gradient: Float32Array }> {
    const samples = new Int32Array(values.length);
    const positions: number[] = [];
    for (const sample of order) {
      const [first, end] = [rowSplits[sample]!, rowSplits[sample + 1]!];
      samples.fill(sample, first, end);
      for (let i = first; i < end; i++) positions.push(i);
    }
    const rounds = occurrenceRounds(values, positions);
    // Without ids there is a step all the same: rows that were not looked up may move.
    for (const places of rounds.length === 0 ? [[]] : rounds) {
      const own = new Float32Array(places.length * dim);
      places.forEach((place, i) => {
        const from = samples[place]! * dim;
        own.set(gradient.subarray(from, from + dim), i * dim);
      });
      const ids = Int32Array.from(places, (place) => values[place]!);
      const gains = Float32Array.from(places, (place) => weights![place]!);
      yield { bags: { ...this.single(ids), weights: gains }, gradient: own };
    }
  }

  private rowGradients({ table, csr, shard, gradient, room, out }: Op<'csrRowGradients'>): void {
    const { kernels } = this.machine;
    const bags = this.buckets(csr).bagsOfShard(shard);
    const all = this.floats(gradient, csr.cores * csr.samples * table.dim);
    const found = kernels.rowGradients(all, bags, this.machine.table(table), SUM);
    const { ints, floats } = this.machine.exchange();
    const count = Math.min(found.uniqueIds.length, room);
    ints[out] = count;
    ints.set(found.uniqueIds.subarray(0, count), out + 1);
    floats.set(found.rowGradients.subarray(0, count * table.dim), out + 1 + room);
  }

  private readRows({ table, ids, count, at }: Op<'readRows'>): void {
    if (count === 0) return;
    const rows = this.machine.exchange().ints.slice(ids, ids + count);
    const target = this.floats(at, count * table.dim);
    this.lookUp(this.machine.table(table), this.single(rows), SINGLE_ROW, target);
  }

  private writeRows({ table, ids, count, at }: Op<'writeRows'>): void {
    const { ints } = this.machine.exchange();
    const { data, dim } = this.machine.table(table);
    const source = this.floats(at, count * dim);
    for (let i = 0; i < count; i++) data.set(source.subarray(i * dim, (i + 1) * dim), ints[ids + i]! * dim);
  }
}
