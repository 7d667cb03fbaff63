/** Who computes the products of all pairs of features for as long as a call lasts. */
import type * as tf from '@tensorflow/tfjs';
import { Substitute } from '../../tfjs/training/substitute.js';

/** The products of each feature [batch, dim] with those before it, and with itself; null: what stock ops give. */
export type PairDotsBy = (features: readonly tf.Tensor2D[], withSelf: boolean) => tf.Tensor2D | null;

export const pairDots = new Substitute<PairDotsBy>('pair dots');
