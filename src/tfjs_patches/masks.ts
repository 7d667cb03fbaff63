/**
 * Masks on their way through models. The loop of tfjs that runs a model hands the mask that a layer was given to all layers
 * after it, other branches included, and layers that merge tensors join masks into one that no layer takes.
 */
import * as tf from '@tensorflow/tfjs';

const MARK = Symbol.for('tfjs-embeddings.masks');

interface Kwargs {
  mask?: unknown;
}

type Apply = (this: unknown, inputs: unknown, kwargs?: Kwargs) => unknown;
type Mask = tf.Tensor | null | undefined;
type ComputeMask = (this: unknown, inputs: unknown, mask?: Mask | Mask[]) => tf.Tensor | null;

/** The loop calls layers with a list of tensors, one or more, and with one object for all of them. */
function isRun(inputs: unknown): boolean {
  return Array.isArray(inputs) && inputs[0] instanceof tf.Tensor;
}

/** A place where every mask has a value: as Keras 2 merges masks. */
const joined: ComputeMask = (_inputs, mask) => {
  const [first, ...others] = [mask].flat().filter((each) => each !== null && each !== undefined);
  return first === undefined ? null : others.reduce((both, each) => tf.logicalAnd(both, each), first);
};

/** A step counts where all its numbers do; tensors without a mask count whole. */
function concatenated(this: { axis: number }, inputs: unknown, mask?: Mask | Mask[]): tf.Tensor | null {
  const masks = [mask].flat();
  if (masks.every((each) => each === null || each === undefined)) return null;
  return tf.tidy(() => {
    const whole = (inputs as tf.Tensor[]).map((input, i) => {
      const ones = tf.cast(tf.onesLike(input), 'bool');
      let own = masks[i];
      if (own === null || own === undefined) return ones;
      while (own.rank < input.rank) own = tf.expandDims(own, -1);
      return tf.logicalAnd(own, ones);
    });
    return tf.all(tf.concat(whole, this.axis), -1);
  });
}

/** Makes a class forget the mask of a call once it is done. */
function forgetMasks(prototype: { apply: Apply }): void {
  const { apply } = prototype;
  prototype.apply = function (inputs, kwargs) {
    const result = apply.call(this, inputs, kwargs);
    if (kwargs?.mask !== undefined && isRun(inputs)) delete kwargs.mask;
    return result;
  };
}

const prototypeOf = <T>(object: object): T => Object.getPrototypeOf(object) as T;

/** Gives each layer of a model the mask of its own input. May be called again. */
export function mendMasks(): void {
  const prototype = tf.layers.Layer.prototype as unknown as { apply: Apply; [MARK]?: true };
  if (prototype[MARK] === true) return;
  prototype[MARK] = true;
  // Names, as default names are counted.
  const lstm = tf.layers.lstm({ units: 1, name: 'lstm' });
  const both = tf.layers.bidirectional({ layer: lstm as tf.RNN, name: 'both' });
  // These take the tensor out of the list before they call the first one.
  for (const each of [prototype, tf.RNN.prototype, prototypeOf(both)]) forgetMasks(each as { apply: Apply });
  const merge = prototypeOf<object>(tf.layers.add({ name: 'merge' }));
  prototypeOf<{ computeMask: ComputeMask }>(merge).computeMask = joined;
  const concatenate = prototypeOf<{ computeMask: ComputeMask }>(tf.layers.concatenate({ name: 'merge' }));
  concatenate.computeMask = concatenated as ComputeMask;
}
