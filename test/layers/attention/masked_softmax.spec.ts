/** Masks of attention, place by place. */
import * as tf from '@tensorflow/tfjs';
import { causalMask, joinedMask, windowMask } from '../../../src/layers/attention/masked_softmax.js';
import { leakFree, take, useCpu } from '../setup.js';

/** A mask, by what says whether a query sees a key. */
function expected(queries: number, keys: number, sees: (query: number, key: number) => boolean): number[] {
  return Array.from({ length: queries * keys }, (_, i) => Number(sees(Math.floor(i / keys), i % keys)));
}

describe('masks of attention', () => {
  beforeAll(useCpu);

  for (const [queries, keys] of [
    [4, 4],
    [3, 5],
    [5, 2],
  ] as const) {
    it(
      `show keys that are not behind a query: ${queries} by ${keys}`,
      leakFree(() => {
        const mask = tf.tidy(() => causalMask(queries, keys));
        expect(mask.shape).toEqual([queries, keys]);
        expect(take(mask)).toEqual(expected(queries, keys, (query, key) => key <= query));
      }),
    );

    it(
      `show keys that are fewer places away than a window is wide: ${queries} by ${keys}`,
      leakFree(() => {
        for (const size of [1, 2, 3, 9]) {
          const mask = tf.tidy(() => windowMask(queries, keys, size));
          expect(mask.shape).toEqual([queries, keys]);
          expect(take(mask)).toEqual(expected(queries, keys, (query, key) => Math.abs(query - key) < size));
        }
      }),
    );
  }

  it(
    'are joined by and; none is no mask',
    leakFree(() => {
      expect(joinedMask(() => [null, null])).toBeNull();
      const mask = tf.tidy(() => joinedMask(() => [causalMask(4, 4), null, windowMask(4, 4, 2)])!);
      expect(take(mask)).toEqual(expected(4, 4, (query, key) => key <= query && query - key < 2));
    }),
  );
});
