/** Losses of ranking: values and gradients of other systems, finite differences, and what is refused. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { describeForBackends } from '../../helpers/backends.js';
import { expectError } from '../../helpers/errors.js';
import { Random } from '../../helpers/random.js';
import { rankingGoldens } from '../goldens.js';
import { drawn, drawnScores } from '../scores.js';

type Loss = emb.losses.Loss;
type Make = (args?: object) => Loss;

const losses = emb.losses as unknown as Readonly<Record<string, Make>>;
const goldens = rankingGoldens();
const LISTS = ['pairwiseLogistic', 'pairwiseHinge', 'pairwiseSoftZeroOne', 'pairwiseMeanSquared'] as const;
const OF_LISTS = [...LISTS, 'listSoftmax', 'listMLE', 'sigmoidCrossEntropyFromLogits'] as const;

function expectClose(found: tf.Tensor | number[], expected: readonly unknown[], what: string, tolerance = 2e-6): void {
  const numbers = found instanceof tf.Tensor ? [...found.dataSync()] : found;
  const sought = (expected as number[]).flat();
  expect(numbers.length).withContext(what).toBe(sought.length);
  const most = Math.max(...numbers.map((value, i) => Math.abs(value - sought[i]!) / (1 + Math.abs(sought[i]!))));
  expect(most).withContext(what).toBeLessThanOrEqual(tolerance);
}

function meanOf(rows: tf.Tensor): number[] {
  return [rows.mean().dataSync()[0]!];
}

function ids(rows: readonly (readonly number[])[]): tf.Tensor2D {
  return tf.tensor2d(rows as number[][], undefined, 'int32');
}

/** The gradient of the sum of the losses, by scores. */
function gradientOf(loss: Loss, y: tf.Tensor, scores: tf.Tensor): tf.Tensor {
  return tf.grad((x) => loss(y, x).sum())(scores);
}

describeForBackends(
  'Losses of ranking',
  () => {
    let tensors: number;
    beforeEach(() => void (tensors = tf.memory().numTensors));
    afterEach(() => void expect(tf.memory().numTensors).withContext('tensors left').toBe(tensors));

    it('are those of Keras RS', () => {
      const { scores, labels, mask, rowWeights, itemWeights } = goldens;
      expect(goldens.kerasRsLosses.length).toBe(9);
      for (const { name, temperature, ...expected } of goldens.kerasRsLosses) {
        tf.tidy(() => {
          const loss = losses[name]!(name === 'pairwiseMeanSquared' ? {} : { temperature });
          const what = `${name} ${temperature}`;
          expectClose(meanOf(loss(labels, scores)), [expected.plain], what);
          expectClose(meanOf(loss({ labels, mask }, scores)), [expected.masked], `${what} masked`);
          expectClose(meanOf(loss(labels, scores, rowWeights)), [expected.rowWeights], `${what} of rows`);
          if (expected.itemWeights === null) return;
          expectClose(meanOf(loss(labels, scores, itemWeights)), [expected.itemWeights], `${what} of items`);
        });
      }
    });

    it('are those of TensorFlow, with their gradients', () => {
      expect(goldens.sampledLosses.length + goldens.listLosses.length).toBe(11);
      for (const { name, scores, args, positivesAlone, ...expected } of goldens.sampledLosses) {
        tf.tidy(() => {
          const y = ids(positivesAlone === true ? goldens.ids.map(([first]) => [first!]) : goldens.ids);
          const [loss, x] = [losses[name]!(args), tf.tensor2d(scores)];
          expectClose(loss(y, x), expected.losses, name);
          expectClose(gradientOf(loss, y, x), expected.gradient, `gradient of ${name}`);
        });
      }
      for (const { name, labels, ...expected } of goldens.listLosses) {
        tf.tidy(() => {
          const [loss, y, x] = [losses[name]!(), tf.tensor2d(labels), tf.tensor2d(goldens.scores)];
          expectClose(loss(y, x), expected.losses, name);
          expectClose(gradientOf(loss, y, x), expected.gradient, `gradient of ${name}`);
        });
      }
    });

    it('have the gradients of finite differences', () => {
      const random = new Random(7);
      const [batch, items, step] = [3, 5, 1 / 64];
      const values = drawnScores(random, batch, items);
      tf.tidy(() => {
        const labels = drawn(random, batch, items, 4).sub(1).toFloat();
        for (const name of OF_LISTS) {
          const loss = losses[name]!();
          const sum = (x: Float32Array): number =>
            loss(labels, tf.tensor2d(x, [batch, items]))
              .sum()
              .dataSync()[0]!;
          const slopes = [...values].map((value, i) => {
            const moved = (by: number): number => sum(values.map((each, j) => (i === j ? value + by : each)));
            return (moved(step) - moved(-step)) / (2 * step);
          });
          expectClose(gradientOf(loss, labels, tf.tensor2d(values, [batch, items])), slopes, name, 2e-3);
        }
      });
    });

    it('take a single list', () => {
      tf.tidy(() => {
        for (const name of OF_LISTS) {
          const batch = losses[name]!()([[2, 0, 1]], [[0.5, 1, -1]]);
          expect(batch.shape).withContext(name).toEqual([1]);
          expectClose(losses[name]!()([2, 0, 1], [0.5, 1, -1]), [...batch.dataSync()], name, 0);
        }
      });
    });

    it('stay finite where scores are large and nothing counts', () => {
      tf.tidy(() => {
        for (const name of OF_LISTS) {
          const loss = losses[name]!();
          expectClose(loss([[-1, -1]], [[1, 2]]), [0], `${name} of nothing`);
          const [y, x] = [tf.tensor2d([[1, 0, -1]]), tf.tensor2d([[500, -500, 3]])];
          expect([...gradientOf(loss, y, x).dataSync(), ...loss(y, x).dataSync()].every(Number.isFinite))
            .withContext(name)
            .toBeTrue();
        }
        const same = ids([[3, 3, 3]]);
        expectClose(losses['bpr']!()(same, [[9, 1, 2]]), [0], 'bpr of hits');
        expectClose(losses['sampledSoftmax']!()(same, [[9, 1, 2]]), [0], 'softmax of hits');
        expectClose(losses['cosineContrastive']!()(same, [[0.25, 1, 1]]), [0.75], 'contrastive loss of hits');
        expectClose(losses['bpr']!()(tf.zeros([1, 3]), [[500, -500, -500]]), [0], 'float32 says nothing of items');
      });
    });

    it('know the hits among negatives that all rows share', () => {
      tf.tidy(() => {
        // Row 0 has item 1, row 1 item 2; the negatives 2 and 5 are of both.
        const y = ids([
          [1, 2],
          [2, 5],
        ]);
        const scores = tf.tensor2d([
          [0, 1, 7],
          [0, 9, 2],
        ]);
        const softplus = (x: number): number => Math.log1p(Math.exp(x));
        const expected = [(softplus(1) + softplus(7)) / 2, softplus(2)];
        expectClose(losses['bpr']!()(y, scores), expected, 'bpr');
        expectClose(losses['cosineContrastive']!()(y, scores.div(10)), [1 + 0.8, 1 + 0.2], 'sum');
      });
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);

describe('Losses of ranking', () => {
  it('refuse options that are none', () => {
    expectError(() => losses['bpr']!({ removeAccidentalHits: 1 }), 'TypeError', 'removeAccidentalHits', '1');
    expectError(() => losses['bpr']!({ temperature: 1 }), 'ValueError', 'temperature', 'the field temperature');
    expectError(() => losses['sampledSoftmax']!({ temperature: 0 }), 'ValueError', 'temperature', '0');
    expectError(() => losses['listMLE']!({ temperature: '1' }), 'TypeError', 'temperature', '1');
    expectError(() => losses['inBatchSoftmax']!({ samplingProbabilities: 3 }), 'TypeError', 'samplingProbabilities');
    expect(() => losses['sampledSoftmax']!({ samplingProbabilities: [0, 1, 0.5] })).not.toThrow();
    const probabilities = { samplingProbabilities: [0.5, 2] };
    expectError(() => losses['sampledSoftmax']!(probabilities), 'ValueError', 'samplingProbabilities[1]', '2');
    expectError(() => losses['cosineContrastive']!({ margin: NaN }), 'ValueError', 'margin', 'NaN');
    expectError(() => losses['cosineContrastive']!({ negativeWeight: -1 }), 'ValueError', 'negativeWeight', '-1');
  });

  it('refuse tensors that do not fit', () => {
    tf.tidy(() => {
      const scores = tf.zeros([2, 3]);
      const int = (shape: number[]): tf.Tensor => tf.zeros(shape, 'int32');
      const { bpr, inBatchSoftmax, pairwiseHinge, sampledSoftmax, sigmoidCrossEntropyFromLogits } = emb.losses;
      expectError(() => bpr()(int([2, 3]), tf.zeros([2, 3, 1])), 'ValueError', 'yPred', '[2, 3, 1]');
      expectError(() => bpr()(int([2, 3]), int([2, 3])), 'TypeError', 'yPred', 'int32');
      expectError(() => bpr()('a' as never, scores), 'TypeError', 'yTrue', '"a"');
      expectError(() => bpr()(int([2, 1]), tf.zeros([2, 1])), 'ValueError', 'yPred', '[2, 1]');
      expectError(() => bpr()(int([2, 4]), scores), 'ValueError', 'yTrue', '[2, 4]');
      expectError(() => bpr({ removeAccidentalHits: true })(scores, scores), 'TypeError', 'yTrue', 'float32');
      expectError(() => bpr()(int([2, 3]), scores, [[1, 2, 3], [1, 2, 3]]), 'ValueError', 'weights', '[2, 3]'); // prettier-ignore
      expectError(() => bpr()(int([2, 3]), scores, [1, 2, 3]), 'ValueError', 'weights', '[3]');
      const corrected = sampledSoftmax({ samplingProbabilities: [0.1] });
      expectError(() => corrected(scores, scores), 'TypeError', 'yTrue', 'float32');
      expectError(() => inBatchSoftmax()(int([3]), tf.zeros([3, 2])), 'ValueError', 'yPred', '[3, 2]');
      expectError(() => inBatchSoftmax()(int([2]), scores), 'ValueError', 'yTrue', '[2]');
      // Labels whose dtype nobody named are float32: ids all the same, and not taken for other ids.
      const square = tf.tensor2d([[1, 9, 2], [9, 1, 3], [0, 2, 1]]); // prettier-ignore
      for (const ids of [
        [4, 4, 7],
        [1, 2, 3],
        [0, 0, 0],
        [5, 2 ** 24 - 1, 5],
      ]) {
        const wanted = inBatchSoftmax()(tf.tensor1d(ids, 'int32'), square).arraySync();
        expect(inBatchSoftmax()(tf.tensor1d(ids), square).arraySync()).toEqual(wanted);
        expect(inBatchSoftmax()(tf.tensor2d(ids, [3, 1]), square).arraySync()).toEqual(wanted);
      }
      for (const ids of [
        [0.5, 1, 2],
        [1, NaN, 2],
        [1, 2, 2 ** 24],
      ]) {
        const labels = tf.tensor1d(ids);
        expectError(() => inBatchSoftmax()(labels, square), 'ValueError', 'yTrue', 'position');
        expect(inBatchSoftmax({ removeAccidentalHits: false })(labels, square).shape).toEqual([3]);
      }
      expectError(() => pairwiseHinge()(tf.zeros([2, 2]), scores), 'ValueError', 'yTrue', '[2, 2]');
      const mask = [[true, false]];
      expectError(() => sigmoidCrossEntropyFromLogits()({ labels: scores, mask }, scores), 'ValueError', 'yTrue.mask');
    });
  });
});
