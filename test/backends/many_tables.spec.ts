/** Lookups and steps of many tables in one call, each beside the same tables one by one. */
import * as tf from '@tensorflow/tfjs';
import { SINGLE_ROW, type BagOptions } from '../../src/backends/kernel_set.js';
import type { Lookup, LookupGradient, TableUpdate } from '../../src/backends/contract.js';
import { runLookups } from '../../src/lookup/lookup.js';
import { stepTables } from '../../src/optimizers/step_gradients.js';
import { UPDATE_NAMES, SLOT_NAMES, slotShapes, type UpdateName } from '../../src/rules/rules.js';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';
import { bagsOf, drawHyper, drawOptions, oneByOne, stepped } from './many_tables.js';
import { tableOf } from '../../src/backends/table.js';

/** A use of a table: bags that are combined as the others are, or single rows. */
function drawEntry(random: Random, rows: number, dim: number, options: BagOptions): LookupGradient {
  if (random.chance(0.3)) {
    const ids = Int32Array.from({ length: random.whole(0, 9) }, () => random.whole(0, rows));
    const rowSplits = tf.tensor1d(
      Array.from({ length: ids.length + 1 }, (_, i) => i),
      'int32',
    );
    const gradient = tf.tensor2d(random.floats(ids.length * dim), [ids.length, dim]);
    return { gradient, bags: { values: tf.tensor1d(ids, 'int32'), rowSplits, weights: null }, options: SINGLE_ROW };
  }
  const bags = bagsOf(random, rows, options.outOfRange === 'zero');
  const batch = bags.rowSplits.size - 1;
  const own = random.chance(0.15) ? drawOptions(random) : options;
  const safe = own === options ? options : { ...own, outOfRange: options.outOfRange };
  return { gradient: tf.tensor2d(random.floats(batch * dim), [batch, dim]), bags, options: safe };
}

/** Steps of tables that are the same for the same seed. Call inside a tidy. */
function drawUpdates(seed: number, only: UpdateName | null): TableUpdate[] {
  const random = new Random(seed);
  const hyper = drawHyper(random);
  return Array.from({ length: random.whole(2, 6) }, (): TableUpdate => {
    const optimizer = only ?? UPDATE_NAMES[random.whole(0, UPDATE_NAMES.length)]!;
    const [rows, dim] = [random.whole(1, 60), random.whole(1, 20)];
    const variable = (columns: number, from = 0): tf.Variable =>
      tf.variable(
        tf.tensor2d(
          random.floats(rows * columns).map((x) => x + from),
          [rows, columns],
        ),
      );
    const slots = slotShapes(optimizer, [rows, dim]).map(([, columns = 1]) => variable(columns, 2));
    const options = drawOptions(random);
    const entries = Array.from({ length: random.whole(1, 4) }, () => drawEntry(random, rows, dim, options));
    const dense = random.chance(0.15) ? tf.tensor2d(random.floats(rows * dim), [rows, dim]) : null;
    return { optimizer, table: tableOf(variable(dim)), slots, entries, dense, hyper };
  });
}

const asBytes = ({ buffer, byteOffset, byteLength }: Float32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

describeForBackends(
  'Many tables in one call',
  () => {
    it('gives the pooled rows of one lookup after the other, to the bit', () => {
      const random = new Random(21);
      for (let round = 0; round < 40; round++) {
        tf.tidy(() => {
          const lookups = Array.from({ length: random.whole(2, 7) }, (): Lookup => {
            const [rows, dim] = [random.whole(1, 60), random.whole(1, 20)];
            const options = drawOptions(random);
            const table = tf.tensor2d(random.floats(rows * dim), [rows, dim]);
            return { table: tableOf(table), bags: bagsOf(random, rows, options.outOfRange === 'zero'), options };
          });
          const together = runLookups(lookups).map(({ pooled }) => pooled);
          const apart = oneByOne(() => runLookups(lookups)).map(({ pooled }) => pooled);
          together.forEach((pooled, i) => {
            expect(pooled.shape).toEqual(apart[i]!.shape);
            expect(pooled.dataSync()).toEqual(apart[i]!.dataSync() as Float32Array);
          });
        });
      }
    });

    it('gives the same where a table alone keeps all threads busy', () => {
      tf.tidy(() => {
        const random = new Random(5);
        const table = tf.tensor2d(random.floats(500 * 8), [500, 8]);
        const of = (count: number): Lookup => ({
          table: tableOf(table),
          bags: {
            values: tf.tensor1d(
              Int32Array.from({ length: count }, () => random.whole(0, 500)),
              'int32',
            ),
            rowSplits: tf.tensor1d(Int32Array.of(0, count / 2, count), 'int32'),
            weights: null,
          },
          options: SINGLE_ROW,
        });
        const lookups = [of(40_000), of(10), of(20_000)];
        const apart = oneByOne(() => runLookups(lookups));
        runLookups(lookups).forEach(({ pooled }, i) => {
          expect(pooled.dataSync()).toEqual(apart[i]!.pooled.dataSync() as Float32Array);
        });
      });
    });

    for (const optimizer of [...UPDATE_NAMES, null]) {
      it(`steps tables as one after the other: ${optimizer ?? 'an optimizer for each table'}`, () => {
        for (let seed = 1; seed <= 8; seed++) {
          const [together, apart] = tf.tidy(() => {
            const first = stepped(drawUpdates(seed, optimizer));
            return [first, oneByOne(() => stepped(drawUpdates(seed, optimizer)))] as never;
          }) as unknown as [Float32Array[], Float32Array[]];
          expect(together.some((values) => values.length > 0)).toBeTrue();
          expect(together).withContext(`seed ${seed}`).toEqual(apart);
        }
      });
    }

    it('steps large tables, which share a workspace, and small ones as one after the other', () => {
      const COUNTS = [50, 40_000, 17_000, 900, 30_000, 16_384, 16_383];
      const draw = (optimizer: UpdateName): TableUpdate[] => {
        const random = new Random(13);
        const hyper = drawHyper(random);
        return COUNTS.map((count, i): TableUpdate => {
          const [rows, dim] = [i % 2 === 0 ? 700 : 3_000_000 / 64, 1 + i * 3];
          const variable = (columns: number): tf.Variable =>
            tf.variable(tf.tensor2d(random.floats(rows * columns, 1, 2), [rows, columns]));
          const ids = Int32Array.from({ length: count }, () => random.whole(0, rows));
          const bags = {
            values: tf.tensor1d(ids, 'int32'),
            rowSplits: tf.tensor1d([0, 7, count], 'int32'),
            weights: null,
          };
          const options: BagOptions = { combiner: 'mean', outOfRange: 'error', maxNorm: 0 };
          const entries = [{ gradient: tf.tensor2d(random.floats(2 * dim), [2, dim]), bags, options }];
          const slots = SLOT_NAMES[optimizer].map(() => variable(dim));
          return { optimizer, table: tableOf(variable(dim)), slots, entries, dense: null, hyper };
        });
      };
      for (const optimizer of ['sgd', 'adagrad'] as const) {
        tf.tidy(() => {
          const together = stepped(draw(optimizer));
          const apart = oneByOne(() => stepped(draw(optimizer)));
          together.forEach((values, i) => expect(Buffer.compare(asBytes(values), asBytes(apart[i]!))).toBe(0));
        });
      }
    });

    it('writes nothing where an id of some table names no row, and tells the table of a lookup', () => {
      // The first one has a row of that number.
      const tables = [5, 3].map((rows, i) => tf.tidy(() => tf.variable(tf.ones([rows, 2]), true, `stray/${'ab'[i]}`)));
      tf.tidy(() => {
        const bags = (id: number): Lookup['bags'] => ({
          values: tf.tensor1d([id], 'int32'),
          rowSplits: tf.tensor1d([0, 1], 'int32'),
          weights: null,
        });
        const both = tables.map((table, i) => ({ table: tableOf(table), bags: bags(4 - i), options: SINGLE_ROW }));
        expect(() => runLookups(both)).toThrowError(/(?=.*stray\/b)(?=.*\[0, 3\)).*\b3\b/);
        const hyper = drawHyper(new Random(1));
        const updates = both.map(({ table, ...rest }): TableUpdate => {
          return {
            optimizer: 'sgd',
            table,
            slots: [],
            entries: [{ ...rest, gradient: tf.ones([1, 2]) }],
            dense: null,
            hyper,
          };
        });
        expect(() => stepTables(updates)).toThrowError(/\[0, 3\).*\b3\b/);
      });
      for (const table of tables) expect(new Set(table.dataSync())).toEqual(new Set([1]));
      tf.dispose(tables);
    });
  },
  ['cpu reference', 'cpu native', 'cpu wasm', 'wasm', 'tensorflow'],
);

describeForBackends(
  'Row splits of many tables',
  () => {
    it('writes nothing where the row splits of some table are wrong', () => {
      const tables = ['a', 'b'].map((name) => tf.tidy(() => tf.variable(tf.ones([3, 2]), true, `splits/${name}`)));
      for (const wrong of [
        [0, 2],
        [1, 1],
        [0, 0],
      ]) {
        tf.tidy(() => {
          const updates = tables.map((table, i): TableUpdate => {
            const rowSplits = tf.tensor1d(i === 0 ? [0, 1] : wrong, 'int32');
            const bags = { values: tf.tensor1d([1], 'int32'), rowSplits, weights: null };
            const entries = [{ bags, options: SINGLE_ROW, gradient: tf.ones<tf.Rank.R2>([1, 2]) }];
            return {
              optimizer: 'sgd',
              table: tableOf(table),
              slots: [],
              entries,
              dense: null,
              hyper: drawHyper(new Random(1)),
            };
          });
          expect(() => stepTables(updates)).toThrowError(/row_?splits/i);
        });
        for (const table of tables) expect(Array.from(table.dataSync())).toEqual([1, 1, 1, 1, 1, 1]);
      }
      tf.dispose(tables);
    });
  },
  // The reference is given row splits that were checked.
  ['cpu native', 'cpu wasm', 'wasm', 'tensorflow'],
);
