/** Ops that make tables and write their rows. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../../src/base/errors.js';
import { fromTensorFlow } from '../../../src/backends/tensorflow/op_errors.js';
import { memoryStore } from '../../../src/backends/stores/memory_store.js';
import { Ownership } from '../../../src/backends/tensorflow/ownership.js';
import { WHOLE_OPS } from '../../../src/backends/tensorflow/whole_ops.js';
import { describeTensorFlow, nodeBackend } from './tensorflow_backend.js';

const { begin, rewrite, read } = memoryStore({ ...WHOLE_OPS.memory, place: () => undefined, view: () => null });
const newTable = (shape: readonly number[]): tf.Tensor => begin(shape).finish();

/** Writes rows where they lie; false where others see the table. */
function writeRows(table: tf.Tensor, firstRow: number, values: Float32Array): boolean {
  const write = rewrite(table as tf.Variable);
  write?.(firstRow, values);
  return write !== null;
}

/** What the op says of these inputs, in the words of this package; null: it ran. */
function errorOf(op: string, inputs: readonly tf.Tensor[], outputs = 0): unknown {
  try {
    tf.dispose(nodeBackend().executeMultipleOutputs(op, [], inputs, outputs));
    return null;
  } catch (error) {
    return fromTensorFlow(op, error);
  }
}

describeTensorFlow('EmbeddingNewTable', () => {
  it('gives zeros of any size, small and of many pages', () => {
    for (const shape of [[0, 4], [1], [3, 0], [3, 5], [70_001, 17]]) {
      const table = newTable(shape);
      expect(table.shape).toEqual(shape);
      expect(table.dataSync().some((value) => value !== 0)).toBeFalse();
      table.dispose();
    }
  });

  it('gives zeros where numbers lay before', () => {
    for (let round = 0; round < 4; round++) {
      const table = newTable([2 ** 16, 40]);
      expect(table.dataSync().some((value) => value !== 0)).toBeFalse();
      for (let row = 0; row < 2 ** 16; row += 2 ** 13) {
        expect(writeRows(table, row, new Float32Array(40 * 2 ** 13).fill(7))).toBeTrue();
      }
      table.dispose();
    }
  });

  it('names the shape that it cannot make', () => {
    for (const [shape, expected] of [
      [[], /^shape: .*1 to 8 dimensions.*0/],
      [[3, -1], /shape.*no negative size.*-1/],
      [[1, 1, 1, 1, 1, 1, 1, 1, 1], /shape.*1 to 8 dimensions.*9/],
      [[2 ** 31 - 1, 2 ** 31 - 1], /shape.*fit into memory/],
    ] as const) {
      const sizes = tf.tensor1d([...shape], 'int32');
      const error = errorOf('EmbeddingNewTable', [sizes], 1) as Error;
      expect(error).toBeInstanceOf(ValueError);
      expect(error.message.replaceAll('`', '')).toMatch(expected);
      sizes.dispose();
    }
  });
});

describeTensorFlow('EmbeddingWriteRows', () => {
  it('refuses rows outside the table and parts of rows, and writes nothing then', () => {
    const table = newTable([4, 3]);
    const cases: [number, number, RegExp][] = [
      [6, 3, /first_row.*room for 2 rows below 4.*3/],
      [3, 4, /first_row.*room for 1 rows below 4.*4/],
      [3, -1, /first_row.*-1/],
      [3, 2 ** 31 - 1, /first_row.*2147483647/],
      [15, 0, /first_row.*room for 5 rows/],
      [4, 0, /values.*whole rows of 3.*4 numbers/],
    ];
    for (const [count, first, expected] of cases) {
      const inputs = [table, tf.ones([count]), tf.scalar(first, 'int32')];
      expect((errorOf('EmbeddingWriteRows', inputs) as Error).message).toMatch(expected);
      tf.dispose(inputs.slice(1));
    }
    const flat = tf.ones([3, 1]);
    const row = tf.scalar(0, 'int32');
    expect(errorOf('EmbeddingWriteRows', [table, flat, row])).not.toBeNull();
    expect(table.dataSync().some((value) => value !== 0)).toBeFalse();
    tf.dispose([table, flat, row]);
  });

  it('writes rows by their numbers, and none of them where one is outside the table', () => {
    const table = newTable([4, 2]);
    const values = tf.tensor1d([1, 2, 3, 4]);
    const write = (rows: number[]): unknown => {
      const list = tf.tensor1d(rows, 'int32');
      const error = errorOf('EmbeddingWriteRows', [table, values, list]);
      list.dispose();
      return error;
    };
    expect((write([1, 4]) as Error).message).toMatch(/first_row.*below 4.*4/);
    expect((write([-1, 1]) as Error).message).toMatch(/first_row.*-1/);
    expect((write([1]) as Error).message).toMatch(/a number for each of 2 rows, received 1/);
    expect(table.dataSync().some((value) => value !== 0)).toBeFalse();
    expect(write([3, 0])).toBeNull();
    expect(Array.from(table.dataSync())).toEqual([3, 4, 0, 0, 0, 0, 1, 2]);
    tf.dispose([table, values]);
  });

  it('refuses to read what it writes', () => {
    const table = newTable([6]);
    const row = tf.scalar(0, 'int32');
    expect((errorOf('EmbeddingWriteRows', [table, table, row]) as Error).message).toMatch(/share memory/);
    tf.dispose([table, row]);
  });
});

describeTensorFlow('rows of a table', () => {
  it('are written and read without a copy of the table, then or at the next write', () => {
    const values = newTable([5, 2]);
    const table = tf.variable(values);
    values.dispose();
    const ownership = Ownership.of(nodeBackend());
    const { copies } = ownership;
    for (let round = 0; round < 3; round++) {
      expect(writeRows(table, round, Float32Array.of(round + 1, 9))).toBeTrue();
      const room = new Float32Array(2);
      expect(read(table, round, room)).toBeTrue();
      expect(Array.from(room)).toEqual([round + 1, 9]);
      ownership.makeWritable(table);
    }
    expect(ownership.copies).toBe(copies);
    table.dispose();
  });

  it('are not written where others see them, or where the table is an array of JavaScript', () => {
    const table = newTable([2, 2]);
    const seen = table.clone();
    expect(writeRows(table, 0, Float32Array.of(1, 2))).toBeFalse();
    seen.dispose();
    expect(writeRows(table, 0, Float32Array.of(1, 2))).toBeTrue();
    tf.dispose(table.reshape([4]));
    expect(writeRows(table, 0, Float32Array.of(3, 4))).toBeFalse();
    expect(Array.from(table.dataSync())).toEqual([1, 2, 0, 0]);
    const array = tf.tensor2d([1, 2, 3, 4], [2, 2]);
    expect(writeRows(array, 0, Float32Array.of(5, 6))).toBeFalse();
    expect(read(array, 0, new Float32Array(2))).toBeFalse();
    tf.dispose([table, array]);
  });
});
