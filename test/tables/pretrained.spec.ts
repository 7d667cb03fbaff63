import * as tf from '@tensorflow/tfjs';
import { FLOAT16 } from '../../src/codecs/float16.js';
import { readTableValues, tableTensor } from '../../src/tables/pretrained.js';
import { expectError } from '../helpers/errors.js';
import { expectNoLeak } from '../helpers/tensors.js';

const ROWS = [[1, 2], [3, 4], [5, 6]]; // prettier-ignore
const FLAT = [1, 2, 3, 4, 5, 6];

describe('values for a table', () => {
  it('are a tensor, nested arrays or a flat typed array', () => {
    expectNoLeak(() => {
      const tensor = tf.tensor2d(ROWS);
      expect(readTableValues([tensor], 3, 2)).toBe(tensor);
      for (const given of [
        ROWS,
        ROWS.map((row) => Float32Array.from(row)),
        Float32Array.from(FLAT),
        Float64Array.from(FLAT),
      ]) {
        const read = readTableValues([given], 3, 2) as Float32Array;
        expect(read).toBeInstanceOf(Float32Array);
        expect([...read]).toEqual(FLAT);
        expect(read).not.toBe(given as never);
      }
      const copies = [tableTensor(tensor, 3, 2), tableTensor(Float32Array.from(FLAT), 3, 2)];
      for (const copy of copies) expect([copy.arraySync(), copy.dtype, copy.shape]).toEqual([ROWS, 'float32', [3, 2]]);
      expect(copies[0]).not.toBe(tensor);
      tf.dispose([tensor, ...copies]);
    });
  });

  it('are words where the table is of words', () => {
    const [words, floats] = [tf.zeros([3, 1], 'int32'), tf.tensor2d(ROWS)];
    const form = { codec: FLOAT16, dim: 2 };
    expect(readTableValues([words], 3, 2, form)).toBe(words);
    expect(readTableValues([floats], 3, 2, form)).toBe(floats);
    expectError(() => readTableValues([words], 3, 2), 'TypeError', 'weights', 'int32');
    expectError(() => readTableValues([words], 2, 2, form), 'ValueError', 'weights', '[3, 1]');
    tf.dispose([words, floats]);
  });

  it('say what is wrong with them', () => {
    const read = (given: unknown) => () => readTableValues([given], 3, 2);
    const tensors = [tf.zeros([3, 2], 'int32'), tf.zeros([2, 2]), tf.zeros([3, 3]), tf.zeros([6]), tf.zeros([3, 2])];
    const [ints, short, wide, flat, gone] = tensors;
    gone!.dispose();
    expectError(read(ints), 'TypeError', 'weights', 'int32');
    for (const wrong of [short, wide, flat]) expectError(read(wrong), 'ValueError', 'weights', 'float32 tensor');
    expectError(read(gone), 'ValueError', 'weights', 'disposed');
    expectError(read(ROWS.slice(1)), 'ValueError', 'weights', '2 rows');
    expectError(read([[1, 2], [3], [5, 6]]), 'ValueError', 'weights', '1 numbers in row 1'); // prettier-ignore
    expectError(read([[1, 2], 3, [5, 6]]), 'TypeError', 'weights', '3'); // prettier-ignore
    const holes = [[1, 2]];
    holes[2] = [5, 6];
    expectError(read(holes), 'TypeError', 'weights', 'undefined');
    expectError(read(Float32Array.of(1)), 'ValueError', 'weights', '1');
    expectError(read('text'), 'TypeError', 'weights', 'text');
    expectError(() => readTableValues(ROWS, 3, 2), 'ValueError', 'weights', 'a list of 3');
    expectError(() => readTableValues(3, 3, 2), 'TypeError', 'weights', '3');
    expect(read(Float32Array.of(1))).toThrowError(/3 x 2 = 6 numbers/);
    tf.dispose(tensors.slice(0, 4));
  });
});
