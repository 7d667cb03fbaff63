/** Dropout within layers of this package, by an op of ours for as long as a call lasts. */
import * as tf from '@tensorflow/tfjs';
import { Substitute } from '../tfjs/training/substitute.js';

/** A tensor without a share of its elements, the others scaled up; `rate` is asked in each step. Null: what tfjs gives. */
export type DropBy = (x: tf.Tensor, rate: () => number) => tf.Tensor | null;

export const drops = new Substitute<DropBy>('drops');

/** `x` without a share of its elements, in (0, 1), the others scaled up. */
export function dropped(x: tf.Tensor, rate: () => number): tf.Tensor {
  return drops.now?.(x, rate) ?? tf.dropout(x, rate());
}
