/** Commands over the CSR of a stack, one by one, against what they say they do. */
import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import { partitionCsr } from '../../../src/backends/reference/partition_csr.js';
import { roundUp, type CsrFeature, type CsrParts } from '../../../src/backends/sparse_core.js';
import type { Quantization } from '../../../src/backends/quantize.js';
import type { Command, CsrAt, EntryAt, SharedRowsAt } from '../../../src/backends/devices/device.js';
import { DeviceProgram } from '../../../src/backends/devices/device_program.js';
import { Operands } from '../../../src/backends/devices/operands.js';
import { InlineExchange } from '../../../src/backends/devices/exchange_memory.js';
import { expectClose } from '../../helpers/tensors.js';
import { Random } from '../../helpers/random.js';

const [CORES, SHARDS, PER_CORE, ROWS, DIM] = [2, 2, 3, 8, 2];
const SAMPLES = CORES * PER_CORE;
const WORDS = 2000;
/** Rows of a shard that lie on this device. */
const SHARD = 1;
const TABLE = { buffer: 1, rows: ROWS, dim: DIM };

/** One id of a sample: its row on the shard, and its factor. */
interface Entry {
  readonly core: number;
  readonly sample: number;
  readonly shard: number;
  readonly row: number;
  readonly gain: number;
}

interface Batch {
  readonly parts: CsrParts;
  /** In the order of the buckets. */
  readonly entries: readonly Entry[];
}

/** Ids of a stack of one table of 16 rows: row r lies on shard r mod 2. */
function batchOf(rows: readonly (readonly number[])[], weights: readonly (readonly number[])[]): Batch {
  const rowSplits = new Int32Array(SAMPLES + 1);
  rows.forEach((ids, i) => (rowSplits[i + 1] = rowSplits[i]! + ids.length));
  const ids = { values: Int32Array.from(rows.flat()), weights: Float32Array.from(weights.flat()), rowSplits };
  const place = { rows: ROWS * SHARDS, columnOffset: 0, rotation: 0, sampleOffset: 0 };
  const feature: CsrFeature = { ...ids, ...place, combiner: 'sum' };
  const request = { features: [feature], cores: CORES, shards: SHARDS, samples: SAMPLES, capacity: 4096 };
  const parts = partitionCsr(request);
  const entries: Entry[] = [];
  let start = 0;
  for (let core = 0; core < CORES; core++) {
    for (let shard = 0; shard < SHARDS; shard++) {
      const end = parts.rowPointers[core * roundUp(SHARDS) + shard]!;
      for (let i = start; i < end; i++) {
        const [sample, row, gain] = [parts.sampleIds[i]!, parts.tokenIds[i]!, parts.gains[i]!];
        entries.push({ core, sample, shard, row, gain });
      }
      start = roundUp(end);
    }
  }
  return { parts, entries };
}

/** A device with a table and a slot of ones, and the CSR in its exchange memory. */
class Bench {
  readonly exchange = new InlineExchange();
  readonly program: DeviceProgram;
  readonly csr: CsrAt;
  readonly free: number;

  constructor(
    { parts }: Batch,
    readonly table: Float32Array,
  ) {
    this.exchange.reserve(WORDS);
    this.program = new DeviceProgram(referenceKernels, new Operands(() => this.exchange, null));
    let next = 0;
    const put = (values: Int32Array | Float32Array): number => {
      const at = next;
      if (values instanceof Int32Array) this.exchange.ints.set(values, at);
      else this.exchange.floats.set(values, at);
      next += values.length;
      return at;
    };
    this.csr = {
      rowPointers: put(parts.rowPointers),
      sampleIds: put(parts.sampleIds),
      tokenIds: put(parts.tokenIds),
      gains: put(parts.gains),
      ids: parts.tokenIds.length,
      cores: CORES,
      shards: SHARDS,
      samples: PER_CORE,
    };
    const part = { firstRow: 0, rowStep: 1, rows: ROWS, firstColumn: 0, columns: DIM };
    this.run({ op: 'allocate', buffer: 1, part, fill: { kind: 'constant', value: 0 } });
    this.run({ op: 'allocate', buffer: 2, part, fill: { kind: 'constant', value: 1 } });
    this.exchange.floats.set(table, next);
    this.run({ op: 'write', table: TABLE, firstRow: 0, rows: ROWS, where: { at: next, stride: DIM } });
    this.free = next;
  }

  run(command: Command): void {
    this.program.run(command);
  }

  /** The rows of a buffer. */
  read(buffer = 1): Float32Array {
    const at = WORDS - ROWS * DIM;
    this.run({ op: 'read', table: { ...TABLE, buffer }, firstRow: 0, rows: ROWS, where: { at, stride: DIM } });
    return this.exchange.floats.slice(at, at + ROWS * DIM);
  }
}

const random = new Random(19);
const rows = [[1, 5, 5], [], [3, 4, 1], [15, 1], [1], [2, 2, 9, 1]];
const weights = rows.map((ids) => ids.map(() => random.next() + 0.5));
const batch = batchOf(rows, weights);
const values = random.floats(ROWS * DIM);
const gradient = random.floats(SAMPLES * DIM);
const hyper = [...packHyper({ ...NEUTRAL_HYPER, learningRate: 0.5 })];
const own = batch.entries.filter(({ shard }) => shard === SHARD);

const SUM = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;

/** Rows without gaps in the exchange memory. */
const compact = (at: number): SharedRowsAt => ({ at, stride: DIM, sharedKey: null });

/** The gradient of all samples, which lies behind the CSR. */
const entryOf = ({ csr, free }: Bench): EntryAt => {
  return { gradient: compact(free), bags: { csr, samplesOn: SHARD }, options: SUM, ofRows: false };
};

/** The gradient of an entry in one column. */
const part = ({ core, sample, gain }: Entry, column: number): number =>
  gain * gradient[(core * PER_CORE + sample) * DIM + column]!;

describe('Commands of devices over a CSR', () => {
  // The last row of a bucket without padding is the first row of the next one.
  const full = batchOf(
    [[0, 2, 4, 14, 15], [0, 2, 14], [14], [], [], [1]],
    [[1, 2, 3, 4, 5], [6, 7, 8], [9], [], [], [1]],
  );
  /** Looks up the rows that the cores ask the shard for. */
  const gather = (bench: Bench, quantization: Quantization | null = null): void => {
    const [bags, pooled] = [{ csr: bench.csr, rowsOf: SHARD }, compact(bench.free)];
    bench.run({ op: 'lookUp', table: TABLE, bags, options: SUM, pooled, distinct: null, quantization });
  };

  it('lookUp: the rows that the cores ask a shard for, one for each run, quantized where that is wanted', () => {
    const bench = new Bench(batch, values);
    const runs = Array.from({ length: CORES }, (_, core) => [
      ...new Set(own.filter((each) => each.core === core).map(({ row }) => row)),
    ]);
    expect(runs.map(({ length }) => length)).toEqual([3, 3]);
    const expected = runs.flat().flatMap((row) => [...values.subarray(row * DIM, (row + 1) * DIM)]);
    const found = (): number[] => [...bench.exchange.floats.subarray(bench.free, bench.free + expected.length)];
    gather(bench);
    expect(found()).toEqual(expected);
    gather(bench, { numBuckets: 3, lower: -1, upper: 1 });
    expect(found()).toEqual(expected.map((value) => Math.floor(Math.min(1, Math.max(-1, value)) + 1 + 0.5) - 1));
    expect([...bench.read()]).toEqual([...values]);
  });

  it('lookUp: the rows of a bucket that begins with the row with which the one before it ends', () => {
    const bench = new Bench(full, values);
    gather(bench);
    expect([...bench.exchange.floats.subarray(bench.free, bench.free + DIM)]).toEqual([...values.subarray(7 * DIM)]);
  });

  for (const [what, { entries }, bench] of [
    ['', batch, () => new Bench(batch, values)],
    [', buckets that are full too', full, () => new Bench(full, values)],
  ] as const) {
    it(`lookUp: sums of gains times rows of the exchange memory, sample by sample${what}`, () => {
      const { exchange, csr, free, program } = bench();
      for (let core = 0; core < CORES; core++) {
        const ofCore = entries.filter((each) => each.core === core);
        const runs = Array.from({ length: SHARDS }, (_, shard) => [
          ...new Set(ofCore.filter((each) => each.shard === shard).map(({ row }) => row)),
        ]);
        // Those of the last shard lie first, with a gap behind them.
        const firstRows = runs.map((_, shard) =>
          runs.slice(shard + 1).reduce((sum, { length }) => sum + length + 1, 0),
        );
        const count = runs.reduce((sum, { length }) => sum + length + 1, 0);
        const gathered = random.floats(count * DIM);
        const out = free + 200;
        exchange.floats.set(gathered, free);
        const [table, bags] = [
          { at: free, rows: count, dim: DIM },
          { csr, core, firstRows },
        ];
        const form = { table, bags, options: SUM, pooled: compact(out), distinct: null, quantization: null };
        program.run({ op: 'lookUp', ...form });
        const expected = new Array<number>(PER_CORE * DIM).fill(0);
        for (const { sample, shard, row, gain } of ofCore) {
          const run = firstRows[shard]! + runs[shard]!.indexOf(row);
          for (let c = 0; c < DIM; c++) expected[sample * DIM + c]! += gain * gathered[run * DIM + c]!;
        }
        expectClose(exchange.floats.subarray(out, out + PER_CORE * DIM), expected, 10, `core ${core}`);
      }
    });
  }

  it('step: one step of each row over the sum of its gradients', () => {
    const bench = new Bench(batch, values);
    bench.exchange.floats.set(gradient, bench.free);
    const step = { op: 'step', optimizer: 'adagrad', table: TABLE, slots: [2], hyper } as const;
    bench.run({ ...step, entries: [entryOf(bench)], order: null });
    const [expected, sums] = [[...values], new Array<number>(ROWS * DIM).fill(1)];
    for (const row of new Set(own.map((each) => each.row))) {
      for (let c = 0; c < DIM; c++) {
        const g = own.filter((each) => each.row === row).reduce((sum, each) => sum + part(each, c), 0);
        sums[row * DIM + c]! += g * g;
        expected[row * DIM + c]! -= (0.5 * g) / Math.sqrt(sums[row * DIM + c]!);
      }
    }
    expectClose(bench.read(), expected, 1, 'table');
    expectClose(bench.read(2), sums, 1, 'accumulators');
  });

  it('step in an order: a step for each occurrence in the order of samples, one decay for each row', () => {
    const bench = new Bench(batch, values);
    bench.exchange.floats.set(gradient, bench.free);
    // The last sample comes first.
    const places = Int32Array.from({ length: SAMPLES }, (_, i) => (i + SAMPLES - 1) % SAMPLES);
    const order = bench.free + gradient.length;
    bench.exchange.ints.set(places, order);
    const decaying = [...packHyper({ ...NEUTRAL_HYPER, learningRate: 0.5, weightDecay: 0.25 })];
    const form = { optimizer: 'adagrad', table: TABLE, slots: [2], hyper: decaying, order } as const;
    bench.run({ op: 'step', ...form, entries: [entryOf(bench)] });
    const [expected, sums] = [[...values], new Array<number>(ROWS * DIM).fill(1)];
    const place = ({ core, sample }: Entry): number => places.indexOf(core * PER_CORE + sample);
    const decayed = new Set<number>();
    for (const each of [...own].sort((a, b) => place(a) - place(b))) {
      for (let c = 0; c < DIM; c++) {
        const [at, g] = [each.row * DIM + c, part(each, c)];
        if (!decayed.has(each.row)) expected[at]! *= 0.75;
        sums[at]! += g * g;
        expected[at]! -= (0.5 * g) / Math.sqrt(sums[at]!);
      }
      decayed.add(each.row);
    }
    expectClose(bench.read(), expected, 1, 'table');
    expectClose(bench.read(2), sums, 1, 'accumulators');
  });

  it('rowGradients: how many rows, their numbers, then the gradient of each', () => {
    const bench = new Bench(batch, values);
    bench.exchange.floats.set(gradient, bench.free);
    const [room, out] = [6, bench.free + 100];
    bench.run({ op: 'rowGradients', table: TABLE, entries: [entryOf(bench)], room, out });
    const { ints, floats } = bench.exchange;
    const touched = [...new Set(own.map(({ row }) => row))].sort((a, b) => a - b);
    expect(ints[out]).toBe(touched.length);
    const numbers = [...ints.subarray(out + 1, out + 1 + touched.length)];
    expect([...numbers].sort((a, b) => a - b)).toEqual(touched);
    numbers.forEach((row, i) => {
      const expected = [0, 1].map((c) =>
        own.filter((each) => each.row === row).reduce((sum, e) => sum + part(e, c), 0),
      );
      const at = out + 1 + room + i * DIM;
      expectClose(floats.subarray(at, at + DIM), expected, 1, `row ${row}`);
    });
    expect([...bench.read()]).toEqual([...values]);
  });

  it('read and write: rows by their numbers, others left alone', () => {
    const bench = new Bench(batch, values);
    const [ids, at] = [bench.free, bench.free + 50];
    const form = { table: TABLE, ids, rows: 3, where: { at, stride: DIM } };
    bench.exchange.ints.set([6, 1, 3], ids);
    bench.run({ op: 'read', ...form });
    const read = [...bench.exchange.floats.subarray(at, at + 3 * DIM)];
    expect(read).toEqual([6, 1, 3].flatMap((row) => [...values.subarray(row * DIM, (row + 1) * DIM)]));
    bench.exchange.floats.set([1, 2, 3, 4, 5, 6], at);
    bench.run({ op: 'write', ...form });
    const expected = values.slice();
    [6, 1, 3].forEach((row, i) => expected.set([2 * i + 1, 2 * i + 2], row * DIM));
    expect([...bench.read()]).toEqual([...expected]);
    bench.run({ op: 'read', ...form, rows: 0 });
    bench.run({ op: 'write', ...form, rows: 0 });
    expect([...bench.read()]).toEqual([...expected]);
  });
});
