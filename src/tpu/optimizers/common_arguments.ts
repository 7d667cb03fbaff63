/** Arguments that all TPU optimizers take, read and checked. */
import type * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { truth } from '../config/fields.js';
import type { Initializer } from '../../tables/initializers.js';

/** A constant, or a function without arguments that is asked at every step: a dynamic learning rate. */
export type LearningRate = number | (() => number);

/** null: no limit on that side. */
export type Limits = readonly [min: number | null, max: number | null];

/**
 * Makes the slots of a table.
 *
 * @param table - The table.
 * @param slotNames - The names of its slots.
 * @param slotInitializers - What each of them begins with.
 * @returns A variable, of the shape of the table, for each name.
 */
export type SlotVariableCreationFn = (
  table: tf.Variable,
  slotNames: readonly string[],
  slotInitializers: readonly Initializer[],
) => Readonly<Record<string, tf.Variable>>;

export interface CommonArgs {
  /** A number, or a function that is asked at every step. */
  learningRate?: LearningRate | undefined;
  /** false: every occurrence of an id is a step of its own, in the order of the batch. */
  useGradientAccumulation?: boolean | undefined;
  /** Least value of an element after the step. */
  clipWeightMin?: number | null | undefined;
  /** Largest value of an element after the step. */
  clipWeightMax?: number | null | undefined;
  /** Touched rows lose this fraction of themselves, once in a step. */
  weightDecayFactor?: number | null | undefined;
  /** true: the fraction is multiplied by the learning rate. */
  multiplyWeightDecayFactorByLearningRate?: boolean | null | undefined;
  /** Each element of a row's summed gradient is limited to [-c, c], or to [min, max]. */
  clipvalue?: number | Limits | null | undefined;
  /** Memory layout of narrow tables on the hardware; no effect on results. */
  lowDimensionalPackingStatus?: boolean | undefined;
}

export interface SlotArgs {
  /** Makes the slots of a table. */
  slotVariableCreationFn?: SlotVariableCreationFn | null | undefined;
}

export const COMMON = [
  'learningRate',
  'useGradientAccumulation',
  'clipWeightMin',
  'clipWeightMax',
  'weightDecayFactor',
  'multiplyWeightDecayFactorByLearningRate',
  'clipvalue',
  'lowDimensionalPackingStatus',
] as const;

/** A number that float32 holds. */
export function finite(value: unknown, argument: string): number {
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, 'a finite number', value);
  if (!Number.isFinite(Math.fround(value))) throw new ValueError(argument, 'a finite number, in float32 too', value);
  return value;
}

export function positive(value: unknown, argument: string): number {
  const number = finite(value, argument);
  if (!(Math.fround(number) > 0)) throw new ValueError(argument, 'a number > 0, in float32 too', value);
  return number;
}

export function notNegative(value: unknown, argument: string): number {
  const number = finite(value, argument);
  if (number < 0) throw new ValueError(argument, 'a number >= 0', value);
  return number;
}

/** A number in [0, 1). */
export function belowOne(value: unknown, argument: string): number {
  const number = finite(value, argument);
  const expected = 'a number >= 0 and < 1, in float32 too';
  if (number < 0 || Math.fround(number) >= 1) throw new ValueError(argument, expected, value);
  return number;
}

export function readLearningRate(value: unknown, byDefault: number): LearningRate {
  if (value === undefined || value === null) return byDefault;
  if (typeof value === 'function') return value as () => number;
  if (typeof value !== 'number') {
    throw new ArgumentTypeError('learningRate', 'a number or a function without arguments', value);
  }
  return notNegative(value, 'learningRate');
}

function limit(value: unknown, argument: string): number | null {
  return value === undefined || value === null ? null : finite(value, argument);
}

/** The limits of weights, in order. */
export function readWeightLimits({ clipWeightMin, clipWeightMax }: CommonArgs): Limits {
  const limits: Limits = [limit(clipWeightMin, 'clipWeightMin'), limit(clipWeightMax, 'clipWeightMax')];
  const [min, max] = limits;
  if (min !== null && max !== null && min > max) {
    throw new ValueError('clipWeightMin', `a number <= clipWeightMax (${max})`, min);
  }
  return limits;
}

/** The limits of gradients: c stands for [-c, c]. */
export function readClipvalue(value: unknown, isAccumulated: boolean): Limits | null {
  if (value === undefined || value === null) return null;
  if (!isAccumulated) {
    throw new ValueError(
      'clipvalue',
      'null where useGradientAccumulation is false',
      value,
      'Gradients are clipped after accumulation.',
    );
  }
  const expected = 'a number >= 0, or [min, max] where either may be null';
  if (typeof value === 'number') {
    if (!(value >= 0)) throw new ValueError('clipvalue', expected, value);
    return [-value, value];
  }
  if (!Array.isArray(value)) throw new ArgumentTypeError('clipvalue', expected, value);
  if (value.length !== 2) throw new ValueError('clipvalue', expected, value);
  const [min, max] = [limit(value[0], 'clipvalue[0]'), limit(value[1], 'clipvalue[1]')];
  if (min !== null && max !== null && min > max) throw new ValueError('clipvalue', 'min <= max', value);
  return min === null && max === null ? null : [min, max];
}

export function readDecay(value: unknown): number | null {
  return value === undefined || value === null ? null : notNegative(value, 'weightDecayFactor');
}

/** null means that the flag was not given, as upstream. */
export function truthOrNull(value: unknown, argument: string): boolean | null {
  return value === undefined || value === null ? null : truth(value, argument, false);
}

export function readSlotFn(value: unknown): SlotVariableCreationFn | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'function') throw new ValueError('slotVariableCreationFn', 'a function or null', value);
  return value as SlotVariableCreationFn;
}
