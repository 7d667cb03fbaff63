/** One step of the touched rows by the function of a `CustomOptimizer`. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkLive } from '../../base/live_tensor.js';
import { isRecord } from '../../base/options.js';
import type { CustomOptimizer } from './custom_optimizer.js';

/** The touched rows of a table and its slots, on the host. */
export interface TouchedRows {
  /** Their numbers, ascending. */
  readonly rows: Int32Array;
  readonly dim: number;
  /** Summed gradients, [rows, dim]. */
  readonly gradient: Float32Array;
  /** [rows, dim]. */
  readonly parameters: Float32Array;
  /** In the order of `optimizer.slots`: [rows, dim], or [rows] for a slot that is per row. */
  readonly slots: readonly Float32Array[];
}

/** The new values, in the same order. */
export type SteppedRows = Pick<TouchedRows, 'parameters' | 'slots'>;

const COMPUTATION = 'customComputation';

function valuesOf(value: unknown, shape: readonly number[], what: string): Float32Array {
  const expected = `${what} as a float32 tensor of shape [${shape.join(', ')}]`;
  if (!(value instanceof tf.Tensor) || value.dtype !== 'float32') {
    throw new ArgumentTypeError(COMPUTATION, `a function that returns ${expected}`, value);
  }
  if (!tf.util.arraysEqual(value.shape, shape as number[])) {
    throw new ValueError(COMPUTATION, `a function that returns ${expected}`, value);
  }
  checkLive(value as tf.Tensor, COMPUTATION);
  return value.dataSync() as Float32Array;
}

/** Slots as they were returned: by name, or in order. */
function slotValues(given: unknown, names: readonly string[]): readonly unknown[] {
  if (names.length === 0) return [];
  if (Array.isArray(given)) {
    if (given.length === names.length) return given;
    const expected = `a function that returns ${names.length} slots`;
    throw new ValueError(COMPUTATION, expected, described(`one that returns ${given.length}`));
  }
  if (!isRecord(given)) {
    throw new ArgumentTypeError(
      COMPUTATION,
      `a function that returns {parameters, slots: {${names.join(', ')}}}`,
      given,
    );
  }
  return names.map((name) => given[name]);
}

/**
 * Runs the function on the touched rows and returns what it made of them; nothing of it is left on the backend.
 * Throws TypeError and ValueError, which name `customComputation`, where it returns something else than it should.
 */
export function customStep(optimizer: CustomOptimizer, touched: TouchedRows, learningRate: number): SteppedRows {
  const { rows, dim } = touched;
  const matrix: [number, number] = [rows.length, dim];
  let stepped: SteppedRows | null = null;
  tf.tidy(() => {
    const { slots: specs, slotNames } = optimizer;
    const shapes = specs.map(({ isPerRow }) => (isPerRow === true ? [rows.length] : matrix));
    const slots = slotNames.map((name, i) => [name, tf.tensor(touched.slots[i]!, shapes[i]!, 'float32')] as const);
    const result: unknown = optimizer.customComputation({
      gradient: tf.tensor2d(touched.gradient, matrix, 'float32'),
      parameters: tf.tensor2d(touched.parameters, matrix, 'float32'),
      slots: Object.fromEntries(slots),
      hyperparameters: optimizer.currentHyperparameters(),
      learningRate,
      rows,
    });
    if (!isRecord(result)) {
      throw new ArgumentTypeError(COMPUTATION, 'a function that returns {parameters, slots}', result);
    }
    const given = slotValues(result['slots'], slotNames);
    stepped = {
      parameters: valuesOf(result['parameters'], matrix, 'parameters'),
      slots: given.map((slot, i) => valuesOf(slot, shapes[i]!, `slot ${slotNames[i]}`)),
    };
  });
  return stepped!;
}
