/** Hyper-parameters of the row-sparse optimizers: defaults, checks, and the numbers that kernels take. */
import { NEUTRAL_HYPER, type Hyper, type HyperField } from './hyper.js';
import {
  COMMON_FIELDS,
  DEFAULTS,
  LIMITS,
  NOT_NEGATIVE,
  type Limit,
  type RuleConfig,
  type RuleField,
  type RuleSettings,
} from './fields.js';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { SCHEDULES, readSchedule, scheduledRate, type Schedule, type ScheduleConfig } from './schedules.js';
import { RULES, ofEachRule, type OptimizerName, type Rules } from './rules.js';

import { perProcess } from '../base/per_process.js';

export type RateFunction = (step: number) => unknown;
/** Runs `call`, a call of `by`, or gives what takes its place. */
export type AskRate = (by: RateFunction, call: () => unknown) => unknown;

const state = (): { ask: AskRate | null } => perProcess('calls of learning rates', () => ({ ask: null }));

/** Runs `f`, while each learning rate that a function gives is asked for by way of `ask`. */
export function withRateCalls<T>(ask: AskRate, f: () => T): T {
  const active = state();
  const outer = active.ask;
  active.ask = ask;
  try {
    return f();
  } finally {
    active.ask = outer;
  }
}

/** What a function gives for a step, unchecked. */
function askRate(by: RateFunction, step: number): unknown {
  const { ask } = state();
  return ask === null ? by(step) : ask(by, () => by(step));
}

/** A constant, a function of the number of steps taken so far (0 at the first step), or a schedule of Keras. */
export type LearningRate = number | ((step: number) => number) | ScheduleConfig;

/** Every hyper-parameter; which optimizer reads which is told by its rule. All optional; null is off. */
export interface SparseOptimizerConfig extends RuleConfig {
  /** A number, a function of the step, or a schedule of Keras. Default: 0.01 or 0.001, as the optimizer has it. */
  learningRate?: LearningRate | undefined;
}

/** The same with every field set; null: off. */
export interface Settings extends RuleSettings {
  learningRate: number | ((step: number) => number) | Schedule;
}

type Field = keyof Settings;

/** The hyper-parameters of one optimizer. */
export type ConfigOf<N extends OptimizerName> = Pick<
  SparseOptimizerConfig,
  'learningRate' | (typeof COMMON_FIELDS)[number] | Rules[N]['fields'][number]
>;

/** The fields of an optimizer, the common ones first. */
export function fieldsOf(name: OptimizerName): readonly Field[] {
  return FIELDS[name];
}

const FIELDS = ofEachRule((_, { fields }): readonly Field[] => ['learningRate', ...COMMON_FIELDS, ...fields]);

/** Whether a rule holds for a number and for the float32 that kernels take: 1e-60 is 0 there, 1e39 infinite. */
function isWithin(limit: Limit, value: number): boolean {
  return limit.holds(value) && limit.holds(Math.fround(value));
}

export function checkLearningRate(learningRate: unknown): Settings['learningRate'] {
  const expected = `a finite number >= 0, a function of the step, or ${SCHEDULES}`;
  if (typeof learningRate === 'function') return learningRate as (step: number) => number;
  const schedule = readSchedule(learningRate);
  if (schedule !== null) return schedule;
  if (typeof learningRate !== 'number') throw new ArgumentTypeError('learningRate', expected, learningRate);
  if (!isWithin(NOT_NEGATIVE, learningRate)) throw new ValueError('learningRate', expected, learningRate);
  return learningRate;
}

function checkNumber(name: OptimizerName, field: RuleField, value: unknown): number {
  const limit = RULES[name].limits?.[field] ?? LIMITS[field]!;
  if (typeof value !== 'number') throw new ArgumentTypeError(field, limit.expected, value);
  if (!isWithin(limit, value)) throw new ValueError(field, `${limit.expected}, in float32 too`, value);
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

/** null is the default of fields that are off by default, and of epsilon. */
function isNullable(name: OptimizerName, field: Field): boolean {
  if (field === 'epsilon') return true;
  return field !== 'learningRate' && DEFAULTS[field] === null && (RULES[name].defaults?.[field] ?? null) === null;
}

/** All settings of an optimizer from what the user gave: unknown fields of other optimizers are ignored. */
export function readSettings(name: OptimizerName, config: SparseOptimizerConfig): Settings {
  const { defaults, learningRate = 0.01 } = RULES[name];
  const settings: Settings = { ...DEFAULTS, learningRate, ...defaults };
  for (const field of fieldsOf(name)) {
    const value = config[field];
    if (value === undefined || (value === null && isNullable(name, field))) continue;
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
  if (typeof DEFAULTS[field] !== 'boolean') return checkNumber(name, field, value);
  if (typeof value !== 'boolean') throw new ArgumentTypeError(field, 'true or false', value);
  return value;
}

/** The learning rate in force after `steps` steps. */
export function learningRateAt(learningRate: Settings['learningRate'], steps: number): number {
  if (typeof learningRate === 'number') return learningRate;
  const value = typeof learningRate === 'function' ? askRate(learningRate, steps) : scheduledRate(learningRate, steps);
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
  byRow = false,
): Hyper {
  const { weightDecay, multiplyWeightDecayByLearningRate } = settings;
  const decay = (weightDecay ?? 0) * (multiplyWeightDecayByLearningRate ? rate : 1);
  const hyper: Hyper = { ...NEUTRAL_HYPER };
  for (const field of RULES[name].fields) {
    if (field in hyper) hyper[field as HyperField] = Number(settings[field]);
  }
  return {
    ...hyper,
    learningRate: rate,
    clipGradientMin: settings.clipValue?.[0] ?? -Infinity,
    clipGradientMax: settings.clipValue?.[1] ?? Infinity,
    clipNorm: settings.clipNorm ?? 0,
    clipWeightMin: settings.clipWeightMin ?? -Infinity,
    clipWeightMax: settings.clipWeightMax ?? Infinity,
    weightDecay: decay,
    idleDecay: RULES[name].decaysIdleRows === true ? decay : 0,
    ...RULES[name].hyper?.(settings, byRow ? null : step),
    ...constraintHyper(constraint),
  };
}

/** The numbers with which a rule steps dense variables: what is said of tables alone is off. */
export function denseHyper(name: OptimizerName, settings: Settings, step: number, rate: number): Hyper {
  const { clipNorm, clipValue, clipWeightMin, clipWeightMax } = DEFAULTS;
  return hyperOf(name, { ...settings, clipNorm, clipValue, clipWeightMin, clipWeightMax }, step, null, rate);
}

function constraintHyper(constraint: RowConstraint | null): Partial<Hyper> {
  if (constraint === null) return {};
  if (constraint.kind === 'nonNeg') return { constraint: 1 };
  const { min, max, rate } = constraint;
  return { constraint: 2, constraintMin: min, constraintMax: max, constraintRate: rate };
}

/** A constraint that update kernels apply to touched rows. */
export interface RowConstraint {
  /** `axis`: a norm along another axis than 1, which rows alone cannot keep. */
  readonly kind: 'nonNeg' | 'rowNorm' | 'axis';
  readonly min: number;
  readonly max: number;
  readonly rate: number;
}
