/** Configs of tables and features of either API, given to the other. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import * as tpu from 'tfjs-embeddings/tpu';
import { expectError } from '../../helpers/errors.js';
import { Random } from '../../helpers/random.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { withTpuEmulator } from '../../helpers/tpu_emulator.js';

const [ROWS, DIM, BATCH, STEPS] = [20, 4, 8, 3];
const rate = { learningRate: 0.1 };

/** Each optimizer of the TPU API beside the one of `emb.train` that takes the same steps. */
const PAIRS: Record<string, [() => tpu.TPUEmbeddingOptimizer, () => tf.Optimizer]> = {
  sgd: [() => new tpu.SGD(rate), () => emb.train.sgd(rate)],
  'sgd with limits': [
    () =>
      new tpu.SGD({ ...rate, clipWeightMin: -0.2, clipWeightMax: 0.3, weightDecayFactor: 0.1, clipvalue: [-0.1, 0.2] }),
    () => emb.train.sgd({ ...rate, clipWeightMin: -0.2, clipWeightMax: 0.3, weightDecay: 0.1, clipValue: [-0.1, 0.2] }),
  ],
  'sgd with a decay by the rate': [
    () => new tpu.SGD({ ...rate, weightDecayFactor: 0.1, multiplyWeightDecayFactorByLearningRate: true }),
    () => emb.train.sgd({ ...rate, weightDecay: 0.1, multiplyWeightDecayByLearningRate: true }),
  ],
  adagrad: [
    () => new tpu.Adagrad({ ...rate, initialAccumulatorValue: 0.3 }),
    () => emb.train.adagrad({ ...rate, initialAccumulatorValue: 0.3, epsilon: 0 }),
  ],
  adagradMomentum: [
    () => new tpu.AdagradMomentum({ ...rate, momentum: 0.9, useNesterov: true, exponent: 3, beta2: 0.9, epsilon: 0.1 }),
    () =>
      emb.train.adagradMomentum({ ...rate, momentum: 0.9, useNesterov: true, exponent: 3, beta2: 0.9, epsilon: 0.1 }),
  ],
  adam: [
    () => new tpu.Adam({ ...rate, beta1: 0.8, beta2: 0.95, epsilon: 1e-2 }),
    () =>
      emb.train.adam({ ...rate, beta1: 0.8, beta2: 0.95, epsilon: 1e-2, biasCorrection: false, sumInsideSqrt: true }),
  ],
  'adam of all rows': [
    () => new tpu.Adam({ ...rate, epsilon: 1e-2, lazyAdam: false, sumInsideSqrt: false }),
    () => emb.train.adam({ ...rate, epsilon: 1e-2, biasCorrection: false, lazy: false }),
  ],
  ftrl: [
    () =>
      new tpu.FTRL({
        ...rate,
        learningRatePower: -0.4,
        l1RegularizationStrength: 0.01,
        l2RegularizationStrength: 0.02,
        beta: 0.1,
        initialAccumulatorValue: 0.2,
        multiplyLinearByLearningRate: true,
      }),
    () =>
      emb.train.ftrl({
        ...rate,
        learningRatePower: -0.4,
        l1: 0.01,
        l2: 0.02,
        beta: 0.1,
        initialAccumulatorValue: 0.2,
        multiplyLinearByLearningRate: true,
      }),
  ],
};

type Pair = keyof typeof PAIRS;
const initializer = (): ReturnType<typeof tf.initializers.randomUniform> =>
  tf.initializers.randomUniform({ minval: -1, maxval: 1, seed: 3 });

/** Two features that share a table. */
function tpuFeatures(
  pair: Pair,
  args: Partial<tpu.TableConfigArgs> = {},
): { a: tpu.FeatureConfig; b: tpu.FeatureConfig } {
  const own = { initializer: initializer(), optimizer: PAIRS[pair]![0](), ...args };
  const table = new tpu.TableConfig({ vocabularySize: ROWS, dim: DIM, combiner: 'sum', name: 'rows', ...own });
  return { a: new tpu.FeatureConfig({ table, name: 'a' }), b: new tpu.FeatureConfig({ table, name: 'b' }) };
}

function features(pair: Pair, args: object = {}): { a: emb.FeatureConfig; b: emb.FeatureConfig } {
  const own = { initializer: initializer(), optimizer: PAIRS[pair]![1]() as never, ...args };
  const sizes = { vocabularySize: ROWS, embeddingDim: DIM };
  const table = new emb.TableConfig({ name: 'rows', ...sizes, combiner: 'sum', ...own });
  const shapes = { inputShape: [BATCH, 2], outputShape: [BATCH, DIM] };
  return {
    a: new emb.FeatureConfig({ name: 'a', table, ...shapes }),
    b: new emb.FeatureConfig({ name: 'b', table, ...shapes }),
  };
}

function ids(seed: number): tf.Tensor2D {
  const random = new Random(seed);
  return tf.tensor2d(
    Array.from({ length: BATCH * 2 }, () => random.whole(0, ROWS)),
    [BATCH, 2],
    'int32',
  );
}

/** The table after some steps of a layer. */
async function trainedLayer(given: object): Promise<Float32Array> {
  const inputs = { a: tf.input({ shape: [2], dtype: 'int32' }), b: tf.input({ shape: [2], dtype: 'int32' }) };
  const layer = emb.layers.distributedEmbedding({ features: given as ReturnType<typeof features> });
  const outputs = Object.values(layer.apply(inputs) as unknown as Record<string, tf.SymbolicTensor>);
  const model = tf.model({ inputs: [inputs.a, inputs.b], outputs });
  model.compile({ optimizer: emb.train.sgd(rate), loss: 'meanSquaredError' });
  const [x, y] = [
    [ids(1), ids(2)],
    [tf.ones([BATCH, DIM]), tf.zeros([BATCH, DIM])],
  ];
  for (let step = 0; step < STEPS; step++) await model.trainOnBatch(x, y);
  const rows = layer.getWeights()[0]!.dataSync() as Float32Array;
  model.optimizer.dispose();
  model.dispose();
  tf.dispose([x, y]);
  return rows;
}

/** The table after some steps of a TPUEmbedding, and whether the map of tables has it by what was given. */
function trainedEmbedding(given: { a: object; b: object }, key: object): Float32Array {
  return tf.tidy(() => {
    const embedding = new tpu.TPUEmbedding({ featureConfig: given as never, optimizer: null });
    const ragged = (seed: number): emb.RaggedTensor => emb.RaggedTensor.fromRows(ids(seed).arraySync());
    const batch = { a: ragged(1), b: ragged(2) };
    for (let step = 0; step < STEPS; step++) {
      embedding.enqueue(batch, null, { training: true });
      embedding.dequeue();
      embedding.applyGradients({ a: tf.ones([BATCH, DIM]), b: tf.fill([BATCH, DIM], -0.5) });
    }
    const rows = embedding.embeddingTables.get(key as never)!.dataSync() as Float32Array;
    embedding.dispose();
    return rows;
  });
}

describe('Configs of either class', () => {
  it('are of one class, under the names of both', () => {
    const { a } = tpuFeatures('sgd');
    expect(a).toBeInstanceOf(emb.FeatureConfig);
    expect(a.table).toBeInstanceOf(emb.TableConfig);
    expect(a.table.embeddingDim).toBe(DIM);
    expect(new tpu.TableConfig({ vocabularySize: 2, embeddingDim: 3 }).dim).toBe(3);
    const { a: shared } = features('sgd');
    expect(shared).not.toBeInstanceOf(tpu.FeatureConfig);
    expect(shared.table).not.toBeInstanceOf(tpu.TableConfig);
  });

  it('share a table where they were given one', () => {
    const { a } = tpuFeatures('sgd');
    const shapes = { inputShape: [BATCH], outputShape: [BATCH, DIM] };
    const [one, two] = ['one', 'two'].map((name) => new emb.FeatureConfig({ name, table: a.table, ...shapes }));
    expect(one!.table).toBe(two!.table);
    expect(one!.table.name).toBe('rows');
    const { a: shared } = features('sgd');
    const [three, four] = ['three', 'four'].map((name) => new tpu.FeatureConfig({ name, table: shared.table }));
    expect(three!.table).toBe(four!.table);
    expect(three!.table.dim).toBe(DIM);
  });

  for (const pair of Object.keys(PAIRS)) {
    it(`train a layer alike: ${pair}`, () =>
      withTpuEmulator({ chips: 2 }, () =>
        expectNoLeakAsync(async () => {
          expect(await trainedLayer(tpuFeatures(pair))).toEqual(await trainedLayer(features(pair)));
        }),
      ));

    it(`train a TPUEmbedding alike: ${pair}`, () =>
      withTpuEmulator({ chips: 2 }, () => {
        const [own, shared] = [tpuFeatures(pair), features(pair)];
        expect(trainedEmbedding(shared, shared.a.table)).toEqual(trainedEmbedding(own, own.a.table));
      }));
  }

  it('make a layer for the TPU that is saved with its model and loaded again', () =>
    withTpuEmulator({ chips: 2 }, () =>
      expectNoLeakAsync(async () => {
        const layer = emb.layers.tpuEmbedding({ featureConfig: features('adam'), optimizer: null });
        const { className, config } = {
          className: layer.getClassName(),
          config: JSON.parse(JSON.stringify(layer.getConfig())) as tf.serialization.ConfigDict,
        };
        expect(className).toMatch(/TPUEmbedding$/);
        const again = (layer.constructor as unknown as typeof emb.tpu.TPUEmbeddingLayer).fromConfig(
          layer.constructor as never,
          config,
        ) as unknown as typeof layer;
        expect(again.getConfig()).toEqual(layer.getConfig());
        await Promise.resolve();
      }),
    ));

  const shapes = { inputShape: [BATCH, 2], outputShape: [BATCH, DIM] };
  const inTpu = (args: object): unknown => new tpu.FeatureConfig({ table: features('sgd', args).a.table });
  const inLayer = (feature: Partial<tpu.FeatureConfigArgs>, args: Partial<tpu.TableConfigArgs> = {}): unknown => {
    const { table } = tpuFeatures('sgd', args).a;
    return emb.layers.distributedEmbedding({
      features: { a: new tpu.FeatureConfig({ table, name: 'a', ...feature }) as never },
    });
  };
  const quantizationConfig = new tpu.QuantizationConfig({ numBuckets: 8, lower: -1, upper: 1 });
  const customComputation = (_: unknown, table: tf.Tensor): tf.Tensor[] => [table];

  const REFUSED: Record<string, [make: () => unknown, argument: string, message?: RegExp]> = {
    'no combiner': [() => inTpu({ combiner: null }), 'table.combiner'],
    'rows of float16': [() => inTpu({ storage: 'float16', optimizer: null }), 'table.storage'],
    'a table that is not on the devices': [() => inTpu({ placement: 'default_device' }), 'table.placement'],
    'a limit of ids': [() => inTpu({ maxIdsPerPartition: 8 }), 'table.maxIdsPerPartition', /SparseCoreEmbeddingConfig/],
    'a limit of unique ids': [() => inTpu({ maxUniqueIdsPerPartition: 8 }), 'table.maxUniqueIdsPerPartition'],
    'an optimizer that TPUs lack': [() => inTpu({ optimizer: emb.train.rowWiseAdagrad(rate) }), 'optimizer'],
    'decay apart from gradients': [() => inTpu({ optimizer: emb.train.adamW(rate) }), 'optimizer'],
    rmsprop: [() => inTpu({ optimizer: emb.train.rmsprop(rate) }), 'optimizer'],
    'sgd with momentum': [() => inTpu({ optimizer: emb.train.sgd({ momentum: 0.9 }) }), 'optimizer.momentum'],
    amsgrad: [
      () => inTpu({ optimizer: emb.train.adam({ biasCorrection: false, amsgrad: true }) }),
      'optimizer.amsgrad',
    ],
    'bias correction': [() => inTpu({ optimizer: emb.train.adam(rate) }), 'optimizer.biasCorrection'],
    'an epsilon of adagrad': [() => inTpu({ optimizer: emb.train.adagrad({ epsilon: 0.1 }) }), 'optimizer.epsilon'],
    'norms that are clipped': [() => inTpu({ optimizer: emb.train.sgd({ clipNorm: 1 }) }), 'optimizer.clipNorm'],
    'accumulators of adagradMomentum': [
      () => inTpu({ optimizer: emb.train.adagradMomentum({ initialAccumulatorValue: 0.5 }) }),
      'optimizer.initialAccumulatorValue',
    ],
    'a rate by the step': [
      () => inTpu({ optimizer: emb.train.sgd({ learningRate: (step: number) => 1 / (1 + step) }) }),
      'optimizer.learningRate',
    ],
    'a shape with other columns': [
      () => {
        const { table } = features('sgd').a;
        const feature = new emb.FeatureConfig({ name: 'a', table, inputShape: [BATCH], outputShape: [BATCH, DIM + 1] });
        return new tpu.TPUEmbedding({ featureConfig: { a: feature }, optimizer: null });
      },
      'featureConfig.a.outputShape',
    ],
    'two widths': [() => new tpu.TableConfig({ vocabularySize: 2, dim: 2, embeddingDim: 3 }), 'embeddingDim'],
    'no width': [() => new tpu.TableConfig({ vocabularySize: 2 }), 'dim'],
    quantization: [() => inLayer({}, { quantizationConfig }), 'features.a.table.quantizationConfig'],
    'a layout': [() => inLayer({}, { layout: {} }), 'features.a.table.layout'],
    integers: [() => inLayer({}, { dtype: 'int32' }), 'features.a.table.dtype'],
    'a table without a name': [() => inLayer({}, { name: null }), 'features.a.table.name'],
    'a feature without a name': [() => inLayer({ name: null }), 'features.a.name'],
    sequences: [() => inLayer({ maxSequenceLength: 2 }), 'features.a.maxSequenceLength'],
    'unchecked ids': [() => inLayer({ validateWeightsAndIndices: false }), 'features.a.validateWeightsAndIndices'],
    'samples of several rows': [() => inLayer({ outputShape: [2, 2] }), 'features.a.outputShape'],
    'steps by occurrence': [
      () => inLayer({}, { optimizer: new tpu.SGD({ useGradientAccumulation: false }) }),
      'features.a.optimizer.useGradientAccumulation',
    ],
    'a function that makes slots': [
      () => inLayer({}, { optimizer: new tpu.Adagrad({ slotVariableCreationFn: () => ({}) }) }),
      'features.a.optimizer.slotVariableCreationFn',
    ],
    'an optimizer of your own': [
      () => inLayer({}, { optimizer: new tpu.CustomOptimizer({ customComputation: customComputation as never }) }),
      'features.a.optimizer',
    ],
    'a nameless table in an emb.FeatureConfig': [
      () => new emb.FeatureConfig({ name: 'a', table: tpuFeatures('sgd', { name: null }).a.table, ...shapes }),
      'table.name',
    ],
  };
  for (const [what, [make, argument, message = /./]] of Object.entries(REFUSED)) {
    it(`refuse ${what} where it cannot be kept`, () => {
      expectError(make, 'ValueError', argument);
      expect(make).toThrowError(message);
    });
  }

  it('take a rate without arguments, and the epsilon of adagrad that is not given', () => {
    const rateNow = (): number => 0.5;
    const { table } = features('sgd', { optimizer: emb.train.adagrad({ learningRate: rateNow }) }).a;
    const { optimizer } = new tpu.FeatureConfig({ table }).table;
    expect(optimizer).toBeInstanceOf(tpu.Adagrad);
    expect(optimizer!.learningRate).toBe(rateNow);
  });
});
