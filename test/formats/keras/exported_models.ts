/** Models that are exported: one for each kind of layer that Keras has too. */
import * as tf from '@tensorflow/tfjs';
import { Concatenate } from '../../../src/layers/merge/concatenate.js';
import { DiscretizationLayer } from '../../../src/layers/preprocessing/discretization_layer.js';
import { HashingLayer } from '../../../src/layers/preprocessing/hashing_layer.js';
import { Normalization } from '../../../src/layers/preprocessing/normalization.js';
import { VocabularyLayer } from '../../../src/layers/preprocessing/vocabulary_layer.js';
import { GRU } from '../../../src/layers/recurrent/gru.js';
import * as emb from '../../../src/node.js';

export interface ExportCase {
  readonly name: string;
  readonly needsKerasRs: boolean;
  make(): tf.LayersModel;
}

/** Of a GRU: gates that Keras 3 has, and biases that are not all zero. */
const GATED = { recurrentActivation: 'sigmoid', biasInitializer: 'glorotNormal' } as const;

type Layers = () => tf.layers.Layer[];

/** A Sequential of layers on inputs of a shape. */
function chain(shape: number[], make: Layers, dtype: 'float32' | 'int32' = 'float32'): () => tf.LayersModel {
  return () => tf.sequential({ layers: [tf.layers.inputLayer({ inputShape: shape, dtype }), ...make()] });
}

function stock(name: string, shape: number[], make: Layers, dtype?: 'float32' | 'int32'): ExportCase {
  return { name, needsKerasRs: false, make: chain(shape, make, dtype) };
}

function merging(name: string, make: () => tf.layers.Layer): ExportCase {
  return {
    name,
    needsKerasRs: false,
    make: () => {
      const inputs = [tf.input({ shape: [3], name: 'a' }), tf.input({ shape: [3], name: 'b' })];
      return tf.model({ inputs, outputs: make().apply(inputs) as tf.SymbolicTensor });
    },
  };
}

const { layers } = tf;

export const STOCK_CASES: readonly ExportCase[] = [
  stock('Dense', [4], () => [
    layers.dense({ units: 3, activation: 'swish', kernelRegularizer: tf.regularizers.l2({ l2: 0.1 }) }),
    layers.dense({ units: 2, useBias: false, kernelInitializer: 'leCunNormal' }),
  ]),
  ...(
    [
      'elu',
      'linear',
      'relu',
      'relu6',
      'selu',
      'sigmoid',
      'softmax',
      'softplus',
      'softsign',
      'tanh',
      'gelu',
      'mish',
      'hardSigmoid',
      'kerasHardSigmoid',
      'gelu_new',
    ] as const
  ).map((activation) =>
    stock(`Activation ${activation}`, [4], () => [layers.activation({ activation: activation as 'elu' })]),
  ),
  stock('Dropout', [4], () => [
    layers.dropout({ rate: 0.5, seed: 3 }),
    layers.gaussianNoise({ stddev: 1 }),
    layers.gaussianDropout({ rate: 0.5 }),
    layers.alphaDropout({ rate: 0.5 }),
  ]),
  stock('SpatialDropout1D', [4, 2], () => [layers.spatialDropout1d({ rate: 0.5 })]),
  stock('Reshape', [12], () => [
    layers.reshape({ targetShape: [3, 4] }),
    layers.permute({ dims: [2, 1] }),
    layers.flatten(),
    layers.repeatVector({ n: 2 }),
  ]),
  merging('Add', () => layers.add()),
  merging('Average', () => layers.average()),
  merging('Maximum', () => layers.maximum()),
  merging('Minimum', () => layers.minimum()),
  merging('Multiply', () => layers.multiply()),
  merging('Concatenate', () => layers.concatenate({ axis: -1 })),
  merging('Dot', () => layers.dot({ axes: -1, normalize: true })),
  stock('BatchNormalization', [4], () => [layers.batchNormalization({ epsilon: 0.01 }), layers.layerNormalization()]),
  stock('ReLU', [3, 4], () => [
    layers.reLU({ maxValue: 0.5 }),
    layers.leakyReLU({ alpha: 0.1 }),
    layers.prelu({ sharedAxes: [1] }),
    layers.elu(),
    layers.softmax({ axis: -1 }),
  ]),
  stock('Conv1D', [9, 2], () => [
    layers.conv1d({ filters: 3, kernelSize: 3, padding: 'same', dilationRate: 2, activation: 'relu' }),
    layers.maxPooling1d({ poolSize: 2 }),
    layers.averagePooling1d({ poolSize: 2, strides: 1, padding: 'same' }),
    layers.globalAveragePooling1d(),
  ]),
  stock('Conv2D', [8, 8, 2], () => [
    layers.zeroPadding2d({ padding: [1, 2] }),
    layers.conv2d({ filters: 3, kernelSize: 3, strides: 2 }),
    layers.conv2dTranspose({ filters: 2, kernelSize: 2, strides: 2, padding: 'same' }),
    layers.depthwiseConv2d({ kernelSize: 2, depthMultiplier: 2 }),
    layers.separableConv2d({ filters: 3, kernelSize: 2 }),
    layers.cropping2D({
      cropping: [
        [1, 0],
        [0, 1],
      ],
    }),
    layers.upSampling2d({ size: [2, 2] }),
    layers.maxPooling2d({ poolSize: 2 }),
    layers.averagePooling2d({ poolSize: 2, padding: 'same' }),
    layers.globalMaxPooling2d({}),
  ]),
  stock('GlobalPooling', [4, 4, 2], () => [layers.globalAveragePooling2d({})]),
  stock('GlobalMaxPooling1D', [4, 2], () => [layers.globalMaxPooling1d()]),
  stock('Conv3D', [5, 5, 5, 1], () => [
    layers.conv3d({ filters: 2, kernelSize: 2 }),
    layers.conv3dTranspose({ filters: 1, kernelSize: 2 }),
    layers.maxPooling3d({ poolSize: 2 }),
    layers.averagePooling3d({ poolSize: 2 }),
  ]),
  stock('SimpleRNN', [4, 3], () => [layers.simpleRNN({ units: 2, returnSequences: true, goBackwards: true })]),
  stock('LSTM', [4, 3], () => [layers.lstm({ units: 2, recurrentActivation: 'sigmoid' })]),
  stock('GRU', [4, 3], () => [layers.gru({ units: 2, recurrentActivation: 'sigmoid' })]),
  stock('GRU of Keras', [4, 3], () => [
    layers.bidirectional({ layer: new GRU({ units: 2, ...GATED, returnSequences: true }) as never, mergeMode: 'sum' }),
    new GRU({ units: 3, ...GATED }) as tf.layers.Layer,
  ]),
  stock('Bidirectional', [4, 3], () => [
    layers.bidirectional({
      layer: layers.lstm({ units: 2, recurrentActivation: 'sigmoid', returnSequences: true }) as never,
      mergeMode: 'sum',
    }),
    layers.timeDistributed({ layer: layers.dense({ units: 2 }) }),
  ]),
  stock('Masking', [4, 3], () => [
    layers.masking({ maskValue: 0 }),
    layers.lstm({ units: 2, recurrentActivation: 'sigmoid' }),
  ]),
  stock('Embedding of TensorFlow.js', [3], () => [layers.embedding({ inputDim: 6, outputDim: 2 })], 'int32'),
  stock('Embedding without a combiner', [3], () => [emb.layers.embedding({ inputDim: 6, outputDim: 2 })], 'int32'),
  stock(
    'Embedding with a mask',
    [3],
    () => [
      emb.layers.embedding({ inputDim: 6, outputDim: 2, maskZero: true }),
      layers.gru({ units: 2, recurrentActivation: 'sigmoid' }),
    ],
    'int32',
  ),
  {
    name: 'models within models',
    needsKerasRs: false,
    make: () => {
      const tower = tf.sequential({
        name: 'tower',
        layers: [layers.dense({ units: 3, inputShape: [4] }), layers.reLU()],
      });
      const x = tf.input({ shape: [5] });
      const inner = tf.model({
        inputs: x,
        outputs: layers.dense({ units: 4 }).apply(x) as tf.SymbolicTensor,
        name: 'inner',
      });
      const inputs = [tf.input({ shape: [5] }), tf.input({ shape: [5] })];
      const [a, b] = inputs.map((each) => tower.apply(inner.apply(each)) as tf.SymbolicTensor);
      const head = layers.dense({ units: 1, name: 'Head_1' });
      return tf.model({
        inputs,
        outputs: [layers.add().apply([a!, b!]), head.apply(a!), head.apply(b!)] as tf.SymbolicTensor[],
      });
    },
  },
];

const ids = (name: string, length = 3): tf.SymbolicTensor => tf.input({ shape: [length], dtype: 'int32', name });

/** Masked sequences with initial states, to which Keras 3 passes no mask by itself. */
function withStates(): tf.LayersModel {
  const inputs = [ids('words'), tf.input({ shape: [3], name: 'start' }), tf.input({ shape: [3, 2], name: 'plain' })];
  const [words, start, plain] = inputs as [tf.SymbolicTensor, tf.SymbolicTensor, tf.SymbolicTensor];
  const rows = emb.layers.embedding({ inputDim: 6, outputDim: 2, maskZero: true }).apply(words);
  const masked = layers.masking({ maskValue: 0.25 }).apply(plain) as tf.SymbolicTensor;
  const gru = layers.gru({ units: 3, ...GATED } as never) as tf.layers.Layer;
  const lstm = layers.lstm({ units: 3, recurrentActivation: 'sigmoid' });
  const apply = (layer: tf.layers.Layer, states: tf.SymbolicTensor[], steps: tf.SymbolicTensor): tf.SymbolicTensor =>
    layer.apply(steps, { initialState: states } as never) as tf.SymbolicTensor;
  const joined = new Concatenate({ name: 'joined' }).apply([rows, masked]) as tf.SymbolicTensor;
  const outputs = [
    apply(gru, [start], rows),
    apply(lstm, [start, start], masked),
    layers.simpleRNN({ units: 2 }).apply(joined) as tf.SymbolicTensor,
  ];
  return tf.model({ inputs, outputs });
}

export const OWN_CASES: readonly ExportCase[] = [
  { name: 'masked steps with states', needsKerasRs: false, make: withStates },
  {
    name: 'Embedding of single ids',
    needsKerasRs: false,
    make: chain([], () => [emb.layers.embedding({ inputDim: 6, outputDim: 2 }), layers.dense({ units: 2 })], 'int32'),
  },
  ...(['sum', 'mean', 'sqrtn'] as const).map((combiner) => ({
    name: `Embedding ${combiner}`,
    needsKerasRs: true,
    make: chain(
      [3],
      () => [emb.layers.embedding({ inputDim: 6, outputDim: 2, combiner, name: `Item_${combiner}` })],
      'int32',
    ),
  })),
  {
    name: 'Embedding with weights',
    needsKerasRs: true,
    make: () => {
      const inputs = [ids('ids'), tf.input({ shape: [3], name: 'weights' })];
      const plain = emb.layers.embedding({ inputDim: 6, outputDim: 2, combiner: 'mean' });
      const masked = emb.layers.embedding({ inputDim: 6, outputDim: 2, combiner: 'sqrtn', maskZero: true });
      return tf.model({ inputs, outputs: [plain.apply(inputs), masked.apply(inputs)] as tf.SymbolicTensor[] });
    },
  },
  ...(['sum', 'mean', 'sqrtn'] as const).map((combiner) => ({
    name: `RaggedEmbedding ${combiner}`,
    needsKerasRs: true,
    make: chain(
      [3],
      () => [
        emb.layers.raggedEmbedding({ inputDim: 6, outputDim: 2, combiner, maskZero: combiner === 'mean' }),
        layers.dense({ units: 2 }),
      ],
      'int32',
    ),
  })),
  {
    name: 'DistributedEmbedding in a list',
    needsKerasRs: true,
    make: () => {
      const inputs = ['a', 'b', 'c'].map((name) => ids(name));
      const layer = emb.layers.distributedEmbedding({
        embeddings: [
          { inputDim: 6, outputDim: 2, combiner: 'sum' },
          { inputDim: 6, outputDim: 3, combiner: 'mean' },
        ],
        inputTableMap: [1, 0, 1],
      });
      return tf.model({
        inputs,
        outputs: layers.concatenate().apply(layer.apply(inputs) as tf.SymbolicTensor[]) as tf.SymbolicTensor,
      });
    },
  },
  {
    name: 'DistributedEmbedding in an object',
    needsKerasRs: true,
    make: () => {
      const [items, users] = [4, 2].map(
        (dim, i) => new emb.TableConfig({ name: `Table_${i}`, vocabularySize: 6, embeddingDim: dim }),
      );
      const feature = (name: string, table: emb.TableConfig, dim: number): emb.FeatureConfig =>
        new emb.FeatureConfig({ name, table, inputShape: [null, 3], outputShape: [null, dim] });
      const features = {
        user_id: feature('user_id', users!, 2),
        Items: [feature('seen', items!, 4), feature('next', items!, 4)],
      };
      const inputs = { user_id: ids('user_id'), Items: [ids('seen'), ids('next')] };
      const out = emb.layers.distributedEmbedding({ features }).apply(inputs) as unknown as {
        user_id: tf.SymbolicTensor;
        Items: tf.SymbolicTensor[];
      };
      const outputs = layers.concatenate().apply([out.Items[1]!, out.user_id, out.Items[0]!]) as tf.SymbolicTensor;
      return tf.model({ inputs: [inputs.user_id, ...inputs.Items], outputs });
    },
  },
  {
    name: 'interactions',
    needsKerasRs: true,
    make: () => {
      const inputs = [tf.input({ shape: [4] }), tf.input({ shape: [4] })];
      const dots = emb.layers.dotInteraction({ selfInteraction: true }).apply(inputs);
      const low = emb.layers.featureCross({ projectionDim: 2, preActivation: 'relu' }).apply(inputs);
      const full = emb.layers.featureCross({ useBias: false, diagScale: 0.5 }).apply(inputs);
      return tf.model({ inputs, outputs: [dots, low, full] as tf.SymbolicTensor[] });
    },
  },
];

/** The preprocessing layers of loaded models. */
export const PREPROCESSING_CASES: readonly ExportCase[] = [
  ...(['int', 'oneHot', 'multiHot', 'count'] as const).flatMap((outputMode) => [
    stock(`Hashing ${outputMode}`, [4], () => [new HashingLayer({ numBins: 5, salt: 3, outputMode })], 'int32'),
    stock(
      `IntegerLookup ${outputMode}`,
      [4],
      () => [new VocabularyLayer({ vocabulary: [2, 0, 5], numOovIndices: 2, outputMode })],
      'int32',
    ),
    stock(`Discretization ${outputMode}`, [4], () => [
      new DiscretizationLayer({ binBoundaries: [-0.5, 0, 0.25], outputMode }),
    ]),
  ]),
  stock('IntegerLookup masked', [4], () => [new VocabularyLayer({ vocabulary: [2, 5], maskToken: 0 })], 'int32'),
  stock(
    'IntegerLookup padded',
    [4],
    () => [new VocabularyLayer({ vocabulary: [2, 5], maxTokens: 6, padToMaxTokens: true, outputMode: 'count' })],
    'int32',
  ),
  stock('Normalization', [3], () => [new Normalization({ axis: null, mean: 0.5, variance: 2 })]),
  stock('Normalization with weights', [2, 3], () => [new Normalization({ axis: [-1] })]),
];
