/** What open tables warn of, and of what they do not. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { warningsOf } from '../../../helpers/warnings.js';
import { open } from '../setup.js';

/** What a table says that looks up these keys in so many steps. */
function said(args: Partial<emb.OpenTableArgs>, steps: number, keysAt: (step: number) => number[]): string[] {
  const table = open({ keys: 'int64', name: 'items', ...args });
  const optimizer = emb.train.sgd({ learningRate: 0.1 });
  const texts = warningsOf(() => {
    for (let step = 1; step <= steps; step++) {
      optimizer.minimize(() => (emb.embeddingLookup(table, keysAt(step)) as tf.Tensor).sum());
    }
  });
  optimizer.dispose();
  table.dispose();
  // TensorFlow.js greets on its first step.
  return texts.filter((text) => text.startsWith('tfjs-embeddings'));
}

describe('open tables warn', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  it('once of keys without a row, more than a tenth of those of a hundred steps, after the first hundred', () => {
    const admit = { after: 200 };
    const known = (step: number): number[] => [...new Array<number>(9).fill(1), step];
    // Eight in a hundred: 1 has come 200 times in step 23.
    expect(said({ admit }, 100, () => [1, 2])).toEqual([]);
    const [first, ...others] = said({ admit }, 500, (step) => [...known(step), -step]);
    expect(first).toMatch(/18 % of the keys of table items had no row in steps 101 to 200\. Lower `admit\.after`/);
    expect(others).toEqual([]);
    expect(said({ admit }, 500, known)).toEqual([]);
    expect(said({}, 500, (step) => [step])).toEqual([]);
  });

  it('once where keys lose their rows within a few steps', () => {
    const evict = { policy: 'lru', keep: 0.5 } as const;
    const all = (step: number): number[] => [step * 3, step * 3 + 1, step * 3 + 2];
    const [first, ...others] = said({ capacity: 6, evict }, 400, all);
    expect(first).toMatch(
      /100 % of the keys that lost their rows of table items in steps 1 to 100 had been seen within 4/,
    );
    expect(others).toEqual([]);
    expect(said({ capacity: 60, evict }, 400, all)).toEqual([]);
    expect(said({ capacity: 6, evict }, 99, all)).toEqual([]);
  });
});
