/** Hyper-parameters of the row-sparse optimizers: defaults, checks, and the numbers that kernels take. */
import { NEUTRAL_HYPER, type Hyper } from '../../backends/hyper.js';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { SCHEDULES, readSchedule, scheduledRate, type Schedule, type ScheduleConfig } from './schedules.js';
import type { OptimizerName } from '../../base/types.js';
import type { RowConstraint } from './row_constraint.js';

/** A constant, a function of the number of steps taken so far (0 at the first step), or a schedule of Keras. */
export type LearningRate = number | ((step: number) => number) | ScheduleConfig;

/** Every hyper-parameter; which optimizer reads which is in `READS`. All optional; null is off. */
export interface SparseOptimizerConfig {
  /** A number, a function of the step, or a schedule of Keras. Default: 0.01; adagradMomentum, adam and ftrl 0.001. */
  learningRate?: LearningRate | undefined;
  /** Start value of `accumulators` (adagrad, rowWiseAdagrad, adagradMomentum, ftrl). Default: 0.1; adagradMomentum 0. */
  initialAccumulatorValue?: number | undefined;
  /** Adagrad momentum: what is kept of the running step. Default: 0. */
  momentum?: number | undefined;
  /** Adagrad momentum: steps along the momentum to come. Default: false. */
  useNesterov?: boolean | undefined;
  /** Adagrad momentum: gradients are divided by accumulator^(1 / exponent). Default: 2. */
  exponent?: number | undefined;
  /** Adam: decay of the first moment. Default: 0.9. */
  beta1?: number | undefined;
  /** Decay of the second moment. Default: adam 0.999; adagradMomentum 1, which sums squares as Adagrad does. */
  beta2?: number | undefined;
  /** Keeps divisors from 0. Default, as null: 1e-7; adagradMomentum 1e-10. */
  epsilon?: number | null | undefined;
  /** Adam: divides the moments by 1 - beta^step, as the stock optimizer does. Default: true. */
  biasCorrection?: boolean | undefined;
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
  /** Touched rows lose this fraction of themselves before each step. Default: null. */
  weightDecay?: number | null | undefined;
  /** Multiplies `weightDecay` by the learning rate (decoupled decay as in AdamW). Default: false. */
  multiplyWeightDecayByLearningRate?: boolean | undefined;
}

/** The same with every field set; null: off. */
export interface Settings {
  learningRate: number | ((step: number) => number) | Schedule;
  initialAccumulatorValue: number;
  momentum: number;
  useNesterov: boolean;
  exponent: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  biasCorrection: boolean;
  sumInsideSqrt: boolean;
  lazy: boolean;
  learningRatePower: number;
  l1: number;
  l2: number;
  beta: number;
  multiplyLinearByLearningRate: boolean;
  clipValue: readonly [number | null, number | null] | null;
  clipNorm: number | null;
  globalClipNorm: number | null;
  clipWeightMin: number | null;
  clipWeightMax: number | null;
  weightDecay: number | null;
  multiplyWeightDecayByLearningRate: boolean;
}

type Field = keyof Settings;

const COMMON = [
  'learningRate',
  'clipValue',
  'clipNorm',
  'globalClipNorm',
  'clipWeightMin',
  'clipWeightMax',
  'weightDecay',
  'multiplyWeightDecayByLearningRate',
] as const satisfies readonly Field[];

/** Fields that an optimizer reads beside the common ones. */
const READS = {
  sgd: [],
  adagrad: ['initialAccumulatorValue', 'epsilon'],
  rowWiseAdagrad: ['initialAccumulatorValue', 'epsilon'],
  adagradMomentum: ['initialAccumulatorValue', 'momentum', 'useNesterov', 'exponent', 'beta2', 'epsilon', 'lazy'],
  adam: ['beta1', 'beta2', 'epsilon', 'biasCorrection', 'sumInsideSqrt', 'lazy'],
  ftrl: ['initialAccumulatorValue', 'learningRatePower', 'l1', 'l2', 'beta', 'multiplyLinearByLearningRate'],
} as const satisfies Record<OptimizerName, readonly Field[]>;

/** The hyper-parameters of one optimizer. */
export type ConfigOf<N extends OptimizerName> = Pick<
  SparseOptimizerConfig,
  (typeof COMMON)[number] | (typeof READS)[N][number]
>;

export function fieldsOf(name: OptimizerName): readonly Field[] {
  return FIELDS[name];
}

const FIELDS: Readonly<Record<OptimizerName, readonly Field[]>> = {
  sgd: COMMON,
  adagrad: [...COMMON, ...READS.adagrad],
  rowWiseAdagrad: [...COMMON, ...READS.rowWiseAdagrad],
  adagradMomentum: [...COMMON, ...READS.adagradMomentum],
  adam: [...COMMON, ...READS.adam],
  ftrl: [...COMMON, ...READS.ftrl],
};

const SHARED: Settings = {
  learningRate: 0.01,
  initialAccumulatorValue: 0.1,
  momentum: 0,
  useNesterov: false,
  exponent: 2,
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-7,
  biasCorrection: true,
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

/** Where an optimizer's defaults differ from the shared ones. */
const OWN: Readonly<Record<OptimizerName, Partial<Settings>>> = {
  sgd: {},
  adagrad: {},
  rowWiseAdagrad: {},
  adagradMomentum: { learningRate: 0.001, initialAccumulatorValue: 0, beta2: 1, epsilon: 1e-10 },
  adam: { learningRate: 0.001 },
  ftrl: { learningRate: 0.001 },
};

interface Rule {
  readonly expected: string;
  readonly holds: (value: number) => boolean;
}

/** Whether a rule holds for a number and for the float32 that kernels take: 1e-60 is 0 there, 1e39 infinite. */
function isWithin(rule: Rule, value: number): boolean {
  return rule.holds(value) && rule.holds(Math.fround(value));
}

const POSITIVE: Rule = { expected: 'a finite number > 0', holds: (value) => value > 0 && value < Infinity };
const NOT_NEGATIVE: Rule = { expected: 'a finite number >= 0', holds: (value) => value >= 0 && value < Infinity };
const FINITE: Rule = { expected: 'a finite number', holds: Number.isFinite };
const BELOW_ONE: Rule = { expected: 'a number in [0, 1)', holds: (value) => value >= 0 && value < 1 };
const UP_TO_ONE: Rule = { expected: 'a number in [0, 1]', holds: (value) => value >= 0 && value <= 1 };
const NOT_POSITIVE: Rule = { expected: 'a finite number <= 0', holds: (value) => value <= 0 && value > -Infinity };

const RULES: Readonly<Partial<Record<Field, Rule>>> = {
  initialAccumulatorValue: NOT_NEGATIVE,
  momentum: NOT_NEGATIVE,
  exponent: POSITIVE,
  beta1: BELOW_ONE,
  beta2: BELOW_ONE,
  epsilon: NOT_NEGATIVE,
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

/** Rules that are stricter for one optimizer (the TPU optimizers' own: a zero would divide by zero). */
const OWN_RULES: Readonly<Partial<Record<OptimizerName, Partial<Record<Field, Rule>>>>> = {
  adagrad: { initialAccumulatorValue: POSITIVE },
  rowWiseAdagrad: { initialAccumulatorValue: POSITIVE },
  adagradMomentum: { beta2: UP_TO_ONE, epsilon: POSITIVE },
  adam: { epsilon: POSITIVE },
  ftrl: { initialAccumulatorValue: POSITIVE },
};

const BOOLEANS = new Set<Field>([
  'useNesterov',
  'biasCorrection',
  'sumInsideSqrt',
  'lazy',
  'multiplyLinearByLearningRate',
  'multiplyWeightDecayByLearningRate',
]);
const NULLABLE = new Set<Field>([
  'clipValue',
  'clipNorm',
  'globalClipNorm',
  'clipWeightMin',
  'clipWeightMax',
  'weightDecay',
]);

export function checkLearningRate(learningRate: unknown): Settings['learningRate'] {
  const expected = `a finite number >= 0, a function of the step, or ${SCHEDULES}`;
  if (typeof learningRate === 'function') return learningRate as (step: number) => number;
  const schedule = readSchedule(learningRate);
  if (schedule !== null) return schedule;
  if (typeof learningRate !== 'number') throw new ArgumentTypeError('learningRate', expected, learningRate);
  if (!isWithin(NOT_NEGATIVE, learningRate)) throw new ValueError('learningRate', expected, learningRate);
  return learningRate;
}

function checkNumber(name: OptimizerName, field: Field, value: unknown): number {
  const rule = OWN_RULES[name]?.[field] ?? RULES[field]!;
  if (typeof value !== 'number') throw new ArgumentTypeError(field, rule.expected, value);
  if (!isWithin(rule, value)) throw new ValueError(field, `${rule.expected}, in float32 too`, value);
  return value;
}

function checkClipValue(value: unknown): readonly [number | null, number | null] {
  const expected = 'a number >= 0, or [min, max] where either may be null';
  if (typeof value === 'number') {
    if (!(value >= 0)) throw new ValueError('clipValue', expected, value);
    return [-value, value];
  }
  const isList = Array.isArray(value);
  if (!isList) throw new ArgumentTypeError('clipValue', expected, value);
  return checkBounds(value as unknown[], expected);
}

function checkBounds(value: readonly unknown[], expected: string): readonly [number | null, number | null] {
  if (value.length !== 2) throw new ValueError('clipValue', expected, value);
  for (const bound of value) {
    if (bound !== null && typeof bound !== 'number') throw new ArgumentTypeError('clipValue', expected, value);
    if (Number.isNaN(bound)) throw new ValueError('clipValue', expected, value);
  }
  const [min, max] = value as readonly [number | null, number | null];
  if ((min ?? -Infinity) > (max ?? Infinity)) throw new ValueError('clipValue', expected, value);
  return [min, max];
}

/** All settings of an optimizer from what the user gave: unknown fields of other optimizers are ignored. */
export function readSettings(name: OptimizerName, config: SparseOptimizerConfig): Settings {
  const settings: Settings = { ...SHARED, ...OWN[name] };
  for (const field of fieldsOf(name)) {
    const value = config[field];
    if (value === undefined || (value === null && (NULLABLE.has(field) || field === 'epsilon'))) continue;
    (settings as unknown as Record<Field, unknown>)[field] = readField(name, field, value);
  }
  const { clipWeightMin, clipWeightMax } = settings;
  if ((clipWeightMin ?? -Infinity) > (clipWeightMax ?? Infinity)) {
    throw new ValueError('clipWeightMin', `a number <= clipWeightMax (${clipWeightMax})`, clipWeightMin);
  }
  return settings;
}

function readField(name: OptimizerName, field: Field, value: unknown): unknown {
  if (field === 'learningRate') return checkLearningRate(value);
  if (field === 'clipValue') return checkClipValue(value);
  if (!BOOLEANS.has(field)) return checkNumber(name, field, value);
  if (typeof value !== 'boolean') throw new ArgumentTypeError(field, 'true or false', value);
  return value;
}

/** The learning rate in force after `steps` steps. */
export function learningRateAt(learningRate: Settings['learningRate'], steps: number): number {
  if (typeof learningRate === 'number') return learningRate;
  const value = typeof learningRate === 'function' ? learningRate(steps) : scheduledRate(learningRate, steps);
  const expected = 'a function or schedule that gives a finite number >= 0';
  if (typeof value !== 'number') throw new ArgumentTypeError('learningRate', expected, value);
  if (!isWithin(NOT_NEGATIVE, value)) throw new ValueError('learningRate', expected, value);
  return value;
}

/** The numbers of step `step` (from 1) as kernels take them. */
export function hyperOf(
  name: OptimizerName,
  settings: Settings,
  step: number,
  constraint: RowConstraint | null,
  rate = learningRateAt(settings.learningRate, step - 1),
): Hyper {
  const isCorrected = name === 'adam' && settings.biasCorrection;
  const decay = settings.weightDecay ?? 0;
  return {
    ...NEUTRAL_HYPER,
    learningRate: rate,
    epsilon: settings.epsilon,
    momentum: settings.momentum,
    useNesterov: Number(settings.useNesterov),
    exponent: settings.exponent,
    beta1: settings.beta1,
    beta2: settings.beta2,
    correction1: isCorrected ? 1 - settings.beta1 ** step : 1,
    correction2: isCorrected ? 1 - settings.beta2 ** step : 1,
    sumInsideSqrt: Number(settings.sumInsideSqrt),
    lazy: Number(settings.lazy),
    learningRatePower: settings.learningRatePower,
    l1: settings.l1,
    l2: settings.l2,
    beta: settings.beta,
    multiplyLinearByLearningRate: Number(settings.multiplyLinearByLearningRate),
    clipGradientMin: settings.clipValue?.[0] ?? -Infinity,
    clipGradientMax: settings.clipValue?.[1] ?? Infinity,
    clipNorm: settings.clipNorm ?? 0,
    clipWeightMin: settings.clipWeightMin ?? -Infinity,
    clipWeightMax: settings.clipWeightMax ?? Infinity,
    weightDecay: settings.multiplyWeightDecayByLearningRate ? decay * rate : decay,
    ...constraintHyper(constraint),
  };
}

function constraintHyper(constraint: RowConstraint | null): Partial<Hyper> {
  if (constraint === null) return {};
  if (constraint.kind === 'nonNeg') return { constraint: 1 };
  const { min, max, rate } = constraint;
  return { constraint: 2, constraintMin: min, constraintMax: max, constraintRate: rate };
}
