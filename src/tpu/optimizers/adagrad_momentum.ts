/** Adagrad with momentum on TPU tables. */
import { brand } from '../../base/per_process.js';
import { ValueError } from '../../base/errors.js';
import { readConfig, readFields, truth } from '../config/fields.js';
import { COMMON, finite, notNegative, positive, type CommonArgs, type SlotArgs } from './common_arguments.js';
import { TPUEmbeddingOptimizer, type SlotSpec } from './tpu_optimizer.js';

export interface AdagradMomentumArgs extends CommonArgs, SlotArgs {
  /** What is kept of the running step; 0 by default. */
  momentum?: number | undefined;
  /** true: steps along the momentum to come. */
  useNesterov?: boolean | undefined;
  /** Gradients are divided by accumulator^(1 / exponent); 2 by default. */
  exponent?: number | undefined;
  /** 1 by default: squares are added up; below 1 they decay. */
  beta2?: number | undefined;
  /** Keeps divisors from 0; 1e-10 by default. */
  epsilon?: number | undefined;
}

const FIELDS = [
  ...COMMON,
  'momentum',
  'useNesterov',
  'exponent',
  'beta2',
  'epsilon',
  'slotVariableCreationFn',
] as const;

/**
 * Adagrad with momentum: a = a + g^2, or beta2 a + (1 - beta2) g^2 where beta2 is not 1; s = g (a + epsilon)^(-1/exponent);
 * m = momentum m + s; w -= learningRate (useNesterov ? momentum m + s : m). Slots: `accumulators`, `momenta`, both from 0.
 *
 * `learningRate` is 0.001 by default.
 * Source: tf.tpu.experimental.embedding.AdagradMomentum (TensorFlow 2.21).
 *
 * @throws TypeError for fields of another type; ValueError for numbers out of range, such as an `epsilon` or an
 * `exponent` that is not above 0.
 *
 * @example
 * const optimizer = new emb.tpu.AdagradMomentum({learningRate: 0.1, momentum: 0.9, useNesterov: true});
 */
export class AdagradMomentum extends TPUEmbeddingOptimizer {
  static {
    brand(this, 'tpu.AdagradMomentum');
  }
  readonly momentum: number;
  readonly useNesterov: boolean;
  readonly exponent: number;
  readonly beta2: number;
  readonly epsilon: number;

  /** @param args - The hyperparameters; see `AdagradMomentumArgs`. */
  constructor(args?: AdagradMomentumArgs);
  constructor(...passed: [AdagradMomentumArgs?]) {
    const given = readFields<AdagradMomentumArgs>('new emb.tpu.AdagradMomentum', FIELDS, passed);
    super(given, 0.001);
    this.momentum = notNegative(given.momentum ?? 0, 'momentum');
    this.useNesterov = truth(given.useNesterov, 'useNesterov', false);
    this.exponent = positive(given.exponent ?? 2, 'exponent');
    this.beta2 = finite(given.beta2 ?? 1, 'beta2');
    if (this.beta2 < 0 || this.beta2 > 1) throw new ValueError('beta2', 'a number in [0, 1]', this.beta2);
    this.epsilon = positive(given.epsilon ?? 1e-10, 'epsilon');
  }

  /** @returns `'AdagradMomentum'`. */
  getClassName(): string {
    return 'AdagradMomentum';
  }

  get slots(): readonly SlotSpec[] {
    return ['accumulators', 'momenta'].map((name) => ({ name, initialValue: 0 }));
  }

  protected ownConfig(): Record<string, unknown> {
    const { momentum, useNesterov, exponent, beta2, epsilon } = this;
    return { momentum, useNesterov, exponent, beta2, epsilon };
  }

  /**
   * Makes one from a config with camelCase or snake_case keys.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new optimizer.
   */
  static fromConfig(config: object): AdagradMomentum {
    return new AdagradMomentum(readConfig<AdagradMomentumArgs>(config));
  }
}
