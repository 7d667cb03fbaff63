/** Rows that are put in by hand, beside a plain list of keys. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';
import { expectError, leakFree, take } from '../../layers/setup.js';

/** Keys of one shard in the order of their rows; null: a free one. No step trains, so that of the others the lowest rows go. */
class PlainRows {
  readonly rows: (number | null)[] = [];
  readonly values = new Map<number, number>();
  /** Free rows, the one that was freed last at the end. */
  readonly #free: number[] = [];

  constructor(readonly capacity: number) {}

  upsert(keys: readonly number[], values: readonly number[]): void {
    const fresh = [...new Set(keys.filter((key) => !this.values.has(key)))];
    if (this.values.size + fresh.length > this.capacity) {
      const left = Math.min(Math.floor(0.5 * this.capacity), this.capacity - fresh.length);
      for (let row = 0; row < this.rows.length && this.values.size > left; row++) {
        const key = this.rows[row]!;
        if (key === null || keys.includes(key)) continue;
        this.values.delete(key);
        this.rows[row] = null;
        this.#free.push(row);
      }
    }
    for (const key of fresh) this.rows[this.#free.pop() ?? this.rows.length] = key;
    keys.forEach((key, i) => this.values.set(key, values[i]!));
  }
}

describe('upsert', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  it(
    'takes the last row of each key, and makes room without the keys that it is given',
    leakFree(() => {
      for (let number = 0; number < 30; number++) {
        const random = new Random(number);
        const capacity = random.whole(6, 20);
        const table = emb.openTable({ outputDim: 1, capacity, evict: { policy: 'lru', keep: 0.5 }, seed: 1 });
        const plain = new PlainRows(capacity);
        for (let call = 0; call < 20; call++) {
          const distinct = Array.from({ length: random.whole(1, 6) }, () => random.whole(0, 40));
          const keys = Array.from({ length: random.whole(1, 12) }, () => random.pick(distinct));
          const values = keys.map((_, i) => 100 * call + i);
          const rows = tf.tensor2d(values, [keys.length, 1]);
          table.upsert(keys, rows);
          rows.dispose();
          plain.upsert(keys, values);
          const known = [...plain.values.keys()];
          expect(table.size()).withContext(`${number}`).toBe(known.length);
          expect(table.has(known).every((isThere) => isThere)).toBeTrue();
          expect(take(table.lookup(known))).toEqual([...plain.values.values()]);
          const used = plain.rows.flatMap((key, row) => (key === null ? [] : [row]));
          expect(table.keysOf(used)).toEqual(BigInt64Array.from(used, (row) => BigInt(plain.rows[row]!)));
        }
        table.dispose();
      }
    }),
  );

  it(
    'refuses more keys than there are rows, those that it is given twice counted once',
    leakFree(() => {
      const table = emb.openTable({ outputDim: 1, capacity: 4, seed: 1 });
      const put = (keys: readonly number[]): void => {
        tf.tidy(() => table.upsert([...keys], tf.ones([keys.length, 1])));
      };
      put([1, 2, 3]);
      // Of the five keys three have a row and stay.
      expectError(() => put([1, 2, 3, 4, 5]), 'ValueError', 'keys');
      expect(table.has([1, 2, 3, 4, 5])).toEqual([true, true, true, false, false]);
      put([3, 4, 3, 5, 2, 5]);
      expect(table.has([1, 2, 3, 4, 5])).toEqual([false, true, true, true, true]);
      table.dispose();
    }),
  );
});
