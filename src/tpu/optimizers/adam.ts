/** Adam on TPU tables. */
import { brand } from '../../base/per_process.js';
import { ValueError } from '../../base/errors.js';
import { readConfig, readFields, truth } from '../config/fields.js';
import { COMMON, belowOne, positive, type CommonArgs, type SlotArgs } from './common_arguments.js';
import { TPUEmbeddingOptimizer, type SlotSpec } from './tpu_optimizer.js';

export interface AdamArgs extends CommonArgs, SlotArgs {
  /** Decay of the first moment; 0.9 by default. */
  beta1?: number | undefined;
  /** Decay of the second moment; 0.999 by default. */
  beta2?: number | undefined;
  /** Keeps divisors from 0; 1e-7 by default. */
  epsilon?: number | undefined;
  /** true by default: rows without ids keep still; false: they are stepped too, with a gradient of zero. */
  lazyAdam?: boolean | undefined;
  /** true by default: the divisor is sqrt(v + epsilon^2); false: sqrt(v) + epsilon. */
  sumInsideSqrt?: boolean | undefined;
}

const FIELDS = [...COMMON, 'beta1', 'beta2', 'epsilon', 'lazyAdam', 'sumInsideSqrt', 'slotVariableCreationFn'] as const;

/**
 * Adam without bias correction: m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2; w -= learningRate m / d, d
 * being sqrt(v + epsilon^2) or sqrt(v) + epsilon. Slots: `momenta`, `velocities`, both from 0.
 *
 * `learningRate` is 0.001 by default. For bias correction give a function that returns
 * lr sqrt(1 - beta2^t) / (1 - beta1^t) at step t.
 * Source: tf.tpu.experimental.embedding.Adam (TensorFlow 2.21).
 *
 * @throws TypeError for fields of another type; ValueError for numbers out of range, and for `lazyAdam: false` without
 * gradient accumulation.
 *
 * @example
 * const optimizer = new emb.tpu.Adam({learningRate: 0.01, lazyAdam: false});
 */
export class Adam extends TPUEmbeddingOptimizer {
  static {
    brand(this, 'tpu.Adam');
  }
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly lazyAdam: boolean;
  readonly sumInsideSqrt: boolean;

  /** @param args - The hyperparameters; see `AdamArgs`. */
  constructor(args?: AdamArgs);
  constructor(...passed: [AdamArgs?]) {
    const given = readFields<AdamArgs>('new emb.tpu.Adam', FIELDS, passed);
    super(given, 0.001);
    this.beta1 = belowOne(given.beta1 ?? 0.9, 'beta1');
    this.beta2 = belowOne(given.beta2 ?? 0.999, 'beta2');
    this.epsilon = positive(given.epsilon ?? 1e-7, 'epsilon');
    this.lazyAdam = truth(given.lazyAdam, 'lazyAdam', true);
    this.sumInsideSqrt = truth(given.sumInsideSqrt, 'sumInsideSqrt', true);
    if (!this.lazyAdam && !this.useGradientAccumulation) {
      throw new ValueError('lazyAdam', 'true where useGradientAccumulation is false', false);
    }
  }

  /** @returns `'Adam'`. */
  getClassName(): string {
    return 'Adam';
  }

  get slots(): readonly SlotSpec[] {
    return ['momenta', 'velocities'].map((name) => ({ name, initialValue: 0 }));
  }

  protected ownConfig(): Record<string, unknown> {
    const { beta1, beta2, epsilon, lazyAdam, sumInsideSqrt } = this;
    return { beta1, beta2, epsilon, lazyAdam, sumInsideSqrt };
  }

  /**
   * Makes one from a config with camelCase or snake_case keys.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new optimizer.
   */
  static fromConfig(config: object): Adam {
    return new Adam(readConfig<AdamArgs>(config));
  }
}
