/** Metrics of scores, labels and weights that are no usual numbers: each ends, and says NaN where it knows no number. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { Random } from '../../helpers/random.js';

type Metric = emb.metrics.Metric;
type Make = (args?: object) => Metric;

const metrics = emb.metrics as unknown as Readonly<Record<string, Make>>;
const NAMES = ['recallAtK', 'precisionAtK', 'hitRateAtK', 'mrr', 'map', 'dcgAtK', 'ndcgAtK'] as const;
const ALL = [...NAMES, 'auc', 'logLoss'] as const;

/** The metric of one batch, of the state, and of the state that was shown it twice. */
function valuesOf(metric: Metric, y: unknown, scores: tf.Tensor2D): [called: number, kept: number, again: number] {
  const called = tf.tidy(() => metric(y as tf.Tensor, scores).dataSync()[0]!);
  metric.updateState(y as tf.Tensor, scores);
  const kept = metric.result();
  metric.updateState(y as tf.Tensor, scores);
  const again = metric.result();
  metric.resetStates();
  return [called, kept, again];
}

describeForBackends(
  'Metrics of special scores',
  () => {
    let tensors: number;
    beforeEach(() => void (tensors = tf.memory().numTensors));
    afterEach(() => void expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    for (const name of ALL) {
      it(`${name} is NaN where a score that counts is NaN, and as without it where none does`, () => {
        const random = new Random(3);
        for (let trial = 0; trial < 12; trial++) {
          const [rows, items] = [random.whole(1, 5), random.whole(2, 8)];
          const labels = Array.from({ length: rows }, () => Array.from({ length: items }, () => random.whole(0, 2)));
          labels[0]![0] = 1;
          labels[0]![1] = 0;
          const scores = labels.map((row) => row.map(() => random.next()));
          const [row, item] = [random.whole(0, rows), random.whole(0, items)];
          const broken = scores.map((each, i) => each.map((score, j) => (i === row && j === item ? NaN : score)));
          const mask = labels.map((each, i) => each.map((_, j) => !(i === row && j === item)));
          const metric = metrics[name]!();
          tf.tidy(() => {
            const [whole, bad] = [tf.tensor2d(scores), tf.tensor2d(broken)];
            expect(valuesOf(metric, tf.tensor2d(labels), bad)).toEqual([NaN, NaN, NaN]);
            const y = { labels: tf.tensor2d(labels), mask: tf.tensor2d(mask as never, [rows, items], 'bool') };
            expect(valuesOf(metric, y, bad)).toEqual(valuesOf(metric, y, whole));
            const unknown = labels.map((each, i) => each.map((label, j) => (i === row && j === item ? NaN : label)));
            expect(valuesOf(metric, tf.tensor2d(unknown), whole)).toEqual([NaN, NaN, NaN]);
          });
        }
      });

      it(`${name} ranks infinite scores before and after all others`, () => {
        const metric = metrics[name]!();
        tf.tidy(() => {
          const y = tf.tensor2d([[0, 1, 0, 1]]);
          const infinite = tf.tensor2d([[-Infinity, Infinity, 0.25, 0.5]]);
          const finite = tf.tensor2d([[0, 1, 0.25, 0.5]]);
          expect(valuesOf(metric, y, infinite)).toEqual(valuesOf(metric, y, finite));
        });
      });

      it(`${name} is 0 or a half of no example, and NaN of nothing that counts in all batches`, () => {
        const metric = metrics[name]!();
        tf.tidy(() => {
          for (const shape of [
            [0, 3],
            [2, 0],
            [0, 0],
          ] as const) {
            const empty = tf.zeros<tf.Rank.R2>([...shape]);
            expect(valuesOf(metric, empty, empty)).toEqual([name === 'auc' ? 0.5 : 0, NaN, NaN]);
          }
          const left = tf.tensor2d([[-1, -1]]);
          const [called, kept] = valuesOf(metric, left, tf.tensor2d([[NaN, 2]]));
          expect([called, kept]).toEqual([name === 'auc' ? 0.5 : 0, NaN]);
        });
      });

      it(`${name} of one class ends`, () => {
        const metric = metrics[name]!();
        for (const label of [0, 1]) {
          tf.tidy(() => {
            const y = tf.fill<tf.Rank.R2>([2, 3], label);
            const scores = tf.tensor2d([
              [1, 1, 0],
              [0, 0, 0.5],
            ]);
            const [called, kept] = valuesOf(metric, y, scores);
            const isEmpty = name === 'auc' || (label === 0 && name !== 'logLoss');
            expect(Number.isFinite(called)).toBeTrue();
            if (isEmpty) expect(kept).toBeNaN();
            else expect(kept).toBeCloseTo(called, 6);
          });
        }
      });
    }
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
