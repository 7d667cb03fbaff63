/** What metrics are: functions for `compile`, and sums over all that they are shown. */
import * as tf from '@tensorflow/tfjs';
import { asOwn } from '../../tfjs/engine/own_functions.js';
import { argumentsOf, type LossArguments, type Targets } from '../losses/loss.js';

type AnyTensor = tf.Tensor | tf.TensorLike;

/** A metric for `compile`, a function of its own, and a sum over batches. */
export interface Metric {
  /**
   * Returns the metric of a batch: NaN where a score that counts is NaN, or a label.
   *
   * @param yTrue - Labels [batch, items].
   * @param yPred - Scores of that shape, float32.
   * @returns A scalar, float32.
   */
  (yTrue: tf.Tensor, yPred: tf.Tensor): tf.Scalar;
  /**
   * Returns the weighted metric of a batch.
   *
   * @param yTrue - Labels [batch, items], or `{labels, mask}`.
   * @param yPred - Scores of that shape, float32.
   * @param weights - Weights of rows, [batch] or [batch, 1]; those of `auc` and `logLoss` may be of items.
   * @returns A scalar, float32.
   */
  (yTrue: Targets, yPred: AnyTensor, weights?: AnyTensor | null): tf.Scalar;
  /**
   * Adds a batch to what `result` is of.
   *
   * @param yTrue - Labels [batch, items], or `{labels, mask}`.
   * @param yPred - Scores of that shape, float32.
   * @param weights - Weights, as in a call.
   */
  updateState(yTrue: Targets, yPred: AnyTensor, weights?: AnyTensor | null): void;
  /**
   * Returns the metric of all batches since the last `resetStates`, each row counted once.
   *
   * @returns A number; NaN where nothing counts, or where a score that counts was NaN, or a label.
   */
  result(): number;
  /** Forgets all batches. */
  resetStates(): void;
}

/** What a metric keeps of batches. */
export interface MetricState {
  add(given: LossArguments): void;
  result(): number;
}

/** Examples of which each score is a number. */
export interface Known {
  readonly given: LossArguments;
  /** 1 where a score that counts, or a label, is none, else 0: a scalar. */
  readonly unknown: tf.Tensor;
}

/**
 * Puts 0 for scores that are no numbers, which have no order: sorts may not end on them. What is computed of the rest is
 * NaN where such a score counts.
 */
export function knownOf(given: LossArguments): Known {
  const { labels, mask, scores } = given;
  const isNaN = scores.notEqual<tf.Tensor2D>(scores);
  const known = { ...given, scores: tf.where<tf.Tensor2D>(isNaN, tf.zerosLike(scores), scores) };
  // Other sizes are refused where they are compared.
  if (scores.size === 0 || labels.size !== scores.size) return { given: known, unknown: tf.scalar(0) };
  const values = labels.as1D().cast('float32');
  const counts = tf.logicalAnd(isNaN.as1D(), values.greaterEqual(0));
  const all = tf.logicalOr(values.notEqual(values), counts);
  const unknown = mask === null ? all : tf.logicalAnd(all, mask.as1D());
  return { given: known, unknown: unknown.cast('float32').max() };
}

/** A scalar, or NaN where an example is unknown. */
export function unlessUnknown(value: tf.Tensor, { unknown }: Known): tf.Tensor {
  return tf.where(unknown.greater(0), tf.scalar(NaN), value);
}

/** A metric of this package, which steps that are captured know. */
export function madeMetric(
  name: string,
  ofBatch: (given: LossArguments) => tf.Tensor,
  start: () => MetricState,
): Metric {
  let state = start();
  const metric = (yTrue: Targets, yPred: AnyTensor, weights: AnyTensor | null = null): tf.Scalar =>
    tf.tidy(() => ofBatch(argumentsOf(yTrue, yPred, weights)).asScalar());
  Object.defineProperty(metric, 'name', { value: name });
  const methods = {
    updateState: (yTrue: Targets, yPred: AnyTensor, weights: AnyTensor | null = null): void =>
      tf.tidy(() => state.add(argumentsOf(yTrue, yPred, weights))),
    result: () => state.result(),
    resetStates: () => void (state = start()),
  };
  return asOwn(Object.assign(metric, methods));
}

/** Sums of a batch, scalars: of values times weights, and of weights. */
export type Sums = readonly [sum: tf.Tensor, weight: tf.Tensor];

/** A metric that is a mean; 0 for a batch in which nothing counts, which tfjs would make the mean of an epoch NaN by. */
export function meanMetric(name: string, sumsOfKnown: (given: LossArguments) => Sums): Metric {
  const sumsOf = (batch: LossArguments): Sums => {
    const known = knownOf(batch);
    if (batch.scores.size === 0) return [tf.scalar(0), tf.scalar(0)];
    const [sum, weight] = sumsOfKnown(known.given);
    return [unlessUnknown(sum, known), weight];
  };
  const start = (): MetricState => {
    const totals = [0, 0] as [number, number];
    return {
      add: (given) => sumsOf(given).forEach((sum, i) => (totals[i]! += sum.dataSync()[0]!)),
      result: () => totals[0] / totals[1],
    };
  };
  return madeMetric(name, (given) => tf.divNoNan(...sumsOf(given)), start);
}
