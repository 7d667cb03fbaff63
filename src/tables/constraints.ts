/** Conditions that rows keep after each update. */
import type * as tf from '@tensorflow/tfjs';
import type { RowConstraint } from '../rules/optimizer_settings.js';
import { readRegistered, type Family, type Registered } from './registered_objects.js';

export type Constraint = ReturnType<typeof tf.constraints.nonNeg>;
/** A name ('nonNeg', 'maxNorm', 'unitNorm', 'minMaxNorm'), a config, or an object of `tf.constraints`. */
export type ConstraintInput = string | { className: string; config: object } | Constraint;

const FAMILY: Family = {
  argument: 'embeddingsConstraint',
  sample: 'NonNeg',
  classes: ['NonNeg', 'MaxNorm', 'UnitNorm', 'MinMaxNorm'],
  aliases: { nonnegative: 'NonNeg' },
  adapt: (className, config) => {
    const { max_value, min_value, ...rest } = config;
    const renamed = { ...rest };
    if (max_value !== undefined) renamed['maxValue'] = max_value;
    if (min_value !== undefined) renamed['minValue'] = min_value;
    return [className, renamed];
  },
};

export function readConstraint(identifier: unknown): Constraint | null {
  if (identifier === undefined || identifier === null) return null;
  return readRegistered(identifier, FAMILY) as Registered as Constraint;
}

/** The numbers by which an update kernel keeps the constraint on a row; kind `axis` where it cannot. */
export function rowConstraintOf(constraint: Constraint | null): RowConstraint | null {
  if (constraint === null) return null;
  const className = constraint.getClassName();
  if (className === 'NonNeg') return { kind: 'nonNeg', min: 0, max: 0, rate: 1 };
  const config = constraint.getConfig() as { axis?: unknown; minValue?: number; maxValue?: number; rate?: number };
  const axes = Array.isArray(config.axis) ? (config.axis as unknown[]) : [config.axis];
  const isAlongRows = axes.length === 1 && (axes[0] === 1 || axes[0] === -1);
  if (!isAlongRows) return { kind: 'axis', min: 0, max: 0, rate: 1 };
  switch (className) {
    case 'MaxNorm':
      return { kind: 'rowNorm', min: 0, max: config.maxValue!, rate: 1 };
    case 'UnitNorm':
      return { kind: 'rowNorm', min: 1, max: 1, rate: 1 };
    case 'MinMaxNorm':
      return { kind: 'rowNorm', min: config.minValue!, max: config.maxValue!, rate: config.rate! };
    default:
      return { kind: 'axis', min: 0, max: 0, rate: 1 };
  }
}
