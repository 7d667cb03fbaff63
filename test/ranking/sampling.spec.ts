/** Negatives: distributions by chi-square, what is never drawn, draws that depend on their place alone. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { randomKey, randomWords } from '../../src/backends/counter_random.js';
import { expectError } from '../helpers/errors.js';
import { Random } from '../helpers/random.js';

type Args = emb.sampling.NegativesArgs;

const ITEMS = 12;
const ROWS = 6000;

function drawn(args: Partial<Args>): Int32Array {
  const positives = new Int32Array(ROWS);
  const tensor = emb.sampling.negatives({ numItems: ITEMS, perPositive: 5, positives, seed: 7, ...args });
  const values = tensor.dataSync<'int32'>().slice();
  tensor.dispose();
  return values;
}

/** Above what one draw in 100,000 reaches with this many classes. */
const MOST_CHI_SQUARE = 45;

/** Weights of items; those of 0 must never be drawn. */
function expectDistribution(values: Int32Array, weights: readonly number[]): void {
  const total = weights.reduce((sum, each) => sum + each, 0);
  let chiSquare = 0;
  weights.forEach((weight, item) => {
    const count = values.filter((value) => value === item).length;
    const expected = (values.length * weight) / total;
    if (weight === 0) expect(count).withContext(`item ${item}`).toBe(0);
    else chiSquare += (count - expected) ** 2 / expected;
  });
  expect(chiSquare).toBeLessThan(MOST_CHI_SQUARE);
}

const items = Array.from({ length: ITEMS }, (_, item) => item);
const counts = items.map((item) => (item === 5 ? 0 : (item + 1) ** 2));
const WEIGHTS: Readonly<Record<Args['distribution'] & string, readonly number[]>> = {
  uniform: items.map(() => 1),
  popularity: counts.map((count) => count ** 0.5),
  'log-uniform': items.map((item) => Math.log((item + 2) / (item + 1))),
};

describe('sampling.negatives', () => {
  for (const [distribution, weights] of Object.entries(WEIGHTS) as [keyof typeof WEIGHTS, number[]][]) {
    const args = { distribution, ...(distribution === 'popularity' && { counts, power: 0.5 }) };

    it(`draws by the distribution ${distribution}, never the positive`, () => {
      expectDistribution(drawn(args), weights.map((weight, item) => (item === 0 ? 0 : weight))); // prettier-ignore
      expectDistribution(drawn({ ...args, positives: new Int32Array(ROWS).fill(11) }), [...weights.slice(0, 11), 0]);
    });

    it(`never draws what was seen: ${distribution}`, () => {
      const seen = emb.RaggedTensor.fromRows([[9, 2, 2, 7], [], [...items.slice(0, 9), 11]]);
      const users = Int32Array.from({ length: ROWS }, (_, row) => row % 3);
      const values = drawn({ ...args, seen, users });
      const of = (user: number): Int32Array => values.filter((_, i) => Math.floor(i / 5) % 3 === user);
      expectDistribution(of(0), weights.map((weight, item) => ([0, 2, 7, 9].includes(item) ? 0 : weight))); // prettier-ignore
      expectDistribution(of(2), weights.map((weight, item) => ([9, 10].includes(item) ? weight : 0))); // prettier-ignore
    });
  }

  it('gives the same for a seed and a step, and another for others', () => {
    const first = drawn({});
    expect(drawn({})).toEqual(first);
    // As texts: of arrays each number that differs would be put into words.
    expect(drawn({ seed: 8 }).join()).not.toBe(first.join());
    expect(drawn({ step: 1 }).join()).not.toBe(first.join());
    // A place has its number whatever comes after it.
    expect(drawn({ positives: new Int32Array(10) })).toEqual(first.slice(0, 50));
    const seen = emb.RaggedTensor.fromRows(Array.from({ length: 10 }, () => [0]));
    expect(drawn({ positives: new Int32Array(10), seen })).toEqual(first.slice(0, 50));
  });

  it('gives, all alike, the item of its number among those that are left', () => {
    const random = new Random(8);
    for (let round = 0; round < 60; round++) {
      const [numItems, rows, perPositive] = [random.whole(30, 300), random.whole(1, 900), random.whole(1, 8)];
      const [seed, step] = [random.whole(0, 1000), random.whole(0, 3)];
      const positives = Array.from({ length: rows }, () => random.whole(0, numItems));
      const lists = Array.from({ length: 4 }, () => {
        return Array.from({ length: random.whole(0, 25) }, () => random.whole(0, numItems));
      });
      const users = positives.map(() => random.whole(0, 4));
      const seen = emb.RaggedTensor.fromRows(lists, { dtype: 'int32' });
      const values = drawn({ numItems, perPositive, positives, seen, users, seed, step });
      const words = new Int32Array(2 * rows * perPositive);
      const part = { firstRow: step * rows, rowStep: 1, rows, firstColumn: 0, columns: perPositive };
      randomWords(words, randomKey(seed), part);
      const expected = positives.flatMap((positive, row) => {
        const has = new Set([positive, ...lists[users[row]!]!]);
        const left = Array.from({ length: numItems }, (_, item) => item).filter((item) => !has.has(item));
        const ofRow = [...words.subarray(row * perPositive, (row + 1) * perPositive)];
        return ofRow.map((word) => left[Math.floor(((word >>> 0) / 2 ** 32) * left.length)]!);
      });
      expect([...values]).toEqual(expected);
    }
  });

  it('draws from a tensor that was seen before what it draws from a new one, however many items there are', () => {
    const lists = [[3, 1, 3], [0, 2], [], [4, 2, 2, 1]];
    const copy = (): emb.RaggedTensor => emb.RaggedTensor.fromRows(lists);
    const seen = copy();
    const before = [...seen.values];
    for (const [step, numItems] of [6, 40, 6, 5].entries()) {
      const users = [0, 2, 3, 1, 3];
      const given = { numItems, perPositive: 3, positives: [0, 1, 3, 4, 0], users, step };
      expect(drawn({ ...given, seen })).toEqual(drawn({ ...given, seen: copy() }));
    }
    expectError(() => drawn({ numItems: 4, positives: [0, 0, 0, 0], seen }), 'ValueError', 'seen[5]', '4');
    expect([...seen.values]).toEqual(before);
  });

  it('chooses among the few that are left', () => {
    const seen = emb.RaggedTensor.fromRows([items.slice(1)]);
    const few = { numItems: 100_000, counts: Array.from({ length: 100_000 }, (_, i) => (i < 99_999 ? 1e9 : 1e-3)) };
    const all = emb.RaggedTensor.fromRows([Array.from({ length: 99_999 }, (_, i) => i)]);
    const args = { positives: [0], seen: all, perPositive: 2, distribution: 'popularity' } as const;
    expect([...drawn({ ...few, ...args })]).toEqual([99_999, 99_999]);
    expectError(() => drawn({ positives: [0], seen }), 'ValueError', 'seen[0]', 'all items');
  });

  it('refuses what does not fit, and leaves no tensors', () => {
    const { numTensors } = tf.memory();
    const { negatives } = emb.sampling;
    const args = { numItems: 4, perPositive: 2, positives: [1, 2] };
    const shape = negatives({ ...args, positives: Int32Array.of(1, 2) });
    expect(shape.shape).toEqual([2, 2]);
    shape.dispose();
    expectError(() => negatives({ ...args, numItems: 0 }), 'ValueError', 'numItems', '0');
    expectError(() => negatives({ ...args, perPositive: '2' as never }), 'TypeError', 'perPositive');
    expectError(() => negatives({ ...args, positives: [1, 4] }), 'ValueError', 'positives[1]', '4');
    expectError(() => negatives({ ...args, positives: 3 as never }), 'TypeError', 'positives', '3');
    expectError(() => negatives({ ...args, seed: -1 }), 'ValueError', 'seed', '-1');
    expectError(() => negatives({ ...args, distribution: 'zipf' as never }), 'ValueError', 'distribution', 'zipf');
    expectError(() => negatives({ ...args, distribution: 'popularity' }), 'TypeError', 'counts', 'undefined');
    const popular = { ...args, distribution: 'popularity' } as const;
    expectError(() => negatives({ ...popular, counts: [1] }), 'ValueError', 'counts');
    expectError(() => negatives({ ...popular, counts: [1, 1, 1, -1] }), 'ValueError', 'counts[3]', '-1');
    expectError(() => negatives({ ...args, seen: [[1], [2]] as never }), 'TypeError', 'seen');
    const seen = emb.RaggedTensor.fromRows([[1]]);
    expectError(() => negatives({ ...args, seen }), 'ValueError', 'seen', '1');
    expectError(() => negatives({ ...args, seen, users: [0, 1] }), 'ValueError', 'users[1]', '1');
    const nested = emb.RaggedTensor.fromRows([[[1], [2]], []]);
    expectError(() => negatives({ ...args, seen: nested }), 'ValueError', 'seen', '[2, ragged, ragged]');
    for (const item of [-1, 4]) {
      const other = emb.RaggedTensor.fromRows([[1, item], []]);
      expectError(() => negatives({ ...args, seen: other }), 'ValueError', 'seen[1]', String(item));
    }
    expect(tf.memory().numTensors).toBe(numTensors);
  });
});
