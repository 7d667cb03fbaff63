/** What variables are called in errors and reasons: tfjs numbers those that nobody named, and a number tells nothing. */
import type * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { tableSettings } from './table_settings.js';

/** Names of variables that tfjs does not know by name: slots of optimizers, tables of the TPU embedding API. */
const given = (): WeakMap<tf.Variable, string> => perProcess('names of variables', () => new WeakMap());

/** Notes what a variable without a name of its own is. */
export function nameVariable(variable: tf.Variable, name: string): void {
  given().set(variable, name);
}

/** Names that tfjs makes up, anew in each process, in the order in which variables are made. */
export function isAnonymous(name: string): boolean {
  return /^(\d+|variable(_\d+)?)$/.test(name);
}

/** The name that its layer, its optimizer or its maker gave to a variable; its shape where there is none. */
export function variableText(variable: tf.Variable): string {
  const name = tableSettings(variable)?.name ?? given().get(variable) ?? variable.name;
  return isAnonymous(name) ? `without a name, of shape [${variable.shape.join(', ')}]` : name;
}
