/**
 * Masks on their way through models: each goes with its tensor. The loop of tfjs that runs a model hands the mask, and the
 * initial states, that a layer was given to all layers after it, other branches included; masks neither reach layers of a
 * model within a model nor leave it; and layers that merge tensors join masks into one that no layer takes.
 */
import * as tf from '@tensorflow/tfjs';
import { withoutTape } from '../lazy_gradient.js';
import { MODELS, override } from '../models/own_models.js';

/** Makes a mask that tfjs hangs on the result of a layer go with that result; it would leak otherwise. */
export function disposeWithMask(output: tf.Tensor): tf.Tensor {
  const { kerasMask } = output as tf.Tensor & { kerasMask?: tf.Tensor | null };
  if (kerasMask === undefined || kerasMask === null) return output;
  const dispose = output.dispose.bind(output);
  output.dispose = () => {
    kerasMask.dispose();
    dispose();
  };
  return output;
}

interface Kwargs {
  mask?: unknown;
}

type Apply = (this: unknown, inputs: unknown, kwargs?: Kwargs | null) => unknown;
type Mask = tf.Tensor | null | undefined;
type ComputeMask = (this: unknown, inputs: unknown, mask?: Mask | Mask[]) => tf.Tensor | null;

/** The loop calls layers with a list of tensors, one or more, and with one object for all of them. */
function isRun(inputs: unknown): inputs is tf.Tensor[] {
  return Array.isArray(inputs) && inputs[0] instanceof tf.Tensor;
}

interface Merge {
  readonly axis: number;
}

type JoinMasks = (this: Merge, inputs: tf.Tensor[], masks: Mask[]) => tf.Tensor;

/** Takes the place of stock's in a layer that merges tensors. Calls with other arguments get what stock says of them. */
const joinMasks =
  (join: JoinMasks) =>
  (stock: ComputeMask): ComputeMask =>
    function (inputs, mask) {
      const isList = Array.isArray(inputs) && Array.isArray(mask) && mask.length === inputs.length;
      if (!isList || !mask.some(isMask)) return stock.call(this, inputs, mask);
      // Masks carry no gradient: on the tape, ops that have none would fail the step.
      return withoutTape(() => tf.tidy(() => join.call(this as Merge, inputs as tf.Tensor[], mask)));
    };

function isMask(mask: Mask): mask is tf.Tensor {
  return mask !== null && mask !== undefined;
}

/** A place where every mask has a value: as Keras 2 merges masks. */
const joined: JoinMasks = (_inputs, masks) => {
  return masks.filter(isMask).reduce((both, each) => tf.logicalAnd(both, each));
};

/** A step counts where all its numbers do; tensors without a mask count whole. */
const concatenated: JoinMasks = function (inputs, masks) {
  const whole = inputs.map((input, i) => {
    const ones = tf.cast(tf.onesLike(input), 'bool');
    let own = masks[i];
    if (!isMask(own)) return ones;
    while (own.rank < input.rank) own = tf.expandDims(own, -1);
    return tf.logicalAnd(own, ones);
  });
  return tf.all(tf.concat(whole, this.axis), -1);
};

/** By tensor, its mask; only models that run look at it. */
const masks = new WeakMap<tf.Tensor, tf.Tensor>();
/** Layers that a model calls right now: tfjs would compute their masks as if no input had one. */
const called = new Set<unknown>();
/** Masks made in the innermost model that runs within another one; null outside of all. */
let made: tf.Tensor[] | null = null;

/** The mask that a tensor of a model that runs has; null: none. */
export function maskOf(tensor: tf.Tensor): tf.Tensor | null {
  return masks.get(tensor) ?? null;
}

interface MaskedLayer {
  readonly supportsMasking: boolean;
  readonly computeMask: ComputeMask;
  /** Whether a call takes a list of the masks of all inputs, as layers of this package may. */
  readonly takesMasks?: boolean;
}

/** Notes the mask of what a layer gives: as the loop of tfjs does, the first one for all outputs. */
function noteMask(layer: MaskedLayer, inputs: tf.Tensor[], before: (tf.Tensor | null)[], result: unknown): void {
  const [mask = null] = [withoutTape(() => layer.computeMask(inputs, before))].flat();
  if (mask === null) return;
  for (const output of [result as tf.Tensor | tf.Tensor[]].flat()) masks.set(output, mask);
  if (!before.includes(mask)) made?.push(tf.keep(mask));
}

/** Makes a class take the masks that its inputs carry, and pass its own on with its outputs. */
function carryMasks(apply: Apply): Apply {
  return function (inputs, kwargs) {
    if (!isRun(inputs)) return apply.call(this, inputs, kwargs);
    const layer = this as MaskedLayer;
    const before = inputs.map((input) => masks.get(input) ?? null);
    // The loop hands one object to all layers: masks and initial states of one would reach the next.
    const { mask: given = before[0], ...others } = kwargs ?? {};
    delete kwargs?.mask;
    const mask = layer.takesMasks === true && !Array.isArray(given) && before.some(isMask) ? before : given;
    const own = mask === undefined || mask === null ? others : { ...others, mask };
    // Outside of all scopes what is noted would leak: a mask goes with the result alone, as in tfjs.
    if (!isInScope()) return apply.call(layer, inputs, own);
    called.add(layer);
    try {
      const result = apply.call(layer, inputs, own);
      if (layer.supportsMasking) noteMask(layer, inputs, before, result);
      return result;
    } finally {
      called.delete(layer);
    }
  };
}

/** Lets masks into and out of models within models, as Keras does. */
function passMasks(call: Apply): Apply {
  return function (inputs, kwargs) {
    const { mask, ...others } = kwargs ?? {};
    const [first] = [inputs].flat() as tf.Tensor[];
    if (mask instanceof tf.Tensor && first !== undefined && !masks.has(first)) masks.set(first, mask);
    const [outer, own] = [made, [] as tf.Tensor[]];
    made = own;
    try {
      const result = call.call(this, inputs, others);
      for (const output of [result as tf.Tensor | tf.Tensor[]].flat()) {
        const known = masks.get(output);
        if (known === undefined || !own.includes(known)) continue;
        masks.delete(output);
        // Outside of all scopes it would leak.
        if (!isInScope()) continue;
        const copy = tf.clone(known);
        masks.set(output, copy);
        outer?.push(tf.keep(copy));
      }
      return result;
    } finally {
      made = outer;
      tf.dispose(own);
    }
  };
}

function isInScope(): boolean {
  const { state } = tf.engine() as unknown as { state: { scopeStack: readonly unknown[] } };
  return state.scopeStack.length > 0;
}

const prototypeOf = (object: object): object => Object.getPrototypeOf(object) as object;

/** Gives each layer of a model the mask of its own input. */
export function mendMasks(): void {
  // Names, as default names are counted.
  const lstm = tf.layers.lstm({ units: 1, name: 'lstm' });
  const both = tf.layers.bidirectional({ layer: lstm as tf.RNN, name: 'both' });
  const { prototype } = tf.layers.Layer;
  // These take the tensor out of the list before they call the first one.
  for (const each of [prototype, tf.RNN.prototype, prototypeOf(both)]) override(each, 'apply', carryMasks, 'mend');
  const marking = (setMaskMetadata: (...args: unknown[]) => void) =>
    function (this: unknown, ...args: unknown[]): void {
      if (!called.has(this)) setMaskMetadata.apply(this, args);
    };
  override(prototype, 'setMaskMetadata', marking, 'mend');
  override(MODELS.containers, 'call', passMasks, 'mend');
  const merge = prototypeOf(prototypeOf(tf.layers.add({ name: 'merge' })));
  override(merge, 'computeMask', joinMasks(joined), 'mend');
  override(prototypeOf(tf.layers.concatenate({ name: 'merge' })), 'computeMask', joinMasks(concatenated), 'mend');
}
