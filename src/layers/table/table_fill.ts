/** How an initializer becomes a fill that devices make by themselves, and how others run on the host. */
import * as tf from '@tensorflow/tfjs';
import { randomWords } from '../../backends/counter_random.js';
import type { Fill } from '../../backends/fill.js';
import { ArgumentTypeError, ValueError, described } from '../../errors.js';
import type { TableSize } from '../../partition/table_layout.js';
import type { Initializer } from './initializers.js';
import type { WriteRows } from '../../ops/written_table.js';

/** A table that is to be filled, and what errors call it. */
export interface TableToFill extends TableSize {
  readonly name: string;
  /** What its initializer was given as; `embeddingsInitializer` by default. */
  readonly argument?: string;
}

type Config = Readonly<Record<string, unknown>>;
type Reader = (config: Config, table: TableToFill, seed: number) => Fill;
type Apply = (...args: never[]) => unknown;

const argumentOf = ({ argument }: TableToFill): string => argument ?? 'embeddingsInitializer';

/** A field of a stock initializer's config, which tfjs has not checked. */
function finite(config: Config, field: string, table: TableToFill): number {
  const value = config[field];
  const expected = `a number in ${field} that fits float32, for table ${table.name}`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argumentOf(table), expected, value);
  if (!Number.isFinite(Math.fround(value))) throw new ValueError(argumentOf(table), expected, value);
  return value;
}

function deviates(kind: 'normal' | 'truncatedNormal'): Reader {
  return (config, table, seed) => {
    return { kind, mean: finite(config, 'mean', table), deviation: finite(config, 'stddev', table), seed };
  };
}

/** As in tfjs, bounds may come in either order. */
function uniform(config: Config, table: TableToFill, seed: number): Fill {
  const bounds = [finite(config, 'minval', table), finite(config, 'maxval', table)] as const;
  return { kind: 'uniform', min: Math.min(...bounds), max: Math.max(...bounds), seed };
}

/**
 * As in tfjs: rows count as inputs and columns as outputs, and `normal` is truncated without making up for the variance
 * that is cut off. A truncated normal by that name is one, where tfjs makes it uniform.
 */
function varianceScaling(config: Config, table: TableToFill, seed: number): Fill {
  const { rows, columns } = table;
  const fans = { fanIn: rows, fanOut: columns, fanAvg: (rows + columns) / 2 };
  const variance = finite(config, 'scale', table) / Math.max(1, fans[config['mode'] as keyof typeof fans]);
  if (config['distribution'] !== 'uniform') {
    return { kind: 'truncatedNormal', mean: 0, deviation: Math.sqrt(variance), seed };
  }
  const limit = Math.sqrt(3 * variance);
  return { kind: 'uniform', min: -limit, max: limit, seed };
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

/** Seeds as fills take them: tfjs takes any number, and those that are not whole are mixed to one. */
function wholeSeed(seed: number): number {
  if (Number.isSafeInteger(seed) && seed >= 0) return seed;
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, seed);
  const key = { low: bits.getInt32(4), high: bits.getInt32(0) };
  const words = new Int32Array(4);
  randomWords(words, key, { firstRow: 0, rowStep: 1, rows: 1, firstColumn: 0, columns: 2 });
  return (words[0]! >>> 11) * 2 ** 32 + (words[1]! >>> 0);
}

function seedOf(config: Config, table: TableToFill, seed: number | null): number {
  const given = config['seed'] ?? seed;
  if (given === null || given === undefined) return Math.floor(Math.random() * 2 ** 53);
  if (typeof given !== 'number') {
    throw new ArgumentTypeError(argumentOf(table), `a number as seed, for table ${table.name}`, given);
  }
  return wholeSeed(given);
}

/**
 * Returns the fill of a table: that of the stock initializer's distribution for its whole shape, whatever part is made.
 * The initializer's own seed comes first, then `seed`, then one drawn now: ask once for each table.
 * Null for Identity, Orthogonal and classes of the user's own, which `applyInBlocks` runs.
 *
 * @throws TypeError or ValueError for a config whose numbers cannot be used.
 */
export function fillOf(initializer: Initializer, table: TableToFill, seed: number | null): Fill | null {
  const read = readers().get(applyOf(initializer));
  if (read === undefined) return null;
  const config = initializer.getConfig() as Config;
  return read(config, table, seedOf(config, table, seed));
}

/** The same initializer with this seed, where it is one without a fill that takes seeds and has none: Orthogonal. */
export function withSeed(initializer: Initializer, seed: number | null): Initializer {
  if (seed === null || !isOrthogonal(initializer)) return initializer;
  const { gain, seed: own } = initializer.getConfig() as { gain: number; seed?: number | null };
  return own === undefined || own === null ? tf.initializers.orthogonal({ gain, seed }) : initializer;
}

function isOrthogonal(initializer: Initializer): boolean {
  return applyOf(initializer) === applyOf(tf.initializers.orthogonal({} as never));
}

const BLOCK = 2 ** 20;

/**
 * Runs any initializer on the host and hands its values to `write` in blocks of whole rows, which do not depend on where
 * the rows go: at most `blockElements` values at a time, or one row. Identity and Orthogonal, whose values depend on the
 * whole shape, are applied to it; so is a custom initializer whose blocks begin alike (a fixed seed, or values that
 * depend on the row), and rows are then written once more. Other custom ones see the shape of a block.
 *
 * @throws TypeError or ValueError where an initializer does not give float32 of the shape it was asked for.
 */
export function applyInBlocks(
  initializer: Initializer,
  table: TableToFill,
  write: WriteRows,
  blockElements: number = BLOCK,
): void {
  const { rows, columns } = table;
  const rowsAtOnce = Math.max(1, Math.floor(blockElements / Math.max(1, columns)));
  if (dependsOnShape(initializer) || rowsAtOnce >= rows) {
    writeWhole(initializer, table, rowsAtOnce, write);
    return;
  }
  let first: Float32Array | null = null;
  for (let row = 0; row < rows; row += rowsAtOnce) {
    const values = valuesOf(initializer, { ...table, rows: Math.min(rowsAtOnce, rows - row) });
    if (first !== null && beginsAlike(first, values, columns)) {
      writeWhole(initializer, table, rowsAtOnce, write);
      return;
    }
    if (row === 0) first = values.slice(0, 2 * columns);
    write(row, values);
  }
}

function isIdentity(initializer: Initializer): boolean {
  return applyOf(initializer) === applyOf(tf.initializers.identity({}));
}

function dependsOnShape(initializer: Initializer): boolean {
  return isOrthogonal(initializer) || isIdentity(initializer);
}

/** Whether a block repeats the first row of the first one, although that one's rows differ. */
function beginsAlike(first: Float32Array, values: Float32Array, columns: number): boolean {
  const [a, b] = [first.subarray(0, columns), first.subarray(columns)];
  const equals = (row: Float32Array): boolean => row.every((value, i) => Object.is(value, a[i]));
  return equals(values.subarray(0, columns)) && !(b.length > 0 && equals(b));
}

function writeWhole(initializer: Initializer, table: TableToFill, rowsAtOnce: number, write: WriteRows): void {
  const { rows, columns } = table;
  const values = valuesOf(initializer, table);
  for (let row = 0; row < rows; row += rowsAtOnce) {
    write(row, values.subarray(row * columns, Math.min(rows, row + rowsAtOnce) * columns));
  }
}

function valuesOf(initializer: Initializer, table: TableToFill): Float32Array {
  return tf.tidy(() => appliedTo(table, initializer).dataSync() as Float32Array);
}

/**
 * What an initializer gives for a table, or for a block of its rows.
 *
 * @throws TypeError or ValueError where that is not float32 of this shape.
 */
export function appliedTo(table: TableToFill, initializer: Initializer): tf.Tensor {
  const { rows, columns, name } = table;
  const argument = argumentOf(table);
  if (isIdentity(initializer) && rows !== columns) {
    throw new ValueError(argument, `one that makes table ${name} of ${rows} x ${columns}`, described('Identity'));
  }
  const given: unknown = initializer.apply([rows, columns], 'float32');
  const expected = `one that gives a float32 tensor of shape [${rows}, ${columns}] for table ${name}`;
  const note = `It came from ${initializer.getClassName()}.`;
  if (!(given instanceof tf.Tensor) || given.dtype !== 'float32') {
    throw new ArgumentTypeError(argument, expected, given, note);
  }
  if (given.isDisposed) throw new ValueError(argument, expected, described('a disposed tensor'), note);
  if (given.rank !== 2 || given.shape[0] !== rows || given.shape[1] !== columns) {
    throw new ValueError(argument, expected, given, note);
  }
  return given;
}
