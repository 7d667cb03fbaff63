/** Tells when a tfjs backend is removed; tfjs has no hook there. */
import * as tf from '@tensorflow/tfjs';
import { asOwn } from './engine/own_functions.js';

const MARK = Symbol.for('tfjs-embeddings.removedBackends');

type Listener = (name: string) => void;

/**
 * Calls `listener` with the name of each backend that was removed. Once per engine for each `owner`: false where it has a
 * listener already, that of another copy of this package.
 */
export function afterBackendRemoval(owner: string, listener: Listener): boolean {
  const engine = tf.engine() as unknown as { removeBackend: Listener; [MARK]?: Map<string, Listener> };
  const known = engine[MARK];
  if (known?.has(owner) === true) return false;
  const listeners = known ?? new Map<string, Listener>();
  listeners.set(owner, listener);
  if (known !== undefined) return true;
  engine[MARK] = listeners;
  const { removeBackend } = engine;
  engine.removeBackend = asOwn((name: string): void => {
    removeBackend.call(engine, name);
    for (const each of listeners.values()) each(name);
  });
  return true;
}
