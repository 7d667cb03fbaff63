/** Every argument of tables, their configs and their optimizers, right and odd. */
import { embeddingTable, FeatureConfig, layers, TableConfig, train } from '../../src/index.js';
import { itTreatsEachArgument, type Call } from '../helpers/each_argument.js';

type Args = Record<string, unknown>;

const table = (): TableConfig => new TableConfig({ name: 'words', vocabularySize: 8, embeddingDim: 2 });

const optimizer = (make: (args: never) => unknown, args: () => Args): Call => ({ args, run: make as Call['run'] });
const common = (): Args => ({ learningRate: 0.5 });

itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
  embeddingTable: {
    args: () => ({
      inputDim: 8,
      outputDim: 2,
      embeddingsInitializer: { className: 'RandomUniform', config: { minval: -1, maxval: 1, seed: 3 } },
      embeddingsRegularizer: 'l2',
      embeddingsConstraint: 'nonNeg',
      optimizer: train.adagrad({ learningRate: 0.5 }),
      weights: null,
      storage: 'float32',
      seed: 5,
      name: 'words',
      trainable: true,
    }),
    run: (args) => {
      const table = embeddingTable(args);
      return { ...table.getConfig(), rows: layers.embedding({ table }).apply([[0, 7]]) };
    },
  },
  TableConfig: {
    args: () => ({
      name: 'words',
      vocabularySize: 8,
      embeddingDim: 2,
      initializer: 'zeros',
      optimizer: 'adagrad',
      combiner: 'sum',
      placement: 'auto',
      storage: 'float32',
      maxIdsPerPartition: 5,
      maxUniqueIdsPerPartition: 6,
    }),
    run: (args) => new TableConfig(args),
  },
  FeatureConfig: {
    args: () => ({ name: 'seen', table: table(), inputShape: [null, 2], outputShape: [null, 2] }),
    run: (args) => new FeatureConfig(args),
  },
  'train.sgd': optimizer(train.sgd, () => ({ ...common(), momentum: 0.5, nesterov: true })),
  'train.adagrad': optimizer(train.adagrad, () => ({ ...common(), initialAccumulatorValue: 0.5, epsilon: 0.25 })),
  'train.rowWiseAdagrad': optimizer(train.rowWiseAdagrad, () => ({
    ...common(),
    initialAccumulatorValue: 0.5,
    epsilon: 0.25,
  })),
  'train.adagradMomentum': optimizer(train.adagradMomentum, () => ({
    ...common(),
    initialAccumulatorValue: 0.5,
    momentum: 0.75,
    useNesterov: true,
    exponent: 3,
    beta2: 0.5,
    epsilon: 0.25,
  })),
  'train.adam': optimizer(train.adam, () => ({
    ...common(),
    beta1: 0.5,
    beta2: 0.75,
    epsilon: 0.25,
    lazy: false,
    biasCorrection: false,
    amsgrad: true,
    sumInsideSqrt: true,
  })),
  'train.adamW': optimizer(train.adamW, () => ({
    ...common(),
    beta1: 0.5,
    beta2: 0.75,
    epsilon: 0.25,
    amsgrad: true,
    weightDecay: 0.5,
    multiplyWeightDecayByLearningRate: false,
  })),
  'train.rmsprop': optimizer(train.rmsprop, () => ({
    ...common(),
    rho: 0.5,
    momentum: 0.25,
    epsilon: 0.125,
    centered: true,
  })),
  'train.ftrl': optimizer(train.ftrl, () => ({
    ...common(),
    initialAccumulatorValue: 0.5,
    learningRatePower: -0.25,
    l1: 0.5,
    l2: 0.25,
    beta: 0.125,
    multiplyLinearByLearningRate: true,
  })),
});
