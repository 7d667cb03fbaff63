/** Weights of layers, which tfjs reads, writes and freezes without telling the layer. */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../base/per_process.js';
import { asOwn } from './engine/own_functions.js';
import { addOnce, override } from './models/own_models.js';

type SetWeights = (this: tf.layers.Layer, weights: tf.Tensor[], ...options: unknown[]) => void;

const replacements = (): { running: number } => perProcess('setWeights of layers and models', () => ({ running: 0 }));

/**
 * Whether all weights of a layer or a model are about to be written: tfjs reads each of them before, for its shape alone,
 * and what they hold does not matter. From the first call of `watchReplacements` on.
 */
export function areReplaced(): boolean {
  return replacements().running > 0;
}

/** Has `setWeights` of layers that were adopted say that it runs, and take values of other forms. May be called again. */
export function watchReplacements(): void {
  addOnce('replaced weights', () => {
    override(tf.layers.Layer.prototype, 'setWeights', (setWeights: SetWeights): SetWeights => {
      return function (weights, ...options) {
        replacements().running++;
        try {
          tf.tidy(() => {
            const known = this.weights;
            // It compares shapes before it writes.
            const kept = (value: tf.Tensor, i: number): tf.Tensor => {
              const convert = known[i] === undefined ? undefined : converters().get(known[i]);
              return convert === undefined || !(value instanceof tf.Tensor) ? value : (convert(value) ?? value);
            };
            setWeights.call(this, Array.isArray(weights) ? weights.map(kept) : weights, ...options);
          });
        } finally {
          replacements().running--;
        }
      };
    });
  });
}

/** Calls `listener` after each write of a weight: by `setWeights`, or by tfjs as it loads a model. */
export function afterWrites(weight: tf.LayerVariable, listener: () => void): void {
  const write = weight.write.bind(weight);
  weight.write = asOwn((value: tf.Tensor): tf.LayerVariable => {
    write(value);
    listener();
    return weight;
  });
}

/** Calls `listener` before a weight is read, so that it can be brought up to date when it is asked for. */
export function beforeReads(weight: tf.LayerVariable, listener: () => void): void {
  const read = weight.read.bind(weight);
  weight.read = asOwn(() => {
    listener();
    return read();
  });
}

/** The same before a weight is read or written. */
export function beforeAccess(weight: tf.LayerVariable, listener: () => void): void {
  beforeReads(weight, listener);
  const write = weight.write.bind(weight);
  weight.write = asOwn((value: tf.Tensor): tf.LayerVariable => {
    listener();
    return write(value);
  });
}

/** Has the flag `trainable` decided elsewhere: models set it on all their weights when they are compiled. */
export function decideTrainable(
  weight: tf.LayerVariable,
  decide: { isTrainable(): boolean; ask(trainable: boolean): void },
): void {
  Object.defineProperty(weight, 'trainable', {
    get: asOwn(() => decide.isTrainable()),
    set: (trainable: boolean) => decide.ask(trainable),
  });
}

type Convert = (value: tf.Tensor) => tf.Tensor | null;

const converters = (): WeakMap<tf.LayerVariable, Convert> => perProcess('converted weights', () => new WeakMap());

/**
 * Has a weight take values of another form, by whatever way they are written: `convert` gives them as they are kept, or
 * null for those that are so already.
 */
export function convertWrites(weight: tf.LayerVariable, convert: Convert): void {
  converters().set(weight, convert);
  watchReplacements();
  const write = weight.write.bind(weight);
  weight.write = asOwn((value: tf.Tensor): tf.LayerVariable => {
    tf.tidy(() => {
      write(convert(value) ?? value);
    });
    return weight;
  });
}
