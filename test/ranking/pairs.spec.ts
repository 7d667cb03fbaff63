/** Two settings of losses, metrics and topK at once: every two values of two settings meet, beside plain definitions. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../helpers/backends.js';
import { expectError } from '../helpers/errors.js';
import { caseText, pairCases, type CaseOf } from '../helpers/pairs/covering.js';
import { Random } from '../helpers/random.js';
import { expectClose } from '../helpers/tensors.js';
import { listLoss, rankedMetric, type ListLoss, type RankedMetric, type Row } from './definitions.js';

const BATCH = 4;

type Make = (args?: object) => emb.losses.Loss & emb.metrics.Metric;
const losses = emb.losses as unknown as Readonly<Record<ListLoss, Make>>;
const metrics = emb.metrics as unknown as Readonly<Record<RankedMetric, Make>>;

/** What losses and metrics of lists share. */
const LISTS = {
  /** Whether labels below 0, which do not count, are among them. */
  negative: [false, true],
  mask: ['none', 'some', 'all', 'first row'],
  weights: ['none', 'rows', 'columns', 'items', 'zeros'],
  items: [1, 2, 6],
  scores: ['drawn', 'tied', 'large'],
  given: ['tensors', 'arrays', 'one row'],
} as const;
type Lists = CaseOf<typeof LISTS>;

interface Batch {
  readonly rows: readonly Row[];
  readonly yTrue: unknown;
  readonly yPred: unknown;
  readonly weights: unknown;
}

function drawBatch({ negative, mask, weights, items, scores, given }: Lists, seed: number, most: number): Batch {
  const random = new Random(seed);
  const count = given === 'one row' ? 1 : BATCH;
  const weightOf = (): number => (weights === 'zeros' ? 0 : weights === 'none' ? 1 : random.whole(1, 9) / 4);
  const scoreOf = {
    drawn: () => Math.fround(random.next() * 4 - 2),
    tied: () => random.whole(0, 2) / 2,
    large: () => random.pick([-40, 0.5, 60]),
  }[scores];
  const rows = Array.from({ length: count }, (_, row): Row => {
    const ofRow = weightOf();
    return Array.from({ length: items }, () => ({
      label: negative && random.chance(0.25) ? -1 : random.whole(0, most + 1),
      score: scoreOf(),
      weight: weights === 'items' ? weightOf() : ofRow,
      counts: mask === 'none' ? true : mask === 'some' ? random.chance(0.6) : mask === 'first row' && row > 0,
    }));
  });
  const of = <T>(read: (item: Row[number]) => T): T[][] => rows.map((row) => row.map(read));
  const whole = (values: number[][]): unknown => {
    const shown = given === 'one row' ? values[0]! : values;
    return given === 'tensors' ? tf.tensor2d(values) : shown;
  };
  const labels = whole(of(({ label }) => label));
  const isKept = of(({ counts }) => Number(counts));
  const first = of(({ weight }) => weight).map(([weight]) => weight!);
  const shaped = {
    none: () => null,
    rows: () => first,
    zeros: () => first,
    columns: () => first.map((weight) => [weight]),
    items: () => whole(of(({ weight }) => weight)),
  }[weights];
  return {
    rows,
    yTrue: mask === 'none' ? labels : { labels, mask: whole(isKept) },
    yPred: whole(of(({ score }) => score)),
    weights: shaped(),
  };
}

const LOSS_SETTINGS = {
  name: [
    'pairwiseLogistic',
    'pairwiseHinge',
    'pairwiseSoftZeroOne',
    'pairwiseMeanSquared',
    'listSoftmax',
    'listMLE',
    'sigmoidCrossEntropyFromLogits',
  ],
  temperature: [undefined, 0.5, 3],
  ...LISTS,
} as const;

/** One weight for each row alone, as the loss is not one of items. */
const OF_ROWS: readonly string[] = ['listSoftmax', 'listMLE'];
const WITHOUT_TEMPERATURE: readonly string[] = ['pairwiseMeanSquared', 'sigmoidCrossEntropyFromLogits'];

const LOSSES = pairCases(LOSS_SETTINGS, (given) => {
  if (given.temperature !== undefined && WITHOUT_TEMPERATURE.includes(given.name)) return 'temperature';
  // Weights of one item in a row are weights of rows.
  return given.weights === 'items' && OF_ROWS.includes(given.name) && given.items > 1 ? 'weights' : null;
});

const METRIC_SETTINGS = {
  name: ['recallAtK', 'precisionAtK', 'hitRateAtK', 'mrr', 'map', 'dcgAtK', 'ndcgAtK'],
  k: [undefined, null, 1, 3, 9],
  emptyAs: [undefined, 0, 0.5],
  gain: [undefined, 'linear', 'exponential'],
  divisor: [undefined, 'positives', 'min(k, positives)'],
  ...LISTS,
} as const;

const METRICS = pairCases(METRIC_SETTINGS, (given) => {
  if (given.gain !== undefined && given.name !== 'dcgAtK' && given.name !== 'ndcgAtK') return 'gain';
  if (given.divisor !== undefined && given.name !== 'map') return 'divisor';
  return given.weights === 'items' && given.items > 1 ? 'weights' : null;
});

/** The options of a case. */
function optionsOf(given: Readonly<Record<string, unknown>>, fields: readonly string[]): object {
  return Object.fromEntries(fields.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]));
}

const lossOf = (given: (typeof LOSSES.legal)[number]): emb.losses.Loss =>
  losses[given.name](optionsOf(given, ['temperature']));
const metricOf = (given: (typeof METRICS.legal)[number]): emb.metrics.Metric =>
  metrics[given.name](optionsOf(given, ['k', 'emptyAs', 'gain', 'divisor']));

describeForBackends(
  'two settings of ranking at once',
  () => {
    let tensors: number;
    beforeEach(() => void (tensors = tf.memory().numTensors));
    afterEach(() => void expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    it('losses are what both say', () => {
      LOSSES.legal.forEach((given, seed) => {
        tf.tidy(() => {
          const { rows, yTrue, yPred, weights } = drawBatch(given, seed, 3);
          const found = lossOf(given)(yTrue as never, yPred as never, weights as never);
          const expected = rows.map((row) => listLoss(given.name, row, given.temperature ?? 1));
          expect(found.shape).withContext(caseText(given)).toEqual([rows.length]);
          expectClose(found.dataSync(), expected, expected.map(Math.abs), caseText(given), 1e-5);
        });
      });
    });

    it('metrics are what both say, in one batch and in several', () => {
      METRICS.legal.forEach((given, seed) => {
        tf.tidy(() => {
          const metric = metricOf(given);
          const batches = [0, 1].map((i) => drawBatch(given, seed + 1000 * i, 2));
          for (const { rows, yTrue, yPred, weights } of batches) {
            const { sum, weight } = rankedMetric(given, rows);
            const found = metric(yTrue as never, yPred as never, weights as never).dataSync();
            expectClose(found, [weight === 0 ? 0 : sum / weight], 1, caseText(given), 1e-5);
            metric.updateState(yTrue as never, yPred as never, weights as never);
          }
          const { sum, weight } = rankedMetric(
            given,
            batches.flatMap(({ rows }) => rows),
          );
          expectClose([metric.result()], [sum / weight], 1, `${caseText(given)}, all batches`, 1e-5);
        });
      });
    });

    it('refuses what does not go together', () => {
      expect(LOSSES.refused.length).toBeGreaterThan(0);
      for (const { given, argument } of LOSSES.refused) {
        const { yTrue, yPred, weights } = drawBatch({ ...given, given: 'arrays' }, 1, 3);
        const run = (): unknown => tf.tidy(() => lossOf(given)(yTrue as never, yPred as never, weights as never));
        expectError(run, 'ValueError', argument);
      }
      expect(METRICS.refused.length).toBeGreaterThan(0);
      for (const { given, argument } of METRICS.refused) {
        const { yTrue, yPred, weights } = drawBatch({ ...given, given: 'arrays' }, 1, 2);
        const run = (): unknown => tf.tidy(() => metricOf(given)(yTrue as never, yPred as never, weights as never));
        expectError(run, 'ValueError', argument);
      }
    });
  },
  ['cpu native', 'wasm'],
);
