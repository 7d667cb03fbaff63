/** How an initializer becomes a fill that devices make by themselves, and how others run on the host. */
import * as tf from '@tensorflow/tfjs';
import { randomWords } from '../backends/counter_random.js';
import type { Fill } from '../backends/fill.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkLive } from '../base/live_tensor.js';
import { rowBlocks, rowsAtOnce } from '../base/row_blocks.js';
import type { WriteRows } from '../backends/contract.js';
import { ConstantValues } from './constant_values.js';
import type { Initializer, TableToFill } from './initializers.js';
import { argumentOf, isIdentity, isOrthogonal, stockValues, type Distribution } from './stock_initializers.js';

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

function seedOf(given: number | null): number {
  return given === null ? Math.floor(Math.random() * 2 ** 53) : wholeSeed(given);
}

/** As in tfjs, bounds may come in either order. */
function asFill(values: Distribution, seed: number): Fill {
  if (values.kind === 'constant') return values;
  if (values.kind !== 'uniform') return { ...values, seed };
  const { from, to } = values;
  return { kind: 'uniform', min: Math.min(from, to), max: Math.max(from, to), seed };
}

/**
 * Returns the fill of a table: that of the stock initializer's distribution for its whole shape, whatever part is made.
 * The initializer's own seed comes first, then `seed`, then one drawn now: ask once for each table.
 * Null for Identity, Orthogonal and classes of the user's own, which `applyInBlocks` runs.
 *
 * @throws TypeError or ValueError for a config whose numbers cannot be used.
 */
export function fillOf(initializer: Initializer, table: TableToFill, seed: number | null): Fill | null {
  const stock = stockValues(initializer, table);
  return stock === null ? null : asFill(stock.values, seedOf(stock.seed ?? seed));
}

/** The same initializer with this seed, where it is one without a fill that takes seeds and has none: Orthogonal. */
export function withSeed(initializer: Initializer, seed: number | null): Initializer {
  if (seed === null || !isOrthogonal(initializer)) return initializer;
  const { gain, seed: own } = initializer.getConfig() as { gain: number; seed?: number | null };
  return own === undefined || own === null ? tf.initializers.orthogonal({ gain, seed }) : initializer;
}

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
  blockElements?: number,
): void {
  const { rows, columns } = table;
  if (dependsOnShape(initializer) || rowsAtOnce(columns, blockElements) >= rows) {
    applyWhole(initializer, table, write, blockElements);
    return;
  }
  let first: Float32Array | null = null;
  for (const block of rowBlocks(table, blockElements)) {
    const values = valuesOf(initializer, { ...table, rows: block.rows });
    if (first !== null && beginsAlike(first, values, columns)) {
      applyWhole(initializer, table, write, blockElements);
      return;
    }
    first ??= values.slice(0, 2 * columns);
    write(block.firstRow, values);
  }
}

function dependsOnShape(initializer: Initializer): boolean {
  return isOrthogonal(initializer) || isIdentity(initializer) || initializer instanceof ConstantValues;
}

/** Whether a block repeats the first row of the first one, although that one's rows differ. */
function beginsAlike(first: Float32Array, values: Float32Array, columns: number): boolean {
  const [a, b] = [first.subarray(0, columns), first.subarray(columns)];
  const equals = (row: Float32Array): boolean => row.every((value, i) => Object.is(value, a[i]));
  return equals(values.subarray(0, columns)) && !(b.length > 0 && equals(b));
}

/** Runs an initializer for the whole table, and hands its values over in blocks. */
export function applyWhole(
  initializer: Initializer,
  table: TableToFill,
  write: WriteRows,
  blockElements?: number,
): void {
  const { columns } = table;
  const values = valuesOf(initializer, table);
  for (const { firstRow, rows } of rowBlocks(table, blockElements)) {
    write(firstRow, values.subarray(firstRow * columns, (firstRow + rows) * columns));
  }
}

function valuesOf(initializer: Initializer, table: TableToFill): Float32Array {
  // Not returned from `tidy`, which would look for tensors among the numbers, one by one.
  let values!: Float32Array;
  tf.tidy(() => {
    values = appliedTo(table, initializer).dataSync() as Float32Array;
  });
  return values;
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
  checkLive(given as tf.Tensor, argument, expected);
  if (given.rank !== 2 || given.shape[0] !== rows || given.shape[1] !== columns) {
    throw new ValueError(argument, expected, given, note);
  }
  return given;
}
