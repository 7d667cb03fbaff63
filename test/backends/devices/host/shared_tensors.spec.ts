/** Tensors of TensorFlow that are shared with the devices. */
import * as tf from '@tensorflow/tfjs';
import type { TableUpdate } from '../../../../src/backends/contract.js';
import { NEUTRAL_HYPER, packHyper } from '../../../../src/rules/hyper.js';
import { IdOutOfRange } from '../../../../src/backends/kernel_set.js';
import type { Addon } from '../../../../src/backends/native/addon.js';
import { SharedTensors } from '../../../../src/backends/devices/host/shared_tensors.js';
import { running } from '../../../../src/backends/emulator/register.js';
import { skipOrFail } from '../../../helpers/backends.js';
import { SUM } from '../../cpu/steps.js';
import { emulator, loadHost, startEmulator, stopEmulator } from '../../emulator/describe_emulator.js';
import { idsOfOp, layoutOf, numbersOf, place, lookUpPooled } from '../../emulator/tables.js';
import { Random } from '../../../helpers/random.js';
import { tableOf } from '../../../../src/backends/table.js';

const [ROWS, COLUMNS, BATCH] = [6, 5, 4];
const UNKNOWN = /`key`: no tensor is shared under it/;
const OUTSIDE = /`at`: the rows lie outside the tensor that is shared/;

for (const devices of ['worker', 'inline'] as const) {
  describe(`shared tensors of TensorFlow [devices: ${devices}]`, () => {
    let before: string;
    let missing: string | null = null;
    let addon: Addon;
    let keys: jasmine.Spy<() => number>;

    beforeAll(async () => {
      await tf.ready();
      before = tf.getBackend();
      missing = await loadHost('tensorflow');
      if (missing === null) await startEmulator({ chips: 2, coresPerChip: 1, host: 'tensorflow', devices });
    }, 60_000);
    afterAll(() => stopEmulator(before));

    beforeEach(() => {
      if (missing !== null) return skipOrFail(missing);
      const found = running()!.machine.set.addon;
      if (found === null) return fail('the devices have no addon');
      addon = found as Addon;
      keys = spyOn(addon, 'newSharedTensorKey').and.callThrough();
    });

    const shared = (): number[] => keys.calls.all().map(({ returnValue }) => returnValue as number);
    const read = (key: number): void => addon.readSharedTensor(key, 0, 1, 1, 1, new Float32Array(1));

    function placedTable(layout: 'columns' | 'replicated' | 'range'): tf.Variable {
      const size = { rows: ROWS, columns: COLUMNS };
      return place(layoutOf(layout, size, 2, new Random(3)), new Float32Array(ROWS * COLUMNS));
    }

    function update(table: tf.Variable, gradient: tf.Tensor2D, ids = [0, 5, 2, 5]): TableUpdate {
      const values = tf.tensor1d(ids, 'int32');
      const rowSplits = tf.range(0, BATCH + 1, 1, 'int32');
      const hyper = packHyper({ ...NEUTRAL_HYPER, learningRate: 1 });
      const entry = { gradient, bags: { values, rowSplits, weights: null }, options: SUM };
      return { optimizer: 'sgd', table: tableOf(table), slots: [], entries: [entry], dense: null, hyper };
    }

    const gradientOfOp = (): tf.Tensor2D =>
      tf
        .range(0, BATCH * COLUMNS)
        .reshape([BATCH, COLUMNS])
        .mul(2);

    function expectStepped(table: tf.Variable): void {
      const rows = numbersOf(table);
      for (let column = 0; column < COLUMNS; column++) {
        const [a, b, c, d] = [0, 1, 2, 3].map((bag) => 2 * (bag * COLUMNS + column));
        const expected = [-a!, 0, -c!, 0, 0, -(b! + d!)].map((value) => value + 0);
        expect(rows.filter((_, at) => at % COLUMNS === column).map((value) => value + 0)).toEqual(expected);
      }
    }

    for (const layout of ['columns', 'replicated'] as const) {
      it(`are gradients of steps, and no longer than a step: ${layout}`, () => {
        tf.tidy(() => {
          const table = placedTable(layout);
          emulator().update([update(table, gradientOfOp())]);
          expect(shared().length).toBeGreaterThan(0);
          // Workers step while the host goes on, until somebody waits for them.
          emulator().machine.settle();
          for (const key of shared()) expect(() => read(key)).toThrowError(RangeError, UNKNOWN);
          expectStepped(table);
          table.dispose();
        });
      });
    }

    for (const layout of ['whole', 'columns', 'replicated', 'range'] as const) {
      it(`are ids of lookups, which a device copies that alone needs them: ${layout}`, () => {
        tf.tidy(() => {
          const size = { rows: ROWS, columns: COLUMNS };
          const data = Float32Array.from({ length: ROWS * COLUMNS }, (_, i) => i);
          const table = place(layoutOf(layout, size, 2, new Random(3)), data);
          const values = idsOfOp([0, 5, 2, 5]);
          const bags = { values, rowSplits: tf.range(0, BATCH + 1, 1, 'int32') as tf.Tensor1D, weights: null };
          tf.dispose(lookUpPooled([{ table: tableOf(table), bags, options: SUM }])); // the first sharing is tried out here
          const here = spyOn(addon, 'readSharedTensor').and.callThrough();
          const [rows] = lookUpPooled([{ table: tableOf(table), bags, options: SUM }]);
          const copiesHere = { whole: devices === 'inline' ? 1 : 0, columns: 1, replicated: 1, range: 0 };
          expect(here).toHaveBeenCalledTimes(copiesHere[layout]);
          expect(numbersOf(rows!)).toEqual([0, 5, 2, 5].flatMap((id) => [0, 1, 2, 3, 4].map((i) => id * COLUMNS + i)));
          for (const key of shared()) expect(() => read(key)).toThrowError(RangeError, UNKNOWN);
          table.dispose();
        });
      });
    }

    it('are ids that a device refuses', () => {
      tf.tidy(() => {
        const table = place(layoutOf('whole', { rows: ROWS, columns: 1 }, 2, new Random(3)), new Float32Array(ROWS));
        const values = idsOfOp([0, 5, ROWS, 5]);
        const bags = { values, rowSplits: tf.range(0, BATCH + 1, 1, 'int32') as tf.Tensor1D, weights: null };
        const look = (): void => void lookUpPooled([{ table: tableOf(table), bags, options: SUM }]);
        expect(look).toThrow(new IdOutOfRange(ROWS, 2, ROWS));
        expect(shared().length).toBeGreaterThan(0);
        for (const key of shared()) expect(() => read(key)).toThrowError(RangeError, UNKNOWN);
        table.dispose();
      });
    });

    it('are not gradients that TensorFlow does not have yet, nor those that the host reads', () => {
      tf.tidy(() => {
        const [made, rows] = [placedTable('columns'), placedTable('range')];
        const values = Float32Array.from({ length: BATCH * COLUMNS }, (_, i) => 2 * i);
        emulator().update([update(made, tf.tensor2d(values, [BATCH, COLUMNS])), update(rows, gradientOfOp())]);
        expectStepped(made);
        expectStepped(rows);
        tf.dispose([made, rows]);
      });
    });

    it('are none where a step is refused', () => {
      tf.tidy(() => {
        const table = placedTable('columns');
        const good = update(table, gradientOfOp());
        const bad = update(table, gradientOfOp(), [0, 1, ROWS, 1]);
        expect(() => emulator().update([good, bad])).toThrow(new IdOutOfRange(ROWS, 2, ROWS));
        expect(shared().length).toBeGreaterThan(0);
        for (const key of shared()) expect(() => read(key)).toThrowError(RangeError, UNKNOWN);
        expect(numbersOf(table).every((value) => value === 0)).toBeTrue();
        emulator().update([good]);
        expectStepped(table);
        table.dispose();
      });
    });

    it('are read within their bounds only, and live as long as they are shared', () => {
      tf.tidy(() => {
        const sharedTensors = new SharedTensors(tf.backend(), addon, () => true);
        const source = tf.range(0, 12).mul(1);
        const key = sharedTensors.add(source, 'float32')!;
        expect(() => read(key)).toThrowError(RangeError, UNKNOWN);
        sharedTensors.share();
        source.dispose();
        const part = (at: number, stride: number, rows: number, columns: number): number[] => {
          const target = new Float32Array(rows * columns).fill(-1);
          addon.readSharedTensor(key, at, stride, rows, columns, target);
          return Array.from(target);
        };
        expect(part(0, 12, 1, 12)).toEqual(Array.from({ length: 12 }, (_, i) => i));
        expect(part(1, 4, 3, 2)).toEqual([1, 2, 5, 6, 9, 10]);
        expect(part(11, 100, 1, 1)).toEqual([11]);
        expect(part(3, 0, 2, 2)).toEqual([3, 4, 3, 4]);
        expect(part(12, 1, 0, 5)).toEqual([]);
        const most = Number.MAX_SAFE_INTEGER;
        for (const [at, stride, rows, columns] of [
          [12, 1, 1, 1],
          [0, 12, 1, 13],
          [0, 4, 3, 5],
          [1, 11, 2, 1],
          [most, 1, 1, 1],
          [0, most, 2, 1],
          [1, most, 3, 4],
        ] as const) {
          expect(() => part(at, stride, rows, columns)).toThrowError(RangeError, OUTSIDE);
        }
        sharedTensors.release();
        expect(() => read(key)).toThrowError(RangeError, UNKNOWN);
      });
    });

    it('are ids too', () => {
      tf.tidy(() => {
        const sharedTensors = new SharedTensors(tf.backend(), addon, () => true);
        const [ids, floats] = [tf.range(0, 5, 1, 'int32').add(tf.scalar(7, 'int32')), tf.ones([2]).mul(3)];
        const [first, second] = [sharedTensors.add(ids, 'int32')!, sharedTensors.add(floats, 'float32')!];
        sharedTensors.share();
        const [a, b] = [new Int32Array(5), new Float32Array(2)];
        sharedTensors.read({ key: first, at: 0, stride: 5 }, 5, a);
        sharedTensors.read({ key: second, at: 0, stride: 1 }, 1, b);
        sharedTensors.release();
        expect([...a, ...b]).toEqual([7, 8, 9, 10, 11, 3, 3]);
      });
    });

    it('are none where another library has the ops', () => {
      const throws = (): void => {
        throw new RangeError('no tensor is shared under it');
      };
      for (const readSharedTensor of [throws, () => undefined]) {
        const other: Addon = Object.assign(Object.create(addon) as Addon, { readSharedTensor });
        const sharedTensors = new SharedTensors(tf.backend(), other, () => true);
        tf.tidy(() => expect(sharedTensors.add(tf.ones([2]).mul(3), 'float32')).toBeNull());
      }
    });
  });
}
