/** Tables that are filled a few rows at a time, on every backend. */
import * as tf from '@tensorflow/tfjs';
import { genericTables } from '../../src/backends/generic/register.js';
import { currentBackend } from '../../src/backends/registry.js';
import { writtenTable } from '../../src/backends/written_table.js';
import { describeForBackends } from '../helpers/backends.js';
import { expectNoLeak } from '../helpers/tensors.js';

const SHAPES = [[5], [7, 3], [1, 1], [4, 2, 3], [300, 17]];

function counting(length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => i + 1);
}

describeForBackends('a table that is written a few rows at a time', () => {
  it('holds what was written, in any order, and zeros elsewhere', () => {
    for (const shape of SHAPES) {
      const [rows, ...rest] = shape as [number, ...number[]];
      const width = rest.reduce((product, size) => product * size, 1);
      const numbers = counting(rows * width);
      const skipped = Math.min(rows - 1, 2);
      expectNoLeak(() => {
        const table = writtenTable(shape, (write) => {
          for (let row = rows - 1; row >= 0; row--) {
            if (row !== skipped) write(row, numbers.subarray(row * width, (row + 1) * width));
          }
        });
        const expected = numbers.slice().fill(0, skipped * width, (skipped + 1) * width);
        expect(table.shape).toEqual(shape);
        expect(table.dtype).toBe('float32');
        expect(Array.from(table.dataSync())).withContext(String(shape)).toEqual(Array.from(expected));
        table.dispose();
      });
    }
  });

  it('takes nothing from memory that held other numbers', () => {
    tf.dispose(writtenTable([64, 64], (write) => write(0, counting(64 * 64))));
    const table = writtenTable([64, 64], () => {});
    expect(Array.from(table.dataSync()).some((value) => value !== 0)).toBeFalse();
    table.dispose();
  });

  it('is gone where filling fails', () => {
    const failing = (): tf.Tensor =>
      writtenTable([3, 2], (write) => {
        write(0, counting(2));
        throw new RangeError('no more');
      });
    expectNoLeak(() => expect(failing).toThrowError(RangeError, 'no more'));
  });

  it('is read a few rows at a time, and takes no rows once others see it', () => {
    const { tables } = currentBackend();
    const writer = tables.begin([6, 4]);
    writer.write(1, counting(20));
    const table = writer.finish();
    for (const [first, rows] of [
      [0, 1],
      [0, 6],
      [2, 3],
      [5, 1],
    ] as const) {
      const room = new Float32Array(rows * 4).fill(NaN);
      if (!tables.read(table, first, room)) {
        expect(Array.from(room)).toEqual(new Array(rows * 4).fill(NaN));
        continue;
      }
      const whole = table.dataSync<'float32'>();
      expect(Array.from(room)).toEqual(Array.from(whole.subarray(first * 4, (first + rows) * 4)));
    }
    const variable = tf.tidy(() => tf.variable(table.as2D(6, 4)));
    expect(tables.rewrite(variable)).toBeNull();
    expect(Array.from(table.dataSync()).slice(0, 5)).toEqual([0, 0, 0, 0, 1]);
    tf.dispose([table, variable]);
  });

  it('becomes a variable that is written where it lies', () => {
    const { tables } = currentBackend();
    const values = tables.begin([4, 3]).finish();
    const variable = tf.variable(values);
    values.dispose();
    tables.place(variable);
    const write = tables.rewrite(variable);
    write?.(2, counting(6));
    const written = write === null ? [0, 0, 0, 0, 0, 0] : [1, 2, 3, 4, 5, 6];
    expect(Array.from(variable.dataSync())).toEqual([0, 0, 0, 0, 0, 0, ...written]);
    expect(write === null).toBe(tables === genericTables.tables);
    variable.dispose();
  });

  it('is freed where its making ends early', () => {
    expectNoLeak(() => currentBackend().tables.begin([4, 3]).cancel());
  });
});
