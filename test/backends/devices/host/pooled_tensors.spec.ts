/** Pooled rows stay what they are while the exchange memory, in which they may lie, is used again. */
import * as tf from '@tensorflow/tfjs';
import { NEUTRAL_HYPER, packHyper } from '../../../../src/rules/hyper.js';
import * as emb from '../../../../src/index.js';
import { expectError } from '../../../helpers/errors.js';
import { Random } from '../../../helpers/random.js';
import { SUM, lookUp, stepSgd } from '../../cpu/steps.js';
import { HOSTS, describeEmulator, emulator } from '../../emulator/describe_emulator.js';
import { layoutOf, numbersOf, place, lookUpPooled } from '../../emulator/tables.js';
import { currentBackend } from '../../../../src/backends/registry.js';
import { stepVariable } from '../../../helpers/kernel_calls.js';
import { tableOf } from '../../../../src/backends/table.js';

const ROWS = 40;
const COLUMNS = 24;
const BATCH = 9;

const IDS = Array.from({ length: BATCH }, (_, bag) => (7 * bag) % ROWS);

/** One id per bag. */
function lookUpRows(tables: readonly tf.Variable[], ids: readonly number[]): tf.Tensor2D[] {
  const values = tf.tensor1d([...ids], 'int32');
  const rowSplits = tf.range(0, ids.length + 1, 1, 'int32');
  return lookUpPooled(
    tables.map((table) => ({ table: tableOf(table), bags: { values, rowSplits, weights: null }, options: SUM })),
  );
}

/** Ways to hold on to pooled rows, each of which gives back their numbers later. */
const HOLDS: Record<string, (pooled: tf.Tensor2D) => () => ArrayLike<number>> = {
  'the tensor': (pooled) => () => pooled.dataSync(),
  'its array': (pooled) => {
    const values = pooled.dataSync();
    return () => values;
  },
  'a clone': (pooled) => {
    const clone = pooled.clone();
    return () => clone.dataSync();
  },
  'a reshaped tensor': (pooled) => {
    const flat = pooled.reshape([COLUMNS, BATCH]);
    pooled.dispose();
    return () => flat.dataSync();
  },
  'all of its rows': (pooled) => {
    const slice = pooled.slice([0, 0], [BATCH, COLUMNS]);
    return () => slice.dataSync();
  },
  'parts of it': (pooled) => {
    const parts = tf.split(pooled, 3);
    return () => parts.flatMap((part) => Array.from(part.dataSync()));
  },
  'a tensor that an op has read': (pooled) => {
    pooled.add(1);
    return () => pooled.dataSync();
  },
  'a tensor of another backend': (pooled) => {
    const backend = tf.getBackend();
    tf.setBackend('cpu');
    const moved = pooled.add(0);
    tf.setBackend(backend);
    return () => moved.dataSync();
  },
};

for (const devices of ['inline', 'worker'] as const) {
  describeEmulator(
    `pooled rows, devices ${devices}`,
    { chips: 2, coresPerChip: 1, devices },
    () => {
      for (const [what, hold] of Object.entries(HOLDS)) {
        it(`stay in ${what}`, () => {
          tf.tidy(() => {
            const random = new Random(4);
            const size = { rows: ROWS, columns: COLUMNS };
            const contents = [random.floats(ROWS * COLUMNS), random.floats(ROWS * COLUMNS)];
            const layouts = (['whole', 'columns'] as const).map((name) => layoutOf(name, size, 2, random));
            const tables = layouts.map((layout, i) => place(layout, contents[i]!, `table ${i}`));
            const held = lookUpRows(tables, IDS).map(hold);
            lookUpRows(
              tables,
              IDS.map((id) => id + 1),
            );
            for (const table of tables) stepSgd(table, [0, 1, 2]);
            emulator().readRows(tables[0]!, 0, ROWS);
            held.forEach((numbers, i) => {
              const expected = IDS.flatMap((id) => [...contents[i]!.subarray(id * COLUMNS, (id + 1) * COLUMNS)]);
              expect(Array.from(numbers())).toEqual(expected);
            });
            for (const table of tables) table.dispose();
          });
        });
      }
    },
    HOSTS,
  );
}

describeEmulator(
  'gradients of a step',
  { chips: 2, coresPerChip: 1, devices: 'worker' },
  () => {
    /** Gradients [3, 3] of ones, wherever their numbers lie. */
    const GRADIENTS: Record<string, () => tf.Tensor2D> = {
      'a typed array': () => tf.tensor2d(new Float32Array(9).fill(1), [3, 3]),
      'the result of an op': () => tf.ones([3, 3]).mul(1) as tf.Tensor2D,
      'shared with another tensor': () => tf.ones([9]).mul(1).reshape([3, 3]),
      'pooled rows': () => {
        const ones = place(layoutOf('whole', { rows: 1, columns: 3 }, 2, new Random(1)), new Float32Array(3).fill(1));
        const pooled = lookUpRows([ones], [0, 0, 0])[0]!;
        ones.dispose();
        return pooled;
      },
      'rows of the devices': () => {
        const layout = layoutOf('columns', { rows: 3, columns: 3 }, 2, new Random(1));
        const ones = place(layout, new Float32Array(9).fill(1));
        const copy = ones.clone() as tf.Tensor2D;
        ones.dispose();
        return copy;
      },
    };
    for (const [what, make] of Object.entries(GRADIENTS)) {
      it(`may be ${what}`, () => {
        tf.tidy(() => {
          const layout = layoutOf('whole', { rows: 3, columns: 3 }, 2, new Random(2));
          const table = place(layout, Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9));
          const gradient = make();
          const values = tf.tensor1d([0, 2, 2], 'int32');
          const bags = { values, rowSplits: tf.range(0, 4, 1, 'int32'), weights: null };
          // Learning rate 1: each gradient is taken off its row.
          const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
          stepVariable(currentBackend(), 'sgd', table, [], gradient, bags, SUM, hyper);
          expect(numbersOf(table)).toEqual([0, 1, 2, 4, 5, 6, 5, 6, 7]);
          expect(numbersOf(lookUp(table, [2]))).toEqual([5, 6, 7]);
          expect(numbersOf(gradient)).toEqual(new Array(9).fill(1));
          table.dispose();
        });
      });
    }
    it('arrive although a kernel of the host ran in between', () => {
      tf.tidy(() => {
        const layout = layoutOf('whole', { rows: 3, columns: 1 }, 2, new Random(2));
        const table = place(layout, new Float32Array(3));
        const step = (times: number): void => {
          const gradient = tf.ones([3, 1]).mul(times) as tf.Tensor2D;
          const values = tf.tensor1d([0, 1, 1], 'int32');
          const bags = { values, rowSplits: tf.range(0, 4, 1, 'int32'), weights: null };
          const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
          stepVariable(currentBackend(), 'sgd', table, [], gradient, bags, SUM, hyper);
        };
        step(1);
        expect(numbersOf(table)).toEqual([-1, -2, 0]);
        const local = emb.ops.embeddingBag(tf.ones([2, 2]) as tf.Tensor2D, [0, 1], [0, 2], { combiner: 'sum' });
        expect(numbersOf(local)).toEqual([2, 2]);
        for (const times of [10, 100, 1000]) step(times);
        expect(numbersOf(table)).toEqual([-1111, -2222, 0]);
        table.dispose();
      });
    });
  },
  HOSTS,
);

describeEmulator('a call', { chips: 2, coresPerChip: 1, devices: 'worker' }, () => {
  const SIZE = { rows: 4, columns: 4 };
  const ONES = new Float32Array(16).fill(1);

  it('may look one table up with a norm for its rows and without', () => {
    tf.tidy(() => {
      const table = place(layoutOf('columns', SIZE, 2, new Random(3)), ONES);
      const bags = { values: tf.tensor1d([1], 'int32'), rowSplits: tf.tensor1d([0, 1], 'int32'), weights: null };
      const found = lookUpPooled([
        { table: tableOf(table), bags, options: SUM },
        { table: tableOf(table), bags, options: { ...SUM, maxNorm: 1 } },
      ]);
      expect(found.map(numbersOf)).toEqual([
        [1, 1, 1, 1],
        [0.5, 0.5, 0.5, 0.5],
      ]);
      table.dispose();
    });
  });

  it('sees the numbers that the array of its ids holds now', () => {
    tf.tidy(() => {
      const table = place(
        layoutOf('columns', SIZE, 2, new Random(3)),
        Float32Array.from(ONES, (_, i) => i),
      );
      const array = Int32Array.of(0, 1);
      const ids = tf.tensor1d(array, 'int32');
      const look = (): number[] => numbersOf(emb.ops.embeddingBag(table, ids, [0, 1, 2], { combiner: 'sum' }));
      expect(look()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      array[0] = 9;
      expectError(look, 'ValueError', 'ids', '9 at position 0');
      array[0] = 3;
      expect(look()).toEqual([12, 13, 14, 15, 4, 5, 6, 7]);
      table.dispose();
    });
  });
});
