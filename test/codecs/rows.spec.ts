import * as tf from '@tensorflow/tfjs';
import type { Codec } from '../../src/codecs/codec.js';
import { FLOAT16 } from '../../src/codecs/float16.js';
import { halfValue, nearestHalf } from '../../src/codecs/half.js';
import { INT8 } from '../../src/codecs/int8.js';
import * as emb from '../../src/node.js';

/** What a row is read as after it was packed. */
function kept(values: number[], codec: Codec): number[] {
  const words = new Int32Array(codec.words(values.length));
  codec.pack(Float32Array.from(values), values.length, words);
  return [...codec.unpack(words, values.length)];
}

describe('packed rows', () => {
  it('of int8 take the even code where a number lies in the middle of two', () => {
    // A range of 255 has a scale of 1: codes are the numbers themselves.
    for (const [start, sign] of [
      [0, 1],
      [-100, 1],
      [255, -1],
    ] as const) {
      const codes = [0, 255, 0.5, 1.5, 2.5, 3.5, 100.5, 101.5, 253.5, 254.5, 0.49, 0.51, 254.49];
      const nearest = [0, 255, 0, 2, 2, 4, 100, 102, 254, 254, 0, 1, 254];
      const [row, expected] = [codes, nearest].map((list) => list.map((code) => start + sign * code)) as [
        number[],
        number[],
      ];
      // Codes count from the least number.
      const fromEnd = sign < 0 ? [255, 0, 254, 254, 252, 252, 154, 154, 2, 0, 255, 254, 1] : expected;
      expect(kept(row, INT8)).toEqual(fromEnd);
    }
  });

  it('of float16 keep numbers up to half a step above the largest half, and no larger ones', () => {
    const step = 2 ** -8;
    for (const value of [65504, 65505, 65510, 65519, 65520 - step]) {
      for (const signed of [value, -value]) {
        expect(halfValue(nearestHalf(signed)))
          .withContext(`${signed}`)
          .toBe(Math.sign(signed) * 65504);
        expect(kept([1, signed, 2], FLOAT16)).toEqual([1, Math.sign(signed) * 65504, 2]);
        expect(FLOAT16.firstUnpackable(Float32Array.of(1, signed), 2)).toBeNull();
      }
    }
    for (const value of [65520, 65520 + step, 65536, 3e38]) {
      expect(halfValue(nearestHalf(-value))).toBe(-Infinity);
      const found = FLOAT16.firstUnpackable(Float32Array.of(1, 2, -value, 3), 2)!;
      expect([found.row, found.column, found.reason]).toEqual([1, 0, 'the largest half is 65504']);
    }
    expect(FLOAT16.firstUnpackable(Float32Array.of(Infinity, NaN), 2)).toBeNull();
  });

  it('of float16 take the even half where a number lies in the middle of two', () => {
    const unit = 2 ** -10;
    const numbers = [1 + unit / 2, 1 + 1.5 * unit, 1 + 2.5 * unit, 2 - unit / 2, 2 ** -25, 3 * 2 ** -25, 2049, 2051];
    expect(kept(numbers, FLOAT16)).toEqual([1, 1 + 2 * unit, 1 + 2 * unit, 2, 0, 2 ** -23, 2048, 2052]);
  });

  it('of a layer take weights that round to the largest half, and say which do not', async () => {
    await tf.ready();
    const before = tf.getBackend();
    await tf.setBackend('cpu');
    const layer = emb.layers.embedding({ inputDim: 2, outputDim: 2, storage: 'float16', inputShape: [1] });
    const model = tf.sequential({ layers: [layer] });
    const weights = (value: number): tf.Tensor => tf.tensor2d([1, 2, value, 4], [2, 2]);
    tf.tidy(() => {
      layer.setWeights([weights(65510)]);
      const rows = model.predict(tf.tensor2d([[1]], [1, 1], 'int32')) as tf.Tensor;
      expect([...rows.dataSync()]).toEqual([65504, 4]);
      expect(() => layer.setWeights([weights(65520)])).toThrowError(/65504.*65520|65520.*65504/s);
    });
    model.dispose();
    await tf.setBackend(before);
  });
});
