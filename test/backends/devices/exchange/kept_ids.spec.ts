/** Ids of a lookup stay on the devices for the step, unless something else needed the memory. */
import * as tf from '@tensorflow/tfjs';
import type { LookupHandle, TableUpdate } from '../../../../src/backends/contract.js';
import { NEUTRAL_HYPER, packHyper } from '../../../../src/rules/hyper.js';
import { IdOutOfRange } from '../../../../src/backends/kernel_set.js';
import { Random } from '../../../helpers/random.js';
import { SUM } from '../../cpu/steps.js';
import { HOSTS, describeEmulator, emulator } from '../../emulator/describe_emulator.js';
import { LAYOUT_NAMES, idsOfOp, layoutOf, numbersOf, place, lookUpPooled } from '../../emulator/tables.js';
import { tableOf } from '../../../../src/backends/table.js';

const [ROWS, COLUMNS] = [30, 6];
const IDS = [3, 4, 29, 3, 0, 3, 11, 12, 13, 14];
const SPLITS = [0, 2, 2, 7, 10];
const WEIGHTS = IDS.map((id) => id / 8);

interface Case {
  readonly tables: tf.Variable[];
  /** Steps without handles: as they are made where nothing was looked up. */
  readonly updates: TableUpdate[];
  readonly arrays: Int32Array[];
  /** Looks everything up; returns the steps with the handles of the lookups. */
  readonly look: () => TableUpdate[];
}

/** Looks up what the steps are of, and hands their handles to them. */
function withHandles(updates: readonly TableUpdate[]): TableUpdate[] {
  const lookups = updates.flatMap(({ table, entries }) =>
    entries.map(({ bags, options }) => ({ table, bags, options })),
  );
  const found = emulator().lookUp(lookups);
  tf.dispose(found.map(({ pooled }) => pooled));
  let next = 0;
  return updates.map((update) => {
    return { ...update, entries: update.entries.map((entry) => ({ ...entry, handle: found[next++]!.handle })) };
  });
}

/** A table of each layout, two lookups of each: with weights and ids that the host has, without and with ids of an op. */
function lookUps(): Case {
  const size = { rows: ROWS, columns: COLUMNS };
  const arrays: Int32Array[] = [];
  const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
  const tables = LAYOUT_NAMES.map((name) =>
    place(layoutOf(name, size, emulator().count, new Random(1)), new Random(2).floats(ROWS * COLUMNS)),
  );
  const updates = tables.map((table): TableUpdate => {
    const entries = [null, WEIGHTS].map((weights, use) => {
      const array = Int32Array.from(IDS);
      arrays.push(array);
      const bags = {
        values: weights === null ? idsOfOp(array) : tf.tensor1d(array, 'int32'),
        rowSplits: tf.tensor1d(SPLITS, 'int32'),
        weights: weights === null ? null : tf.tensor1d(weights),
      };
      const gradient = tf
        .range(0, 4 * COLUMNS)
        .reshape([4, COLUMNS])
        .add(use) as tf.Tensor2D;
      return { gradient, bags, options: SUM };
    });
    return { optimizer: 'sgd', table: tableOf(table), slots: [], entries, dense: null, hyper };
  });
  return { tables, updates, arrays, look: () => withHandles(updates) };
}

/** What may come between a lookup and its step. */
const BETWEEN: Readonly<Record<string, (tables: readonly tf.Variable[]) => void>> = {
  nothing: () => undefined,
  'a table that is read': ([table]) => void table!.dataSync(),
  'a table that is written': ([table]) => emulator().writeRows(table!, 0, emulator().readRows(table!, 0, 2)),
  'another lookup': ([table]) => {
    const bags = { values: tf.tensor1d([1, 2], 'int32'), rowSplits: tf.tensor1d([0, 2], 'int32'), weights: null };
    lookUpPooled([{ table: tableOf(table!), bags: bags as never, options: SUM }]);
  },
  'a new table': () => {
    emulator().create({
      name: 'new',
      layout: layoutOf('whole', { rows: 3, columns: 2 }, emulator().count, new Random(4)),
      fill: { kind: 'constant', value: 1 },
    });
  },
};

describeEmulator(
  'ids between lookup and step',
  { chips: 3, coresPerChip: 1 },
  (host) => {
    function stepped(looks: boolean, between: (tables: readonly tf.Variable[]) => void): number[][] {
      return tf.tidy(() => {
        const { tables, updates, look } = lookUps();
        const steps = looks ? look() : updates;
        between(tables);
        emulator().update(steps);
        const numbers = tables.map(numbersOf);
        tf.dispose(tables);
        return numbers;
      });
    }

    for (const [name, between] of Object.entries(BETWEEN)) {
      it(`make the step that they make without a lookup: ${name} in between`, () => {
        expect(stepped(true, between)).toEqual(stepped(false, () => undefined));
      });
    }

    it('are read from the tensors of the step, when those of the lookup are gone', () => {
      const numbers = tf.tidy(() => {
        const { tables, updates, look } = lookUps();
        const clones = look().map((update): TableUpdate => {
          const entries = update.entries.map(({ bags: { values, rowSplits, weights }, ...entry }) => {
            const bags = { values: values.clone(), rowSplits: rowSplits.clone(), weights: weights?.clone() ?? null };
            return { ...entry, bags };
          });
          return { ...update, entries };
        });
        for (const { bags } of updates.flatMap(({ entries }) => entries)) {
          tf.dispose([bags.values, bags.rowSplits, bags.weights].filter((tensor) => tensor !== null));
        }
        BETWEEN['another lookup']!(tables);
        emulator().update(clones);
        const stepped = tables.map(numbersOf);
        tf.dispose(tables);
        return stepped;
      });
      expect(numbers).toEqual(stepped(false, () => undefined));
    });

    it('serve a table that is dealt out by rows beside one that is not, when the tensors of the lookup are gone', () => {
      tf.tidy(() => {
        const zeros = (name: 'whole' | 'range'): tf.Variable =>
          place(layoutOf(name, { rows: 10, columns: 2 }, 3, new Random(5)), new Float32Array(20));
        const tables = [zeros('range'), zeros('whole')];
        const values = idsOfOp([0, 9, 4]);
        const rowSplits = tf.tensor1d([0, 1, 2, 3], 'int32');
        const bags = { values: values.clone(), rowSplits, weights: null };
        const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
        const gradient = tf.ones([3, 2]) as tf.Tensor2D;
        const updates = tables.map((table): TableUpdate => {
          const entries = [{ gradient, bags: { ...bags, values }, options: SUM }];
          return { optimizer: 'sgd', table: tableOf(table), slots: [], entries, dense: null, hyper };
        });
        const steps = withHandles(updates);
        values.dispose();
        emulator().update(
          steps.map((step) => ({ ...step, entries: step.entries.map((entry) => ({ ...entry, bags })) })),
        );
        for (const table of tables) {
          const stepped = numbersOf(table).flatMap((value, at) => (value === 0 ? [] : [[at, value]]));
          expect(stepped).toEqual([0, 1, 8, 9, 18, 19].map((at) => [at, -1]));
        }
        tf.dispose(tables);
      });
    });

    it('serve several steps', () => {
      const twice = (looks: boolean): number[][] =>
        tf.tidy(() => {
          const { tables, updates, look } = lookUps();
          const steps = looks ? look() : updates;
          emulator().update(steps);
          emulator().update(steps);
          const numbers = tables.map(numbersOf);
          tf.dispose(tables);
          return numbers;
        });
      expect(twice(true)).toEqual(twice(false));
    });

    it('serve tables of other sizes, each of which checks them', () => {
      tf.tidy(() => {
        const values = tf.tensor1d([0, 9, 4], 'int32');
        const rowSplits = tf.tensor1d([0, 1, 2, 3], 'int32');
        const bags = { values, rowSplits, weights: null };
        const zeros = (rows: number): tf.Variable =>
          place(layoutOf('whole', { rows, columns: 2 }, 3, new Random(rows)), new Float32Array(2 * rows));
        const [small, large, tiny] = [zeros(10), zeros(20), zeros(9)];
        const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
        const entry = { gradient: tf.ones([3, 2]) as tf.Tensor2D, bags, options: SUM };
        const update = (table: tf.Variable, handle: LookupHandle | null): TableUpdate => {
          return {
            optimizer: 'sgd',
            table: tableOf(table),
            slots: [],
            entries: [{ ...entry, handle }],
            dense: null,
            hyper,
          };
        };
        for (const looked of [small, large]) {
          const [found] = emulator().lookUp([{ table: tableOf(looked), bags, options: SUM }]);
          found!.pooled.dispose();
          const { handle } = found!;
          emulator().update([update(small, handle), update(large, handle)]);
          const steps = [update(small, handle), update(tiny, handle)];
          expect(() => emulator().update(steps)).toThrow(new IdOutOfRange(9, 1, 9));
        }
        for (const table of [small, large]) {
          const stepped = numbersOf(table).flatMap((value, at) => (value === 0 ? [] : [[at, value]]));
          expect(stepped).toEqual([0, 1, 8, 9, 18, 19].map((at) => [at, -2]));
        }
        tf.dispose([small, large, tiny]);
      });
    });

    if (host === 'cpu') {
      it('are those of the lookup, whatever becomes of the array that they came in', () => {
        tf.tidy(() => {
          const { tables, arrays, look } = lookUps();
          const steps = look();
          for (const array of arrays) array.fill(7);
          const byColumns = steps.filter((_, i) => !['range', 'modulo'].includes(LAYOUT_NAMES[i]!));
          emulator().update(byColumns);
          for (const { table } of byColumns) {
            const before = new Random(2).floats(ROWS * COLUMNS);
            const row = (at: number): number[] => numbersOf(table.tensor).slice(at * COLUMNS, (at + 1) * COLUMNS);
            expect(row(7)).toEqual(Array.from(before.slice(7 * COLUMNS, 8 * COLUMNS)));
            expect(row(29)).not.toEqual(Array.from(before.slice(29 * COLUMNS)));
          }
          tf.dispose(tables);
        });
      });

      it('are looked at again where they were lost', () => {
        tf.tidy(() => {
          const { tables, arrays, look } = lookUps();
          const steps = look();
          BETWEEN['another lookup']!(tables);
          const before = tables.map(numbersOf);
          arrays.at(-1)![4] = ROWS;
          expect(() => emulator().update(steps)).toThrow(new IdOutOfRange(ROWS, 4, ROWS));
          expect(tables.map(numbersOf)).toEqual(before);
          tf.dispose(tables);
        });
      });
    }
  },
  HOSTS,
);
