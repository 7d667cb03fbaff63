/** Metrics of scores over all examples: the area under the ROC curve, and log loss. */
import * as tf from '@tensorflow/tfjs';
import { listsOf } from '../losses/lists.js';
import { refuseOptions, type LossArguments } from '../losses/loss.js';
import { knownOf, madeMetric, meanMetric, unlessUnknown, type Metric, type MetricState } from './metric.js';

/** Examples of all rows, 1-D. */
interface Examples {
  readonly labels: tf.Tensor;
  readonly scores: tf.Tensor;
  /** 0 for those that do not count. */
  readonly weights: tf.Tensor;
}

function examplesOf(given: LossArguments): Examples {
  const isColumn = given.labels.rank === 1 && given.scores.shape[1] === 1;
  const { labels, scores, valid } = listsOf(isColumn ? { ...given, labels: given.labels.expandDims(1) } : given);
  const counts = valid.cast('float32');
  const weights = given.weights === null ? counts : counts.mul(given.weights);
  return { labels: labels.as1D(), scores: scores.as1D(), weights: weights.as1D() };
}

/** Examples as numbers, in chunks. */
class Curve implements MetricState {
  readonly #scores: Float32Array[] = [];
  /** Weights, those of negatives below 0. */
  readonly #signed: Float32Array[] = [];
  #isUnknown = false;

  add(batch: LossArguments): void {
    const { given, unknown } = knownOf(batch);
    const { labels, scores, weights } = examplesOf(given);
    this.#isUnknown ||= unknown.dataSync()[0]! > 0;
    const signed = tf.where(labels.greater(0.5), weights, weights.neg());
    this.#scores.push(scores.dataSync<'float32'>().slice());
    this.#signed.push(signed.dataSync<'float32'>().slice());
  }

  result(): number {
    if (this.#isUnknown) return NaN;
    const scores = joined(this.#scores);
    const signed = joined(this.#signed);
    const order = new Uint32Array(scores.length).map((_, i) => i).sort((a, b) => scores[a]! - scores[b]!);
    let [positives, negatives, area] = [0, 0, 0];
    for (let i = 0; i < order.length;) {
      const score = scores[order[i]!]!;
      let [more, fewer] = [0, 0];
      // Equal scores are half right.
      for (; i < order.length && scores[order[i]!] === score; i++) {
        const weight = signed[order[i]!]!;
        if (weight > 0) more += weight;
        else fewer -= weight;
      }
      area += more * (negatives + fewer / 2);
      positives += more;
      negatives += fewer;
    }
    return area / (positives * negatives);
  }
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The sum over positives of the negatives that are ranked below, of equal scores those with a higher index. */
function pairsInOrder(scores: tf.Tensor, positives: tf.Tensor, negatives: tf.Tensor): tf.Tensor {
  const order = tf.topk(scores, scores.size).indices as tf.Tensor1D;
  const above = tf.cumsum(tf.gather(negatives, order));
  return tf.gather(positives, order).mul(negatives.sum().sub(above)).sum();
}

/** The area of a batch; 0.5 where it has examples of one class alone. */
function areaOf(batch: LossArguments): tf.Tensor {
  const known = knownOf(batch);
  const { given } = known;
  if (given.scores.size === 0) return tf.scalar(0.5);
  const { labels, scores, weights } = examplesOf(given);
  const isPositive = labels.greater(0.5).cast('float32');
  const examples = [scores, weights.mul(isPositive), weights.mul(tf.sub(1, isPositive))] as const;
  // Of the two orders of equal scores a positive is before a negative in one.
  const [first, last] = [examples, examples.map((each) => each.reverse(0)) as unknown as typeof examples];
  const right = pairsInOrder(...first)
    .add(pairsInOrder(...last))
    .div(2);
  const pairs = examples[1].sum().mul(examples[2].sum());
  return unlessUnknown(tf.where(pairs.greater(0), right.div(tf.maximum(pairs, 1e-30)), tf.scalar(0.5)), known);
}

/**
 * Makes the area under the ROC curve: how likely a positive has a higher score than a negative; equal ones count half.
 *
 * Labels above 0.5 are positives, of all rows together; labels below 0 and masked items are left out. `updateState` keeps
 * scores and labels, so that `result` is exact, and NaN where there is one class alone or a score is NaN. In `compile` it is the mean of
 * the areas of batches, 0.5 for a batch of one class, which is not the area of all.
 *
 * @param args - None yet.
 * @returns A metric: labels and scores to a scalar.
 * @throws TypeError for options; in the metric, ValueError for shapes that do not fit each other. Source:
 * sklearn.metrics.roc_auc_score (1.9).
 *
 * @example
 * emb.metrics.auc()([[1, 0, 1]], [[3, 2, 1]]).print(); // 0.5
 */
export function auc(args: Record<string, never> = {}): Metric {
  refuseOptions(args, 'emb.metrics.auc()');
  return madeMetric('auc', areaOf, () => new Curve());
}

/** Probabilities are kept this far from 0 and 1. */
const EPSILON = 1e-7;

/**
 * Makes log loss: -(y log(p) + (1 - y) log(1 - p)), the mean over all items, for scores that are probabilities.
 *
 * Labels below 0 and masked items are left out; weights may be of rows or of items. Probabilities are kept 1e-7 from 0
 * and 1.
 *
 * @param args - None yet.
 * @returns A metric: labels and probabilities to a scalar.
 * @throws As `auc`. Source: sklearn.metrics.log_loss (1.9).
 *
 * @example
 * emb.metrics.logLoss()([[1, 0]], [[0.5, 0.5]]).print(); // 0.6931472
 */
export function logLoss(args: Record<string, never> = {}): Metric {
  refuseOptions(args, 'emb.metrics.logLoss()');
  return meanMetric('logLoss', (given) => {
    const { labels, scores, weights } = examplesOf(given);
    const p = tf.clipByValue(scores, EPSILON, 1 - EPSILON);
    const of = (y: tf.Tensor, chance: tf.Tensor): tf.Tensor => y.mul(tf.log(chance));
    const losses = of(labels, p).add(of(tf.sub(1, labels), tf.sub(1, p)));
    return [losses.mul(weights).sum().neg(), weights.sum()];
  });
}
