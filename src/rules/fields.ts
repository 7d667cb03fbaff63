/** The hyper-parameters of update rules: what they mean, their defaults, and which numbers they may be. */

/** Every hyper-parameter of `emb.train` beside the learning rate. All optional; null is off. */
export interface RuleConfig {
  /** Start value of `accumulators` (adagrad, rowWiseAdagrad, adagradMomentum, ftrl). Default: 0.1; adagradMomentum 0. */
  initialAccumulatorValue?: number | undefined;
  /** What is kept of the running step. Default: 0. */
  momentum?: number | undefined;
  /** Adagrad momentum: steps along the momentum to come. Default: false. */
  useNesterov?: boolean | undefined;
  /** SGD: steps along the momentum to come. Default: false. */
  nesterov?: boolean | undefined;
  /** Adagrad momentum: gradients are divided by accumulator^(1 / exponent). Default: 2. */
  exponent?: number | undefined;
  /** Adam: decay of the first moment. Default: 0.9. */
  beta1?: number | undefined;
  /** Decay of the second moment. Default: adam 0.999; adagradMomentum 1, which sums squares as Adagrad does. */
  beta2?: number | undefined;
  /** Keeps divisors from 0. Default, as null: 1e-7; adagradMomentum 1e-10. */
  epsilon?: number | null | undefined;
  /** RMSprop: decay of the running means of gradients and of their squares. Default: 0.9. */
  rho?: number | undefined;
  /** RMSprop: divides by the root of the variance in place of the mean square. Default: false. */
  centered?: boolean | undefined;
  /** Adam: divides the moments by 1 - beta^step, as the stock optimizer does. Default: true. */
  biasCorrection?: boolean | undefined;
  /** Adam: divides by the largest second moment so far, with the epsilon of Keras. Default: false. */
  amsgrad?: boolean | undefined;
  /** Adam: sqrt(v + epsilon^2) instead of sqrt(v) + epsilon. Default: false. */
  sumInsideSqrt?: boolean | undefined;
  /** false: rows without ids are stepped too, as a dense optimizer does; costs grow with the table. Default: true. */
  lazy?: boolean | undefined;
  /** FTRL: the power of the accumulator by which rates fall, at most 0. Default: -0.5. */
  learningRatePower?: number | undefined;
  /** FTRL: strength of the L1 penalty. Default: 0. */
  l1?: number | undefined;
  /** FTRL: strength of the L2 penalty. Default: 0. */
  l2?: number | undefined;
  /** FTRL: is added to the root of the accumulator. Default: 0. */
  beta?: number | undefined;
  /** FTRL: keeps `linears` in units of gradients times rate, as TPUs do. Default: false. */
  multiplyLinearByLearningRate?: boolean | undefined;
  /** Each element of a row's summed gradient is clipped to [-c, c], or to [min, max]. Default: null. */
  clipValue?: number | readonly [number | null, number | null] | null | undefined;
  /** The table's whole gradient is scaled to at most this L2 norm. Default: null. */
  clipNorm?: number | null | undefined;
  /**
   * All gradients of a step, of tables and dense variables, are scaled together to at most this L2 norm, before any
   * other clipping. That of a table's own optimizer concerns the tables that it steps. Default: null.
   */
  globalClipNorm?: number | null | undefined;
  /** Least value of an element after the step. Default: null. */
  clipWeightMin?: number | null | undefined;
  /** Largest value of an element after the step. Default: null. */
  clipWeightMax?: number | null | undefined;
  /** Touched rows lose this fraction of themselves before each step. Default: null, but for optimizers named for it. */
  weightDecay?: number | null | undefined;
  /** Multiplies `weightDecay` by the learning rate (decoupled decay as in AdamW). Default: as `weightDecay`. */
  multiplyWeightDecayByLearningRate?: boolean | undefined;
}

export type RuleField = keyof RuleConfig;

/** The same with every field set; null: off. */
export type RuleSettings = {
  [F in RuleField]: F extends 'clipValue'
    ? readonly [number | null, number | null] | null
    : F extends NullableField
      ? number | null
      : NonNullable<RuleConfig[F]>;
};
type NullableField = 'clipNorm' | 'globalClipNorm' | 'clipWeightMin' | 'clipWeightMax' | 'weightDecay';

/** Which numbers a field may be. */
export interface Limit {
  readonly expected: string;
  readonly holds: (value: number) => boolean;
}

export const POSITIVE: Limit = { expected: 'a finite number > 0', holds: (value) => value > 0 && value < Infinity };
export const NOT_NEGATIVE: Limit = {
  expected: 'a finite number >= 0',
  holds: (value) => value >= 0 && value < Infinity,
};
export const UP_TO_ONE: Limit = { expected: 'a number in [0, 1]', holds: (value) => value >= 0 && value <= 1 };
const FINITE: Limit = { expected: 'a finite number', holds: Number.isFinite };
const BELOW_ONE: Limit = { expected: 'a number in [0, 1)', holds: (value) => value >= 0 && value < 1 };
const NOT_POSITIVE: Limit = { expected: 'a finite number <= 0', holds: (value) => value <= 0 && value > -Infinity };

/** Defaults; a rule may have others. null: off, and may be given as null. */
export const DEFAULTS: Readonly<RuleSettings> = {
  initialAccumulatorValue: 0.1,
  momentum: 0,
  useNesterov: false,
  nesterov: false,
  exponent: 2,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-7,
  rho: 0.9,
  centered: false,
  biasCorrection: true,
  amsgrad: false,
  sumInsideSqrt: false,
  lazy: true,
  learningRatePower: -0.5,
  l1: 0,
  l2: 0,
  beta: 0,
  multiplyLinearByLearningRate: false,
  clipValue: null,
  clipNorm: null,
  globalClipNorm: null,
  clipWeightMin: null,
  clipWeightMax: null,
  weightDecay: null,
  multiplyWeightDecayByLearningRate: false,
};

/** Limits of the numbers; a rule may have stricter ones. */
export const LIMITS: Readonly<Partial<Record<RuleField, Limit>>> = {
  initialAccumulatorValue: NOT_NEGATIVE,
  momentum: NOT_NEGATIVE,
  exponent: POSITIVE,
  beta1: BELOW_ONE,
  beta2: BELOW_ONE,
  epsilon: NOT_NEGATIVE,
  rho: BELOW_ONE,
  learningRatePower: NOT_POSITIVE,
  l1: NOT_NEGATIVE,
  l2: NOT_NEGATIVE,
  beta: NOT_NEGATIVE,
  clipNorm: POSITIVE,
  globalClipNorm: POSITIVE,
  clipWeightMin: FINITE,
  clipWeightMax: FINITE,
  weightDecay: NOT_NEGATIVE,
};

/** Fields that every rule reads. */
export const COMMON_FIELDS = [
  'clipValue',
  'clipNorm',
  'globalClipNorm',
  'clipWeightMin',
  'clipWeightMax',
  'weightDecay',
  'multiplyWeightDecayByLearningRate',
] as const satisfies readonly RuleField[];
