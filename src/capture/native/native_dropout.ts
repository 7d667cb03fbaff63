/** Dropout as one op, forward and backward, whose mask a seed decides: no mask is drawn, kept or read. */
import * as tf from '@tensorflow/tfjs';
import { live } from '../../backends/live_values.js';
import { backendPart } from '../../backends/registry.js';
import type { DropoutLayer } from '../overrides/dropout.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';

/** 32 bits of Math.random, as a signed number. */
function word(): number {
  return (Math.random() * 2 ** 32) | 0;
}

/** What an unseeded layer gives in training; null where the backend has no such op, or the input is not of floats. */
export function nativeDropout(layer: DropoutLayer, input: tf.Tensor): tf.Tensor | null {
  const { stepOps } = backendPart();
  if (stepOps === undefined || input.dtype !== 'float32') return null;
  const rate = live(() => Float32Array.of(layer.rate));
  const seed = live(() => Int32Array.of(word(), word()));
  const noiseShape = layer.getNoiseShape(input);
  const drop = (x: tf.Tensor): tf.Tensor =>
    withLazyGradient(
      { x },
      () => stepOps.dropout(x, rate, seed),
      (dy) => ({ x: () => stepOps.dropout(dy, rate, seed) }),
    );
  return tf.tidy(() => (noiseShape ? input.mul(drop(tf.ones(noiseShape))) : drop(input)));
}
