import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { warningsOf } from '../../helpers/warnings.js';
import { expectClose } from '../../helpers/tensors.js';
import {
  FAVORITED,
  FRIENDS,
  ROWS,
  WATCHED,
  fixture,
  onCores,
  ragged,
  sparse,
  stepOfOnes,
  valuesOf,
} from './fixture.js';

const { tpu } = emb;

type AnyEmbedding = emb.tpu.TPUEmbedding;

const OPTIMIZERS: Record<string, () => emb.tpu.TPUEmbeddingOptimizer> = {
  SGD: () => new tpu.SGD({ learningRate: 0.1 }),
  Adagrad: () => new tpu.Adagrad({ learningRate: 0.1 }),
  AdagradMomentum: () => new tpu.AdagradMomentum({ learningRate: 0.1, momentum: 0.9 }),
  Adam: () => new tpu.Adam({ learningRate: 0.1 }),
  FTRL: () => new tpu.FTRL({ learningRate: 0.1 }),
};

function make(args: object = {}, feature: object = {}): AnyEmbedding {
  const { features } = fixture(feature);
  return new tpu.TPUEmbedding({ featureConfig: features, optimizer: OPTIMIZERS['SGD']!(), ...args }) as AnyEmbedding;
}

/** Row i of a table of counted values. */
const row = (i: number, dim: number): number[] => Array.from({ length: dim }, (_, c) => i * dim + c);

function pooled(rows: number[][], dim: number, combiner: 'sum' | 'mean'): number[] {
  return rows.flatMap((ids) => {
    const total = ids.reduce(
      (sum, id) => sum.map((value, c) => value + row(id, dim)[c]!),
      new Array<number>(dim).fill(0),
    );
    return combiner === 'sum' ? total : total.map((value) => value / Math.max(1, ids.length));
  });
}

const EXPECTED = [pooled(WATCHED, 4, 'sum'), pooled(FAVORITED, 4, 'sum'), pooled(FRIENDS, 2, 'mean')];

/** The gradient of a table for ones, by row. */
function summed(features: number[][][], rows: number, combiner: 'sum' | 'mean'): number[] {
  const counts = new Array<number>(rows).fill(0);
  for (const feature of features) {
    for (const ids of feature) for (const id of ids) counts[id]! += combiner === 'sum' ? 1 : 1 / ids.length;
  }
  return counts;
}

describe('TPUEmbedding, correctness', () => {
  for (const [kind, make3] of [
    ['sparse', (rows: number[][]): unknown => sparse(rows)],
    ['ragged', (rows: number[][]): unknown => ragged(rows)],
  ] as const) {
    for (const name of Object.keys(OPTIMIZERS)) {
      it(`of forward and training: ${kind}, ${name}`, async () => {
        await onCores(4, () => {
          const embedding = make({ optimizer: OPTIMIZERS[name]!() });
          const found = stepOfOnes(embedding, ROWS.map(make3));
          found.forEach((values, i) => expectClose(values, EXPECTED[i]!, 30, `feature ${i}`));
          const [video, user] = valuesOf(embedding.getWeights()) as [number[], number[]];
          const gradients = [summed([WATCHED, FAVORITED], 8, 'sum'), summed([FRIENDS], 16, 'mean')];
          [video, user].forEach((values, i) => {
            const dim = [4, 2][i]!;
            expectClose(values, afterStep(name, gradients[i]!, dim), 30, `table ${i}`, 1e-5);
          });
          embedding.dispose();
        });
      });
    }
  }

  /** A table of counted values after one step, for the same gradient in each column. */
  function afterStep(name: string, gradients: number[], dim: number): number[] {
    return gradients.flatMap((g, i) =>
      row(i, dim).map((w) => {
        if (g === 0) return w;
        if (name === 'SGD') return w - 0.1 * g;
        if (name === 'Adagrad') return w - (0.1 * g) / Math.sqrt(0.1 + g * g);
        if (name === 'AdagradMomentum') return w - (0.1 * g) / Math.sqrt(g * g + 1e-10);
        if (name === 'Adam') return w - (0.1 * 0.1 * g) / Math.sqrt(0.001 * g * g + 1e-14);
        const [before, after] = [Math.sqrt(0.1), Math.sqrt(0.1 + g * g)];
        const linear = g - ((after - before) * w) / 0.1;
        return -linear / (after / 0.1);
      }),
    );
  }

  it('of dense ids of one and of more axes', async () => {
    await onCores(4, () => {
      for (const shape of [[4], [2, 2, 1]]) {
        const embedding = make();
        const ids = [0, 1, 2].map((i) => tf.tensor([1, 0, 3, i], shape, 'int32'));
        const found = stepOfOnes(embedding, ids);
        expect(embedding.outputShapes).toEqual([1, 2, 3].map(() => (shape.length === 1 ? [4] : [2, 2])));
        expect(found[2]).toEqual([1, 0, 3, 2].flatMap((id) => row(id, 2)));
        tf.dispose(ids);
        embedding.dispose();
      }
    });
  });

  it('of sparse ids of three axes', async () => {
    await onCores(4, () => {
      const embedding = make();
      embedding.build([1, 2, 3].map(() => [2, 2, null]));
      const deep = (rows: number[][]): emb.SparseInput => ({
        indices: rows.flatMap((ids, i) => ids.map((_, j) => [Math.floor(i / 2), i % 2, j])),
        values: rows.flat(),
        denseShape: [2, 2, 3],
      });
      expect(stepOfOnes(embedding, ROWS.map(deep))).toEqual(EXPECTED);
      expect(embedding.outputShapes).toEqual([1, 2, 3].map(() => [2, 2]));
      embedding.dispose();
    });
  });

  it('of sequences: padding gives zeros and is not trained', async () => {
    for (const input of [sparse, ragged] as ((rows: number[][]) => unknown)[]) {
      await onCores(2, () => {
        const table = new tpu.TableConfig({ vocabularySize: 4, dim: 1, initializer: new tpu.RowIdInitializer() });
        const feature = new tpu.FeatureConfig({ table, maxSequenceLength: 2 });
        const optimizer = OPTIMIZERS['SGD']!();
        const embedding = new tpu.TPUEmbedding({ featureConfig: [feature], optimizer }) as unknown as AnyEmbedding;
        const found = stepOfOnes(embedding, [input([[3, 1, 2], [1], []])]);
        expect(found).toEqual([[3, 1, 1, 0, 0, 0]]);
        expectClose(valuesOf(embedding.getWeights())[0]!, [0, 1 - 0.2, 2, 3 - 0.1], 3);
        embedding.dispose();
      });
    }
  });

  it('of quantized tables, whose gradients are those of the rows', async () => {
    await onCores(2, () => {
      const quantizationConfig = new tpu.QuantizationConfig({ numBuckets: 3, lower: 0, upper: 2 });
      const initializer = (): tf.Tensor => tf.tensor2d([[0.2], [0.7], [5], [-1]]);
      const table = new tpu.TableConfig({
        vocabularySize: 4,
        dim: 1,
        combiner: 'sum',
        initializer,
        quantizationConfig,
      });
      const featureConfig = [new tpu.FeatureConfig({ table })];
      const embedding = new tpu.TPUEmbedding({ featureConfig, optimizer: OPTIMIZERS['SGD']!() });
      const found = stepOfOnes(embedding as unknown as AnyEmbedding, [ragged([[0, 1], [2], [3, 1, 1]])]);
      expect(found).toEqual([[1, 2, 2]]);
      expectClose(valuesOf(embedding.getWeights())[0]!, [0.1, 0.4, 4.9, -1.1], 5);
      embedding.dispose();
    });
  });

  it('of tables that do not accumulate: each occurrence is a step of its own', async () => {
    await onCores(2, () => {
      const optimizer = new tpu.Adagrad({
        learningRate: 1,
        initialAccumulatorValue: 1,
        useGradientAccumulation: false,
      });
      const table = new tpu.TableConfig({ vocabularySize: 3, dim: 1, combiner: 'sum', initializer: 'zeros' });
      const embedding = new tpu.TPUEmbedding({ featureConfig: [new tpu.FeatureConfig({ table })], optimizer });
      stepOfOnes(embedding as unknown as AnyEmbedding, [ragged([[0, 1], [1]])]);
      const [weights, accumulators] = valuesOf(embedding.getWeights());
      expectClose(weights!, [-1 / Math.sqrt(2), -1 / Math.sqrt(2) - 1 / Math.sqrt(3), 0], 1);
      expect(accumulators).toEqual([2, 3, 1]);
      embedding.dispose();
    });
  });
});

describe('TPUEmbedding, weight decay', () => {
  it('takes its share of a row once in a step, however often its id occurs', async () => {
    await onCores(2, () => {
      for (const useGradientAccumulation of [true, false]) {
        const optimizer = new tpu.SGD({
          learningRate: 0.5,
          weightDecayFactor: 0.5,
          multiplyWeightDecayFactorByLearningRate: true,
          useGradientAccumulation,
        });
        const table = new tpu.TableConfig({ vocabularySize: 3, dim: 1, combiner: 'sum', initializer: 'ones' });
        const featureConfig = [new tpu.FeatureConfig({ table })];
        const embedding = new tpu.TPUEmbedding({ featureConfig, optimizer });
        stepOfOnes(embedding as unknown as AnyEmbedding, [ragged([[0, 1], [1]])]);
        expect(valuesOf(embedding.getWeights())).toEqual([[0.25, -0.25, 1]]);
        embedding.dispose();
      }
    });
  });
});

describe('TPUEmbedding, valid input', () => {
  it('may mix sparse, ragged and dense ids', async () => {
    await onCores(2, () => {
      const embedding = make();
      const dense = [[2], [3], [0], [1]];
      const found = stepOfOnes(embedding, [sparse(WATCHED), ragged(FAVORITED), dense]);
      expect(found).toEqual([EXPECTED[0]!, EXPECTED[1]!, pooled(dense, 2, 'mean')]);
      embedding.dispose();
    });
  });

  it('may have weights: halves halve sums and leave means; single entries may be null', async () => {
    await onCores(2, () => {
      for (const input of [sparse, ragged] as ((rows: number[][]) => unknown)[]) {
        const halves = ROWS.map((rows) => input(rows.map((ids) => ids.map(() => 0.5))));
        const embedding = make();
        const found = stepOfOnes(embedding, ROWS.map(input), [halves[0], null, halves[2]]);
        const half = EXPECTED[0]!.map((value) => value / 2);
        expect(found).toEqual([half, EXPECTED[1]!, EXPECTED[2]!]);
        const counts = summed([WATCHED], 8, 'sum').map((count, i) => count / 2 + summed([FAVORITED], 8, 'sum')[i]!);
        const expected = counts.flatMap((count, i) => row(i, 4).map((w) => w - 0.1 * count));
        expectClose(valuesOf(embedding.getWeights())[0]!, expected, 30);
        embedding.dispose();
      }
    });
  });

  it('may lack samples at the end, and ids altogether', async () => {
    await onCores(2, () => {
      const embedding = make();
      const rows = [
        [[1], [], []],
        [[], [], []],
        [[2], [3], []],
      ];
      const found = stepOfOnes(embedding, rows.map(sparse));
      expect(found[0]).toEqual([...row(1, 4), ...new Array<number>(8).fill(0)]);
      expect(found[1]).toEqual(new Array<number>(12).fill(0));
      expect(found[2]).toEqual([...row(2, 2), ...row(3, 2), 0, 0]);
      embedding.dispose();
    });
  });

  it('may be enqueued by core', async () => {
    await onCores(2, () => {
      const embedding = make();
      [1, 0].forEach((core) => {
        const part = ROWS.map((rows) => ragged(rows.slice(2 * core, 2 * core + 2)));
        embedding.enqueue(part, null, { device: `/device:TPU:${core}`, training: false });
      });
      const found = embedding.dequeue() as tf.Tensor[];
      expect(valuesOf(found)).toEqual(EXPECTED);
      tf.dispose(found);
      embedding.dispose();
    });
  });

  it('may be followed by gradients that are null, which count as zeros, with a word', async () => {
    await onCores(2, () => {
      const embedding = make({ optimizer: new tpu.Adam({ learningRate: 0.1 }) });
      embedding.enqueue(ROWS.map(ragged));
      const found = embedding.dequeue() as tf.Tensor[];
      const before = valuesOf(embedding.getWeights());
      const gradient = tf.onesLike(found[2]!);
      const said = warningsOf(() => embedding.applyGradients([null, null, gradient]));
      expect(said.length).toBe(2);
      expect(said[0]).toContain('gradients[0]');
      const [video, user] = valuesOf(embedding.getWeights());
      expect(video).toEqual(before[0]!);
      expect(user).not.toEqual(before[1]!);
      tf.dispose([found, gradient]);
      embedding.dispose();
    });
  });

  it('is copied: what the caller does with it afterwards changes nothing', async () => {
    await onCores(2, () => {
      const embedding = make({}, {});
      const ids = ROWS.map(() => Int32Array.of(1, 2, 3));
      const tensor = tf.tensor1d([1, 2, 3], 'int32');
      embedding.enqueue([ids[0], ids[1], tensor], null, { training: false });
      ids.forEach((each) => each.fill(7));
      tensor.dispose();
      const found = embedding.dequeue() as tf.Tensor[];
      expect(valuesOf(found)).toEqual([4, 4, 2].map((dim) => [1, 2, 3].flatMap((id) => row(id, dim))));
      tf.dispose(found);
      embedding.dispose();
    });
  });
});

describe('TPUEmbedding, optimizers', () => {
  it('asks dynamic learning rates at every step, once for tables that share one', async () => {
    await onCores(2, () => {
      let step = 0;
      const learningRate = (): number => 2 ** -step++;
      const embedding = make({ optimizer: new tpu.SGD({ learningRate }) });
      for (let i = 0; i < 10; i++) stepOfOnes(embedding, ROWS.map(ragged));
      expect(step).toBe(10);
      const total = 2 - 2 ** -9;
      const expected = summed([WATCHED, FAVORITED], 8, 'sum').flatMap((g, i) => row(i, 4).map((w) => w - total * g));
      expectClose(valuesOf(embedding.getWeights())[0]!, expected, 30);
      embedding.dispose();
    });
  });

  it('takes slots that a function makes', async () => {
    await onCores(2, () => {
      const asked: unknown[] = [];
      const made: tf.Variable[] = [];
      const slotVariableCreationFn: emb.tpu.SlotVariableCreationFn = (table, names, initializers) => {
        asked.push([table.shape, names, initializers.length]);
        const start = tf.fill(table.shape, 3);
        const variable = tf.variable(start);
        start.dispose();
        made.push(variable);
        return { accumulators: variable };
      };
      const embedding = make({ optimizer: new tpu.Adagrad({ learningRate: 1, slotVariableCreationFn }) });
      stepOfOnes(embedding, ROWS.map(ragged));
      expect(asked).toEqual([
        [[8, 4], ['accumulators'], 1],
        [[16, 2], ['accumulators'], 1],
      ]);
      // No optimizer of tfjs is to step them.
      expect(made.map(({ trainable }) => trainable)).toEqual([false, false]);
      const [video, , accumulators] = valuesOf(embedding.getWeights());
      expectClose(accumulators!.slice(0, 4), [39, 39, 39, 39], 39);
      expectClose(video!.slice(0, 1), [-6 / Math.sqrt(39)], 1);
      embedding.dispose();
    });
  });
});
