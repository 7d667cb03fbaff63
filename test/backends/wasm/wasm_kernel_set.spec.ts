import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import { IdOutOfRange, floatTable, type HostTable } from '../../../src/backends/kernel_set.js';
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import { WasmKernelSet } from '../../../src/backends/wasm/wasm_kernel_set.js';
import { ValueError } from '../../../src/base/errors.js';
import { UPDATE_NAMES } from '../../../src/rules/rules.js';
import { copyOf, expectClose, generatedCase, usualHyper, usualSlots } from './generated_case.js';
import { lookUpInto, stepOne } from '../../helpers/kernel_calls.js';

const SEEDS = Array.from({ length: 150 }, (_, seed) => seed);

describe('WebAssembly kernels on typed arrays', () => {
  let set: WasmKernelSet;
  let atStart: { blocks: number; bytesInUse: number };
  beforeAll(() => {
    set = new WasmKernelSet();
    atStart = set.heap.statistics();
  });
  afterEach(() => {
    const { blocks, bytesInUse } = set.heap.statistics();
    expect({ blocks, bytesInUse }).toEqual({ blocks: atStart.blocks, bytesInUse: atStart.bytesInUse });
  });

  it('say what runs', () => {
    expect(set.info()).toEqual({ implementation: 'wasm', instructionSet: 'simd128', threads: 1 });
  });

  it('pool as the reference does', () => {
    for (const seed of SEEDS) {
      const { name, table, bags, options } = generatedCase(seed);
      const length = (bags.rowSplits.length - 1) * table.dim;
      const [pooled, expected] = [new Float32Array(length), new Float32Array(length)];
      lookUpInto(set, table, bags, options, pooled);
      lookUpInto(referenceKernels, table, bags, options, expected);
      expectClose(pooled, expected, 4e-6, name);
    }
  });

  it('give the gradient of the table as the reference does', () => {
    for (const seed of SEEDS) {
      const { name, table, bags, options, gradient } = generatedCase(seed);
      const actual = set.rowGradients(gradient, bags, table, options);
      const expected = referenceKernels.rowGradients(gradient, bags, table, options);
      expect([...actual.uniqueIds])
        .withContext(name)
        .toEqual([...expected.uniqueIds]);
      expectClose(actual.rowGradients, expected.rowGradients, 1e-5, name);
    }
  });

  it('give the gradient of the weights as the reference does', () => {
    for (const seed of SEEDS) {
      const { name, table, bags, options, gradient } = generatedCase(seed);
      const weighted = { ...bags, weights: bags.weights ?? new Float32Array(bags.values.length).fill(1) };
      const [actual, expected] = [new Float32Array(bags.values.length), new Float32Array(bags.values.length)];
      set.weightsGradient(table, gradient, weighted, options, actual);
      referenceKernels.weightsGradient(table, gradient, weighted, options, expected);
      expectClose(actual, expected, 2e-5, name);
    }
  });

  for (const optimizer of UPDATE_NAMES) {
    it(`step as the reference does: ${optimizer}`, () => {
      for (const seed of SEEDS) {
        const { name, table, bags, options, gradient } = generatedCase(seed);
        const run = (kernels: typeof referenceKernels): { table: HostTable<Float32Array>; slots: Float32Array[] } => {
          const written = { table: copyOf(table), slots: usualSlots(optimizer, table, seed) };
          for (let step = 0; step < 2; step++) {
            const hyper = usualHyper(optimizer);
            stepOne(kernels, optimizer, written.table, written.slots, gradient, bags, options, hyper);
          }
          return written;
        };
        const [actual, expected] = [run(set), run(referenceKernels)];
        expectClose(actual.table.data, expected.table.data, 5e-5, name);
        actual.slots.forEach((slot, i) => expectClose(slot, expected.slots[i]!, 5e-5, `${name}, slot ${i}`));
      }
    });
  }

  it('run on arrays that lie in their memory, even when it grows meanwhile', () => {
    const { heap } = set;
    const [rows, dim] = [50, 16];
    const address = heap.malloc(4 * rows * dim, 'table');
    const view = () => new Float32Array(heap.memory.buffer, address, rows * dim);
    view().forEach((_, i, all) => (all[i] = Math.floor(i / dim)));
    const values = Int32Array.from([3, 4, 49]);
    const rowSplits = Int32Array.from([0, 2, 3]);
    const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
    const before = heap.memory.buffer;
    const many = Math.ceil(heap.statistics().capacity / 4 / dim) + 2;
    const longSplits = new Int32Array(many + 1).fill(3);
    longSplits.set(rowSplits);
    const pooled = new Float32Array(many * dim);
    lookUpInto(set, floatTable(view(), rows, dim), { values, rowSplits: longSplits, weights: null }, options, pooled);
    expect(heap.memory.buffer).not.toBe(before);
    expect([pooled[0], pooled[dim], pooled[2 * dim]]).toEqual([7, 49, 0]);
    const gradient = new Float32Array(2 * dim).fill(1);
    const bags = { values, rowSplits, weights: null };
    stepOne(set, 'sgd', floatTable(view(), rows, dim), [], gradient, bags, options, usualHyper('sgd'));
    expect(view()[3 * dim]).toBeCloseTo(2.9, 6);
    expect(view()[5 * dim]).toBe(5);
    heap.free(address);
  });

  // Only the pages of the rows in use are ever taken from the system.
  it('take a table that fills more than half of the memory', () => {
    const own = new WasmKernelSet();
    const [rows, dim] = [9_000_000, 64];
    const address = own.heap.malloc(4 * rows * dim, 'table');
    const view = () => new Float32Array(own.heap.memory.buffer, address, rows * dim);
    const ids = [rows - 1, 0, 2 ** 23, rows - 1];
    const table = () => floatTable(view(), rows, dim);
    const bags = { values: Int32Array.from(ids), rowSplits: Int32Array.of(0, 1, 2, 3, 4), weights: null };
    const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
    const gradient = Float32Array.from({ length: 4 * dim }, (_, i) => Math.floor(i / dim) + 1);
    stepOne(own, 'sgd', table(), [], gradient, bags, options, packHyper({ ...NEUTRAL_HYPER, learningRate: 1 }));
    const pooled = new Float32Array(4 * dim);
    lookUpInto(own, table(), bags, options, pooled);
    expect([0, 1, 2, 3].map((b) => pooled[b * dim + dim - 1])).toEqual([-5, -2, -3, -5]);
    expect(view()[dim]).toBe(0);
  });

  it('name an id out of range, its position and the rows, and write nothing', () => {
    const table = floatTable(Float32Array.from([1, 2, 3, 4]), 2, 2);
    const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
    for (const id of [2, -1, 2147483647, -2147483648]) {
      const bags = { values: Int32Array.from([1, id]), rowSplits: Int32Array.from([0, 2]), weights: null };
      const gradient = Float32Array.from([1, 1]);
      const kernels = [
        () => lookUpInto(set, table, bags, options, new Float32Array(2)),
        () => set.rowGradients(gradient, bags, table, options),
        () => stepOne(set, 'sgd', table, [], gradient, bags, options, usualHyper('sgd')),
      ];
      for (const kernel of kernels) {
        let error: unknown;
        try {
          kernel();
        } catch (caught) {
          error = caught;
        }
        expect(error).toBeInstanceOf(IdOutOfRange);
        const { id: named, position, rows } = error as IdOutOfRange;
        expect([named, position, rows]).toEqual([id, 1, 2]);
      }
      expect([...table.data]).toEqual([1, 2, 3, 4]);
    }
  });

  it('refuse arrays of other lengths than the rest says, and write nothing beyond them', () => {
    const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
    const table = floatTable(Float32Array.of(1, 2, 3, 4), 2, 2);
    const bags = { values: Int32Array.of(0, 1), rowSplits: Int32Array.of(0, 2), weights: Float32Array.of(1, 1) };
    const gradient = Float32Array.of(1, 1);
    const [short, two] = [new Float32Array(1), new Float32Array(2)];
    const tall = { ...table, rows: 1000 };
    const light = { ...bags, weights: short };
    const empty = { ...bags, rowSplits: new Int32Array(0) };
    const hyper = usualHyper('adagrad');
    const [slot, tallSlot] = [new Float32Array(4), new Float32Array(2000)];
    const calls: Record<string, () => unknown> = {
      pooled: () => lookUpInto(set, table, bags, options, short),
      table: () => lookUpInto(set, tall, bags, options, two),
      weights: () => lookUpInto(set, table, light, options, two),
      rowSplits: () => lookUpInto(set, table, empty, options, new Float32Array(0)),
      'gradient of rows': () => set.rowGradients(short, bags, table, options),
      'table for maxNorm': () => set.rowGradients(gradient, bags, tall, { ...options, maxNorm: 1 }),
      'gradient of weights': () => set.weightsGradient(table, short, bags, options, two),
      out: () => set.weightsGradient(table, gradient, bags, options, short),
      'table of a step': () => stepOne(set, 'adagrad', tall, [tallSlot], gradient, bags, options, hyper),
      'gradient of a step': () => stepOne(set, 'adagrad', table, [slot], short, bags, options, hyper),
      slots: () => stepOne(set, 'adagrad', table, [], gradient, bags, options, hyper),
      'slots[0]': () => stepOne(set, 'adagrad', table, [two], gradient, bags, options, hyper),
      hyper: () => stepOne(set, 'adagrad', table, [slot], gradient, bags, options, two),
    };
    for (const [what, call] of Object.entries(calls)) {
      expect(call)
        .withContext(what)
        .toThrowMatching((error: unknown) => error instanceof ValueError && error.argument === what.split(' ')[0]);
    }
    expect([...table.data]).toEqual([1, 2, 3, 4]);
  });

  it('refuse row splits that fall or end elsewhere', () => {
    const table = floatTable(new Float32Array(4), 2, 2);
    const options = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 } as const;
    for (const rowSplits of [
      [0, 3],
      [0, 2, 1],
      [1, 2],
      [0, -1, 2],
      [0, 1],
    ]) {
      const bags = { values: Int32Array.from([0, 1]), rowSplits: Int32Array.from(rowSplits), weights: null };
      const pooled = new Float32Array((rowSplits.length - 1) * 2);
      expect(() => lookUpInto(set, table, bags, options, pooled)).toThrowError(ValueError, /rowSplits/);
    }
  });
});
