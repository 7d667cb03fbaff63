/** What metrics are: functions for `compile`, and sums over all that they are shown. */
import * as tf from '@tensorflow/tfjs';
import { asOwn } from '../../tfjs/engine/own_functions.js';
import { argumentsOf, type LossArguments, type Targets } from '../losses/loss.js';

type AnyTensor = tf.Tensor | tf.TensorLike;

/** A metric for `compile`, a function of its own, and a sum over batches. */
export interface Metric {
  /**
   * Returns the metric of a batch.
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
   * @returns A number; NaN where nothing counts.
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
export function meanMetric(name: string, sumsOf: (given: LossArguments) => Sums): Metric {
  const start = (): MetricState => {
    const totals = [0, 0] as [number, number];
    return {
      add: (given) => sumsOf(given).forEach((sum, i) => (totals[i]! += sum.dataSync()[0]!)),
      result: () => totals[0] / totals[1],
    };
  };
  return madeMetric(name, (given) => tf.divNoNan(...sumsOf(given)), start);
}
