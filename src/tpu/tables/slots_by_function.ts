/** Slots that a function of the user makes: `slotVariableCreationFn` of an optimizer. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { constantOr } from '../config/table_initializer.js';
import type { TPUEmbeddingOptimizer } from '../optimizers/tpu_optimizer.js';

const ARGUMENT = 'slotVariableCreationFn';

/**
 * The slots of a table, in the order of its optimizer. Where one does not fit, the variables that were made are disposed.
 * Throws TypeError for what is no variable of float32, ValueError for another shape.
 */
export function slotsByFunction(
  table: tf.Variable,
  optimizer: TPUEmbeddingOptimizer,
  tableName: string,
): tf.Variable[] {
  const { slots, slotNames } = optimizer;
  const initializers = slots.map(({ initialValue }) => constantOr(initialValue));
  const made: unknown = optimizer.slotVariableCreationFn!(table, slotNames, initializers);
  try {
    return slots.map(({ name, isPerRow }) => {
      const shape = isPerRow === true ? [table.shape[0]!] : table.shape;
      const expected =
        `a function that returns a variable for each of ${slotNames.join(', ')}: ` +
        `float32 of shape [${shape.join(', ')}] for ${name} of table ${tableName}`;
      const slot = isRecord(made) ? made[name] : made;
      if (!(slot instanceof tf.Variable) || slot.dtype !== 'float32') {
        throw new ArgumentTypeError(ARGUMENT, expected, slot);
      }
      if (!tf.util.arraysEqual(slot.shape, shape)) throw new ValueError(ARGUMENT, expected, slot);
      return slot;
    });
  } catch (error) {
    if (isRecord(made)) tf.dispose(Object.values(made).filter((value) => value instanceof tf.Variable));
    throw error;
  }
}
