/** Results do not depend on threads, and a column does not depend on the width of the table. */
import { floatTable, type BagOptions, type HostBags } from '../../../src/backends/kernel_set.js';
import { loadNative } from '../../../src/backends/native/register.js';
import { referenceKernels } from '../../../src/backends/reference/reference_kernel_set.js';
import { WEIGHING } from '../../../src/base/types.js';
import { UPDATE_NAMES } from '../../../src/rules/rules.js';
import { FLOAT16 } from '../../../src/codecs/float16.js';
import { casesOf } from '../../forms/forms.js';
import { packedHyperCase, usedSlots } from '../../helpers/bag_cases.js';
import { Random } from '../../helpers/random.js';
import { expectClose } from '../../helpers/tensors.js';
import { lookUpInto, stepOne } from '../../helpers/kernel_calls.js';

interface Batch {
  readonly bags: HostBags;
  readonly gradientOf: (dim: number) => Float32Array;
}

/** Bags of 0 to 40 ids, the first and the last empty; one id in ten is row 0. */
function largeBatch(seed: number, batch: number, rows: number, weighted: boolean): Batch {
  const random = new Random(seed);
  const rowSplits = new Int32Array(batch + 1);
  for (let b = 0; b < batch; b++) {
    rowSplits[b + 1] = rowSplits[b]! + (b === 0 || b === batch - 1 ? 0 : random.whole(0, 41));
  }
  const nnz = rowSplits[batch]!;
  const values = Int32Array.from({ length: nnz }, () => (random.chance(0.1) ? 0 : random.whole(0, rows)));
  const weights = weighted ? random.floats(nnz, 0.1, 1) : null;
  return { bags: { values, rowSplits, weights }, gradientOf: (dim) => random.floats(batch * dim) };
}

/** Settings of each rule. */
const SETTINGS = [...Array(casesOf('THREAD_CASES')).keys()];
const OPTIONS: readonly BagOptions[] = WEIGHING.map((combiner) => ({ combiner, outOfRange: 'error', maxNorm: 0 }));

describe('native kernels', () => {
  const kernels = loadNative();
  const threads = kernels.info().threads;
  afterEach(() => kernels.setThreads(threads));

  /** Runs with several numbers of threads; every result must be the same to the bit. */
  function expectSame(what: string, run: () => readonly (Float32Array | Int32Array)[]): void {
    kernels.setThreads(1);
    const expected = run();
    for (const count of [2, 8]) {
      kernels.setThreads(count);
      for (let repeat = 0; repeat < 2; repeat++) {
        run().forEach((actual, i) => {
          const same = Buffer.compare(Buffer.from(actual.buffer), Buffer.from(expected[i]!.buffer)) === 0;
          expect(same).withContext(`${what}, ${count} threads, output ${i}`).toBeTrue();
        });
      }
    }
  }

  for (const [rows, dim] of [
    [20_000, 19],
    [100, 32],
    [1_000_000, 2],
  ] as const) {
    const random = new Random(rows);
    const table = floatTable(random.floats(rows * dim), rows, dim);

    it(`pool and differentiate alike with any number of threads: [${rows}, ${dim}]`, () => {
      for (const options of OPTIONS) {
        const { bags, gradientOf } = largeBatch(rows, 900, rows, options.combiner !== 'sum');
        const gradient = gradientOf(dim);
        expectSame(`EmbeddingBag ${options.combiner}`, () => {
          const pooled = new Float32Array(900 * dim);
          lookUpInto(kernels, table, bags, options, pooled);
          return [pooled];
        });
        expectSame(`EmbeddingBagGrad ${options.combiner}`, () => {
          const { uniqueIds, rowGradients } = kernels.rowGradients(gradient, bags, table, options);
          return [uniqueIds, rowGradients];
        });
      }
    });

    it(`step alike with any number of threads: [${rows}, ${dim}]`, () => {
      const { bags, gradientOf } = largeBatch(rows + 1, 900, rows, true);
      const gradient = gradientOf(dim);
      const halves = new Int32Array(rows * FLOAT16.words(dim));
      FLOAT16.pack(table.data, dim, halves);
      UPDATE_NAMES.forEach((optimizer, i) => {
        if (rows === 1_000_000 && optimizer !== 'adagrad') return;
        const before = usedSlots(optimizer, table, 3);
        const copies = (): Float32Array[] => before.map((slot) => slot.slice());
        for (const seed of rows === 1_000_000 ? [1] : SETTINGS.map((each) => i + 6 * each)) {
          const hyper = packedHyperCase(optimizer, seed % 6 === 0 ? seed + 1 : seed); // seed 6 k has no extras
          expectSame(`${optimizer} ${seed}`, () => {
            const mine = { ...table, data: table.data.slice() };
            const slots = copies();
            stepOne(kernels, optimizer, mine, slots, gradient, bags, OPTIONS[1]!, hyper);
            return [mine.data, ...slots];
          });
          if (rows === 1_000_000) continue;
          expectSame(`${optimizer} ${seed} of float16`, () => {
            const [words, slots] = [halves.slice(), copies()];
            const packed = { codec: FLOAT16, data: words, rows, dim };
            stepOne(kernels, optimizer, packed, slots, gradient, bags, OPTIONS[1]!, hyper);
            return [words, ...slots];
          });
        }
      });
    }, 60_000);
  }

  it('find the first id out of range with any number of threads', () => {
    const { bags } = largeBatch(5, 900, 1000, false);
    const table = floatTable(new Float32Array(4000), 1000, 4);
    const values = bags.values.slice();
    for (const position of [values.length - 1, 9000, 8999, 1]) {
      values[position] = 1000 + position;
      for (const count of [1, 2, 8]) {
        kernels.setThreads(count);
        const pooled = new Float32Array(900 * 4);
        expect(() => lookUpInto(kernels, table, { ...bags, values }, OPTIONS[0]!, pooled)).toThrowMatching(
          (error: { position: number; id: number }) => error.position === position && error.id === 1000 + position,
        );
      }
    }
  });

  const widths = [...Array.from({ length: 40 }, (_, i) => i + 1), 63, 64, 65, 127, 128, 129, 257];

  it('give a column the same value in a table of any width', () => {
    const [rows, batch, widest] = [300, 40, 257];
    const random = new Random(1);
    const wide = random.floats(rows * widest);
    const wideGradient = random.floats(batch * widest);
    const { bags } = largeBatch(2, batch, rows, true);
    const cut = (from: Float32Array, dim: number): Float32Array =>
      Float32Array.from({ length: (from.length / widest) * dim }, (_, i) => {
        return from[Math.floor(i / dim) * widest + (i % dim)]!;
      });
    for (const weighted of [true, false]) {
      const mine = weighted ? bags : { ...bags, weights: null };
      for (const options of OPTIONS) {
        const results = (dim: number): Float32Array[] => {
          const table = floatTable(cut(wide, dim), rows, dim);
          const pooled = new Float32Array(batch * dim);
          lookUpInto(kernels, table, mine, options, pooled);
          const gradient = cut(wideGradient, dim);
          const { rowGradients } = kernels.rowGradients(gradient, mine, table, options);
          const slots = usedSlots('adam', floatTable(wide, rows, widest), 1).map((slot) => cut(slot, dim));
          stepOne(kernels, 'adam', table, slots, gradient, mine, options, packedHyperCase('adam', 0));
          return [pooled, rowGradients, table.data, ...slots];
        };
        const expected = results(widest);
        for (const dim of widths) {
          results(dim).forEach((actual, i) => {
            expect(actual)
              .withContext(`${options.combiner}, width ${dim}, output ${i}`)
              .toEqual(cut(expected[i]!, dim));
          });
        }
      }
    }
  }, 60_000);

  it('agree with the reference at every width', () => {
    for (const dim of widths) {
      const rows = 50;
      const table = floatTable(new Random(dim).floats(rows * dim), rows, dim);
      const { bags, gradientOf } = largeBatch(dim, 20, rows, dim % 2 === 0);
      const options = OPTIONS[dim % 3]!;
      const [expected, actual] = [new Float32Array(20 * dim), new Float32Array(20 * dim).fill(NaN)];
      lookUpInto(referenceKernels, table, bags, options, expected);
      lookUpInto(kernels, table, bags, options, actual);
      expectClose(actual, expected, 40, `width ${dim}`);
      for (const optimizer of UPDATE_NAMES) {
        const gradient = gradientOf(dim);
        const run = (set: typeof referenceKernels): Float32Array[] => {
          const mine = { ...table, data: table.data.slice() };
          const slots = usedSlots(optimizer, mine, dim);
          stepOne(set, optimizer, mine, slots, gradient, bags, options, packedHyperCase(optimizer, dim));
          return [mine.data, ...slots];
        };
        const steps = run(kernels);
        run(referenceKernels).forEach((each, i) => expectClose(steps[i]!, each, 3000, `${optimizer}, width ${dim}`));
      }
    }
  });

  it('group ids of a range far wider than the batch', () => {
    const [rows, dim, count] = [40_000_000, 1, 3000];
    const random = new Random(9);
    const values = Int32Array.from({ length: count }, (_, i) =>
      i % 3 === 0 ? rows - 1 - (i % 5) : random.whole(0, rows),
    );
    const bags: HostBags = { values, rowSplits: Int32Array.from({ length: count + 1 }, (_, i) => i), weights: null };
    const table = floatTable(new Float32Array(0), rows, dim);
    const gradient = random.floats(count);
    const expected = referenceKernels.rowGradients(gradient, bags, table, OPTIONS[0]!);
    expectSame('wide range', () => {
      const { uniqueIds, rowGradients } = kernels.rowGradients(gradient, bags, table, OPTIONS[0]!);
      expect(uniqueIds).toEqual(expected.uniqueIds);
      expectClose(rowGradients, expected.rowGradients, 1000);
      return [uniqueIds, rowGradients];
    });
  });
});
