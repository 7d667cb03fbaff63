/** Stochastic gradient descent on TPU tables. */
import { brand } from '../../base/per_process.js';
import { readConfig, readFields } from '../config/fields.js';
import { COMMON, type CommonArgs } from './common_arguments.js';
import { TPUEmbeddingOptimizer, type SlotSpec } from './tpu_optimizer.js';

export type SGDArgs = CommonArgs;

/**
 * Stochastic gradient descent: w -= learningRate g, g being the sum of a row's gradients over the step.
 *
 * `learningRate` (0.01 by default) may be a function, which is asked at every step. Two of them are equal where all
 * their fields are.
 * Source: tf.tpu.experimental.embedding.SGD (TensorFlow 2.21).
 *
 * @throws TypeError for fields of another type; ValueError for numbers out of range, and for `clipvalue` without
 * gradient accumulation.
 *
 * @example
 * const optimizer = new emb.tpu.SGD({learningRate: 0.1, clipvalue: 1});
 */
export class SGD extends TPUEmbeddingOptimizer {
  static {
    brand(this, 'tpu.SGD');
  }

  /** @param args - The hyperparameters; see `SGDArgs`. */
  constructor(args?: SGDArgs);
  constructor(...passed: [SGDArgs?]) {
    super(readFields<SGDArgs>('new emb.tpu.SGD', COMMON, passed), 0.01);
  }

  /** @returns `'SGD'`. */
  getClassName(): string {
    return 'SGD';
  }

  get slots(): readonly SlotSpec[] {
    return [];
  }

  protected ownConfig(): Record<string, unknown> {
    return {};
  }

  /**
   * Makes one from a config with camelCase or snake_case keys.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new optimizer.
   */
  static fromConfig(config: object): SGD {
    return new SGD(readConfig<SGDArgs>(config));
  }
}
