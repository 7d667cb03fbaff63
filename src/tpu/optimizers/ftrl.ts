/** FTRL on TPU tables. */
import { brand } from '../../base/per_process.js';
import { ValueError } from '../../base/errors.js';
import { readConfig, readFields, truth } from '../config/fields.js';
import { COMMON, finite, notNegative, positive, type CommonArgs, type SlotArgs } from './common_arguments.js';
import { TPUEmbeddingOptimizer, type SlotSpec } from './tpu_optimizer.js';

export interface FTRLArgs extends CommonArgs, SlotArgs {
  /** The power of the accumulator by which rates fall, never above 0; -0.5 by default. */
  learningRatePower?: number | undefined;
  /** Strength of the L1 penalty; 0 by default. */
  l1RegularizationStrength?: number | undefined;
  /** Strength of the L2 penalty; 0 by default. */
  l2RegularizationStrength?: number | undefined;
  /** Is added to the root of the accumulator; 0 by default. */
  beta?: number | undefined;
  /** Start value of `accumulators`; 0.1 by default. */
  initialAccumulatorValue?: number | undefined;
  /** true: linears are kept multiplied by the learning rate, which is safe for rates near 0. */
  multiplyLinearByLearningRate?: boolean | undefined;
  /** Kept for compatibility: `initialAccumulatorValue` must be above 0 in any case. */
  allowZeroAccumulator?: boolean | undefined;
}

const FIELDS = [
  ...COMMON,
  'learningRatePower',
  'l1RegularizationStrength',
  'l2RegularizationStrength',
  'beta',
  'initialAccumulatorValue',
  'multiplyLinearByLearningRate',
  'allowZeroAccumulator',
  'slotVariableCreationFn',
] as const;

/**
 * Follow the regularized leader. Slots: `accumulators`, `linears`.
 *
 * `learningRate` is 0.001 by default. A weight is computed anew from its `linears`, which begin with 0: the first step of a
 * row loses most of its initial value, as upstream.
 * Source: tf.tpu.experimental.embedding.FTRL (TensorFlow 2.21).
 *
 * @throws TypeError for fields of another type; ValueError for numbers out of range, such as an
 * `initialAccumulatorValue` that is not above 0.
 *
 * @example
 * const optimizer = new emb.tpu.FTRL({learningRate: 0.1, l1RegularizationStrength: 0.01});
 */
export class FTRL extends TPUEmbeddingOptimizer {
  static {
    brand(this, 'tpu.FTRL');
  }
  readonly learningRatePower: number;
  readonly l1RegularizationStrength: number;
  readonly l2RegularizationStrength: number;
  readonly beta: number;
  readonly initialAccumulatorValue: number;
  readonly multiplyLinearByLearningRate: boolean;
  readonly allowZeroAccumulator: boolean;

  /** @param args - The hyperparameters; see `FTRLArgs`. */
  constructor(args?: FTRLArgs);
  constructor(...passed: [FTRLArgs?]) {
    const given = readFields<FTRLArgs>('new emb.tpu.FTRL', FIELDS, passed);
    super(given, 0.001);
    this.learningRatePower = finite(given.learningRatePower ?? -0.5, 'learningRatePower');
    if (this.learningRatePower > 0) throw new ValueError('learningRatePower', 'a number <= 0', this.learningRatePower);
    this.l1RegularizationStrength = notNegative(given.l1RegularizationStrength ?? 0, 'l1RegularizationStrength');
    this.l2RegularizationStrength = notNegative(given.l2RegularizationStrength ?? 0, 'l2RegularizationStrength');
    this.beta = notNegative(given.beta ?? 0, 'beta');
    this.initialAccumulatorValue = positive(given.initialAccumulatorValue ?? 0.1, 'initialAccumulatorValue');
    this.multiplyLinearByLearningRate = truth(
      given.multiplyLinearByLearningRate,
      'multiplyLinearByLearningRate',
      false,
    );
    this.allowZeroAccumulator = truth(given.allowZeroAccumulator, 'allowZeroAccumulator', false);
  }

  /** @returns `'FTRL'`. */
  getClassName(): string {
    return 'FTRL';
  }

  get slots(): readonly SlotSpec[] {
    return [
      { name: 'accumulators', initialValue: this.initialAccumulatorValue },
      { name: 'linears', initialValue: 0 },
    ];
  }

  protected ownConfig(): Record<string, unknown> {
    const { learningRatePower, l1RegularizationStrength, l2RegularizationStrength, beta } = this;
    const { initialAccumulatorValue, multiplyLinearByLearningRate, allowZeroAccumulator } = this;
    return {
      learningRatePower,
      l1RegularizationStrength,
      l2RegularizationStrength,
      beta,
      initialAccumulatorValue,
      multiplyLinearByLearningRate,
      allowZeroAccumulator,
    };
  }

  /**
   * Makes one from a config with camelCase or snake_case keys.
   *
   * @param config - The fields, in camelCase or in snake_case.
   * @returns A new optimizer.
   */
  static fromConfig(config: object): FTRL {
    return new FTRL(readConfig<FTRLArgs>(config));
  }
}
