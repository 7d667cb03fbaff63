/** Models that hold every layer of the package, with inputs: what files are written from. */
import { Random } from './random.mjs';

const table = { inputDim: 9, outputDim: 3 };
const IDS = [
  [3, 7, 0, 0],
  [5, 5, 0, 8],
  [0, 0, 0, 0],
];
const PADDED = [
  [3, 7, -1, -1],
  [5, 5, 0, 8],
  [-1, -1, -1, -1],
];
const WEIGHTS = [
  [0.5, 2, 1, 3],
  [1, 0.25, 3, 0],
  [1, 1, 1, 1],
];

/**
 * Functions that make `{model, inputs}`, by name; `isTrained`: it is compiled, `isFilled`: its weights are given.
 */
export function modelsOf({ tf, emb }) {
  const int = (rows) => tf.tensor2d(rows, undefined, 'int32');
  const ids = (name, length = 4) => tf.input({ shape: [length], dtype: 'int32', name });
  const compiled = (made, optimizer) => {
    made.model.compile({ optimizer, loss: 'meanSquaredError' });
    return { ...made, isTrained: true };
  };
  const sequential = (layer, rows) => ({
    model: tf.sequential({ name: 'scores', layers: [layer, tf.layers.dense({ units: 2, name: 'head' })] }),
    inputs: [int(rows)],
  });
  const bags = (combiner, more = {}) =>
    sequential(emb.layers.embedding({ ...table, combiner, name: 'items', inputShape: [4], ...more }), IDS);

  const ragged = (more) =>
    sequential(
      emb.layers.raggedEmbedding({ ...table, combiner: 'mean', inputShape: [null], name: 'items', ...more }),
      PADDED,
    );

  const weighted = (combiner) => {
    const [inputs, counts] = [ids('ids'), tf.input({ shape: [4], name: 'counts' })];
    const pooled = emb.layers.embedding({ ...table, combiner, name: 'items' }).apply([inputs, counts]);
    const outputs = tf.layers.dense({ units: 2, name: 'head' }).apply(pooled);
    return {
      model: tf.model({ inputs: [inputs, counts], outputs, name: 'weighted' }),
      inputs: [int(IDS), tf.tensor2d(WEIGHTS)],
    };
  };

  const shared = (more = {}) => {
    const movies = emb.embeddingTable({ name: 'movies', ...table, ...more });
    const inputs = [ids('seen'), ids('next', 1)];
    const [seen, next] = inputs.map((input, i) =>
      emb.layers.embedding({ table: movies, combiner: ['mean', 'sum'][i], name: `movies_${i}` }).apply(input),
    );
    const outputs = tf.layers.dot({ axes: 1, name: 'score' }).apply([seen, next]);
    return { model: tf.model({ inputs, outputs, name: 'towers' }), inputs: [int(IDS), int([[1], [8], [2]])] };
  };

  const distributed = (more = {}) => {
    const layer = emb.layers.distributedEmbedding({
      name: 'tables',
      embeddings: [
        { name: 'users', ...table, combiner: 'mean', ragged: true },
        { name: 'items', inputDim: 11, outputDim: 3, combiner: 'sum', maskZero: true, outOfRange: 'zero' },
      ],
      inputTableMap: [0, 1, 0],
      ...more,
    });
    const inputs = ['a', 'b', 'c'].map((name) => ids(name));
    return {
      model: tf.model({ inputs, outputs: layer.apply(inputs), name: 'tables_model' }),
      inputs: [PADDED, IDS, PADDED].map(int),
    };
  };

  const features = () => {
    const movies = new emb.TableConfig({ name: 'movies', vocabularySize: 9, embeddingDim: 3, combiner: 'sqrtn' });
    const feature = (name, length) =>
      new emb.FeatureConfig({ name, table: movies, inputShape: [null, length], outputShape: [null, 3] });
    const layer = emb.layers.distributedEmbedding({
      name: 'features',
      features: { seen: feature('seen', 4), next: feature('next', 1) },
    });
    const [seen, next] = [ids('seen'), ids('next', 1)];
    const results = layer.apply({ seen, next });
    return {
      model: tf.model({ inputs: [seen, next], outputs: [results.seen, results.next], name: 'features_model' }),
      inputs: [int(IDS), int([[1], [0], [4]])],
    };
  };

  const interactions = () => {
    const random = new Random(5);
    const inputs = [0, 1, 2].map((i) => tf.input({ shape: [4], name: `x${i}` }));
    const dots = emb.layers.dotInteraction({ selfInteraction: true, name: 'dots' }).apply(inputs);
    const all = emb.layers.dotInteraction({ skipGather: true, name: 'all_dots' }).apply(inputs);
    const cross = { projectionDim: 2, diagScale: 0.5, preActivation: 'tanh', name: 'cross' };
    const x1 = emb.layers.featureCross(cross).apply(inputs[0]);
    const x2 = emb.layers.featureCross({ useBias: false, name: 'cross_again' }).apply([inputs[0], x1]);
    return {
      model: tf.model({ inputs, outputs: [dots, all, x2], name: 'interactions' }),
      inputs: inputs.map(() => tf.tensor2d(random.floats(12), [3, 4])),
    };
  };

  const lookup = () => {
    const layer = emb.layers.integerLookup({ maxTokens: 6, inputShape: [4], name: 'words' });
    layer.apply([70, -5, 12, 2_000_000_000]);
    layer.trainable = false;
    const pooled = emb.layers.embedding({ inputDim: 7, outputDim: 3, combiner: 'sum', name: 'items' });
    const raw = [
      [70, 12, 99, -5],
      [2_000_000_000, -1, 0, 12],
      [1, 2, 3, 4],
    ];
    return { model: tf.sequential({ layers: [layer, pooled], name: 'looked_up' }), inputs: [int(raw)] };
  };

  const tpu = (version) => {
    const config = (name, combiner) => new emb.tpu.TableConfig({ vocabularySize: 9, dim: 3, combiner, name });
    const [a, b] = [config('users', 'mean'), config('items', 'sum')];
    const featureConfig = [a, b, a].map((table, i) => new emb.tpu.FeatureConfig({ table, name: `feature_${i}` }));
    const optimizer = new emb.tpu.Adagrad({ learningRate: 0.1 });
    const layer = emb.layers.tpuEmbedding({ featureConfig, optimizer, version, name: 'tables' });
    const inputs = featureConfig.map((_, i) => ids(`ids_${i}`));
    return {
      model: tf.model({ inputs, outputs: layer.apply(inputs), name: 'tpu_model' }),
      inputs: inputs.map(() => int(PADDED)),
    };
  };

  const rate = { learningRate: 0.1 };
  /** A copy with tables of fewer bits. */
  const quantized = ({ model, inputs }, dtype) => {
    fill(tf, model);
    return { model: emb.quantize(model, { dtype }), inputs, isFilled: true };
  };
  const halves = { storage: 'float16', seed: 4 };
  return {
    'embedding, one id': () => ({
      model: tf.sequential({
        name: 'rows',
        layers: [emb.layers.embedding({ ...table, inputShape: [], name: 'items' })],
      }),
      inputs: [tf.tensor1d([3, 8, 0], 'int32')],
    }),
    'embedding, masked steps': () => {
      const steps = emb.layers.embedding({ ...table, maskZero: true, inputShape: [4], name: 'items' });
      const layers = [steps, tf.layers.gru({ units: 3, name: 'gru' })];
      return { model: tf.sequential({ name: 'steps', layers }), inputs: [int(IDS)] };
    },
    'embedding, sum': () => bags('sum'),
    'embedding, mean, sgd': () => compiled(bags('mean'), emb.train.sgd(rate)),
    'embedding, sqrtn, adam': () => compiled(bags('sqrtn', { maskZero: true }), emb.train.adam(rate)),
    'embedding, own optimizer': () =>
      compiled(bags('sum', { optimizer: emb.train.ftrl({ ...rate, l1: 0.01 }) }), emb.train.adagradMomentum(rate)),
    'embedding, float16': () => compiled(bags('sum', { storage: 'float16', seed: 3 }), emb.train.adagrad(rate)),
    'embedding, int8': () => quantized(bags('mean'), 'int8'),
    'raggedEmbedding, int8': () => quantized(ragged({ combiner: 'sqrtn', maxNorm: 0.5, outOfRange: 'zero' }), 'int8'),
    'embedding, weights, int8': () => quantized(weighted('sum'), 'int8'),
    'a shared table, int8': () => quantized(shared(), 'int8'),
    'distributedEmbedding, int8': () => quantized(distributed(), 'int8'),
    'distributedEmbedding, float16': () => quantized(distributed(), 'float16'),
    'a shared table, float16, adam': () => compiled(shared(halves), emb.train.adam(rate)),
    'raggedEmbedding, float16, ftrl': () => compiled(ragged(halves), emb.train.ftrl(rate)),
    'embedding, weights': () => weighted('mean'),
    'a shared table, rowWiseAdagrad': () => compiled(shared(), emb.train.rowWiseAdagrad(rate)),
    raggedEmbedding: () => ragged({}),
    'raggedEmbedding, limits': () => ragged({ maxNorm: 0.5, outOfRange: 'zero' }),
    concatOneHotEmbedding: () => {
      const sizes = { featureSizes: [3, 5, 7], embeddingWidth: 4, name: 'one_hot' };
      return sequential(emb.layers.concatOneHotEmbedding(sizes), [
        [2, 4, 6],
        [0, 0, 0],
      ]);
    },
    distributedEmbedding: () => distributed(),
    'distributedEmbedding, side by side': () => distributed({ output: 'concat' }),
    'distributedEmbedding, features': features,
    interactions,
    integerLookup: lookup,
    'tpuEmbedding, version 1': () => tpu(1),
    'tpuEmbedding, version 2': () => tpu(2),
  };
}

/** Fixed numbers as weights, so that zeros hide nothing. */
export function fill(tf, model) {
  const random = new Random(11);
  for (const weight of model.weights) {
    const value = weight.read();
    if (value.dtype !== 'float32') continue;
    const drawn = tf.tensor(random.floats(value.size, 0.05, 1), value.shape);
    weight.write(drawn);
    drawn.dispose();
  }
}
