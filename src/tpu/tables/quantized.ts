/** Simulated quantization of looked-up values, through which gradients pass as if it were not there. */
import * as tf from '@tensorflow/tfjs';
import type { QuantizationConfig } from '../config/quantization_config.js';

/** Limits values to [lower, upper] and moves each to the nearest of the buckets. Call inside a tidy. */
export function quantized<T extends tf.Tensor>(values: T, { numBuckets, lower, upper }: QuantizationConfig): T {
  const step = (upper - lower) / (numBuckets - 1);
  const straightThrough = tf.customGrad((x: tf.Tensor | tf.GradSaveFunc) => {
    const buckets = (x as tf.Tensor).clipByValue(lower, upper).sub(lower).div(step).add(0.5).floor();
    return { value: buckets.mul(step).add(lower), gradFunc: (dy: tf.Tensor) => dy };
  });
  return straightThrough(values) as T;
}
