import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { readEmbeddings } from '../../../src/layers/distributed_embedding/features.js';
import { describeForBackends } from '../../helpers/backends.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';
import { takeAll, valuesOf } from './layers.js';
import { artifactsOf, expectClose, expectError, leakFree, reload, take, useCpu } from '../setup.js';

const table = (combiner: emb.Combiner, args: Partial<emb.TableConfigArgs<emb.Combiner>> = {}): emb.TableConfig =>
  new emb.TableConfig({ name: 'table', vocabularySize: 23, embeddingDim: 7, combiner, ...args });

const feature = (name: string, of: emb.TableConfig, valence = 13): emb.FeatureConfig =>
  new emb.FeatureConfig({ name, table: of, inputShape: [16, valence], outputShape: [16, of.embeddingDim] });

/** The pooled row of ids and weights, worked out from the table. */
function pooled(values: number[][], ids: number[], weights: number[] | null, combiner: emb.Combiner): number[] {
  const w = ids.map((_, i) => weights?.[i] ?? 1);
  const sum = values[0]!.map((_, column) => ids.reduce((total, id, i) => total + w[i]! * values[id]![column]!, 0));
  const divisor = { sum: 1, mean: w.reduce((a, b) => a + b, 0), sqrtn: Math.hypot(...w), max: NaN }[combiner];
  return sum.map((value) => (divisor === 0 ? 0 : value / divisor));
}

async function expectCorrect(): Promise<void> {
  for (const combiner of ['sum', 'mean', 'sqrtn'] as const) {
    const shared = table(combiner);
    const layer = emb.layers.distributedEmbedding({
      features: { dense: feature('dense', shared), rest: [feature('ragged', shared), feature('sparse', shared)], flat: feature('flat', shared) }, // prettier-ignore
    });
    const rows = [[2, 3, 4, 5], [5, 5, 1, 0]]; // prettier-ignore
    const weights = [[1, 2, 3, 4], [0.5, 1, 2, 1]]; // prettier-ignore
    const ragged = emb.RaggedTensor.fromRows([[2, 3, 4], []]);
    const sparse = { indices: [[0, 1], [1, 0], [1, 3]], values: [2, 3, 4], denseShape: [2, 4] }; // prettier-ignore
    const inputs = { dense: rows, rest: [ragged, sparse], flat: [7, 8] };
    const perId = {
      dense: weights,
      rest: [null, { ...sparse, values: [1, 2, 3] }],
      flat: [2, 3],
    };
    for (const given of [null, perId]) {
      const out = layer.apply(inputs, { weights: given });
      expect(Object.keys(out)).toEqual(['dense', 'rest', 'flat']);
      const values = layer.getTables()['table']!;
      const matrix = values.arraySync();
      values.dispose();
      const w = given !== null;
      const [dense, ofRagged, ofSparse, flat] = takeAll([out['dense']!, ...out.rest, out['flat']!]);
      expectClose(
        dense!,
        rows.flatMap((ids, i) => pooled(matrix, ids, w ? weights[i]! : null, combiner)),
        1e-5,
      );
      expectClose(ofRagged!, [...pooled(matrix, [2, 3, 4], null, combiner), ...Array<number>(7).fill(0)], 1e-5);
      const second = pooled(matrix, [3, 4], w ? [2, 3] : null, combiner);
      expectClose(ofSparse!, [...pooled(matrix, [2], w ? [1] : null, combiner), ...second], 1e-5);
      // One id per sample is never reduced: only the sum weighs it.
      const scale = w && combiner === 'sum' ? [2, 3] : [1, 1];
      expectClose(
        flat!,
        [7, 8].flatMap((id, i) => matrix[id]!.map((value) => value * scale[i]!)),
        1e-5,
      );
    }
    expect(layer.getWeights().length).toBe(1);
    layer.dispose();
  }
}

describe('hotness of features', () => {
  it('is their input length, or one id', () => {
    const item = { inputDim: 5, outputDim: 2, combiner: 'sum' };
    const { hotness } = readEmbeddings([{ ...item, inputLength: 7 }, item, { ...item, inputLength: null }], null);
    expect(hotness).toEqual([7, 1, 1]);
  });
});

describeForBackends('DistributedEmbedding of features', () => {
  it('combines every form of ids as Keras RS does', leakFree(expectCorrect));
});

describe('DistributedEmbedding of features on an emulated machine', () => {
  beforeAll(useCpu);

  it('combines every form of ids as Keras RS does', async () => {
    for (const chips of [1, 3, 8]) await withTpuEmulator({ chips }, leakFree(expectCorrect));
  });
});

/** Names that tfjs rewrites wherever it can. */
const NAMES = ['user_id', 'User Id', 'a/b', 'rowWise', '__proto', 'Sum_Two'] as const;

function namedFeatures(): { features: emb.NestedFeatures; first: emb.TableConfig } {
  const first = new emb.TableConfig({ name: NAMES[0], vocabularySize: 9, embeddingDim: 3, combiner: 'sum', optimizer: 'row_wise_adagrad' as never }); // prettier-ignore
  const second = new emb.TableConfig({ name: NAMES[1], vocabularySize: 5, embeddingDim: 2, initializer: 'ones' });
  const of = (name: string, config: emb.TableConfig): emb.FeatureConfig => feature(name, config, 2);
  const features = {
    [NAMES[0]]: of(NAMES[2], first),
    [NAMES[3]]: [of(NAMES[4], second), { [NAMES[1]]: of(NAMES[0], first), [NAMES[5]]: of(NAMES[5], second) }],
  };
  return { features, first };
}

interface NamedNest<T> {
  user_id: T;
  rowWise: [T, { 'User Id': T; Sum_Two: T }];
}

function namedModel(): { model: tf.LayersModel; layer: emb.DistributedEmbedding } {
  const layer = emb.layers.distributedEmbedding({
    name: 'nested',
    features: namedFeatures().features,
    strategy: 'memory_balanced',
    rowSliceThreshold: 27,
    seed: 2,
    updateStats: true,
    tableStacking: 'auto',
  });
  const [a, b, c, d] = [1, 2, 3, 4].map(() => tf.input({ shape: [2], dtype: 'int32' }));
  const weights = tf.input({ shape: [2] });
  const nest = { user_id: a!, rowWise: [b!, { 'User Id': c!, Sum_Two: d! }] };
  const perId = { user_id: null, rowWise: [null, { 'User Id': weights, Sum_Two: null }] };
  const out = layer.apply(nest, { weights: perId }) as NamedNest<tf.SymbolicTensor>;
  const outputs = [out.user_id, out.rowWise[0], out.rowWise[1]['User Id'], out.rowWise[1].Sum_Two];
  expect(outputs.map(({ shape }) => shape)).toEqual([[null, 3], [null, 2], [null, 3], [null, 2]]); // prettier-ignore
  const joined = tf.layers.concatenate().apply(outputs) as tf.SymbolicTensor;
  const model = tf.model({
    inputs: [a!, b!, c!, d!, weights],
    outputs: tf.layers.dense({ units: 1 }).apply(joined) as tf.SymbolicTensor,
  });
  return { model, layer };
}

const batch = (): tf.Tensor[] => [
  ...[0, 1, 2, 3].map((shift) => tf.tensor2d([[shift, 1], [4 - shift, 4]], [2, 2], 'int32')), // prettier-ignore
  tf.tensor2d([[1, 2], [3, -1]]), // prettier-ignore
];

const layerOf = (model: tf.LayersModel): emb.DistributedEmbedding =>
  model.layers.find((layer) => layer instanceof emb.DistributedEmbedding) as emb.DistributedEmbedding;

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (_, item: unknown) => item ?? undefined));

describe('saving of DistributedEmbedding', () => {
  beforeAll(useCpu);

  it('keeps weights to the bit, structure, names and sharing on any number of devices', async () => {
    const x = batch();
    const y = tf.tensor2d([[1], [-1]]);
    const saved = await withTpuEmulator({ chips: 8 }, async () => {
      const { model, layer } = namedModel();
      const optimizer = emb.train.adam({ learningRate: 0.01 });
      model.compile({ optimizer, loss: 'meanSquaredError' });
      await model.fit(x, y, { epochs: 2, verbose: 0 });
      const artifacts = await artifactsOf(model, { includeOptimizer: true });
      const facts = {
        artifacts,
        weights: valuesOf(model.getWeights()),
        predictions: take(model.predict(x)),
        config: asJson(layer.getConfig()),
      };
      const more = await model.fit(x, y, { epochs: 2, verbose: 0, shuffle: false });
      model.dispose();
      optimizer.dispose();
      return { ...facts, losses: more.history['loss'] as number[] };
    });
    expect(saved.artifacts.weightSpecs!.map(({ name }) => name).slice(0, 2)).toEqual([
      'nested/user_id/embeddings',
      'nested/User_Id/embeddings',
    ]);
    const check = async (): Promise<void> => {
      const model = await reload(saved.artifacts);
      const layer = layerOf(model);
      expect(valuesOf(model.getWeights())).toEqual(saved.weights);
      expectClose(take(model.predict(x)), saved.predictions, 1e-6);
      expect(asJson(layer.getConfig())).toEqual(saved.config);
      expect(layer.tableNames).toEqual(['user_id', 'User Id']);
      const nest = { user_id: [[1]], rowWise: [[[1]], { 'User Id': [[1]], Sum_Two: [[1]] }] };
      const out = layer.apply(nest) as NamedNest<tf.Tensor>;
      expect(Object.keys(out)).toEqual(['user_id', 'rowWise']);
      expect(Object.keys(out.rowWise[1])).toEqual(['User Id', 'Sum_Two']);
      takeAll([out.user_id, out.rowWise[0], out.rowWise[1]['User Id'], out.rowWise[1].Sum_Two]);
      const more = await model.fit(x, y, { epochs: 2, verbose: 0, shuffle: false });
      expectClose(more.history['loss'] as number[], saved.losses, 1e-5);
      model.optimizer.dispose();
      model.dispose();
    };
    await leakFree(check)();
    await withTpuEmulator({ chips: 3 }, leakFree(check));
    await withTpuEmulator({ chips: 1 }, leakFree(check));
    tf.dispose([...x, y]);
  });

  it(
    'keeps the list form, its tables and a plan made by hand',
    leakFree(async () => {
      const table = emb.embeddingTable({ name: 'a_B', inputDim: 8, outputDim: 2, optimizer: emb.train.sgd() });
      const embeddings: emb.DistributedItem[] = [
        { table, combiner: 'sum', maskZero: true },
        emb.layers.raggedEmbedding({
          name: 'Own-1',
          inputDim: 8,
          outputDim: 4,
          combiner: 'sqrtn',
          maxNorm: 2,
          outOfRange: 'zero',
          embeddingsRegularizer: 'l2',
          embeddingsConstraint: 'nonNeg',
          embeddingsInitializer: tf.initializers.randomNormal({ stddev: 2, seed: 3 }),
        }),
        { table, combiner: 'mean' },
      ];
      const tables = [
        { name: 'a_B', inputDim: 8, outputDim: 2, combiner: 'sum' as const, optimizer: 1 },
        { name: 'Own-1', inputDim: 8, outputDim: 4, combiner: 'sqrtn' as const, rowCoupled: true },
      ];
      const plan = emb.planEmbedding({ tables, worldSize: 3, rowSliceThreshold: 1, inputTableMap: [1, 0, 0] });
      const layer = emb.layers.distributedEmbedding({ embeddings, inputTableMap: [1, 2, 0], plan, hotness: [2, 2, 2] });
      const inputs = [1, 2, 3].map(() => tf.input({ shape: [2], dtype: 'int32' }));
      const joined = tf.layers.concatenate().apply(layer.apply(inputs) as tf.SymbolicTensor[]);
      const other = emb.layers.embedding({ table, combiner: 'sum' }).apply(inputs[0]!);
      const all = tf.layers.concatenate().apply([joined as tf.SymbolicTensor, other as tf.SymbolicTensor]);
      const model = tf.model({ inputs, outputs: all as tf.SymbolicTensor });
      const x = [0, 1, 2].map((shift) => tf.tensor2d([[shift, 3], [7, 0]], [2, 2], 'int32')); // prettier-ignore
      const expected = take(model.predict(x));
      const artifacts = await artifactsOf(model);
      expect(artifacts.weightSpecs!.map(({ name }) => name)).toEqual([
        'tables/a_B/embeddings',
        `${layer.name}/Own-1/embeddings`,
      ]);
      const loaded = await reload(artifacts);
      expect(take(loaded.predict(x))).toEqual(expected);
      expect(asJson(layerOf(loaded).getConfig())).toEqual(asJson(layer.getConfig()));
      // The table is one object for both layers again.
      const single = loaded.layers.find((each) => each instanceof emb.Embedding) as emb.Embedding;
      expect(layerOf(loaded).weights.some((weight) => weight.read() === single.table.variable)).toBeTrue();
      loaded.dispose();
      model.dispose();
      tf.dispose(x);
    }),
  );

  it(
    'a single feature by itself gives a tensor, symbolic, concrete and in a Sequential that was loaded',
    leakFree(async () => {
      const make = (): emb.DistributedEmbedding =>
        emb.layers.distributedEmbedding({ features: feature('only', table('sum'), 2) });
      const input = tf.layers.inputLayer({ inputShape: [2], dtype: 'int32' });
      const model = tf.sequential({ layers: [input, make(), tf.layers.dense({ units: 1 })] });
      const x = tf.tensor2d([[1, 22], [0, 3]], [2, 2], 'int32'); // prettier-ignore
      const loaded = (await reload(await artifactsOf(model))) as tf.Sequential;
      expect(take(loaded.predict(x))).toEqual(take(model.predict(x)));
      const layers = [layerOf(model), layerOf(loaded)];
      for (const layer of layers) {
        const again = layer.apply(tf.input({ shape: [2], dtype: 'int32' }));
        expect(again instanceof tf.SymbolicTensor).toBeTrue();
        take(layer.apply(x) as tf.Tensor);
      }
      loaded.dispose();
      model.dispose();
      // The symbolic use by hand counts too.
      for (const layer of layers) layer.dispose();
      x.dispose();
    }),
  );

  it(
    'loads a layer whose list has one feature',
    leakFree(async () => {
      const features = [feature('only', table('sum'), 2)];
      const embeddings = [{ inputDim: 23, outputDim: 7, combiner: 'sum' }] as const;
      for (const args of [{ embeddings }, { features }]) {
        const input = tf.input({ shape: [2], dtype: 'int32' });
        const outputs = emb.layers
          .distributedEmbedding(args as unknown as emb.DistributedEmbeddingArgs)
          .apply([input]) as tf.SymbolicTensor[];
        const model = tf.model({ inputs: input, outputs });
        const x = tf.tensor2d([[1, 22], [0, 3]], [2, 2], 'int32'); // prettier-ignore
        const loaded = await reload(await artifactsOf(model));
        expect(take(loaded.predict(x))).toEqual(take(model.predict(x)));
        loaded.dispose();
        model.dispose();
        x.dispose();
      }
    }),
  );

  it('getConfig makes an equal layer', () => {
    const { features } = namedFeatures();
    const layers = [
      emb.layers.distributedEmbedding({ features, strategy: 'memory_optimized', dpInput: false, deviceMemory: 100 }),
      emb.layers.distributedEmbedding({ embeddings: [{ inputDim: 3, outputDim: 2 }], name: 'one', trainable: false }),
    ];
    for (const layer of layers) {
      const config = JSON.parse(JSON.stringify(layer.getConfig())) as tf.serialization.ConfigDict;
      const again = emb.DistributedEmbedding.fromConfig(emb.DistributedEmbedding as never, config) as never;
      expect(asJson((again as emb.DistributedEmbedding).getConfig())).toEqual(asJson(config));
    }
  });

  it('reads the config of Keras RS', () => {
    const config = {
      name: 'de',
      trainable: true,
      dtype: { module: 'keras', class_name: 'DTypePolicy', config: { name: 'float32' }, registered_name: null },
      feature_configs: {
        movie_id: { name: 'movie_id', table: 0, input_shape: [16, 1], output_shape: [16, 4] },
        others: [{ name: 'user', table: 1, input_shape: [16, 3], output_shape: [16, 2] }, { name: 'again', table: 0, input_shape: [16], output_shape: [16, 4] }], // prettier-ignore
      },
      tables: [
        {
          name: 'movies',
          vocabulary_size: 9,
          embedding_dim: 4,
          initializer: { module: 'keras.initializers', class_name: 'VarianceScaling', config: { scale: 1, mode: 'fan_out', distribution: 'truncated_normal', seed: null }, registered_name: null }, // prettier-ignore
          optimizer: { module: 'keras.optimizers', class_name: 'Adagrad', config: { name: 'adagrad', learning_rate: 0.5, epsilon: 1e-7, initial_accumulator_value: 0.25, clipnorm: null, use_ema: false, ema_momentum: 0.99, weight_decay: null }, registered_name: null }, // prettier-ignore
          combiner: 'sum',
          placement: 'default_device',
          max_ids_per_partition: 64,
          max_unique_ids_per_partition: 32,
        },
        { name: 'users', vocabulary_size: 5, embedding_dim: 2, initializer: 'zeros', optimizer: 'adam', combiner: 'mean', placement: 'auto' }, // prettier-ignore
      ],
      table_stacking: 'auto',
    };
    const layer = emb.DistributedEmbedding.fromConfig(emb.DistributedEmbedding as never, config as never) as unknown;
    const made = layer as emb.DistributedEmbedding;
    expect(made.tableNames).toEqual(['movies', 'users']);
    const ids = { movie_id: [[1]], others: [[[1, 2, 3]], [4]] };
    const out = made.apply(ids) as { movie_id: tf.Tensor; others: tf.Tensor[] };
    expect(takeAll([out.movie_id, ...out.others]).map(({ length }) => length)).toEqual([4, 2, 4]);
    const [movies] = (made.getConfig() as unknown as { tables: Record<string, unknown>[] }).tables;
    expect(movies!['maxIdsPerPartition']).toBe(64);
    expect((movies!['optimizer'] as { config: object }).config).toEqual(
      jasmine.objectContaining({ learningRate: 0.5, initialAccumulatorValue: 0.25, epsilon: 1e-7 }),
    );
    made.dispose();
    const averaged = { class_name: 'SGD', config: { learning_rate: 0.1, use_ema: true } };
    expectError(() => emb.TableConfig.fromConfig({ ...config.tables[0], optimizer: averaged }), 'ValueError', 'optimizer.useEma'); // prettier-ignore
    const rms = { class_name: 'Nadam', config: {} };
    expectError(() => emb.TableConfig.fromConfig({ ...config.tables[0], optimizer: rms }), 'ValueError', 'optimizer');
  });
});

describe('TableConfig and FeatureConfig', () => {
  it('have the fields and defaults of Keras RS', () => {
    const config = new emb.TableConfig({ name: 't', vocabularySize: 4, embeddingDim: 2 });
    expect(config.combiner).toBe('mean');
    expect(config.placement).toBe('auto');
    expect(config.maxIdsPerPartition).toBe(256);
    expect(config.maxUniqueIdsPerPartition).toBe(256);
    expect(config.optimizer).toBeNull();
    expect(config.initializer.getClassName()).toBe('VarianceScaling');
    const named = new emb.TableConfig({ name: 't', vocabularySize: 4, embeddingDim: 2, optimizer: 'ftrl' });
    expect(named.optimizer!.optimizerName).toBe('ftrl');
    const again = emb.TableConfig.fromConfig(JSON.parse(JSON.stringify(named.getConfig())) as object);
    expect(asJson(again.getConfig())).toEqual(asJson(named.getConfig()));
    const one = feature('f', named);
    const copy = emb.FeatureConfig.fromConfig(JSON.parse(JSON.stringify(one.getConfig())) as object);
    expect(asJson(copy.getConfig())).toEqual(asJson(one.getConfig()));
    expect(one.hotness).toBe(13);
  });

  it(
    'train a table by its own optimizer, which a stock one cannot do',
    leakFree(() => {
      const of = feature('f', table('sum', { optimizer: emb.train.sgd({ learningRate: 1 }), initializer: 'ones' }));
      const layer = emb.layers.distributedEmbedding({ features: of });
      const loss = (): tf.Scalar => (layer.apply([[1]], { training: true }) as tf.Tensor).sum() as tf.Scalar;
      const optimizer = emb.train.adagrad({ learningRate: 0.1 });
      optimizer.minimize(loss);
      expect(Array.from(layer.getWeights()[0]!.dataSync().slice(7, 9))).toEqual([0, 0]);
      const stock = tf.train.sgd(0.1);
      expectError(() => tf.tidy(() => void stock.minimize(loss)), 'ValueError', 'optimizer', /stock/);
      stock.dispose();
      optimizer.dispose();
      layer.dispose();
    }),
  );

  it('takes over what stock layers mask and how long their rows are, and says which table of a config is none', () => {
    const stock = [true, false].map((maskZero) =>
      tf.layers.embedding({ inputDim: 5, outputDim: 2, maskZero, inputLength: 3 }),
    );
    const layer = emb.layers.distributedEmbedding({ embeddings: stock as never });
    const config = layer.getConfig() as { embeddings: { maskZero: boolean; inputLength: number }[] };
    expect(config.embeddings.map(({ maskZero, inputLength }) => [maskZero, inputLength])).toEqual([
      [true, 3],
      [false, 3],
    ]);
    const wrong = { ...config, embeddings: [config.embeddings[0], 3] };
    expectError(
      () => emb.DistributedEmbedding.fromConfig(emb.DistributedEmbedding as never, wrong as never),
      'TypeError',
      'embeddings[1]',
      '3',
    );
  });
});
