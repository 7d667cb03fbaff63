/** Several uses of a table in one step: bit by bit the step over the sum of what each gives. */
import { loadAddon } from '../../../src/backends/native/addon.js';
import {
  IdOutOfRange,
  SINGLE_ROW,
  floatTable,
  type HostBags,
  type KernelSet,
} from '../../../src/backends/kernel_set.js';
import { uniformSplits } from '../../../src/ids/row_splits.js';
import { UPDATE_NAMES } from '../../../src/rules/rules.js';
import { namedKernelSet } from '../../../src/backends/registry.js';
import { skipOrFail } from '../../helpers/backends.js';
import { bagCases, copyTable, packedHyperCase, usedSlots, type BagCase } from '../../helpers/bag_cases.js';
import 'tfjs-embeddings/node';
import { stepOne } from '../../helpers/kernel_calls.js';

const CASES = 150;

const kernels = (): Required<KernelSet> => namedKernelSet('native') as Required<KernelSet>;

/** Bags first .. end - 1 of a case, as a use of its own. */
function part(
  { table, bags, gradient }: BagCase,
  first: number,
  end: number,
): { bags: HostBags; gradient: Float32Array } {
  const [from, to] = [bags.rowSplits[first]!, bags.rowSplits[end]!];
  return {
    bags: {
      values: bags.values.slice(from, to),
      rowSplits: bags.rowSplits.slice(first, end + 1).map((at) => at - from),
      weights: bags.weights?.slice(from, to) ?? null,
    },
    gradient: gradient.slice(first * table.dim, end * table.dim),
  };
}

/** Where uses begin: nowhere, at both ends, twice at one place. */
function startsOf(batch: number, seed: number): Int32Array {
  const third = Math.floor(batch / 3);
  return Int32Array.from([[third], [0, third], [third, third, batch], [third, 2 * third], []][seed % 5]!);
}

describe('a step over several uses of a table', () => {
  beforeEach(() => {
    if (namedKernelSet('native') === undefined) skipOrFail('no addon here');
  });

  for (const optimizer of UPDATE_NAMES) {
    it(`equals that over their row gradients: ${optimizer}`, () => {
      bagCases(CASES, 40_000).forEach((example, seed) => {
        const { options, bags, gradient } = example;
        const hyper = packedHyperCase(optimizer, seed);
        const batch = bags.rowSplits.length - 1;
        const starts = startsOf(batch, seed);

        const expected = copyTable(example.table);
        const expectedSlots = usedSlots(optimizer, example.table, seed);
        const ends = [0, ...starts, batch];
        const sums = ends.slice(1).map((end, use) => {
          const ofUse = part(example, ends[use]!, end);
          return kernels().rowGradients(ofUse.gradient, ofUse.bags, expected, options);
        });
        const values = Int32Array.from(sums.flatMap(({ uniqueIds }) => [...uniqueIds]));
        const rows = Float32Array.from(sums.flatMap(({ rowGradients }) => [...rowGradients]));
        const singles = { values, rowSplits: uniformSplits(values.length, 1), weights: null };
        stepOne(kernels(), optimizer, expected, expectedSlots, rows, singles, SINGLE_ROW, hyper);

        const actual = copyTable(example.table);
        const slots = usedSlots(optimizer, example.table, seed);
        stepOne(kernels(), optimizer, actual, slots, gradient, bags, options, hyper, starts);

        const what = `${example.name}, uses from ${starts.join()}`;
        const wanted = [expected.data, ...expectedSlots];
        [actual.data, ...slots].forEach((data, i) => {
          expect(differs(data, wanted[i]!)).withContext(what).toBe(-1);
        });
      });
    });
  }

  it('tells the id out of range, and writes nothing', () => {
    const table = floatTable(Float32Array.of(1, 2, 3), 3, 1);
    const bags = { values: Int32Array.of(0, 1, 3, 2), rowSplits: Int32Array.of(0, 2, 4), weights: null };
    const step = (): void =>
      stepOne(
        kernels(),
        'sgd',
        table,
        [],
        Float32Array.of(1, 1),
        bags,
        SINGLE_ROW,
        packedHyperCase('sgd', 0),
        Int32Array.of(1),
      );
    expect(step).toThrow(new IdOutOfRange(3, 2, 3));
    expect(Array.from(table.data)).toEqual([1, 2, 3]);
  });

  it('refuses uses that do not ascend within the batch', () => {
    const addon = loadAddon();
    const [table, gradient] = [new Float32Array(3), new Float32Array(2)];
    const step = (starts: unknown): void =>
      addon.sparseApply(
        ...([table, 0, 3, 1] as const),
        ...([Int32Array.of(0, 1), Int32Array.of(0, 1, 2), null, 0, 0, 0] as const),
        ...([0, null, null, null, null, gradient, packedHyperCase('sgd', 0), starts as Int32Array] as const),
      );
    for (const starts of [[-1], [3], [2, 1], [0, 2147483647]]) {
      expect(() => step(Int32Array.from(starts))).toThrowError(
        RangeError,
        /`useStarts`: expected numbers that ascend within the batch, received /,
      );
    }
    for (const wrong of [[1], '1', 1, Float32Array.of(1), {}]) {
      expect(() => step(wrong)).toThrowError(TypeError, /`useStarts`: expected an Int32Array/);
    }
    for (const fine of [undefined, null, new Int32Array(0), Int32Array.of(0, 0, 2, 2)]) {
      expect(() => step(fine)).not.toThrow();
    }
  });

  it('refuses uses that lie in what the step writes', () => {
    const addon = loadAddon();
    const words = new Int32Array([1, 0, 0, 0, 0, 0]);
    const floats = new Float32Array(words.buffer);
    const before = [...words];
    const apart = new Float32Array(3);
    for (const [optimizer, table, slot0, slot1] of [
      [0, floats.subarray(0, 3), null, null],
      [1, apart, floats.subarray(0, 3), null],
      [4, apart, new Float32Array(3), floats.subarray(0, 3)],
    ] as const) {
      const step = (starts: Int32Array): void =>
        addon.sparseApply(
          ...([table, 0, 3, 1] as const),
          ...([Int32Array.of(0, 1), Int32Array.of(0, 1, 2), null, 0, 0, 0] as const),
          ...([optimizer, slot0, slot1, null, null, Float32Array.of(1, 1), packedHyperCase('sgd', 0), starts] as const),
        );
      for (const starts of [words.subarray(0, 1), words.subarray(2, 3), words.subarray(2, 5)]) {
        expect(() => step(starts)).toThrowError(RangeError, /`(table|slots)`: expected memory of its own/);
      }
      expect([...words]).toEqual(before);
      expect([...apart]).toEqual([0, 0, 0]);
      expect(() => step(words.subarray(3, 5))).not.toThrow();
      words.set(before);
      apart.fill(0);
    }
  });
});

/** The first place where bits differ; -1: nowhere. */
function differs(a: Float32Array, b: Float32Array): number {
  return a.findIndex((value, at) => !Object.is(value, b[at]));
}
