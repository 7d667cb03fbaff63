/** Which regularizer the losses of layers come from: tfjs keeps it within a function, and layers may be given another. */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';

const MARK = Symbol.for('tfjs-embeddings.penalties');

const regularizers = (): WeakMap<object, object> => perProcess('regularizers of losses', () => new WeakMap());

/** Notes that a loss of a layer does nothing but apply this regularizer to a weight; returns it. */
export function asPenalty<F extends object>(loss: F, regularizer: object): F {
  regularizers().set(loss, regularizer);
  return loss;
}

/** The regularizer that a loss of a layer applies; null: it is the user's own. */
export function regularizerOf(loss: object): object | null {
  return regularizers().get(loss) ?? null;
}

interface Weighted {
  readonly _losses?: readonly object[];
  addWeight: (this: Weighted, ...args: unknown[]) => unknown;
  readonly [MARK]?: true;
}

/** The place of the regularizer among the arguments of `addWeight`. */
const REGULARIZER = 4;

/** Notes the penalties of all weights that are made from now on. May be called again. */
export function notePenalties(): void {
  const prototype = tf.layers.Layer.prototype as unknown as Weighted;
  if (prototype[MARK] === true) return;
  Object.defineProperty(prototype, MARK, { value: true });
  const { addWeight } = prototype;
  prototype.addWeight = function (...args) {
    const before = this._losses?.length ?? 0;
    const weight = addWeight.apply(this, args);
    const added = this._losses?.slice(before) ?? [];
    const regularizer = args[REGULARIZER];
    // One is that of tfjs; of more, some are the layer's own.
    if (added.length === 1 && typeof regularizer === 'object' && regularizer !== null)
      asPenalty(added[0]!, regularizer);
    return weight;
  };
}
