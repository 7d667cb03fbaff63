/** Every argument of what stands in `ranking`, right and odd. */
import * as tf from '@tensorflow/tfjs';
import { RaggedTensor } from '../../src/index.js';
import { bruteForceRetrieval, evaluate, foldIn, losses, metrics, sampling, topK } from '../../src/ranking/index.js';
import { itTreatsEachArgument, type Call } from '../helpers/each_argument.js';

type Args = Record<string, unknown>;

const ids = (): tf.Tensor1D => tf.tensor1d([1, 0], 'int32');
const labels = (): tf.Tensor2D => tf.tensor2d([1, 0, 0, 0, 2, 1], [2, 3]);
const scores = (): tf.Tensor2D => tf.tensor2d([0.1, 0.7, 0.3, 0.9, 0.2, 0.4], [2, 3]);
const queries = (): tf.Tensor2D => tf.tensor2d([1, 0, 0.5, 1], [2, 2]);
const items = (): tf.Tensor2D => tf.tensor2d([1, 0, 0, 1, -1, 1, 2, 0.5], [4, 2]);

/** A loss: its own arguments, and those of its call. */
function loss(make: (args: never) => unknown, own: () => Args, yTrue: () => tf.Tensor, yPred = scores): Call {
  const perCall = ['yTrue', 'yPred', 'weights'];
  return {
    args: () => ({ ...own(), yTrue: yTrue(), yPred: yPred(), weights: tf.tensor1d([1, 0.5]) }),
    run: (given: Args) => {
      const args = Object.fromEntries(Object.entries(given).filter(([name]) => !perCall.includes(name)));
      const made = make(args as never) as (...all: unknown[]) => unknown;
      return made(given['yTrue'], given['yPred'], given['weights']);
    },
  };
}
const temperature = (): Args => ({ temperature: 0.5 });
const nothing = (): Args => ({});
const ranks = (): Args => ({ k: 2, emptyAs: 0 });

itTreatsEachArgument(new URL('each_argument.txt', import.meta.url), {
  bpr: loss(losses.bpr, () => ({ removeAccidentalHits: false }), labels),
  sampledSoftmax: loss(losses.sampledSoftmax, () => ({ removeAccidentalHits: false, temperature: 0.5 }), labels),
  inBatchSoftmax: loss(
    losses.inBatchSoftmax,
    () => ({ removeAccidentalHits: true, temperature: 0.5, samplingProbabilities: [0.5, 0.25] }),
    ids,
    () => tf.tensor2d([0.1, 0.7, 0.3, 0.9], [2, 2]),
  ),
  cosineContrastive: loss(
    losses.cosineContrastive,
    () => ({ removeAccidentalHits: false, margin: 0.5, negativeWeight: 0.25 }),
    labels,
  ),
  pairwiseLogistic: loss(losses.pairwiseLogistic, temperature, labels),
  pairwiseHinge: loss(losses.pairwiseHinge, temperature, labels),
  pairwiseSoftZeroOne: loss(losses.pairwiseSoftZeroOne, temperature, labels),
  pairwiseMeanSquared: loss(losses.pairwiseMeanSquared, nothing, labels),
  listSoftmax: loss(losses.listSoftmax, temperature, labels),
  listMLE: loss(losses.listMLE, temperature, labels),
  sigmoidCrossEntropyFromLogits: loss(losses.sigmoidCrossEntropyFromLogits, nothing, labels),
  recallAtK: loss(metrics.recallAtK, ranks, labels),
  precisionAtK: loss(metrics.precisionAtK, ranks, labels),
  hitRateAtK: loss(metrics.hitRateAtK, ranks, labels),
  mrr: loss(metrics.mrr, ranks, labels),
  map: loss(metrics.map, () => ({ ...ranks(), divisor: 'min(k, positives)' }), labels),
  dcgAtK: loss(metrics.dcgAtK, () => ({ ...ranks(), gain: 'linear' }), labels),
  ndcgAtK: loss(metrics.ndcgAtK, () => ({ ...ranks(), gain: 'linear' }), labels),
  topK: {
    args: () => ({
      queries: queries(),
      table: items(),
      k: 2,
      exclude: RaggedTensor.fromRows([[3], []]),
      only: RaggedTensor.fromRows([[0, 1, 3], [1, 2]]), // prettier-ignore
      rerank: { table: items(), candidates: 3 },
    }),
    run: ({ queries: given, table, k, ...options }) => topK(given, table, k, options),
  },
  'topK.rerank': {
    args: () => ({ table: items(), candidates: 3 }),
    run: (rerank) => topK(queries(), items(), 2, { rerank }),
  },
  foldIn: {
    args: () => ({
      table: items(),
      ids: RaggedTensor.fromRows([[3, 1], [2]]),
      weights: RaggedTensor.fromRows([[1, 2], [0.5]]),
      regularization: 0.25,
      unobservedWeight: 0.5,
      gram: tf.tensor2d([6, 1, 1, 3], [2, 2]),
    }),
    run: ({ table, ...args }) => foldIn(table, args),
  },
  'sampling.negatives': {
    args: () => ({
      numItems: 9,
      perPositive: 4,
      positives: [1, 2],
      seen: RaggedTensor.fromRows([[1, 5], [2]]),
      users: [0, 1],
      distribution: 'popularity',
      counts: [9, 8, 7, 6, 5, 4, 3, 2, 1],
      power: 0.5,
      seed: 3,
      step: 2,
    }),
    run: (args) => sampling.negatives(args),
  },
  'evaluate.ranking': {
    args: () => ({
      users: queries(),
      items: items(),
      train: RaggedTensor.fromRows([[0], []]),
      test: RaggedTensor.fromRows([[3], [0, 1]]),
      k: 2,
      metrics: ['recall', 'ndcg'],
      perUser: true,
      onProgress: () => undefined,
      sampledCandidates: null,
    }),
    run: ({ users, items: of, ...args }) => evaluate.ranking({ users, items: of }, args),
  },
  bruteForceRetrieval: {
    args: () => ({ name: 'retrieval', dtype: 'float32', candidates: [[1, 0], [0, 1]], identifiers: [7, 8], k: 1 }), // prettier-ignore
    run: (args) => {
      const layer = bruteForceRetrieval(args);
      return { ...layer.getConfig(), found: layer.apply(queries()) };
    },
  },
});
