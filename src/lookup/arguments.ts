/** Checks of the arguments that the functions of this folder share. */
import * as tf from '@tensorflow/tfjs';
import type { BagOptions } from '../backends/kernel_set.js';
import { knownTable, type Table, tableOf } from '../backends/table.js';
import { ArgumentTypeError, ValueError } from '../base/errors.js';
import { checkLive } from '../base/live_tensor.js';
import { COMBINERS, OUT_OF_RANGE, type Combiner, type OutOfRange } from '../base/types.js';

/** Options of a lookup as users give them. */
export interface BagOptionsInput {
  /** How rows become one. */
  combiner: Combiner;
  /** What an id beyond the table does: `'error'` (default), or `'zero'`, a row of zeros. */
  outOfRange?: OutOfRange | undefined;
  /** Rows are scaled to at most this L2 norm; null (default): off. */
  maxNorm?: number | null | undefined;
  /** Checks ids and splits that already lie on a GPU too (webgpu), which reads them back. Default: false. */
  validate?: boolean | undefined;
}

const TABLE = 'a rank-2 float32 tensor or variable [rows, dim]';

/** The same; also the weight of a layer whose rows are packed, which is looked up alone. */
export function checkLookupTable(table: unknown, argument = 'table'): Table {
  const isPacked = table instanceof tf.Tensor && knownTable(table as tf.Tensor)?.isPlain === false;
  return tableOf(isPacked ? checkUsable(table as tf.Tensor2D, argument) : checkTable(table, argument));
}

export function checkTable(table: unknown, argument = 'table'): tf.Tensor2D {
  const isMatrix = table instanceof tf.Tensor && table.dtype === 'float32' && table.rank === 2;
  if (!isMatrix) throw new ArgumentTypeError(argument, TABLE, table);
  return checkUsable(table as tf.Tensor2D, argument);
}

function checkUsable(table: tf.Tensor2D, argument: string): tf.Tensor2D {
  checkLive(table, argument);
  if (table.shape[1] === 0) throw new ValueError(argument, 'at least one column', table);
  return table;
}

export function checkCombiner(combiner: unknown): Combiner {
  if (COMBINERS.includes(combiner as Combiner)) return combiner as Combiner;
  const expected = `one of ${COMBINERS.map((name) => `'${name}'`).join(', ')}`;
  if (typeof combiner !== 'string') throw new ArgumentTypeError('combiner', expected, combiner);
  throw new ValueError('combiner', expected, combiner);
}

export function checkOutOfRange(outOfRange: unknown): OutOfRange {
  const expected = `'error' or 'zero'`;
  if (outOfRange === undefined || outOfRange === null) return 'error';
  if (typeof outOfRange !== 'string') throw new ArgumentTypeError('outOfRange', expected, outOfRange);
  if (!OUT_OF_RANGE.includes(outOfRange as OutOfRange)) throw new ValueError('outOfRange', expected, outOfRange);
  return outOfRange as OutOfRange;
}

/** The norm, or 0 for off. */
export function checkMaxNorm(maxNorm: unknown): number {
  if (maxNorm === undefined || maxNorm === null) return 0;
  if (typeof maxNorm !== 'number') throw new ArgumentTypeError('maxNorm', 'a positive number or null', maxNorm);
  if (!(maxNorm > 0)) throw new ValueError('maxNorm', 'a positive number or null', maxNorm);
  // Kernels take float32: a norm that rounds to 0 would silently turn the scaling off.
  if (Math.fround(maxNorm) === 0) throw new ValueError('maxNorm', 'a positive float32', maxNorm);
  return maxNorm === Infinity ? 0 : maxNorm;
}

/** Whether tensors on a GPU are read to be checked. */
export function checkValidate(validate: unknown): boolean {
  if (validate === undefined || validate === null) return false;
  if (typeof validate !== 'boolean') throw new ArgumentTypeError('validate', 'true or false', validate);
  return validate;
}

/** `options` as `readOptions` gives them. */
export function checkBagOptions(options: Partial<BagOptionsInput>): BagOptions {
  return {
    combiner: checkCombiner(options.combiner),
    outOfRange: checkOutOfRange(options.outOfRange),
    maxNorm: checkMaxNorm(options.maxNorm),
    validate: checkValidate(options.validate),
  };
}

/** A matrix of this shape; `columns` null: of any width but 0. */
export function checkMatrix(matrix: unknown, rows: number, columns: number | null, argument: string): tf.Tensor2D {
  const expected = (): string => `a float32 tensor of shape [${rows}, ${columns ?? 'dim'}]`;
  const isFloat = matrix instanceof tf.Tensor && matrix.dtype === 'float32';
  if (!isFloat) throw new ArgumentTypeError(argument, expected(), matrix);
  const tensor = matrix as tf.Tensor;
  const width = tensor.shape[1];
  if (tensor.rank !== 2 || tensor.shape[0] !== rows || width === 0 || width !== (columns ?? width)) {
    throw new ValueError(argument, expected(), tensor);
  }
  checkLive(tensor, argument, expected());
  return tensor as tf.Tensor2D;
}
