/** An id outside the table is named with its position and the number of rows, wherever it turns up; nothing is written. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { expectFacts, variable } from './wrong_arguments.js';

const ROWS = 5;
const BAD = [ROWS, -1, 2 ** 31 - 1, -(2 ** 31)];

async function errorOf(run: () => unknown): Promise<unknown> {
  try {
    const result: unknown = await run();
    if (result instanceof tf.Tensor) result.dispose();
    return undefined;
  } catch (error) {
    return error;
  }
}

function expectNamed(error: unknown, id: number, position: number): void {
  expectFacts(error, 'ValueError', 'ids', `id ${id}`);
  const message = error instanceof Error ? error.message : '';
  expect(message).toContain(`${id} at position ${position}`);
  expect(message).toContain(`${ROWS} rows`);
}

/** [4, 2] ids that are right but for the one at flat position 5. */
function batch(id: number): tf.Tensor2D {
  return tf.tensor2d([0, 1, 2, 3, 4, id, 0, 1], [4, 2], 'int32');
}

const OPTIMIZERS = Object.keys(emb.train) as (keyof typeof emb.train)[];
const SLOTS = { sgd: 0, adagrad: 1, rowWiseAdagrad: 1, adagradMomentum: 2, adam: 2, ftrl: 2 };

describeForBackends('ids outside the table', () => {
  let tensors: number;
  let leftByTfjs: number;
  beforeEach(() => {
    tensors = tf.memory().numTensors;
    leftByTfjs = 0;
  });
  afterEach(() =>
    expect(tf.memory().numTensors)
      .withContext('tensors left')
      .toBe(tensors + leftByTfjs),
  );

  it('are named in lookups of every form', async () => {
    const table = variable(ROWS, 2);
    for (const id of BAD) {
      const ids = batch(id);
      const flat = Array.from(ids.dataSync());
      const rows = [flat.slice(0, 2), flat.slice(2, 4), flat.slice(4, 6), flat.slice(6)];
      const splits = [0, 2, 4, 6, 8];
      const held = tf.memory().numTensors;
      for (const combiner of [null, 'sum', 'mean', 'sqrtn'] as const) {
        expectNamed(await errorOf(() => emb.embeddingLookup(table, ids, { combiner })), id, 5);
        expectNamed(await errorOf(() => emb.embeddingLookup(table, rows, { combiner })), id, 5);
        const ragged = emb.RaggedTensor.fromRows(rows);
        expectNamed(await errorOf(() => emb.embeddingLookup(table, ragged, { combiner })), id, 5);
      }
      const options = { combiner: 'mean' as const };
      const indices = flat.map((_, i) => [i >> 1, i % 2]);
      const sparse = { indices, values: flat, denseShape: [4, 2] };
      expectNamed(await errorOf(() => emb.embeddingLookup(table, sparse, options)), id, 5);
      expectNamed(await errorOf(() => emb.ops.embeddingBag(table, flat, splits, options)), id, 5);
      const parts = tf.tidy(() => [tf.ones([3, 2]), tf.ones([2, 2])]);
      expectNamed(await errorOf(() => emb.embeddingLookup(parts, ids, options)), id, 5);
      tf.dispose(parts);
      if (id > 0) expectNamed(await errorOf(() => emb.safeEmbeddingLookup(table, ids)), id, 5);
      const gradient = tf.ones([4, 2]) as tf.Tensor2D;
      const grad = { combiner: 'sum' as const, rows: ROWS };
      expectNamed(await errorOf(() => emb.ops.embeddingBagGrad(gradient, flat, splits, grad)), id, 5);
      gradient.dispose();
      expect(tf.memory().numTensors).toBe(held);
      ids.dispose();
    }
    table.dispose();
  });

  for (const name of OPTIMIZERS) {
    it(`stop the update step ${name} before anything is written`, async () => {
      for (const id of BAD) {
        const table = variable(ROWS, 2);
        const shape = name === 'rowWiseAdagrad' ? [ROWS] : [ROWS, 2];
        const slots = Array.from({ length: SLOTS[name] }, () => variable(...shape));
        const gradient = tf.ones([4, 2]) as tf.Tensor2D;
        const values = Int32Array.of(0, 1, 2, 3, 4, id, 0, 1);
        const args = { table, slots, gradient, values, rowSplits: [0, 2, 4, 6, 8], combiner: 'sum' as const };
        expectNamed(await errorOf(() => emb.ops.sparseApply(name, args)), id, 5);
        for (const each of [table, ...slots]) expect(each.dataSync().every((value) => value === 1)).toBeTrue();
        tf.dispose([table, ...slots, gradient]);
      }
    });
  }

  for (const [what, make] of Object.entries({
    'embedding with a combiner': () => emb.layers.embedding({ inputDim: ROWS, outputDim: 2, inputLength: 2, combiner: 'mean' }), // prettier-ignore
    'embedding without one': () => emb.layers.embedding({ inputDim: ROWS, outputDim: 2, inputLength: 2 }),
    'embedding that masks 0': () => emb.layers.embedding({ inputDim: ROWS, outputDim: 2, inputLength: 2, combiner: 'sum', maskZero: true }), // prettier-ignore
    raggedEmbedding: () => emb.layers.raggedEmbedding({ inputDim: ROWS, outputDim: 2, inputLength: 2, combiner: 'sum' }), // prettier-ignore
  })) {
    it(`stop predict and fit of ${what}; the model trains on afterwards`, async () => {
      const model = tf.sequential({
        layers: [
          make(),
          tf.layers.reshape({ targetShape: [what.endsWith('without one') ? 4 : 2] }),
          tf.layers.dense({ units: 1 }),
        ],
      });
      const optimizer = emb.train.adagrad({ learningRate: 0.1 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const y = tf.ones([4, 1]);
      const good = batch(1);
      await model.fit(good, y, { verbose: 0 });
      for (const id of BAD) {
        if (id < 0 && what === 'raggedEmbedding') continue; // padding
        const bad = batch(id);
        const before = model.getWeights().map((each) => Array.from(each.dataSync()));
        // The index of rows that fit of tfjs leaves behind whenever it throws.
        const index = 1;
        for (const [run, left] of [
          [() => model.predict(bad), 0],
          [() => model.fit(bad, y, { verbose: 0 }), index],
          [() => model.trainOnBatch(bad, y), 0],
          [() => model.evaluate(bad, y), 0],
        ] as [() => unknown, number][]) {
          const held = tf.memory().numTensors;
          const error = await errorOf(run);
          expectFacts(error, 'ValueError', 'ids', `${what}: id ${id}`);
          const message = error instanceof Error ? error.message : '';
          expect(message).toContain(`${id} at position`);
          expect(message).toContain(`${ROWS} rows`);
          expect(tf.memory().numTensors).toBe(held + left);
          leftByTfjs += left;
        }
        expect(model.getWeights().map((each) => Array.from(each.dataSync()))).toEqual(before);
        bad.dispose();
      }
      const { history } = await model.fit(good, y, { epochs: 2, verbose: 0 });
      expect(Number.isFinite(history['loss']!.at(-1) as number)).toBeTrue();
      tf.dispose([good, y]);
      model.dispose();
      optimizer.dispose();
    });
  }
});
