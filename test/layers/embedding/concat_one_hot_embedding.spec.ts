import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { describeForBackends } from '../../helpers/backends.js';
import { artifactsOf, cloneOf, expectClose, expectError, ids, leakFree, ramp, take, useCpu } from '../setup.js';

const SIZES = [3, 5, 7, 11];
const ROWS = 26;
const BATCH = [
  [0, 0, 0, 0],
  [2, 4, 6, 10],
  [1, 3, 0, 10],
  [0, 4, 5, 1],
];

function fromConfig(config: object): emb.ConcatOneHotEmbedding {
  const made = emb.ConcatOneHotEmbedding.fromConfig(emb.ConcatOneHotEmbedding as never, config as never);
  return made as emb.ConcatOneHotEmbedding;
}

const MAKERS = {
  sgd: () => emb.train.sgd({ learningRate: 0.05 }),
  adagrad: () => emb.train.adagrad({ learningRate: 0.1 }),
  adam: () => emb.train.adam({ learningRate: 0.05, lazy: false }),
};

/** The layer, or as many embeddings as there are features, below the same head. */
function modelOf(isConcat: boolean): tf.LayersModel {
  const input = tf.input({ shape: [SIZES.length], dtype: 'int32' });
  const args = { featureSizes: SIZES, embeddingWidth: 3, weights: [ramp(ROWS, 3)], name: `rows_${tf.util.now()}` };
  let rows: tf.SymbolicTensor;
  if (isConcat) rows = emb.layers.concatOneHotEmbedding(args).apply(input) as tf.SymbolicTensor;
  else {
    const [inputDim, weights] = [ROWS, [ramp(ROWS, 3)]];
    rows = emb.layers.embedding({ inputDim, outputDim: 3, weights }).apply(input) as tf.SymbolicTensor;
  }
  const flat = tf.layers.flatten().apply(rows) as tf.SymbolicTensor;
  const head = tf.layers.dense({ units: 1, kernelInitializer: tf.initializers.constant({ value: 0.1 }) });
  return tf.model({ inputs: input, outputs: head.apply(flat) as tf.SymbolicTensor });
}

async function trainedWeights(isConcat: boolean, optimizer: tf.Optimizer): Promise<number[][]> {
  const model = modelOf(isConcat);
  model.compile({ optimizer, loss: 'meanSquaredError' });
  const offsets = [0, 3, 8, 15];
  const x = ids(isConcat ? BATCH : BATCH.map((row) => row.map((id, f) => id + offsets[f]!)));
  const y = tf.tensor2d([[1], [-1], [2], [0]]);
  await model.fit(x, y, { epochs: 5, verbose: 0, shuffle: false });
  const weights = model.getWeights().map((weight) => Array.from(weight.dataSync()));
  tf.dispose([x, y]);
  optimizer.dispose();
  model.dispose();
  return weights;
}

describe('ConcatOneHotEmbedding', () => {
  beforeAll(useCpu);

  describeForBackends('on every backend', () => {
    it(
      'looks each feature up in its own rows',
      leakFree(() => {
        const layer = emb.layers.concatOneHotEmbedding({
          featureSizes: SIZES,
          embeddingWidth: 2,
          weights: [ramp(ROWS, 2)],
        });
        const input = ids(BATCH);
        const result = layer.apply(input) as tf.Tensor;
        expect(result.shape).toEqual([4, 4, 2]);
        const rows = BATCH.flatMap(([a, b, c, d]) => [a!, 3 + b!, 8 + c!, 15 + d!]);
        expect(take(result)).toEqual(rows.flatMap((row) => [row, row + 0.25]));
        expect(layer.offsets).toEqual([0, 3, 8, 15]);
        input.dispose();
        layer.dispose();
      }),
    );

    for (const name of Object.keys(MAKERS) as (keyof typeof MAKERS)[]) {
      it(
        `trains by rows with ${name}, as one embedding of all rows does`,
        leakFree(async () => {
          const [own, wanted] = [
            await trainedWeights(true, MAKERS[name]()),
            await trainedWeights(false, MAKERS[name]()),
          ];
          expect(own).toEqual(wanted);
          expect(own[0]).not.toEqual(Array.from(ramp(ROWS, 3)));
          // Rows that no id named are as they were.
          expect(own[0]!.slice(3 * 17, 3 * 25)).toEqual(Array.from(ramp(ROWS, 3).subarray(3 * 17, 3 * 25)));
        }),
      );
    }

    it(
      'an id beyond its feature is refused, never a row of the next one',
      leakFree(() => {
        const layer = emb.layers.concatOneHotEmbedding({ featureSizes: SIZES, embeddingWidth: 2 });
        for (const [row, feature] of [
          [[3, 0, 0, 0], 0],
          [[0, 5, 0, 0], 1],
          [[0, -1, 0, 0], 1],
          [[0, 0, 0, 11], 3],
        ] as const) {
          const input = ids([[1, 1, 1, 1], [...row]]);
          expectError(
            () => layer.apply(input),
            'ValueError',
            'ids',
            `${row[feature]} at [1, ${feature}]`.replace(/[[\]]/g, '\\$&'),
          );
          expect(() => layer.apply(input)).toThrowError(new RegExp(`featureSizes\\[${feature}\\]`));
          input.dispose();
        }
        layer.dispose();
      }),
    );
  });

  it(
    'trains with a stock optimizer too',
    leakFree(async () => {
      spyOn(console, 'warn');
      const [stock, own] = [await trainedWeights(true, tf.train.sgd(0.05)), await trainedWeights(true, MAKERS.sgd())];
      expectClose(stock[0]!, own[0]!, 1e-5);
    }),
  );

  it(
    'begins Glorot uniform, and with other initializers',
    leakFree(() => {
      const layer = emb.layers.concatOneHotEmbedding({ featureSizes: [400, 600], embeddingWidth: 8 });
      tf.dispose(layer.apply([[0, 0]]) as tf.Tensor);
      const values = Array.from(layer.getWeights()[0]!.dataSync());
      const limit = Math.sqrt(6 / 1008);
      expect(Math.max(...values.map(Math.abs))).toBeLessThanOrEqual(limit + 1e-7);
      expect(Math.max(...values)).toBeGreaterThan(limit * 0.98);
      expect(layer.weights.map(({ originalName }) => originalName)).toEqual([`${layer.name}/params`]);
      const ones = emb.layers.concatOneHotEmbedding({
        featureSizes: [2],
        embeddingWidth: 2,
        embeddingsInitializer: 'ones',
      });
      expect(take(ones.apply([[1]]))).toEqual([1, 1]);
      layer.dispose();
      ones.dispose();
    }),
  );

  it(
    'is saved and loaded with every argument, optimizer state included',
    leakFree(async () => {
      const own = emb.train.rowWiseAdagrad({ learningRate: 0.3 });
      const make = (): tf.Sequential =>
        tf.sequential({
          layers: [
            emb.layers.concatOneHotEmbedding({
              name: 'all_Features-1',
              featureSizes: SIZES,
              embeddingWidth: 3,
              embeddingsInitializer: tf.initializers.randomNormal({ stddev: 0.1, seed: 2 }),
              embeddingsRegularizer: 'l2',
              embeddingsConstraint: 'nonNeg',
              optimizer: own,
            }),
            tf.layers.flatten(),
            tf.layers.dense({ units: 1 }),
          ],
        });
      const model = make();
      expect(model.inputs[0]!.dtype).toBe('int32');
      expect(model.inputs[0]!.shape).toEqual([null, 4]);
      const optimizer = emb.train.sgd({ learningRate: 0.05 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      const [x, y] = [ids(BATCH), tf.tensor2d([[1], [-1], [2], [0]])];
      await model.fit(x, y, { epochs: 2, verbose: 0, shuffle: false });
      const artifacts = await artifactsOf(model);
      expect(artifacts.weightSpecs![0]!.name).toBe('all_Features-1/params');
      const again = await cloneOf(model, { includeOptimizer: true });
      const [before, after] = [model, again].map((each) => each.layers[0] as emb.ConcatOneHotEmbedding);
      expect(after).toBeInstanceOf(emb.ConcatOneHotEmbedding);
      expect(after!.getConfig()).toEqual(before!.getConfig());
      expect(after!.table.optimizer!.optimizerName).toBe('rowWiseAdagrad');
      const fit = async (each: tf.LayersModel): Promise<unknown> =>
        (await each.fit(x, y, { epochs: 3, verbose: 0, shuffle: false })).history['loss'];
      expect(await fit(again)).toEqual(await fit(model));
      expect(take(again.predict(x))).toEqual(take(model.predict(x)));
      expect(Math.min(...take(before!.apply(x)))).toBeGreaterThanOrEqual(0);
      tf.dispose([x, y]);
      again.optimizer.dispose();
      again.dispose();
      optimizer.dispose();
      own.dispose();
      model.dispose();
    }),
  );

  it('reads the arguments of NVIDIA', () => {
    const layer = fromConfig({ name: 'one_hot', dtype: 'float32', feature_sizes: [3, 5], embedding_width: 4 });
    expect([layer.featureSizes, layer.embeddingWidth, layer.inputDim, layer.name]).toEqual([[3, 5], 4, 8, 'one_hot']);
    expect(layer.computeOutputShape([null, 2])).toEqual([null, 2, 4]);
    const sizes = [2, 3];
    const kept = emb.layers.concatOneHotEmbedding({ featureSizes: sizes, embeddingWidth: 1 });
    sizes[0] = 9;
    expect(kept.featureSizes).toEqual([2, 3]);
    expect(kept.name).toMatch(/^concat_one_hot_embedding_\d+$/);
  });

  it(
    'wrong arguments and inputs are named',
    leakFree(() => {
      const make = emb.layers.concatOneHotEmbedding as (args: unknown) => emb.ConcatOneHotEmbedding;
      const right = { featureSizes: [3, 5], embeddingWidth: 2 };
      const wrong: [string, unknown, 'TypeError' | 'ValueError', string?][] = [
        ['featureSizes', undefined, 'TypeError'],
        ['featureSizes', 5, 'TypeError'],
        ['featureSizes', [], 'ValueError'],
        ['featureSizes', [3, 0], 'ValueError', 'featureSizes[1]'],
        ['featureSizes', [1.5], 'ValueError', 'featureSizes[0]'],
        ['featureSizes', ['3'], 'TypeError', 'featureSizes[0]'],
        ['featureSizes', [2 ** 30, 2 ** 30], 'ValueError'],
        ['embeddingWidth', undefined, 'TypeError'],
        ['embeddingWidth', 0, 'ValueError'],
        ['combiner', 'sum', 'ValueError'],
        ['optimizer', 'sgd', 'TypeError'],
        ['embeddingsInitializer', 'relu', 'ValueError'],
        ['weights', [[[1, 2]]], 'ValueError'],
        ['trainable', 0, 'TypeError'],
        ['name', '', 'ValueError'],
      ];
      for (const [field, value, kind, argument] of wrong) {
        expectError(() => make({ ...right, [field]: value }), kind, argument ?? field);
      }
      for (const args of [undefined, null, 5, [1]]) expectError(() => make(args), 'TypeError', 'args');
      const layer = make(right);
      const apply = layer.apply.bind(layer) as (inputs: unknown) => unknown;
      const tensors = {
        wide: ids([[1, 2, 0]]),
        vector: tf.tensor1d([1, 2], 'int32'),
        half: tf.tensor2d([[1, 0.5]]),
        text: tf.tensor2d([['a', 'b']]),
        good: ids([[1, 2]]),
      };
      const { wide, vector, half, text, good } = tensors;
      expectError(() => apply(undefined), 'TypeError', 'inputs');
      expectError(() => apply(wide), 'ValueError', 'ids', /\[1, 3\]/);
      expectError(() => apply(vector), 'ValueError', 'ids', /\[2\]/);
      expectError(() => apply(half), 'ValueError', 'ids', /0\.5/);
      expectError(() => apply(text), 'TypeError', 'ids');
      expectError(() => apply([good, good]), 'ValueError', 'inputs');
      expectError(() => apply(emb.RaggedTensor.fromRows([[1, 2]])), 'TypeError', 'ids');
      expectError(() => apply([1, 2]), 'ValueError', 'ids');
      expectError(() => apply(tf.input({ shape: [3], dtype: 'int32' })), 'ValueError', 'ids');
      expect(take(apply([[2, 4]])).length).toBe(4);
      tf.dispose(tensors);
      layer.dispose();
    }),
  );

  it('keeps the seed in its config by which its halves are rounded', () => {
    for (const seed of [undefined, 0, 7]) {
      const given = seed === undefined ? {} : { seed };
      const layer = emb.layers.concatOneHotEmbedding({
        featureSizes: [2, 3],
        embeddingWidth: 2,
        storage: 'float16',
        ...given,
      });
      const config = layer.getConfig();
      expect('seed' in config).toBe(seed !== undefined);
      expect(config['seed']).toBe(seed as never);
    }
  });
});
