/** What the layers on float32 features share: their common arguments, and checks of their inputs. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkLive } from '../base/live_tensor.js';
import { readOptions } from '../base/options.js';
import { checkBoolean, checkName, isSymbolic, readInputShape, type SymbolicShape } from '../base/layer_arguments.js';
import { nextName } from '../base/layer_names.js';

/** What every layer of tfjs takes, for layers without a table. */
export interface FloatLayerArgs {
  /** Name, unique within a model. Letters, digits, `-`, `.`, `_` and `/`, as tfjs asks for. Default: the kind of the layer with a number. */
  name?: string | undefined;
  /** false: the weights are never updated. Default: true. */
  trainable?: boolean | undefined;
  /** Only 'float32'. */
  dtype?: string | undefined;
  /** Shape of the input without the batch axis, for the first layer of a model. */
  inputShape?: SymbolicShape | undefined;
  /** The same with the batch axis. */
  batchInputShape?: SymbolicShape | undefined;
  /** Size of the batch axis, with `inputShape`. Default: any. */
  batchSize?: number | undefined;
}

export const FLOAT_LAYER_FIELDS = [
  'name',
  'trainable',
  'dtype',
  'inputShape',
  'batchInputShape',
  'batchSize',
] as const satisfies readonly (keyof FloatLayerArgs)[];

function checkFloat32(dtype: unknown): void {
  if (dtype === undefined || dtype === null || dtype === 'float32') return;
  throw new ArgumentTypeError('dtype', `'float32'`, dtype);
}

/** The layer's own arguments, checked to be known, and those of its base class. */
export function readFloatLayerArgs<A extends FloatLayerArgs>(
  args: unknown,
  own: readonly (keyof A & string)[],
  prefix: string,
): { given: Partial<A>; base: object } {
  const given = readOptions<A>(args, [...own, ...FLOAT_LAYER_FIELDS], 'args');
  checkFloat32(given.dtype);
  const name = checkName(given.name) ?? nextName(prefix);
  const trainable = checkBoolean(given.trainable, 'trainable', true);
  const isFirst = (given.inputShape ?? given.batchInputShape ?? null) !== null;
  const shape = isFirst ? { batchInputShape: readInputShape(given, null) } : {};
  return { given, base: { name, trainable, dtype: 'float32', ...shape } };
}

/**
 * The inputs of a call as a list of float32 tensors, all symbolic or none. Throws TypeError for anything else;
 * ValueError for an empty list and a disposed tensor.
 */
export function readFloatInputs(inputs: unknown, expected: string): (tf.Tensor | tf.SymbolicTensor)[] {
  const list = (Array.isArray(inputs) ? inputs : [inputs]) as unknown[];
  if (list.length === 0) throw new ValueError('inputs', expected, described('an empty list'));
  return list.map((input, i) => {
    const argument = list.length === 1 ? 'inputs' : `inputs[${i}]`;
    return readFloatInput(input, argument, expected, isSymbolic(list[0]));
  });
}

function readFloatInput(
  input: unknown,
  argument: string,
  expected: string,
  areSymbolic: boolean,
): tf.Tensor | tf.SymbolicTensor {
  if (!(input instanceof tf.Tensor) && !isSymbolic(input)) throw new ArgumentTypeError(argument, expected, input);
  if (isSymbolic(input) !== areSymbolic) {
    throw new ArgumentTypeError(argument, 'symbolic tensors only, or none', input);
  }
  if (input instanceof tf.Tensor) checkLive(input, argument);
  if (input.dtype !== 'float32') throw new ArgumentTypeError(argument, expected, shown(input));
  return input;
}

function shown(input: tf.Tensor | tf.SymbolicTensor): unknown {
  return input instanceof tf.Tensor ? input : described(`a symbolic ${input.dtype} tensor`);
}

/** Throws ValueError where shapes that are known differ from the first one. */
export function checkSameShapes(shapes: readonly SymbolicShape[]): void {
  const [first] = shapes as [SymbolicShape];
  shapes.forEach((shape, i) => {
    const fits =
      shape.length === first.length &&
      shape.every((size, axis) => size === null || first[axis] === null || size === first[axis]);
    if (fits) return;
    const expected = `the shape of the first input, [${first.map(String).join(', ')}]`;
    throw new ValueError(`inputs[${i}]`, expected, described(`shape [${shape.map(String).join(', ')}]`));
  });
}
