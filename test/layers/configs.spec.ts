/** Configs with no field at its default: each field is written, read again, and goes through a saved model. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import { artifactsOf, leakFree, reload, useCpu } from './setup.js';

type Config = Record<string, unknown>;
type LayerClass = (new (args: never) => tf.layers.Layer) & typeof emb.Embedding;

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const configOf = (layer: { getConfig(): object }): Config => asJson(layer.getConfig()) as Config;

/** One layer: its class, all arguments that it keeps, those that it needs, and the config that says the former. */
interface Case {
  readonly cls: unknown;
  readonly args: () => object;
  readonly least: () => object;
  readonly config: Config;
  readonly inputs: number;
  readonly dtype: tf.DataType;
}

const SETTINGS = { learningRate: 0.25, initialAccumulatorValue: 0.5, epsilon: 0.125, clipValue: 3 };
const table = (): object => ({
  embeddingsInitializer: tf.initializers.randomNormal({ mean: 1, stddev: 2, seed: 3 }),
  embeddingsRegularizer: tf.regularizers.l1l2({ l1: 0.5, l2: 0.25 }),
  embeddingsConstraint: tf.constraints.minMaxNorm({ minValue: 0.5, maxValue: 2, rate: 0.75, axis: 1 }),
});
const TABLE: Config = {
  embeddingsInitializer: { className: 'RandomNormal', config: { mean: 1, stddev: 2, seed: 3 } },
  embeddingsRegularizer: { className: 'L1L2', config: { l1: 0.5, l2: 0.25 } },
  embeddingsConstraint: { className: 'MinMaxNorm', config: { minValue: 0.5, maxValue: 2, rate: 0.75, axis: 1 } },
};
const embeddingArgs = (): object => ({
  inputDim: 11,
  outputDim: 3,
  ...table(),
  combiner: 'sqrtn',
  maskZero: true,
  inputLength: 4,
  maxNorm: 1.5,
  outOfRange: 'zero',
  name: 'Full_1',
  trainable: false,
  batchInputShape: [6, 4],
});
const EMBEDDING: Config = {
  inputDim: 11,
  outputDim: 3,
  ...TABLE,
  combiner: 'sqrtn',
  maskZero: true,
  inputLength: 4,
  maxNorm: 1.5,
  outOfRange: 'zero',
  name: 'Full_1',
  trainable: false,
  batchInputShape: [6, 4],
};
const BASE = { name: 'Full_1', trainable: false, batchInputShape: [6, 4] } as const;

const CASES: Record<string, Case> = {
  Embedding: {
    cls: emb.Embedding,
    args: embeddingArgs,
    least: () => ({ inputDim: 2, outputDim: 2 }),
    config: EMBEDDING,
    inputs: 1,
    dtype: 'int32',
  },
  RaggedEmbedding: {
    cls: emb.RaggedEmbedding,
    args: embeddingArgs,
    least: () => ({ inputDim: 2, outputDim: 2 }),
    config: EMBEDDING,
    inputs: 1,
    dtype: 'int32',
  },
  ConcatOneHotEmbedding: {
    cls: emb.ConcatOneHotEmbedding,
    args: () => ({ featureSizes: [3, 2, 5, 4], embeddingWidth: 3, ...table(), ...BASE }),
    least: () => ({ featureSizes: [2, 2], embeddingWidth: 2 }),
    config: { featureSizes: [3, 2, 5, 4], embeddingWidth: 3, ...TABLE, ...BASE },
    inputs: 1,
    dtype: 'int32',
  },
  DotInteraction: {
    cls: emb.DotInteraction,
    args: () => ({ selfInteraction: true, skipGather: true, ...BASE }),
    least: () => ({}),
    config: { selfInteraction: true, skipGather: true, ...BASE },
    inputs: 3,
    dtype: 'float32',
  },
  FeatureCross: {
    cls: emb.FeatureCross,
    args: () => ({
      projectionDim: 2,
      diagScale: 0.5,
      useBias: false,
      preActivation: 'tanh',
      kernelInitializer: tf.initializers.randomUniform({ minval: -2, maxval: 3, seed: 5 }),
      biasInitializer: tf.initializers.constant({ value: 4 }),
      kernelRegularizer: tf.regularizers.l1l2({ l1: 0.5, l2: 0.25 }),
      biasRegularizer: tf.regularizers.l1l2({ l1: 0.125, l2: 0.75 }),
      ...BASE,
    }),
    least: () => ({}),
    config: {
      projectionDim: 2,
      diagScale: 0.5,
      useBias: false,
      preActivation: 'tanh',
      kernelInitializer: { className: 'RandomUniform', config: { minval: -2, maxval: 3, seed: 5 } },
      biasInitializer: { className: 'Constant', config: { value: 4 } },
      kernelRegularizer: { className: 'L1L2', config: { l1: 0.5, l2: 0.25 } },
      biasRegularizer: { className: 'L1L2', config: { l1: 0.125, l2: 0.75 } },
      ...BASE,
    },
    inputs: 2,
    dtype: 'float32',
  },
  IntegerLookupLayer: {
    cls: emb.IntegerLookupLayer,
    args: () => ({ maxTokens: 9, ...BASE }),
    least: () => ({ maxTokens: 5 }),
    config: { maxTokens: 9, ...BASE },
    inputs: 1,
    dtype: 'int32',
  },
};

/** What tfjs adds, or what is never set. */
const WITHOUT_CHOICE = new Set(['dtype', 'activityRegularizer', 'table', 'optimizer']);

async function throughModel({ cls, args, inputs, dtype }: Case): Promise<Config> {
  const layer = new (cls as LayerClass)(args() as never);
  const given = Array.from({ length: inputs }, () => tf.input({ batchShape: [6, 4], dtype }));
  const outputs = layer.apply(given.length === 1 ? given[0]! : given) as tf.SymbolicTensor;
  const model = tf.model({ inputs: given, outputs });
  const again = await reload(await artifactsOf(model));
  const config = configOf(again.getLayer('Full_1'));
  again.dispose();
  model.dispose();
  return config;
}

describe('configs of layers', () => {
  beforeAll(useCpu);

  for (const [title, each] of Object.entries(CASES)) {
    const cls = each.cls as LayerClass;
    const written = leakFree(async () => {
      const config = configOf(new cls(each.args() as never));
      expect(config).toEqual(jasmine.objectContaining(each.config));
      const others = Object.keys(config).filter((key) => !(key in each.config));
      expect(others.filter((key) => !WITHOUT_CHOICE.has(key))).toEqual([]);
      // No field would say this if it were left out.
      const plain = configOf(new cls(each.least() as never));
      for (const [field, value] of Object.entries(each.config)) {
        expect(plain[field]).withContext(field).not.toEqual(value);
      }
      expect(configOf(cls.fromConfig(cls as never, asJson(config) as never))).toEqual(config);
      expect(await throughModel(each)).toEqual(config);
    });
    it(`hold every field of ${title}`, written);
  }

  it('hold the optimizer of a table', () => {
    for (const cls of [emb.Embedding, emb.RaggedEmbedding] as unknown as LayerClass[]) {
      const args = { inputDim: 4, outputDim: 2, optimizer: emb.train.adagrad(SETTINGS) };
      const layer = new cls(args as never);
      const { optimizer } = configOf(layer) as { optimizer: { className: string; config: Config } };
      expect(optimizer.className).toBe('TfjsEmbeddings>Adagrad');
      expect(optimizer.config).toEqual(jasmine.objectContaining({ ...SETTINGS, clipValue: [-3, 3] }));
      const again = cls.fromConfig(cls as never, configOf(layer) as never);
      expect(configOf(again)).toEqual(configOf(layer));
    }
  });

  it('hold a shared table in place of its fields', () => {
    const shared = emb.embeddingTable({ name: 'films', inputDim: 7, outputDim: 3, ...table(), trainable: false });
    expect(asJson(shared.getConfig())).toEqual({
      name: 'films',
      inputDim: 7,
      outputDim: 3,
      ...TABLE,
      optimizer: null,
      trainable: false,
    });
    const layer = emb.layers.embedding({ table: shared, combiner: 'mean' });
    const config = configOf(layer);
    expect(config['table']).toEqual(asJson(shared.getConfig()));
    const again = emb.Embedding.fromConfig(emb.Embedding as never, config as never) as unknown as emb.Embedding;
    expect(configOf(again)).toEqual(config);
    expect(again.table.isShared).toBeTrue();
    expect(again.table.name).toBe('films');
  });

  it('hold every field of TableConfig and FeatureConfig', () => {
    const films = new emb.TableConfig({
      name: 'Films of 1990',
      vocabularySize: 7,
      embeddingDim: 3,
      initializer: tf.initializers.constant({ value: 2 }),
      optimizer: 'ftrl',
      combiner: 'sum',
      placement: 'default_device',
      maxIdsPerPartition: 12,
      maxUniqueIdsPerPartition: 13,
    });
    const config = asJson(films.getConfig()) as Config;
    expect(config).toEqual({
      name: 'Films of 1990',
      vocabularySize: 7,
      embeddingDim: 3,
      initializer: { className: 'Constant', config: { value: 2 } },
      optimizer: jasmine.objectContaining({ className: 'TfjsEmbeddings>Ftrl' }),
      combiner: 'sum',
      placement: { name: 'default_device' },
      maxIdsPerPartition: 12,
      maxUniqueIdsPerPartition: 13,
    });
    const plain = asJson(new emb.TableConfig({ name: 'a', vocabularySize: 1, embeddingDim: 1 }).getConfig()) as Config;
    for (const [field, value] of Object.entries(config)) expect(plain[field]).withContext(field).not.toEqual(value);
    expect(asJson(emb.TableConfig.fromConfig(config).getConfig())).toEqual(config);
    const seen = new emb.FeatureConfig({ name: 'seen', table: films, inputShape: [6, 4], outputShape: [6, 3] });
    const own = { name: 'seen', inputShape: [6, 4], outputShape: [6, 3] };
    expect(asJson(seen.getConfig())).toEqual({ ...own, table: config });
    const again = emb.FeatureConfig.fromConfig(asJson(seen.getConfig()) as object);
    expect(asJson(again.getConfig())).toEqual({ ...own, table: config });
  });

  it('hold every field of DistributedEmbedding and of its items', async () => {
    const item = { ...(embeddingArgs() as Config), ragged: true, name: 'Own table' };
    for (const field of ['trainable', 'batchInputShape']) delete (item as Config)[field];
    const args = {
      embeddings: [item, { inputDim: 5, outputDim: 3, combiner: 'sum', name: 'other' }],
      inputTableMap: [1, 0, 1],
      strategy: 'memory_balanced',
      columnSliceThreshold: 1000,
      rowSliceThreshold: 2000,
      dataParallelThreshold: 3,
      deviceMemory: 4e6,
      dpInput: true,
      rowSharding: 'modulo',
      rowFallback: false,
      hotness: [2, 4, 6],
      batchSize: 64,
      seed: 17,
      tableStacking: [['Own table', 'other']],
      updateStats: true,
      weightedFeatures: [2],
      name: 'All_1',
      trainable: false,
    } as const;
    const layer = emb.layers.distributedEmbedding(args as never) as unknown as emb.DistributedEmbedding;
    const config = configOf(layer);
    const rule = { maskZero: true, maxNorm: 1.5, outOfRange: 'zero', inputLength: 4 };
    const none = { maskZero: false, maxNorm: null, outOfRange: 'error', inputLength: null };
    expect(config).toEqual(
      jasmine.objectContaining({
        ...args,
        embeddings: [
          { ...rule, combiner: 'sqrtn', ragged: true, table: 0 },
          { ...none, combiner: 'sum', ragged: false, table: 1 },
        ],
        strategy: { name: 'memory_balanced' },
        tableStacking: { name: JSON.stringify([['Own table', 'other']]) },
        plan: null,
      }),
    );
    const [own, other] = config['tables'] as [Config, Config];
    expect(own).toEqual(jasmine.objectContaining({ ...TABLE, inputDim: 11, outputDim: 3, name: 'Own table' }));
    expect(other).toEqual(jasmine.objectContaining({ inputDim: 5, outputDim: 3, name: 'other', shared: null }));
    const least = emb.layers.distributedEmbedding({ embeddings: [{ inputDim: 2, outputDim: 2 }] });
    const plain = configOf(least as unknown as emb.DistributedEmbedding);
    for (const field of Object.keys(args)) {
      if (field === 'dpInput') continue; // Left out, it is true as well.
      expect(plain[field]).withContext(field).not.toEqual(config[field]);
    }
    const cls = emb.DistributedEmbedding;
    const again = cls.fromConfig(cls as never, asJson(config) as never) as unknown as emb.DistributedEmbedding;
    expect(configOf(again)).toEqual(config);
    const byDevice = {
      ...(asJson(config) as Config),
      dpInput: false,
      dataParallelThreshold: null,
      rowSliceThreshold: null,
    };
    const last = cls.fromConfig(cls as never, byDevice as never) as unknown as emb.DistributedEmbedding;
    expect(configOf(last)['dpInput']).toBe(false);
  });
});
