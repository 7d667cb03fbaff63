/** Adagrad on TPU tables. */
import { brand } from '../../base/per_process.js';
import { readConfig, readFields } from '../config/fields.js';
import { COMMON, positive, type CommonArgs, type SlotArgs } from './common_arguments.js';
import { TPUEmbeddingOptimizer, type SlotSpec } from './tpu_optimizer.js';

export interface AdagradArgs extends CommonArgs, SlotArgs {
  /** Start value of `accumulators`; 0.1 by default. */
  initialAccumulatorValue?: number | undefined;
}

const FIELDS = [...COMMON, 'initialAccumulatorValue', 'slotVariableCreationFn'] as const;

/**
 * Adagrad: a += g^2; w -= learningRate g / sqrt(a). There is no epsilon. Slot: `accumulators`.
 *
 * `learningRate` is 0.001 by default.
 * Source: tf.tpu.experimental.embedding.Adagrad (TensorFlow 2.21).
 *
 * @throws TypeError for fields of another type; ValueError for numbers out of range, such as an
 * `initialAccumulatorValue` that is not above 0.
 *
 * @example
 * const optimizer = new emb.tpu.Adagrad({learningRate: 0.1, initialAccumulatorValue: 0.1});
 */
export class Adagrad extends TPUEmbeddingOptimizer {
  static {
    brand(this, 'tpu.Adagrad');
  }
  readonly initialAccumulatorValue: number;

  /** @param args - The hyperparameters; see `AdagradArgs`. */
  constructor(args?: AdagradArgs);
  constructor(...passed: [AdagradArgs?]) {
    const given = readFields<AdagradArgs>('new emb.tpu.Adagrad', FIELDS, passed);
    super(given, 0.001);
    this.initialAccumulatorValue = positive(given.initialAccumulatorValue ?? 0.1, 'initialAccumulatorValue');
  }

  /** @returns `'Adagrad'`. */
  getClassName(): string {
    return 'Adagrad';
  }

  get slots(): readonly SlotSpec[] {
    return [{ name: 'accumulators', initialValue: this.initialAccumulatorValue }];
  }

  protected ownConfig(): Record<string, unknown> {
    return { initialAccumulatorValue: this.initialAccumulatorValue };
  }

  /**
   * Makes one from a config with camelCase or snake_case keys.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new optimizer.
   */
  static fromConfig(config: object): Adagrad {
    return new Adagrad(readConfig<AdagradArgs>(config));
  }
}
