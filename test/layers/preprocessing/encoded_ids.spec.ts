import * as tf from '@tensorflow/tfjs';
import { CategoryEncoding } from '../../../src/layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../../src/layers/preprocessing/discretization_layer.js';
import { encodeIds, encodedShape } from '../../../src/layers/preprocessing/encoded_ids.js';
import type { PlainMode } from '../../../src/preprocessing/cells/output_mode.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectNoLeak } from '../../helpers/tensors.js';

/** The same with a loop for each id. */
function plainly(ids: readonly number[][], mode: PlainMode, depth: number): number[] {
  const rows = mode === 'oneHot' ? ids.flatMap((row) => row.map((id) => [id])) : ids;
  return rows.flatMap((row) => {
    const places = new Array<number>(depth).fill(0);
    for (const id of row) {
      if (id < 0 || id >= depth) continue;
      places[id] = mode === 'count' ? places[id]! + 1 : 1;
    }
    return places;
  });
}

describeForBackends(
  'Encoded ids',
  () => {
    for (const mode of ['oneHot', 'multiHot', 'count'] as const) {
      it(`are what a loop makes of them, those outside left out: ${mode}`, () => {
        expectNoLeak(() => {
          for (const [rows, length, depth] of [
            [4, 3, 5],
            [2, 1, 3],
            [1, 7, 1],
            [0, 3, 4],
            [3, 0, 2],
          ] as const) {
            const ids = Array.from({ length: rows }, (_, i) =>
              Array.from({ length }, (_, j) => ((i * 7 + j * 5) % (depth + 2)) - 1),
            );
            tf.tidy(() => {
              const given = tf.tensor(ids.flat(), [rows, length], 'int32');
              const encoded = encodeIds(given, mode, depth);
              expect(encoded.dtype).toBe('float32');
              expect(encoded.shape).toEqual(encodedShape([rows, length], mode, depth) as number[]);
              expect(Array.from(encoded.dataSync())).toEqual(plainly(ids, mode, depth));
            });
          }
        });
      });
    }

    it('come of bins: a boundary belongs to the bin above, NaN to the last one, both ends are open', () => {
      expectNoLeak(() => {
        tf.tidy(() => {
          const layer = new DiscretizationLayer({ binBoundaries: [-0.1, 0.1, 5] });
          const numbers = [-Infinity, -0.1, 0, Math.fround(0.1), 4.999, 5, Infinity, NaN];
          const ids = layer.apply(tf.tensor1d(numbers)) as tf.Tensor;
          expect(ids.dtype).toBe('int32');
          expect(Array.from(ids.dataSync())).toEqual([0, 1, 1, 2, 2, 3, 3, 3]);
        });
      });
    });

    it('come of whole numbers as float32 has them, in values and boundaries', () => {
      expectNoLeak(() => {
        tf.tidy(() => {
          const layer = new DiscretizationLayer({ binBoundaries: [16777220] });
          const ids = layer.apply(tf.tensor1d([16777219, 16777218], 'int32')) as tf.Tensor;
          expect(Array.from(ids.dataSync())).toEqual([1, 0]);
        });
      });
    });

    it('of a CategoryEncoding: too large ones count nowhere, negative ones are refused where Keras fails', () => {
      expectNoLeak(() => {
        tf.tidy(() => {
          const encode = (outputMode: string, ids: number[]): unknown => {
            const layer = new CategoryEncoding({ numTokens: 3, outputMode });
            return (layer.apply(tf.tensor2d([ids], [1, 2], 'int32')) as tf.Tensor).arraySync();
          };
          expect(encode('count', [7, 1])).toEqual([[0, 1, 0]]);
          expect(encode('oneHot', [-1, 1])).toEqual([
            [
              [0, 0, 0],
              [0, 1, 0],
            ],
          ]);
          for (const mode of ['count', 'multiHot']) {
            expect(() => encode(mode, [-1, 1])).toThrowError(/`inputs`.*at least 0.*-1/);
          }
        });
      });
    });

    it('cut fractions off, as a cast does', () => {
      expectNoLeak(() => {
        tf.tidy(() => {
          const layer = new CategoryEncoding({ numTokens: 3, outputMode: 'count' });
          expect((layer.apply(tf.tensor2d([[0.9, 2.5, 2]])) as tf.Tensor).arraySync()).toEqual([[1, 0, 2]]);
        });
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describe('Encoded ids', () => {
  it('drop a last axis of 1 with oneHot alone', () => {
    expect(encodedShape([null, 1], 'oneHot', 4)).toEqual([null, 4]);
    expect(encodedShape([null, 2, 1], 'oneHot', 4)).toEqual([null, 2, 4]);
    expect(encodedShape([null, 2], 'oneHot', 4)).toEqual([null, 2, 4]);
    expect(encodedShape([1], 'oneHot', 4)).toEqual([1, 4]);
    expect(encodedShape([null, 2], 'int', 4)).toEqual([null, 2]);
    expect(() => encodedShape([null, 2, 2], 'multiHot', 4)).toThrowError(/`inputs`.*rank 3/);
  });
});
