/** Every argument of the classes and functions of `tpu`, right and odd. */
import * as tf from '@tensorflow/tfjs';
import * as tpu from 'tfjs-embeddings/tpu';
import { itTreatsEachArgument, type Call } from '../helpers/each_argument.js';
import { pipeline, pipelineArgs } from './sparse_core/goldens.js';

type Args = Record<string, unknown>;

const optimizer = (): Args => ({
  learningRate: 0.1,
  useGradientAccumulation: true,
  clipWeightMin: -3,
  clipWeightMax: 3,
  weightDecayFactor: 0.01,
  multiplyWeightDecayFactorByLearningRate: true,
  clipvalue: 0.5,
  lowDimensionalPackingStatus: true,
});
const withSlots = (own: Args) => (): Args => ({ ...optimizer(), slotVariableCreationFn: null, ...own });
const table = (): tpu.TableConfig => new tpu.TableConfig({ vocabularySize: 8, dim: 2, name: 'words' });
const feature = (): tpu.FeatureConfig => new tpu.FeatureConfig({ table: table(), name: 'first', outputShape: [2] });
const machine = (): Args => ({
  featureConfig: { first: feature() },
  numTpuChips: 1,
  numScPerChip: 2,
  optimizer: new tpu.SGD({ learningRate: 0.1 }),
  sparseCoreEmbeddingConfig: new tpu.SparseCoreEmbeddingConfig(),
});
const onStacks = (): Args => ({ ...pipelineArgs(pipeline('one chip, one table, mean')) });

/* eslint-disable @typescript-eslint/no-explicit-any -- odd values are what it is for */
const made = (type: new (args: any) => object, args: () => Args): Call => ({ args, run: (given) => new type(given) });
const called = (run: (args: any) => unknown, args: () => Args): Call => ({ args, run });
/* eslint-enable @typescript-eslint/no-explicit-any */

itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
  SGD: made(tpu.SGD, optimizer),
  Adagrad: made(tpu.Adagrad, withSlots({ initialAccumulatorValue: 0.2 })),
  AdagradMomentum: made(
    tpu.AdagradMomentum,
    withSlots({ momentum: 0.9, useNesterov: false, exponent: 2, beta2: 0.9, epsilon: 1e-3 }),
  ),
  Adam: made(tpu.Adam, withSlots({ beta1: 0.8, beta2: 0.9, epsilon: 1e-3, lazyAdam: true, sumInsideSqrt: true })),
  FTRL: made(
    tpu.FTRL,
    withSlots({
      learningRatePower: -0.5,
      l1RegularizationStrength: 0.1,
      l2RegularizationStrength: 0.2,
      beta: 0.3,
      initialAccumulatorValue: 0.4,
      multiplyLinearByLearningRate: false,
      allowZeroAccumulator: false,
    }),
  ),
  CustomOptimizer: made(tpu.CustomOptimizer, () => ({
    customComputation: ({ parameters }: tpu.CustomStep) => ({ parameters }),
    learningRate: 0.1,
    slotNames: ['sum'],
    slotInitializers: [0.5],
    hyperparameters: { rate: 2 },
    slotDims: [1],
  })),
  TableConfig: made(tpu.TableConfig, () => ({
    vocabularySize: 8,
    dim: 2,
    initializer: tf.initializers.zeros(),
    optimizer: new tpu.SGD({ learningRate: 0.1 }),
    combiner: 'sum',
    name: 'words',
    quantizationConfig: new tpu.QuantizationConfig({ numBuckets: 4, lower: -1, upper: 1 }),
    layout: null,
    dtype: 'float32',
  })),
  FeatureConfig: made(tpu.FeatureConfig, () => ({
    table: table(),
    maxSequenceLength: 3,
    validateWeightsAndIndices: true,
    outputShape: [2, 3],
    name: 'first',
  })),
  QuantizationConfig: made(tpu.QuantizationConfig, () => ({ numBuckets: 4, lower: -1, upper: 1 })),
  RowIdInitializer: made(tpu.RowIdInitializer, () => ({ offset: 2 })),
  SparseCoreEmbeddingConfig: made(tpu.SparseCoreEmbeddingConfig, () => ({
    disableTableStacking: true,
    maxIdsPerChipPerSample: 5,
    maxIdsPerTable: { words: 6 },
    maxUniqueIdsPerTable: { words: 7 },
    allowIdDropping: true,
    initializeTablesOnHost: false,
    enableFastTableInitialization: true,
  })),
  tpuEmbedding: called(
    (args) => tpu.tpuEmbedding(args as tpu.TPUEmbeddingLayerArgs),
    () => ({
      featureConfig: { first: feature() },
      optimizer: new tpu.SGD({ learningRate: 0.1 }),
      version: 2,
      sparseCoreEmbeddingConfig: new tpu.SparseCoreEmbeddingConfig({ maxIdsPerChipPerSample: 5 }),
      name: 'tables',
      trainable: false,
    }),
  ),
  TPUEmbeddingForServing: called(
    (args) =>
      Object.keys(new tpu.TPUEmbeddingForServing(args as { featureConfig: tpu.NestedFeatureConfigs }).embeddingTables),
    () => ({ featureConfig: { first: feature() }, optimizer: new tpu.SGD({ learningRate: 0.1 }) }),
  ),
  convertToCoo: called(tpu.convertToCoo, () => ({
    indicesOrRowSplits: [0, 1, 3],
    values: [1, 2, 3],
    weights: [1, 0.5, 2],
    sampleCount: 2,
    combiner: 'mean',
  })),
  preprocessFeatures: called(tpu.preprocessFeatures, () => ({
    ...onStacks(),
    maxMinibatchesPerSc: 1,
    tableToPaddingRows: {},
    tableToPaddingColumns: {},
  })),
  stackGradients: called(tpu.stackGradients, () => {
    const { tables, stackedTableToTables, tableToStackedTableOffset, featureToSampleOffset, ...more } = onStacks();
    const { tableToSampleCount, features, numScPerChip } = more;
    const stacks = { tables, stackedTableToTables, tableToStackedTableOffset, featureToSampleOffset };
    const gradients = [null];
    return { ...stacks, tableToSampleCount, features, numScPerChip, gradients, numChips: 1 };
  }),
  shardTable: called(tpu.shardTable, () => ({ table: [[1], [2], [3], [4]], numSparseCores: 2 })),
  unshuffle: called(tpu.unshuffle, () => ({
    t: [[1], [2], [3], [4]],
    numSparseCores: 2,
    offsetInShard: 0,
    sizeInShard: 2,
    shardRotation: 1,
  })),
  mapIndicesInShard: called(tpu.mapIndicesInShard, () => ({
    numSparseCores: 2,
    offsetInShard: 1,
    shardRotation: 1,
    rows: [0, 1, 2, 3],
  })),
  stackTables: called(tpu.stackTables, () => ({
    tables: [['one', 8, 2, 'all', 4], { name: 'two', vocabularySize: 9, dim: 3, group: 'all', samples: 4 }],
    numPartitions: 1,
    sparseCoresPerPartition: 2,
    activationMemBytesLimit: 1e6,
    variableShardBytesLimit: 1e6,
    rowLimit: 1000,
    tableLimit: 3,
    disableTableStacking: false,
  })),
  'TPUEmbeddingV2.computeSparseCoreStats': called(tpu.TPUEmbeddingV2.computeSparseCoreStats, () => ({
    ...machine(),
    features: { first: [[1], [2]] },
  })),
  tuneLimits: called(tpu.tuneLimits, () => ({
    ...machine(),
    features: [{ first: [[1], [2]] }],
    paddedIds: true,
    margin: 1.5,
  })),
});
