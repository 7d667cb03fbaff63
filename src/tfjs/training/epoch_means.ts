/**
 * Means of losses and metrics over an epoch, summed up in JavaScript: two ops of TensorFlow for each of them and each
 * batch take as long as a small step. Sums are rounded as float32 after each addition, as those of tfjs are.
 */
import * as tf from '@tensorflow/tfjs';
import { isReadAsync } from '../../base/waiting_reads.js';

/** The first of tfjs's callbacks, which tells the means. */
interface MeanLogger {
  seen: number;
  totals: Record<string, number | tf.Scalar>;
  onBatchEnd(batch: number, logs?: tf.Logs): Promise<void>;
  onEpochEnd(epoch: number, logs?: tf.Logs): Promise<void>;
}

/** Has the logger of means among these callbacks sum up numbers. */
export function sumInJavaScript(callbacks: readonly object[]): void {
  const logger = callbacks[0] as MeanLogger;
  // Where reads wait tfjs sums tensors.
  if (isReadAsync()) return;
  const { onEpochEnd } = logger;
  const sums = new Map<string, number>();
  logger.onBatchEnd = function (_batch, logs = {}) {
    const size = (logs['size'] as number | undefined) ?? 0;
    this.seen += size;
    for (const [key, value] of Object.entries(logs as Record<string, number | tf.Tensor>)) {
      if (typeof value === 'number') {
        this.totals[key] = ((this.totals[key] as number | undefined) ?? 0) + value * size;
        continue;
      }
      sums.set(key, Math.fround((sums.get(key) ?? 0) + Math.fround(value.dataSync()[0]! * size)));
    }
    return Promise.resolve();
  };
  logger.onEpochEnd = function (epoch, logs) {
    // Whatever comes after takes them as tfjs leaves them, and disposes of them.
    for (const [key, sum] of sums) this.totals[key] = tf.scalar(sum);
    sums.clear();
    return onEpochEnd.call(this, epoch, logs);
  };
}
