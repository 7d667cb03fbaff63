/** Metrics with weights and a mask together: what is masked counts nothing, whatever it weighs. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { Random } from '../../helpers/random.js';

const LEAST = 1e-7;
const { auc, logLoss } = emb.metrics;

/** The weighted mean of the cross-entropies of what counts. */
function expectedLogLoss(labels: number[], scores: number[], weights: number[], mask: boolean[]): number {
  let [sum, total] = [0, 0];
  labels.forEach((label, i) => {
    if (!mask[i]) return;
    const score = Math.min(Math.max(scores[i]!, LEAST), 1 - LEAST);
    sum -= weights[i]! * (label * Math.log(score) + (1 - label) * Math.log(1 - score));
    total += weights[i]!;
  });
  return sum / total;
}

/** The weighted share of pairs in order; ties count half. */
function expectedAuc(labels: number[], scores: number[], weights: number[], mask: boolean[]): number {
  let [sum, total] = [0, 0];
  labels.forEach((label, i) => {
    if (!mask[i] || label !== 1) return;
    labels.forEach((other, j) => {
      if (!mask[j] || other !== 0) return;
      const weight = weights[i]! * weights[j]!;
      total += weight;
      sum += weight * (scores[i]! > scores[j]! ? 1 : scores[i] === scores[j] ? 0.5 : 0);
    });
  });
  return sum / total;
}

describe('metrics with weights and a mask', () => {
  it('are those of what counts, weighted', () => {
    tf.tidy(() => {
      for (let seed = 0; seed < 25; seed++) {
        const random = new Random(seed);
        const items = random.whole(4, 12);
        const each = <T>(value: (i: number) => T): T[] => Array.from({ length: items }, (_, i) => value(i));
        const labels = each((i) => (i < 2 ? i : random.whole(0, 1)));
        const mask = each((i) => i < 2 || random.chance(0.6));
        // Scores of their own: those of what is masked are the worst ones.
        const scores = each((i) => (mask[i] ? (random.whole(1, 99) + i / 100) / 101 : 1 - labels[i]!));
        const weights = each(() => random.whole(1, 8) / 2);
        const given = { labels: [labels], mask: [mask] };
        const read = (metric: emb.metrics.Metric): number => metric(given, [scores], [weights]).dataSync()[0]!;
        expect(read(logLoss())).withContext(`log loss ${seed}`).toBeCloseTo(expectedLogLoss(labels, scores, weights, mask), 4); // prettier-ignore
        expect(read(auc()))
          .withContext(`auc ${seed}`)
          .toBeCloseTo(expectedAuc(labels, scores, weights, mask), 4);
      }
    });
  });
});
