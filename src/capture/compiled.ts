/** What `compile` left in a model. */
import type * as tf from '@tensorflow/tfjs';

export interface Compiled {
  readonly loss: unknown;
  readonly metrics?: unknown;
  readonly optimizer_?: tf.Optimizer;
  readonly lossFunctions: readonly unknown[];
  readonly metricsTensors: readonly unknown[];
  readonly collectedTrainableWeights: readonly tf.LayerVariable[];
}

export function compiledOf(model: tf.LayersModel): Compiled {
  return model as unknown as Compiled;
}

/** What a step does: it trains on a batch, takes the losses of one, or predicts one. */
export type Purpose = 'train' | 'evaluate' | 'predict';
