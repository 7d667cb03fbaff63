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

/** `place`: where the caller wrote the id; `owner`: whose table it misses. */
function expectNamed(error: unknown, id: number, place: string, owner = 'the table has'): void {
  expectFacts(error, 'ValueError', 'ids', `id ${id}`);
  expect((error as { received?: string }).received).toBe(`${id} at ${place} (${owner} ${ROWS} rows)`);
}

/** Of the flat position 5 in ids of two columns. */
const DENSE = '[2, 1]';
const FLAT = 'position 5 of the values';
const RAGGED = 'row 2, position 1';
const SPARSE = 'index [2, 1]';

/** [4, 2] ids that are right but for the one at flat position 5. */
function batch(id: number): tf.Tensor2D {
  return tf.tensor2d([0, 1, 2, 3, 4, id, 0, 1], [4, 2], 'int32');
}

const OPTIMIZERS = Object.keys(emb.train) as emb.OptimizerName[];
const SLOTS = { sgd: 0, adagrad: 1, rowWiseAdagrad: 1, adagradMomentum: 2, adam: 2, ftrl: 2, adamW: 2, rmsprop: 1 };

describeForBackends('ids outside the table', () => {
  let tensors: number;
  beforeEach(() => {
    tensors = tf.memory().numTensors;
  });
  afterEach(() => expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

  it('are named in lookups of every form', async () => {
    const table = variable(ROWS, 2);
    for (const id of BAD) {
      const ids = batch(id);
      const flat = Array.from(ids.dataSync());
      const rows = [flat.slice(0, 2), flat.slice(2, 4), flat.slice(4, 6), flat.slice(6)];
      const splits = [0, 2, 4, 6, 8];
      const held = tf.memory().numTensors;
      for (const combiner of [null, 'sum', 'mean', 'sqrtn'] as const) {
        expectNamed(await errorOf(() => emb.embeddingLookup(table, ids, { combiner })), id, DENSE);
        expectNamed(await errorOf(() => emb.embeddingLookup(table, rows, { combiner })), id, DENSE);
        const ragged = emb.RaggedTensor.fromRows(rows);
        expectNamed(await errorOf(() => emb.embeddingLookup(table, ragged, { combiner })), id, RAGGED);
        const pair = { values: flat, rowSplits: splits };
        expectNamed(await errorOf(() => emb.embeddingLookup(table, pair, { combiner })), id, RAGGED);
      }
      expectNamed(await errorOf(() => emb.embeddingLookup(table, flat)), id, '[5]');
      expect(((await errorOf(() => emb.embeddingLookup(table, id))) as Error).message).toContain(
        `received ${id} (the table has`,
      );
      const options = { combiner: 'mean' as const };
      const indices = flat.map((_, i) => [i >> 1, i % 2]);
      const sparse = { indices, values: flat, denseShape: [4, 2] };
      expectNamed(await errorOf(() => emb.embeddingLookup(table, sparse, options)), id, SPARSE);
      expectNamed(await errorOf(() => emb.ops.embeddingBag(table, flat, splits, options)), id, FLAT);
      const parts = tf.tidy(() => [tf.ones([3, 2]), tf.ones([2, 2])]);
      expectNamed(await errorOf(() => emb.embeddingLookup(parts, ids, options)), id, DENSE);
      tf.dispose(parts);
      if (id > 0) {
        // Negative ids before it are left out, and count all the same.
        const pruned = [[-1, -1], [2, -1], [3, id]]; // prettier-ignore
        for (const defaultId of [null, 0]) {
          const safe = { ...options, defaultId };
          expectNamed(await errorOf(() => emb.safeEmbeddingLookup(table, ids, safe)), id, DENSE);
          expectNamed(await errorOf(() => emb.safeEmbeddingLookup(table, pruned, safe)), id, DENSE);
          expectNamed(await errorOf(() => emb.safeEmbeddingLookup(table, sparse, safe)), id, SPARSE);
        }
      }
      const gradient = tf.ones([4, 2]) as tf.Tensor2D;
      const grad = { combiner: 'sum' as const, rows: ROWS };
      expectNamed(await errorOf(() => emb.ops.embeddingBagGrad(gradient, flat, splits, grad)), id, FLAT);
      gradient.dispose();
      expect(tf.memory().numTensors).toBe(held);
      ids.dispose();
    }
    table.dispose();
  });

  it('name a table that has a name', async () => {
    const table = tf.tidy(() => tf.variable(tf.ones([ROWS, 2]), true, 'films'));
    const owner = 'table films:';
    expectNamed(await errorOf(() => emb.embeddingLookup(table, [[0, 9]], { combiner: 'sum' })), 9, '[0, 1]', owner); // prettier-ignore
    expectNamed(await errorOf(() => emb.ops.embeddingBag(table, [9], [0, 1], { combiner: 'sum' })), 9, 'position 0 of the values', owner); // prettier-ignore
    table.dispose();
    const layer = emb.layers.embedding({ inputDim: ROWS, outputDim: 2, name: 'books' });
    (layer.apply([[1]]) as tf.Tensor).dispose();
    const { variable: own } = layer.table;
    expectNamed(await errorOf(() => emb.embeddingLookup(own!, [9])), 9, '[0]', 'table books/embeddings:');
    layer.dispose();
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
        expectNamed(await errorOf(() => emb.ops.sparseApply(name, args)), id, FLAT);
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
        if (id < 0) continue; // padding
        const bad = batch(id);
        const before = model.getWeights().map((each) => Array.from(each.dataSync()));
        const trainOnBatch = (): unknown => model.trainOnBatch(bad, y);
        for (const run of [
          () => model.predict(bad),
          () => model.fit(bad, y, { verbose: 0 }),
          trainOnBatch,
          () => model.evaluate(bad, y),
        ]) {
          const held = tf.memory().numTensors;
          const error = await errorOf(run);
          const whole = run !== trainOnBatch;
          const place = whole ? DENSE : `${DENSE} of the batch`;
          expectNamed(error, id, place, `layer ${model.layers[0]!.name}:`);
          expect(tf.memory().numTensors).toBe(held);
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
