/**
 * The states that a recurrent layer gives beside its result. Where it gives the last step alone, its result and its first
 * state are one tensor in tfjs, which the loop that runs a model frees when the one has been read, though not the other.
 */
import * as tf from '@tensorflow/tfjs';

const MARK = Symbol.for('tfjs-embeddings.recurrentStates');

type Call = (this: unknown, ...args: unknown[]) => tf.Tensor | tf.Tensor[];

/** Makes each result a tensor of its own. May be called again. */
export function partStates(): void {
  const prototype = tf.RNN.prototype as unknown as { call: Call; [MARK]?: true };
  if (prototype[MARK] === true) return;
  prototype[MARK] = true;
  const { call } = prototype;
  prototype.call = function (...args) {
    const results = call.apply(this, args);
    if (!Array.isArray(results)) return results;
    return results.map((each, i) => (results.indexOf(each) < i ? tf.clone(each) : each));
  };
}
