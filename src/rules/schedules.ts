/** Learning-rate schedules as the configs of Keras 3 describe them. */
import { camelKeys } from '../base/camel_case.js';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { isRecord, readOptions } from '../base/options.js';

/** A schedule as Keras serializes it; `class_name` stands for `className` where the config comes from Python. */
export interface ScheduleConfig {
  readonly className?: string;
  readonly class_name?: string;
  readonly config: object;
}

/** A schedule that was read: every field of its class is there. */
export interface Schedule {
  readonly className: ScheduleName;
  readonly config: Readonly<Fields>;
}

type Value = number | boolean | string | null | readonly number[];
type Fields = Record<string, Value>;

interface Kind {
  /** What a field must be, by name. */
  readonly fields: Readonly<Record<string, Rule>>;
  /** Values of fields that may be left out. */
  readonly defaults: Fields;
  check?(config: never): void;
  /** The rate after so many steps. */
  rate(config: never, step: number): number;
}

interface Rule {
  readonly expected: string;
  readonly type: (value: unknown) => boolean;
  readonly holds: (value: never) => boolean;
}

const isNumber = (value: unknown): boolean => typeof value === 'number';
const NUMBER: Rule = { expected: 'a finite number', type: isNumber, holds: Number.isFinite };
const RATE: Rule = { expected: 'a finite number >= 0', type: isNumber, holds: (x: number) => x >= 0 && x < Infinity };
const POSITIVE: Rule = { expected: 'a finite number > 0', type: isNumber, holds: (x: number) => x > 0 && x < Infinity };
const BOOLEAN: Rule = { expected: 'true or false', type: (value) => typeof value === 'boolean', holds: () => true };
const NUMBERS: Rule = {
  expected: 'a list of finite numbers',
  type: (value) => Array.isArray(value) && value.every(isNumber),
  holds: (list: number[]) => list.length > 0 && list.every(Number.isFinite),
};
const orNull = (rule: Rule): Rule => ({
  expected: `${rule.expected}, or null`,
  type: (value) => value === null || rule.type(value),
  holds: (value: never) => value === null || rule.holds(value),
});

interface Decay {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly decayRate: number;
  readonly staircase: boolean;
}

const DECAY = { initialLearningRate: RATE, decaySteps: POSITIVE, decayRate: NUMBER, staircase: BOOLEAN };

/** Steps in units of `decaySteps`, whole ones where the schedule is a staircase. */
function periods({ decaySteps, staircase }: Decay, step: number): number {
  return staircase ? Math.floor(step / decaySteps) : step / decaySteps;
}

interface Polynomial {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly endLearningRate: number;
  readonly power: number;
  readonly cycle: boolean;
}

interface Cosine {
  readonly initialLearningRate: number;
  readonly decaySteps: number;
  readonly alpha: number;
  readonly warmupTarget: number | null;
  readonly warmupSteps: number;
}

interface Piecewise {
  readonly boundaries: readonly number[];
  readonly values: readonly number[];
}

const KINDS = {
  ExponentialDecay: {
    fields: DECAY,
    defaults: { staircase: false },
    rate: (decay: Decay, step) => decay.initialLearningRate * decay.decayRate ** periods(decay, step),
  },
  InverseTimeDecay: {
    fields: DECAY,
    defaults: { staircase: false },
    rate: (decay: Decay, step) => decay.initialLearningRate / (1 + decay.decayRate * periods(decay, step)),
  },
  PolynomialDecay: {
    fields: {
      initialLearningRate: RATE,
      decaySteps: POSITIVE,
      endLearningRate: RATE,
      power: NUMBER,
      cycle: BOOLEAN,
    },
    defaults: { endLearningRate: 0.0001, power: 1, cycle: false },
    rate: ({ initialLearningRate, decaySteps, endLearningRate, power, cycle }: Polynomial, step) => {
      // With `cycle` the decay is stretched to the first multiple of its length that is not behind the step.
      const length = cycle ? decaySteps * Math.max(1, Math.ceil(step / decaySteps)) : decaySteps;
      const left = 1 - Math.min(step, length) / length;
      return (initialLearningRate - endLearningRate) * left ** power + endLearningRate;
    },
  },
  PiecewiseConstantDecay: {
    fields: { boundaries: NUMBERS, values: NUMBERS },
    defaults: {},
    check: ({ boundaries, values }: Piecewise) => {
      if (boundaries.some((boundary, i) => i > 0 && boundary <= boundaries[i - 1]!)) {
        throw new ValueError('learningRate.boundaries', 'steps in ascending order', boundaries);
      }
      const count = boundaries.length + 1;
      if (values.length === count) return;
      throw new ValueError('learningRate.values', `${count} values, one more than boundaries`, values);
    },
    rate: ({ boundaries, values }: Piecewise, step) => {
      // Keras compares whole steps with whole boundaries. Beyond the last one: -1, the last value.
      return values.at(boundaries.findIndex((boundary) => step <= Math.trunc(boundary)))!;
    },
  },
  CosineDecay: {
    fields: {
      initialLearningRate: RATE,
      decaySteps: POSITIVE,
      alpha: NUMBER,
      warmupTarget: /* @__PURE__ */ orNull(RATE),
      warmupSteps: RATE,
    },
    defaults: { alpha: 0, warmupTarget: null, warmupSteps: 0 },
    rate: ({ initialLearningRate, decaySteps, alpha, warmupTarget, warmupSteps }: Cosine, step) => {
      const warmUp = warmupTarget === null ? 0 : warmupSteps;
      const top = warmupTarget ?? initialLearningRate;
      if (step < warmUp) return (top - initialLearningRate) * (step / warmUp) + initialLearningRate;
      const done = Math.min(step - warmUp, decaySteps) / decaySteps;
      return top * ((1 - alpha) * 0.5 * (1 + Math.cos(Math.PI * done)) + alpha);
    },
  },
} satisfies Record<string, Kind>;

export type ScheduleName = keyof typeof KINDS;

const NAMES = /* @__PURE__ */ Object.keys(KINDS);

const schedulesText = (): string => `a Keras schedule ({className, config}: ${NAMES.join(', ')})`;
export const SCHEDULES = /* @__PURE__ */ schedulesText();

function kindOf(className: ScheduleName): Kind {
  return KINDS[className];
}

function readField(kind: Kind, field: string, value: unknown): Value {
  const { expected, type, holds } = kind.fields[field]!;
  const argument = `learningRate.${field}`;
  if (!type(value)) throw new ArgumentTypeError(argument, expected, value);
  if (!holds(value as never)) throw new ValueError(argument, expected, value);
  return (Array.isArray(value) ? [...(value as number[])] : value) as Value;
}

/** Reads a schedule; null where the value is no config of any class. Throws for classes that are not known. */
export function readSchedule(value: unknown): Schedule | null {
  if (!isRecord(value)) return null;
  const { className, config } = camelKeys(value) as { className?: unknown; config?: unknown };
  if (typeof className !== 'string') return null;
  if (!NAMES.includes(className)) {
    throw new ValueError('learningRate', `a number, a function of the step, or ${SCHEDULES}`, className);
  }
  if (!isRecord(config)) throw new ArgumentTypeError('learningRate.config', `the config of ${className}`, config);
  const kind = kindOf(className as ScheduleName);
  const fields = Object.keys(kind.fields);
  // tfjs adds `customObjects` to what it loads.
  const { customObjects: _, ...own } = camelKeys(config);
  const { name, ...given } = readOptions<Fields>(own, [...fields, 'name'], 'learningRate.config');
  const read: Fields = {};
  for (const field of fields) {
    const each = given[field];
    read[field] = readField(kind, field, each === undefined ? kind.defaults[field] : each);
  }
  kind.check?.(read as never);
  if (name !== undefined && name !== null) read['name'] = name;
  return { className: className as ScheduleName, config: read };
}

/** Keras computes rates in float32: large powers of a rounded base differ from those of the base. */
function rounded(value: Value): Value {
  if (typeof value === 'number') return Math.fround(value);
  return Array.isArray(value) ? value.map(Math.fround) : value;
}

/** The rate of a schedule after so many steps, a float32. */
export function scheduledRate({ className, config }: Schedule, step: number): number {
  const floats = Object.fromEntries(Object.entries(config).map(([field, value]) => [field, rounded(value)]));
  return Math.fround(kindOf(className).rate(floats as never, step));
}
