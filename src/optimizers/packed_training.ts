/** What trains tables of float16, and what does not. */
import * as tf from '@tensorflow/tfjs';
import { packedForm } from '../backends/packed/packed_table.js';
import { currentBackend } from '../backends/registry.js';
import { RuntimeError, ValueError } from '../base/errors.js';
import { variableText } from '../lookup/training/variable_names.js';

/** Refuses to step packed rows where nothing steps them. */
export function checkPackedTraining(table: tf.Variable): void {
  const form = packedForm(table);
  if (form === undefined) return;
  const name = variableText(table);
  if (form.storage !== 'float16') {
    const expected = `'float32' or 'float16' for table ${name}, which is stepped`;
    throw new ValueError('storage', expected, form.storage, 'Rows of int8 are looked up alone.');
  }
  if (currentBackend().tables.trains('float16')) return;
  const expected = `cpu, wasm or tensorflow with native kernels for training table ${name} of storage 'float16'`;
  throw new RuntimeError('backend', expected, tf.getBackend());
}
