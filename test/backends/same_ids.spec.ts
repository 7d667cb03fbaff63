/** Tables of one step that are looked up with the same ids, which are grouped once, beside each table by itself. */
import * as tf from '@tensorflow/tfjs';
import { HYPER_FIELDS } from '../../src/rules/hyper.js';
import type { BagOptions } from '../../src/backends/kernel_set.js';
import type { Lookup, LookupGradient, TableUpdate } from '../../src/backends/contract.js';
import { UPDATE_NAMES, slotShapes, type UpdateName } from '../../src/rules/rules.js';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import { bagsOf, drawHyper, drawOptions, oneByOne, stepped } from './many_tables.js';
import { tableOf } from '../../src/backends/table.js';

/** So many ids keep all threads busy with one table. */
const LARGE = 20_000;

const idsBelow = (random: Random, count: number, rows: number): Int32Array =>
  Int32Array.from({ length: count }, () => random.whole(0, rows));

function largeBags(random: Random, rows: number): Lookup['bags'] {
  const splits = Int32Array.from({ length: LARGE / 2 + 1 }, (_, bag) => 2 * bag);
  const values = tf.tensor1d(idsBelow(random, LARGE, rows), 'int32');
  return { values, rowSplits: tf.tensor1d(splits, 'int32'), weights: null };
}

/** As many bags, the sizes of which come in the other order. */
function mirrored(rowSplits: tf.Tensor1D): tf.Tensor1D {
  const splits = rowSplits.dataSync<'int32'>();
  const last = splits.at(-1)!;
  return tf.tensor1d(splits.map((split) => last - split).reverse(), 'int32');
}

/** One of several; mostly the first. */
const mostly = <T>(random: Random, choices: readonly T[]): T =>
  choices[random.chance(0.7) ? 0 : random.whole(0, choices.length)]!;

/**
 * Tables whose rows, ids, row splits, weights, combiners and uses are the same as those of others, or not quite. The same
 * for the same seed. Call inside a tidy.
 */
function drawUpdates(seed: number, only: UpdateName | null, isLarge: boolean): TableUpdate[] {
  const random = new Random(seed);
  const sizes = [random.whole(2, 60), random.whole(2, 60)];
  const least = Math.min(...sizes);
  const pool = Array.from({ length: 3 }, () => (isLarge ? largeBags(random, least) : bagsOf(random, least, false)));
  const [first] = pool as [Lookup['bags'], ...Lookup['bags'][]];
  // The same ids as another tensor, and as another tensor with memory of its own.
  pool.push({ ...first, values: first.values.clone() });
  pool.push({ ...first, values: tf.tensor1d(first.values.dataSync<'int32'>().slice(), 'int32') });
  pool.push({ ...first, weights: tf.tensor1d(random.floats(first.values.size)) });
  // Other ids on the same row splits, and the same ids in other bags.
  pool.push({ ...first, values: tf.tensor1d(idsBelow(random, first.values.size, least), 'int32') });
  pool.push({ ...first, rowSplits: mirrored(first.rowSplits) });
  const options = [0, 1, 2].map(() => drawOptions(random));
  const hypers = [0, 1, 2].map(() => {
    const hyper = drawHyper(random);
    hyper[HYPER_FIELDS.indexOf('clipNorm')] = random.chance(0.4) ? 0.3 : 0;
    return hyper;
  });
  return Array.from({ length: random.whole(2, 7) }, (): TableUpdate => {
    const optimizer = only ?? UPDATE_NAMES[random.whole(0, 2)]!;
    const [rows, dim] = [mostly(random, sizes), random.whole(1, 20)];
    const variable = (columns: number, from = 0): tf.Variable => {
      const values = random.floats(rows * columns).map((x) => x + from);
      return tf.variable(tf.tensor2d(values, [rows, columns]));
    };
    const slots = slotShapes(optimizer, [rows, dim]).map(([, columns = 1]) => variable(columns, 2));
    const chosen: BagOptions = mostly(random, options);
    const entries = Array.from({ length: mostly(random, [1, 2, 3]) }, (): LookupGradient => {
      const bags = mostly(random, pool);
      const batch = bags.rowSplits.size - 1;
      return { gradient: tf.tensor2d(random.floats(batch * dim), [batch, dim]), bags, options: chosen };
    });
    return { optimizer, table: tableOf(variable(dim)), slots, entries, dense: null, hyper: mostly(random, hypers) };
  });
}

describeForBackends(
  'Tables with the same ids',
  () => {
    const expectSame = (seed: number, optimizer: UpdateName | null, isLarge: boolean): void => {
      const [together, apart] = tf.tidy(() => {
        const first = stepped(drawUpdates(seed, optimizer, isLarge));
        return [first, oneByOne(() => stepped(drawUpdates(seed, optimizer, isLarge)))] as never;
      }) as unknown as [Float32Array[], Float32Array[]];
      expect(together.length).toBeGreaterThan(1);
      expect(together).withContext(`seed ${seed}`).toEqual(apart);
    };

    for (const optimizer of [...UPDATE_NAMES, null]) {
      it(`are stepped as each by itself, to the bit: ${optimizer ?? 'an optimizer for each table'}`, () => {
        for (let seed = 1; seed <= 25; seed++) expectSame(seed, optimizer, false);
      });
    }

    it('are stepped as each by itself where one keeps all threads busy', () => {
      for (let seed = 1; seed <= 6; seed++) expectSame(seed, seed % 2 === 0 ? 'adam' : 'sgd', true);
    });

    it('are all left as they were where an id names no row of one of them', () => {
      const made = [5, 9].map((rows) => tf.tidy(() => tf.variable(tf.ones([rows, 2]))));
      tf.tidy(() => {
        const bags: Lookup['bags'] = {
          values: tf.tensor1d([0, 7], 'int32'),
          rowSplits: tf.tensor1d([0, 1, 2], 'int32'),
          weights: null,
        };
        const options: BagOptions = { combiner: 'sum', outOfRange: 'error', maxNorm: 0 };
        const hyper = drawHyper(new Random(1));
        const entries = [{ gradient: tf.ones<tf.Rank.R2>([2, 2]), bags, options }];
        const updates = made.map((table): TableUpdate => {
          return { optimizer: 'sgd', table: tableOf(table), slots: [], entries, dense: null, hyper };
        });
        expect(() => stepped([...updates].reverse())).toThrowError(/\b7\b/);
      });
      for (const table of made) expect(new Set(table.dataSync())).toEqual(new Set([1]));
      tf.dispose(made);
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
