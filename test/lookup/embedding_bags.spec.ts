import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { Random } from '../helpers/random.js';

describeForBackends('embeddingBags', () => {
  let tensors: number;
  beforeEach(() => (tensors = tf.memory().numTensors));
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  const SUM = { combiner: 'sum' } as const;
  const tables = (): tf.Tensor2D[] => [
    tf.tensor2d([
      [1, 2],
      [3, 4],
    ]),
    tf.tensor2d([[5], [6], [7]]),
  ];
  const BAGS: emb.BagsInput[] = [
    { values: [0, 1], rowSplits: [0, 2] },
    { values: [2], rowSplits: [0, 1] },
  ];

  it('gives the rows of each table, as a list or side by side', () => {
    tf.tidy(() => {
      const list = emb.ops.embeddingBags(tables(), BAGS, SUM);
      expect(list.map((rows) => rows.arraySync())).toEqual([[[4, 6]], [[7]]]);
      const one = emb.ops.embeddingBags(tables(), BAGS, { ...SUM, output: 'concat' });
      expect(one.arraySync()).toEqual([[4, 6, 7]]);
      expect(emb.ops.embeddingBags([], [], SUM)).toEqual([]);
    });
  });

  it('equals embeddingBag for each table, with gradients of tables and weights', () => {
    const random = new Random(3);
    tf.tidy(() => {
      const sizes = [3, 8, 1];
      const all = sizes.map((dim) => tf.tensor2d(random.floats(10 * dim), [10, dim]));
      const weights = tf.tensor1d(random.floats(4, 0.1, 1));
      const combiners = ['sum', 'mean', 'sqrtn'] as const;
      const bags = combiners.map((combiner, i) => ({
        values: Array.from({ length: 4 }, () => random.whole(0, 10)),
        rowSplits: [0, 1, 1, 4],
        combiner,
        ...(i === 1 ? { weights } : {}),
      }));
      const many = (...given: tf.Tensor[]): tf.Tensor => {
        const weighted = bags.map((each, i) => (i === 1 ? { ...each, weights: given[3]! } : each));
        return emb.ops.embeddingBags(given.slice(0, 3) as tf.Tensor2D[], weighted, { output: 'concat' });
      };
      const each = (...given: tf.Tensor[]): tf.Tensor => {
        const rows = bags.map(({ values, rowSplits, combiner }, i) => {
          const options = { combiner, ...(i === 1 ? { weights: given[3]! } : {}) };
          return emb.ops.embeddingBag(given[i] as tf.Tensor2D, values, rowSplits, options);
        });
        return tf.concat2d(rows, 1);
      };
      const inputs = [...all, weights];
      expect(many(...inputs).dataSync()).toEqual(each(...inputs).dataSync());
      const dy = tf.tensor2d(random.floats(3 * 12), [3, 12]);
      const [ours, theirs] = [many, each].map((f) => tf.grads(f as never)(inputs, dy));
      ours!.forEach((gradient, i) => expect(gradient.dataSync()).toEqual(theirs![i]!.dataSync()));
    });
  });

  it('names the entry of what it refuses', () => {
    tf.tidy(() => {
      const bad = (change: object): emb.BagsInput[] => [BAGS[0]!, { ...BAGS[1]!, ...change }];
      const call = (bags: unknown, options: object = SUM): void =>
        void emb.ops.embeddingBags(tables(), bags as never, options as never);
      expect(() => call(BAGS[0])).toThrowError(TypeError, /`bags`/);
      expect(() => call([BAGS[0]])).toThrowError(emb.ValueError, /`bags`: expected one entry per table \(2\)/);
      expect(() => call(bad({ values: [3] }))).toThrowError(emb.ValueError, /`bags\[1\]\.values`.*3/);
      expect(() => call(bad({ rowSplits: [0, 2] }))).toThrowError(emb.ValueError, /`bags\[1\]\.rowSplits`/);
      expect(() => call(bad({ weights: ['a'] }))).toThrowError(TypeError, /`bags\[1\]\.weights`/);
      expect(() => call(bad({ wieghts: [1] }))).toThrowError(emb.ValueError, /Did you mean weights/);
      expect(() => call(BAGS, {})).toThrowError(TypeError, /`combiner`/);
      expect(() => call(BAGS, { ...SUM, output: 'sum' })).toThrowError(emb.ValueError, /`output`/);
      const two = bad({ values: [0, 1], rowSplits: [0, 1, 2] });
      expect(() => call(two, { ...SUM, output: 'concat' })).toThrowError(emb.ValueError, /`bags\[1\]\.rowSplits`/);
      const wrong = (): void => void emb.ops.embeddingBags([tf.tensor1d([1]) as never], [BAGS[0]!], SUM);
      expect(wrong).toThrowError(TypeError, /`tables\[0\]`/);
    });
  });

  it('steps tables that it looked up by their rows', () => {
    const [a, b] = tf.tidy(() => tables().map((table) => tf.variable(table)));
    const optimizer = emb.train.sgd({ learningRate: 1 });
    const loss = (): tf.Scalar =>
      emb.ops.embeddingBags([a!, b!], BAGS, { ...SUM, output: 'concat' }).sum() as tf.Scalar;
    optimizer.minimize(loss);
    expect(a!.arraySync()).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(b!.arraySync()).toEqual([[5], [6], [6]]);
    optimizer.dispose();
    tf.dispose([a!, b!]);
  });
});
