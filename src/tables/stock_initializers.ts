/** What the initializers of TensorFlow.js make, read from their configs. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import type { Initializer, TableToFill } from './initializers.js';

/** How each value of a table begins, whatever its place. */
export type Distribution =
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'uniform'; readonly from: number; readonly to: number }
  | { readonly kind: 'normal' | 'truncatedNormal'; readonly mean: number; readonly deviation: number };

export interface StockValues {
  readonly values: Distribution;
  /** The initializer's own. */
  readonly seed: number | null;
  /** false: tfjs gives values of another distribution than its config says. */
  readonly isAsInTfjs: boolean;
}

type Config = Readonly<Record<string, unknown>>;
type Reader = (config: Config, table: TableToFill) => Distribution;
type Apply = (...args: never[]) => unknown;

export const argumentOf = ({ argument }: TableToFill): string => argument ?? 'embeddingsInitializer';

/** A field of a stock initializer's config, which tfjs has not checked. */
function finite(config: Config, field: string, table: TableToFill): number {
  const value = config[field];
  const expected = `a number in ${field} that fits float32, for table ${table.name}`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argumentOf(table), expected, value);
  if (!Number.isFinite(Math.fround(value))) throw new ValueError(argumentOf(table), expected, value);
  return value;
}

function deviates(kind: 'normal' | 'truncatedNormal'): Reader {
  return (config, table) => {
    return { kind, mean: finite(config, 'mean', table), deviation: finite(config, 'stddev', table) };
  };
}

function uniform(config: Config, table: TableToFill): Distribution {
  return { kind: 'uniform', from: finite(config, 'minval', table), to: finite(config, 'maxval', table) };
}

/**
 * As in tfjs: rows count as inputs and columns as outputs, and `normal` is truncated without making up for the variance
 * that is cut off. A truncated normal by that name is one, where tfjs makes it uniform.
 */
function varianceScaling(config: Config, table: TableToFill): Distribution {
  const { rows, columns } = table;
  const fans = { fanIn: rows, fanOut: columns, fanAvg: (rows + columns) / 2 };
  const variance = finite(config, 'scale', table) / Math.max(1, fans[config['mode'] as keyof typeof fans]);
  if (config['distribution'] !== 'uniform') return { kind: 'truncatedNormal', mean: 0, deviation: Math.sqrt(variance) };
  const limit = Math.sqrt(3 * variance);
  return { kind: 'uniform', from: -limit, to: limit };
}

function constant(read: (config: Config, table: TableToFill) => number): Reader {
  return (config, table) => ({ kind: 'constant', value: read(config, table) });
}

function applyOf(initializer: Initializer): Apply {
  return initializer.apply as Apply;
}

/**
 * Known by what they run, not by name: a class of the user's may bear a stock name, and subclasses of VarianceScaling
 * give its name.
 */
function readers(): Map<Apply, Reader> {
  const { initializers } = tf;
  return new Map<Apply, Reader>([
    [applyOf(initializers.zeros()), constant(() => 0)],
    [applyOf(initializers.ones()), constant(() => 1)],
    [applyOf(initializers.constant({ value: 0 })), constant((config, table) => finite(config, 'value', table))],
    [applyOf(initializers.randomUniform({})), uniform],
    [applyOf(initializers.randomNormal({})), deviates('normal')],
    [applyOf(initializers.truncatedNormal({})), deviates('truncatedNormal')],
    [applyOf(initializers.varianceScaling({} as never)), varianceScaling],
  ]);
}

function seedOf(config: Config, table: TableToFill): number | null {
  const given = config['seed'] ?? null;
  if (given === null || typeof given === 'number') return given;
  throw new ArgumentTypeError(argumentOf(table), `a number as seed, for table ${table.name}`, given);
}

/**
 * Returns what a stock initializer gives for a table; null for Identity, Orthogonal and classes of the user's own.
 *
 * @throws TypeError or ValueError for a config whose numbers cannot be used.
 */
export function stockValues(initializer: Initializer, table: TableToFill): StockValues | null {
  const read = readers().get(applyOf(initializer));
  if (read === undefined) return null;
  const config = initializer.getConfig() as Config;
  const isAsInTfjs = config['distribution'] !== 'truncatedNormal';
  return { values: read(config, table), seed: seedOf(config, table), isAsInTfjs };
}

export function isIdentity(initializer: Initializer): boolean {
  return applyOf(initializer) === applyOf(tf.initializers.identity({}));
}

export function isOrthogonal(initializer: Initializer): boolean {
  return applyOf(initializer) === applyOf(tf.initializers.orthogonal({} as never));
}
