/** Every argument of the layers, right and odd. */
import type * as tf from '@tensorflow/tfjs';
import { input, layers } from '../../src/index.js';
import { CategoryEncoding } from '../../src/layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../src/layers/preprocessing/discretization_layer.js';
import { HashingLayer } from '../../src/layers/preprocessing/hashing_layer.js';
import { Normalization } from '../../src/layers/preprocessing/normalization.js';
import { VocabularyLayer } from '../../src/layers/preprocessing/vocabulary_layer.js';
import { itTreatsEachArgument, type Call } from '../helpers/each_argument.js';

type Args = Record<string, unknown>;

const layer = (): Args => ({ name: 'one', trainable: false, dtype: 'float32' });
const fed = (...inputShape: (number | null)[]): Args => ({ ...layer(), inputShape, batchSize: 3 });

const table = (): Args => ({
  embeddingsInitializer: 'zeros',
  embeddingsRegularizer: 'l2',
  embeddingsConstraint: 'nonNeg',
  optimizer: null,
  weights: null,
  storage: 'float32',
  seed: 5,
});
const lookup = (): Args => ({
  inputDim: 6,
  outputDim: 2,
  ...table(),
  combiner: 'mean',
  maskZero: true,
  inputLength: 4,
  maxNorm: 2,
  outOfRange: 'error',
  activityRegularizer: null,
});
const kernels = (): Args => ({
  kernelInitializer: 'ones',
  biasInitializer: 'ones',
  kernelRegularizer: 'l2',
  biasRegularizer: 'l1l2',
});

/** The config of a layer, and the shape of its outputs where one of its inputs is known. */
function made(make: (args: never) => tf.layers.Layer, args: () => Args, shape: tf.Shape | tf.Shape[] | null): Call {
  return {
    args,
    run: (given) => {
      const instance = make(given as never);
      return { ...instance.getConfig(), ...(shape === null ? {} : { output: instance.computeOutputShape(shape) }) };
    },
  };
}

itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
  embedding: made(layers.embedding, () => ({ ...fed(4), ...lookup() }), [null, 4]),
  raggedEmbedding: made(layers.raggedEmbedding, () => ({ ...fed(null), ...lookup(), inputLength: null }), [null, 4]),
  concatOneHotEmbedding: made(
    layers.concatOneHotEmbedding,
    () => ({ ...fed(2), ...table(), featureSizes: [3, 4], embeddingWidth: 2 }),
    [null, 2],
  ),
  distributedEmbedding: made(
    layers.distributedEmbedding,
    () => ({
      ...layer(),
      embeddings: [{ inputDim: 6, outputDim: 2, combiner: 'sum' }],
      inputTableMap: [0],
      strategy: 'basic',
      columnSliceThreshold: 10,
      rowSliceThreshold: 100,
      dataParallelThreshold: 5,
      dpInput: true,
      deviceMemory: 1e6,
      rowSharding: 'modulo',
      rowFallback: true,
      hotness: [4],
      batchSize: 12,
      output: 'concat',
      plan: null,
      seed: 3,
      tableStacking: 'auto',
      updateStats: false,
      weightedFeatures: null,
    }),
    [[4, 3]],
  ),
  'an item of distributedEmbedding': made(
    (item) => layers.distributedEmbedding({ embeddings: [item] }),
    () => {
      const { activityRegularizer: _, ...item } = lookup();
      return { ...item, name: 'words', ragged: false };
    },
    [[3, 4]],
  ),
  integerLookup: made(layers.integerLookup, () => ({ ...fed(2), maxTokens: 5 }), [null, 2]),
  dotInteraction: made(
    layers.dotInteraction,
    () => ({ ...layer(), selfInteraction: true, skipGather: false }),
    [[null, 3], [null, 3]], // prettier-ignore
  ),
  featureCross: made(
    layers.featureCross,
    () => ({ ...fed(3), projectionDim: 2, diagScale: 0.5, useBias: true, preActivation: 'relu', ...kernels() }),
    [null, 3],
  ),
  multiHeadAttention: made(
    layers.multiHeadAttention,
    () => ({
      ...layer(),
      numHeads: 2,
      keyDim: 3,
      valueDim: 4,
      dropout: 0.25,
      useBias: true,
      useGate: true,
      outputShape: 5,
      attentionAxes: [1],
      slidingWindow: 2,
      ...kernels(),
      useCausalMask: true,
      returnAttentionScores: false,
      zeroesMasked: true,
    }),
    [[null, 4, 3], [null, 4, 3]], // prettier-ignore
  ),
  attention: made(
    layers.attention,
    () => ({
      ...layer(),
      useScale: true,
      dropout: 0.25,
      useCausalMask: true,
      returnAttentionScores: false,
      scoreMode: 'concat',
    }),
    [[null, 4, 3], [null, 5, 3]], // prettier-ignore
  ),
  additiveAttention: made(
    layers.additiveAttention,
    () => ({ ...layer(), useScale: false, dropout: 0.25, useCausalMask: true, returnAttentionScores: true }),
    [[null, 4, 3], [null, 5, 3]], // prettier-ignore
  ),
  globalAveragePooling1d: made(
    layers.globalAveragePooling1d,
    () => ({ ...fed(4, 3), dataFormat: 'channelsFirst', keepdims: true }),
    [null, 4, 3],
  ),
  unitNormalization: made(layers.unitNormalization, () => ({ ...fed(4), axis: 1 }), [null, 4]),
  candidateScores: made(layers.candidateScores, () => ({ ...layer(), candidates: 'batch' }), null),
  operation: made(
    layers.operation,
    () => ({ ...layer(), operation: 'Sum', operands: null, settings: { axis: 1, keepdims: true } }),
    [null, 4],
  ),
  HashingLayer: made(
    (args) => new HashingLayer(args),
    () => ({ ...fed(4), numBins: 5, maskValue: 2, salt: [1, 2], outputMode: 'int' }),
    [null, 4],
  ),
  DiscretizationLayer: made(
    (args) => new DiscretizationLayer(args),
    () => ({ ...fed(4), binBoundaries: [0, 1], outputMode: 'oneHot' }),
    [null, 4],
  ),
  CategoryEncoding: made(
    (args) => new CategoryEncoding(args),
    () => ({ ...fed(4), numTokens: 5, outputMode: 'count' }),
    [null, 4],
  ),
  Normalization: made(
    (args) => new Normalization(args),
    () => ({ ...fed(2), axis: -1, mean: [0, 1], variance: [1, 4], invert: true }),
    [null, 2],
  ),
  VocabularyLayer: made(
    (args) => new VocabularyLayer(args),
    () => ({
      ...fed(2),
      vocabulary: [5, 7],
      numOovIndices: 2,
      maskToken: 0,
      oovToken: -1,
      outputMode: 'int',
      padToMaxTokens: false,
    }),
    [null, 2],
  ),
  input: {
    args: () => ({ shape: [null], ragged: true, dtype: 'int32', name: 'ids' }),
    run: (args: { shape: number[] }) => {
      const { shape, dtype, name, sourceLayer } = input(args);
      // The second input of a name gets another one.
      return { shape, dtype, name: name.replace(/_?\d+$/, ''), ragged: (sourceLayer as { ragged?: boolean }).ragged };
    },
  },
});
