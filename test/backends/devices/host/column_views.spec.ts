/** Columns of tensors of TensorFlow that stay where they lie until an op takes them. */
import * as tf from '@tensorflow/tfjs';
import { NEUTRAL_HYPER, packHyper } from '../../../../src/rules/hyper.js';
import { IdOutOfRange } from '../../../../src/backends/kernel_set.js';
import { running } from '../../../../src/backends/emulator/register.js';
import { Random } from '../../../helpers/random.js';
import { SUM } from '../../cpu/steps.js';
import { describeEmulator, emulator } from '../../emulator/describe_emulator.js';
import { layoutOf, place, lookUpPooled, type LayoutName } from '../../emulator/tables.js';
import { tableOf } from '../../../../src/backends/table.js';

const isView = (tensor: tf.Tensor): boolean => running()!.columns!.placeOf(tensor) !== null;

/** Rows of counting numbers. */
const counting = (rows: number, columns: number): tf.Tensor2D =>
  tf.tidy(
    () =>
      tf
        .range(0, rows * columns)
        .add(0)
        .reshape([rows, columns]) as tf.Tensor2D,
  );

/** What column `from` to `to` of it are. */
const columnsOf = (rows: number, columns: number, from: number, to: number): number[] =>
  Array.from(
    { length: rows * (to - from) },
    (_, i) => Math.floor(i / (to - from)) * columns + from + (i % (to - from)),
  );

describeEmulator(
  'columns of a tensor',
  { chips: 2, coresPerChip: 1 },
  () => {
    let buffers: number;
    beforeEach(() => (buffers = tf.memory().numDataBuffers));
    afterEach(() => expect(tf.memory().numDataBuffers).toBe(buffers));

    it('are split off when an op takes one', () => {
      tf.tidy(() => {
        const [a, b, c] = tf.split(counting(3, 6), [2, 3, 1], 1) as [tf.Tensor, tf.Tensor, tf.Tensor];
        expect([a, b, c].map(isView)).toEqual([true, true, true]);
        expect([a, b, c].map(({ shape }) => shape)).toEqual([
          [3, 2],
          [3, 3],
          [3, 1],
        ]);
        expect([...b.add(1).dataSync()]).toEqual(columnsOf(3, 6, 2, 5).map((x) => x + 1));
        expect([a, b, c].map(isView)).toEqual([false, false, false]);
        expect([...a.dataSync()]).toEqual(columnsOf(3, 6, 0, 2));
        expect([...c.dataSync()]).toEqual(columnsOf(3, 6, 5, 6));
      });
    });

    it('are the tensor again when all of them are joined', () => {
      tf.tidy(() => {
        const whole = counting(4, 5);
        const parts = tf.split(whole, [1, 4], 1).map((part) => part.reshape(part.shape).clone());
        const joined = tf.concat(parts, 1);
        expect(joined.dataId).toBe(whole.dataId);
        expect(parts.map(isView)).toEqual([true, true]);
        // With something beside them, as the whole.
        const beside = tf.concat([tf.ones([4, 1]), ...parts, tf.zeros([4, 2])], -1);
        expect(parts.map(isView)).toEqual([true, true]);
        expect([...beside.slice([1, 0], [1, 8]).dataSync()]).toEqual([1, 5, 6, 7, 8, 9, 0, 0]);
        // In another order, or some of them alone.
        expect([...tf.concat([parts[1]!, parts[0]!], 1).slice([1, 0], [1, 5]).dataSync()]).toEqual([6, 7, 8, 9, 5]);
        expect([...tf.concat([parts[0]!, parts[0]!], 1).slice([1, 0], [1, 2]).dataSync()]).toEqual([5, 5]);
        expect([...joined.dataSync()]).toEqual(columnsOf(4, 5, 0, 5));
      });
    });

    it('are joined as told where that is not all of them in their order', () => {
      const widths = [1, 2, 3];
      for (const places of [
        [0, 0],
        [0, 1],
        [1, 2],
        [0, 2, 1],
        [0, 0, 0],
        [2, 0, 1],
      ]) {
        tf.tidy(() => {
          const parts = tf.split(counting(2, 6), widths, 1);
          const joined = tf.concat(
            places.map((part) => parts[part]!),
            1,
          );
          const expected = [0, 6].flatMap((row) =>
            places.flatMap((part) => [[0], [1, 2], [3, 4, 5]][part]!.map((column) => row + column)),
          );
          expect([...joined.dataSync()])
            .withContext(String(places))
            .toEqual(expected);
        });
      }
    });

    it('live as long as one of them does', () => {
      const whole = counting(2, 4);
      const [a, b] = tf.split(whole, 2, 1) as [tf.Tensor, tf.Tensor];
      const clone = a.clone();
      whole.dispose();
      a.dispose();
      expect([...clone.dataSync()]).toEqual([0, 1, 4, 5]);
      expect([...b.dataSync()]).toEqual([2, 3, 6, 7]);
      tf.dispose([clone, b]);
      const other = counting(2, 4);
      const parts = tf.split(other, 2, 1);
      tf.dispose([...parts, other]);
    });

    it('are read by other backends', () => {
      const name = tf.getBackend();
      const whole = counting(2, 4);
      const parts = tf.split(whole, 2, 1);
      whole.dispose();
      tf.setBackend('cpu');
      const sums = parts.map((part) => tf.tidy(() => part.sum().dataSync()[0]));
      tf.dispose(parts);
      tf.setBackend(name);
      expect(sums).toEqual([10, 18]);
    });

    it('are copies of rows, and of other kinds of tensors', () => {
      tf.tidy(() => {
        const rows = tf.split(counting(4, 2), 2, 0);
        const ints = tf.split(counting(2, 4).toInt(), 2, 1);
        const vectors = tf.split(tf.range(0, 4).add(1), 2);
        const cubes = tf.split(counting(2, 4).reshape([2, 2, 2]), 2, 1);
        const arrays = tf.split(tf.tensor2d([0, 1, 2, 3], [2, 2]), 2, 1);
        for (const part of [...rows, ...ints, ...vectors, ...cubes, ...arrays]) expect(isView(part)).toBe(false);
        expect([...rows[1]!.dataSync()]).toEqual([4, 5, 6, 7]);
        expect([...ints[1]!.dataSync()]).toEqual([2, 3, 6, 7]);
        expect([...arrays[1]!.dataSync()]).toEqual([1, 3]);
      });
    });

    it('have gradients', () => {
      tf.tidy(() => {
        const f = (x: tf.Tensor): tf.Tensor => {
          const [a, b] = tf.split(x, [1, 3], 1) as [tf.Tensor, tf.Tensor];
          return tf
            .concat([b.mul(2), a.square(), b], 1)
            .mul(tf.range(0, 7))
            .sum();
        };
        const found = tf.grad(f)(counting(2, 4)).dataSync();
        expect([...found]).toEqual([0, 4, 7, 10, 24, 4, 7, 10]);
      });
    });

    it('give the numbers of copies in drawn programs', () => {
      const random = new Random(31);
      for (let program = 0; program < 60; program++) {
        tf.tidy(() => {
          const [rows, widths] = [
            random.whole(1, 4),
            Array.from({ length: random.whole(1, 5) }, () => random.whole(1, 4)),
          ];
          const columns = widths.reduce((sum, width) => sum + width, 0);
          let at = 0;
          const parts = tf.split(counting(rows, columns), widths, 1).map((tensor, i) => {
            const expected = columnsOf(rows, columns, at, at + widths[i]!);
            at += widths[i]!;
            return { tensor, expected };
          });
          for (let turn = 0; turn < 6; turn++) {
            const part = random.pick(parts);
            const what = random.whole(0, 5);
            if (what === 0) part.tensor = part.tensor.clone();
            else if (what === 1) part.tensor = part.tensor.reshape([-1, part.tensor.shape[1]!]);
            else if (what === 2 && random.chance(0.3)) part.tensor = part.tensor.mul(1);
            else if (what === 3) expect([...tf.split(part.tensor, 1, 1)[0]!.dataSync()]).toEqual(part.expected);
            else
              expect(
                tf.concat(
                  parts.map(({ tensor }) => tensor),
                  1,
                ).shape,
              ).toEqual([rows, columns]);
          }
          const all = tf.concat(
            parts.map(({ tensor }) => tensor),
            1,
          );
          expect([...all.dataSync()]).toEqual(columnsOf(rows, columns, 0, columns));
          for (const { tensor, expected } of parts) expect([...tensor.dataSync()]).toEqual(expected);
        });
      }
    });

    describe('of pooled rows', () => {
      const [ROWS, BATCH] = [7, 3];
      const layouts: LayoutName[] = ['whole', 'columns', 'replicated', 'range', 'whole'];
      const tables = (): tf.Variable[] =>
        layouts.map((name, i) => {
          const size = { rows: ROWS, columns: 2 + i };
          return place(
            layoutOf(name, size, 2, new Random(i)),
            Float32Array.from({ length: ROWS * size.columns }, (_, k) => k),
            `table_${i}`,
          );
        });
      const lookUp = (table: tf.Variable, ids: readonly number[]): Parameters<typeof lookUpPooled>[0][number] => ({
        table: tableOf(table),
        bags: {
          values: tf.tensor1d([...ids], 'int32'),
          rowSplits: tf.range(0, ids.length + 1, 1, 'int32'),
          weights: null,
        },
        options: SUM,
      });
      const rowsOf = (ids: readonly number[], columns: number): number[] =>
        ids.flatMap((id) => Array.from({ length: columns }, (_, column) => id * columns + column));

      it('lie side by side, those of each size of batch', () => {
        tf.tidy(() => {
          const all = tables();
          const ids = [
            [0, 6, 3],
            [1, 1, 1],
            [2, 5],
            [4, 0, 2],
            [6, 5],
          ];
          const pooled = lookUpPooled(all.map((table, i) => lookUp(table, ids[i]!)));
          expect(pooled.map(isView)).toEqual([true, true, true, false, true]);
          const side = tf.concat([pooled[0]!, pooled[1]!], 1);
          expect(side.shape).toEqual([BATCH, 5]);
          pooled.forEach((each, i) => expect([...each.dataSync()]).toEqual(rowsOf(ids[i]!, 2 + i)));
          expect([...side.slice([1, 0], [1, 5]).dataSync()]).toEqual([12, 13, 3, 4, 5]);
          const [none] = lookUpPooled([lookUp(all[0]!, [])]);
          expect(none!.shape).toEqual([0, 2]);
          tf.dispose(all);
        });
      });

      it('are the gradients of steps where they lie', () => {
        tf.tidy(() => {
          const all = tables();
          const widths = all.map((_, i) => 2 + i);
          const gradient = tf.ones([BATCH, 20]).mul(tf.range(0, 20));
          const parts = tf.split(gradient, widths, 1) as tf.Tensor2D[];
          const update = all.map((table, i) => ({
            ...{ optimizer: 'sgd' as const, table: tableOf(table), slots: [], dense: null },
            hyper: packHyper({ ...NEUTRAL_HYPER, learningRate: 1 }),
            entries: [{ ...lookUp(table, [1, 3, 1]), gradient: parts[i]! }],
          }));
          // Rows that are dealt out are read on the host.
          emulator().update(update.filter((_, i) => i !== 3));
          expect(parts.map(isView)).toEqual(parts.map(() => true));
          emulator().update(update.filter((_, i) => i === 3));
          let at = 0;
          all.forEach((table, i) => {
            const [columns, first] = [widths[i]!, at];
            const expected = Array.from({ length: ROWS * columns }, (_, k) => {
              const times = [0, 2, 0, 1, 0, 0, 0][Math.floor(k / columns)]!;
              return k - times * (first + (k % columns));
            });
            expect([...table.dataSync()])
              .withContext(layouts[i]!)
              .toEqual(expected);
            at += columns;
          });
          tf.dispose(all);
        });
      });

      it('are made on the backend in use', () => {
        const name = tf.getBackend();
        const all = tables();
        const given = all.map((table) => lookUp(table, [0, 1, 2]));
        tf.setBackend('cpu');
        try {
          const pooled = lookUpPooled(given);
          pooled.forEach((each, i) => expect([...each.dataSync()]).toEqual(rowsOf([0, 1, 2], 2 + i)));
          tf.dispose(pooled);
        } finally {
          tf.setBackend(name);
        }
        tf.dispose(given.map(({ bags }) => [bags.values, bags.rowSplits]));
        tf.dispose(all);
      });

      it('are gone where an id was refused', () => {
        tf.tidy(() => {
          const all = tables();
          const before = tf.memory();
          const given = all.map((table) => lookUp(table, [0, 1, ROWS]));
          const tensors = tf.memory().numTensors;
          expect(() => lookUpPooled(given)).toThrowError(IdOutOfRange);
          expect(tf.memory().numTensors).toBe(tensors);
          expect(tf.memory().numDataBuffers).toBe(before.numDataBuffers + 2 * all.length);
          tf.dispose(all);
        });
      });
    });
  },
  ['tensorflow'],
);
