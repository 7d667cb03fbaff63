/** Checks of the arguments that the layers share with the stock ones. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from './errors.js';
import { INT32_MAX } from './types.js';

/** A shape in a symbolic graph: null where a size is not known yet. */
export type SymbolicShape = (number | null)[];

/** What every layer of tfjs takes. */
export interface LayerOptions {
  /** Name, unique within a model. Letters, digits, `-`, `.`, `_` and `/`, as tfjs asks for. Default: the kind of the layer with a number. */
  name?: string | undefined;
  /** false: the table is never updated. Default: true. */
  trainable?: boolean | undefined;
  /** Accepted for compatibility: the table is always float32 and ids are always int32. */
  dtype?: string | undefined;
  /** The same as `dtype`, in tfjs's words. */
  inputDType?: string | undefined;
  /** Shape of the ids without the batch axis, for the first layer of a model; []: one id per sample. */
  inputShape?: SymbolicShape | undefined;
  /** The same with the batch axis. */
  batchInputShape?: SymbolicShape | undefined;
  /** Size of the batch axis, with `inputShape`. Default: any. */
  batchSize?: number | undefined;
}

export const LAYER_OPTIONS = [
  'name',
  'trainable',
  'dtype',
  'inputDType',
  'inputShape',
  'batchInputShape',
  'batchSize',
] as const satisfies readonly (keyof LayerOptions)[];

const TENSOR_NAME = /^[A-Za-z0-9][-A-Za-z0-9._/]*$/;

export function checkObject(value: unknown, argument: string): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new ArgumentTypeError(argument, 'an object of arguments', value);
  }
  return value as Record<string, unknown>;
}

/** A positive whole number of rows or columns. */
export function checkDimension(value: unknown, argument: string): number {
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, 'a positive whole number', value);
  if (!Number.isInteger(value) || value <= 0 || value > INT32_MAX) {
    throw new ValueError(argument, 'a positive whole number below 2^31', value);
  }
  return value;
}

export function checkBoolean(value: unknown, argument: string, byDefault: boolean): boolean {
  if (value === undefined || value === null) return byDefault;
  if (typeof value !== 'boolean') throw new ArgumentTypeError(argument, 'true or false', value);
  return value;
}

/** A name that tfjs accepts in the names of tensors, or undefined. */
export function checkName(value: unknown, argument = 'name'): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, 'a string', value);
  if (!TENSOR_NAME.test(value)) {
    throw new ValueError(argument, 'a letter or digit, then letters, digits, "-", ".", "_" or "/"', value);
  }
  return value;
}

/** The stock layer takes one length or one per axis of the ids. */
export function checkInputLength(value: unknown): number | SymbolicShape | null {
  if (value === undefined || value === null) return null;
  const expected = 'a positive whole number, or an array of them (null where unknown)';
  return readInputLength(value, expected);
}

function readInputLength(value: unknown, expected: string): number | SymbolicShape {
  const lengths = Array.isArray(value) ? (value as unknown[]) : [value];
  for (const length of lengths) {
    if (length === null && Array.isArray(value)) continue;
    if (typeof length !== 'number') throw new ArgumentTypeError('inputLength', expected, value);
    if (!Number.isInteger(length) || length <= 0) throw new ValueError('inputLength', expected, value);
  }
  return value as number | SymbolicShape;
}

function checkShape(value: unknown, argument: string): SymbolicShape {
  const expected = 'an array of sizes (null where unknown)';
  return readShape(value, argument, expected);
}

function readShape(value: unknown, argument: string, expected: string): SymbolicShape {
  if (!Array.isArray(value)) throw new ArgumentTypeError(argument, expected, value);
  for (const size of value as unknown[]) {
    if (size === null) continue;
    if (typeof size !== 'number') throw new ArgumentTypeError(argument, expected, value);
    if (!Number.isInteger(size) || size < 0) throw new ValueError(argument, expected, value);
  }
  return value as SymbolicShape;
}

/**
 * The shape of the ids that a model beginning with this layer takes: [batch, length] unless told otherwise. `least`: how
 * many axes there are at least beside that of the batch.
 */
export function readInputShape(
  args: LayerOptions,
  inputLength: number | SymbolicShape | null,
  least: 0 | 1 = 1,
): SymbolicShape {
  const { batchInputShape, inputShape, batchSize } = args;
  if (batchInputShape !== undefined && batchInputShape !== null) {
    const shape = checkShape(batchInputShape, 'batchInputShape');
    if (shape.length <= least) {
      throw new ValueError('batchInputShape', `the batch axis${least === 0 ? '' : ' and at least one more'}`, shape);
    }
    return shape;
  }
  const batch = batchSize === undefined || batchSize === null ? null : checkDimension(batchSize, 'batchSize');
  if (inputShape !== undefined && inputShape !== null) {
    const shape = checkShape(inputShape, 'inputShape');
    if (shape.length < least) throw new ValueError('inputShape', 'at least one axis, such as [1]', shape);
    return [batch, ...shape];
  }
  const lengths = Array.isArray(inputLength) ? inputLength : [inputLength];
  if (lengths.length < least) throw new ValueError('inputLength', 'at least one length', lengths);
  return [batch, ...lengths];
}

/** Dtypes under which the table is float32 or which speak of the ids. */
const DTYPES = ['float32', 'int32', 'mixed_float16', 'mixed_bfloat16', 'mixedFloat16', 'mixedBfloat16'];

/** The stock layer makes an int32 table of zeros when told `int32`; here it only speaks of the ids. */
export function checkDtype(value: unknown, argument: string): void {
  if (value === undefined || value === null) return;
  const expected = `'float32' (of the table) or 'int32' (of the ids)`;
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, expected, value);
  if (!DTYPES.includes(value)) throw new ArgumentTypeError(argument, expected, value);
}

/** tfjs accepts this argument and then fails when the layer is applied. */
export function refuseActivityRegularizer(value: unknown): void {
  if (value === undefined || value === null) return;
  const received = typeof value === 'string' ? value : described('a regularizer');
  const note = 'TensorFlow.js applies no activity regularizers; add the term to the loss function of the model.';
  throw new ValueError('activityRegularizer', 'null or undefined', received, note);
}

/** One shape from a shape or a list of one. */
export function shapesOf(shape: SymbolicShape | SymbolicShape[]): SymbolicShape[] {
  return Array.isArray(shape[0]) ? (shape as SymbolicShape[]) : [shape as SymbolicShape];
}

export function isSymbolic(value: unknown): value is tf.SymbolicTensor {
  return value instanceof tf.SymbolicTensor;
}
