/** Tells when a tfjs backend is removed; tfjs has no hook there. */
import * as tf from '@tensorflow/tfjs';
import { asOwn } from './engine/own_functions.js';

const MARK = Symbol.for('tfjs-embeddings.removedBackends');

/** Calls `listener` with the name of each backend that was removed. Once per engine: false where there is one already. */
export function afterBackendRemoval(listener: (name: string) => void): boolean {
  const engine = tf.engine() as unknown as { removeBackend(name: string): void; [MARK]?: true };
  if (engine[MARK] === true) return false;
  engine[MARK] = true;
  const { removeBackend } = engine;
  engine.removeBackend = asOwn((name: string): void => {
    removeBackend.call(engine, name);
    listener(name);
  });
  return true;
}
