/** Metrics of ranking: values of other systems, ties, rows without a positive, streams, captured evaluation. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeSteps, expectCaptured } from '../../capture/training.js';
import { numbersOf, twins } from '../../capture/twins.js';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { Random } from '../../helpers/random.js';
import { rankingGoldens, scoreCases } from '../goldens.js';
import { ITEMS, USERS, drawn, scorer } from '../scores.js';

type Metric = emb.metrics.Metric;
type Make = (args?: object) => Metric;

const metrics = emb.metrics as unknown as Readonly<Record<string, Make>>;
const goldens = rankingGoldens();
const RANKED = ['recallAtK', 'precisionAtK', 'hitRateAtK', 'mrr', 'map', 'dcgAtK', 'ndcgAtK'] as const;

const valueOf = (metric: Metric, ...args: Parameters<Metric>): number => metric(...args).dataSync()[0]!;

describeForBackends(
  'Metrics of ranking',
  () => {
    let tensors: number;
    beforeEach(() => void (tensors = tf.memory().numTensors));
    afterEach(() => void expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    it('are those of Keras RS', () => {
      const { scores, labels, mask, rowWeights } = goldens;
      expect(goldens.metrics.length).toBe(24);
      tf.tidy(() => {
        for (const { name, k, isGraded, ...expected } of goldens.metrics) {
          const y = isGraded ? labels : labels.map((row) => row.map((label) => Math.min(label, 1)));
          const metric = metrics[name]!({ k, emptyAs: 0 });
          const what = `${name} ${k}`;
          expect(valueOf(metric, y, scores))
            .withContext(what)
            .toBeCloseTo(expected.plain, 5);
          expect(valueOf(metric, { labels: y, mask }, scores))
            .withContext(`${what} masked`)
            .toBeCloseTo(expected.masked, 5);
          // There, rows without a positive have the mean weight of the others.
          const positives = y.map((row) => row.some((label) => label > 0));
          const part = positives.filter(Boolean).length / positives.length;
          const left = valueOf(metrics[name]!({ k }), y, scores, rowWeights);
          // That of dcg is divided by its weight once more.
          if (name !== 'dcgAtK')
            expect(left * part)
              .withContext(`${what} of rows`)
              .toBeCloseTo(expected.rowWeights, 5);
        }
      });
    });

    it('are those of scikit-learn', () => {
      tf.tidy(() => {
        for (const { labels, scores, weights, ...expected } of scoreCases()) {
          const column = (list: number[]): number[][] => list.map((each) => [each]);
          for (const shaped of [[labels, scores, weights], [labels, scores, weights].map(column)] as const) {
            const [y, p, w] = shaped as [number[], number[], number[]];
            const isRow = !Array.isArray(y[0]);
            const { auc, logLoss } = emb.metrics;
            const of = isRow ? ([[w]] as unknown as number[]) : w;
            expect(valueOf(auc(), y, p)).toBeCloseTo(expected.auc, 5);
            expect(valueOf(auc(), y, p, isRow ? [w] : of)).toBeCloseTo(expected.weightedAuc, 5);
            expect(valueOf(logLoss(), y, p)).toBeCloseTo(expected.logLoss, 5);
            expect(valueOf(logLoss(), y, p, isRow ? [w] : of)).toBeCloseTo(expected.weightedLogLoss, 5);
          }
        }
      });
    });

    it('rank equal scores by index, and what is masked last', () => {
      tf.tidy(() => {
        const { mrr, recallAtK } = emb.metrics;
        const equal = Array.from({ length: 9 }, () => 2);
        const at = (place: number): number[] => equal.map((_, i) => Number(i === place));
        for (const place of [0, 1, 4, 8]) expect(valueOf(mrr(), at(place), equal)).toBeCloseTo(1 / (place + 1), 6);
        const mask = [false, false, true, true, true, true, true, true, true];
        expect(valueOf(mrr(), { labels: at(4), mask }, equal)).toBeCloseTo(1 / 3, 6);
        expect(valueOf(recallAtK({ k: 1 }), { labels: [1, 1], mask: [false, true] }, [9, -Infinity])).toBe(1);
      });
    });

    it('leave rows without a positive out, or count them', () => {
      tf.tidy(() => {
        const [labels, scores] = [[[0, 1], [0, 0], [-1, -1]], [[1, 2], [1, 2], [1, 2]]] as const; // prettier-ignore
        for (const name of RANKED) {
          const found = valueOf(metrics[name]!({ k: 1 }), labels as never, scores as never);
          expect(found).withContext(name).toBe(1);
          expect(valueOf(metrics[name]!({ k: 1, emptyAs: 0 }), labels as never, scores as never)).toBeCloseTo(1 / 3, 6);
          expect(valueOf(metrics[name]!({ emptyAs: 0.5 }), [[0, 0]], [[1, 2]]))
            .withContext(name)
            .toBe(0.5);
          expect(valueOf(metrics[name]!(), [[0, 0]], [[1, 2]]))
            .withContext(name)
            .toBe(0);
        }
        expect(valueOf(emb.metrics.auc(), [[1, 1]], [[1, 2]])).toBe(0.5);
      });
    });

    it('divide average precision as they are told, and gains', () => {
      tf.tidy(() => {
        const [labels, scores] = [[1, 0, 1, 1], [4, 3, 2, 1]]; // prettier-ignore
        const { map, dcgAtK } = emb.metrics;
        expect(valueOf(map({ k: 2 }), labels, scores)).toBeCloseTo(1 / 3, 6);
        expect(valueOf(map({ k: 2, divisor: 'min(k, positives)' }), labels, scores)).toBeCloseTo(1 / 2, 6);
        expect(valueOf(dcgAtK({ gain: 'linear' }), [0, 2, 1], [3, 2, 1])).toBeCloseTo(2 / Math.log2(3) + 1 / 2, 6);
      });
    });

    it('are of all batches in a stream', () => {
      tf.tidy(() => {
        const random = new Random(11);
        const [rows, items] = [24, 6];
        const scores = tf.tensor2d(
          Float32Array.from({ length: rows * items }, () => random.whole(0, 8) / 8),
          [rows, items],
        );
        const labels = drawn(random, rows, items, 3).sub(1).toFloat();
        const weights = tf.tensor1d(Float32Array.from({ length: rows }, () => random.next()));
        for (const name of [...RANKED, 'auc', 'logLoss']) {
          const metric = metrics[name]!();
          expect(metric.result()).withContext(name).toBeNaN();
          for (const round of [0, 1]) {
            for (const [start, size] of [
              [0, 5],
              [5, 1],
              [6, 18],
            ] as const) {
              // prettier-ignore
              const part = (x: tf.Tensor): tf.Tensor => x.slice([start], [size]);
              metric.updateState(part(labels), part(scores), part(weights));
            }
            const whole = valueOf(metric, labels, scores, weights);
            expect(metric.result()).withContext(`${name} ${round}`).toBeCloseTo(whole, 5);
            metric.resetStates();
          }
        }
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describeSteps('Metrics of ranking in fit', () => {
  it('are captured, by name and as functions', async () => {
    const names = ['auc', 'logLoss', 'recallAt2', 'precisionAt2', 'hitRateAt1', 'ndcgAt3', 'dcgAtK', 'mrr', 'mapAt4'];
    const made = [emb.metrics.recallAtK({ k: 3, emptyAs: 0 }), emb.metrics.map({ divisor: 'min(k, positives)' })];
    await expectCaptured(
      twins(
        () => scorer(),
        async (model) => {
          const args = { optimizer: emb.train.sgd({ learningRate: 0.1 }), loss: 'listSoftmax' };
          model.compile({ ...args, metrics: [...names, ...made] });
          const random = new Random(3);
          const [users, items] = [drawn(random, 64, 1, USERS), drawn(random, 64, 5, ITEMS)];
          const y = tf.tidy(() => drawn(random, 64, 5, 2).toFloat());
          const history = await model.fit([users, items], y, { batchSize: 16, epochs: 3, verbose: 0 });
          expect(Object.keys(history.history)).toEqual(['loss', ...names, 'recallAt3', 'map']);
          const evaluated = model.evaluate([users, items], y, { batchSize: 64 }) as tf.Scalar[];
          const results = evaluated.map((each) => each.dataSync()[0]!);
          tf.dispose([users, items, y, ...evaluated]);
          return [...numbersOf(history), ...results];
        },
      ),
    );
  });
});

describe('Metrics of ranking', () => {
  it('refuse options that are none', () => {
    expectError(() => metrics['recallAtK']!({ k: 0 }), 'ValueError', 'k', '0');
    expectError(() => metrics['mrr']!({ k: '1' }), 'TypeError', 'k', '1');
    expectError(() => metrics['ndcgAtK']!({ emptyAs: Infinity }), 'ValueError', 'emptyAs', 'Infinity');
    expectError(() => metrics['ndcgAtK']!({ gain: 'square' }), 'ValueError', 'gain', 'square');
    expectError(() => metrics['map']!({ divisor: 3 }), 'TypeError', 'divisor', '3');
    expectError(() => metrics['auc']!({ k: 3 }), 'ValueError', 'k', 'the field k');
  });

  it('refuse tensors that do not fit', () => {
    tf.tidy(() => {
      const scores = tf.zeros([2, 3]);
      expectError(() => emb.metrics.mrr()(tf.zeros([2, 2]), scores), 'ValueError', 'yTrue', '[2, 2]');
      expectError(() => emb.metrics.auc()(scores, tf.zeros([2, 3], 'int32')), 'TypeError', 'yPred', 'int32');
      expectError(() => emb.metrics.map()(scores, scores, [1]), 'ValueError', 'weights', '[1]');
      expectError(() => emb.metrics.map()(scores, scores, scores), 'ValueError', 'weights', '[2, 3]');
    });
  });
});
