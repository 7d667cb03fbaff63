/** Whose rules a model follows where tfjs has others: those of the Keras that it came from. */
import type * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';

export type KerasVersion = 2 | 3;

const versions = (): WeakMap<object, KerasVersion> => perProcess('rules of Keras', () => new WeakMap());

/** Notes that a model was mended; what is saved of it says so, so that it trains alike when it is loaded again. */
export function noteKerasRules(model: tf.LayersModel, version: KerasVersion): void {
  versions().set(model, version);
}

/** The field of a saved model that says it; none for models that follow tfjs. */
export function kerasRulesField(model: tf.LayersModel): { kerasRules?: KerasVersion } {
  const version = versions().get(model);
  return version === undefined ? {} : { kerasRules: version };
}

/** The version in such a field of a file; null where it has none. */
export function readKerasRules(value: unknown): KerasVersion | null {
  return value === 2 || value === 3 ? value : null;
}
