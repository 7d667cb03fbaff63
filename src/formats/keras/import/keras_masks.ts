/** Layers that have to be others here, so that masks go where they go in Keras 3. */
import type * as tf from '@tensorflow/tfjs';
import { Concatenate } from '../../../layers/merge/concatenate.js';
import { nextName } from '../../../base/layer_names.js';
import { Operation, type OperandTemplate } from '../../../layers/operations/operation.js';
import { WithMask, distinct } from '../../../layers/merge/with_mask.js';
import { naming } from '../layer_error.js';
import type { BuiltLayer } from './built.js';
import type { Masks } from './masks.js';
import { ToldMask, either } from './told_masks.js';

type Symbolic = tf.SymbolicTensor;
type Layers = tf.layers.Layer[];

/** By the layer that they come before or stand for. */
const made = new WeakMap<BuiltLayer, tf.layers.Layer>();

function madeFor(built: BuiltLayer, make: () => tf.layers.Layer): tf.layers.Layer {
  const layer = made.get(built) ?? naming(built.json, make);
  made.set(built, layer);
  return layer;
}

/**
 * The tensor with this mask, and with no other one. `made`: where layers that are made for it are noted; `always`: also
 * where it has the mask.
 */
export function withMask(x: Symbolic, mask: ToldMask | null, masks: Masks, made: Layers, always = false): Symbolic {
  if (!always && masks.has(x, mask)) return x;
  const layer = new WithMask({ mask: mask === null ? 'none' : 'given' });
  made.push(layer);
  const result = layer.apply(mask === null ? x : [x, mask.symbolic(made)]) as Symbolic;
  masks.set(result, x, mask);
  return result;
}

/** The inputs of a call, each another tensor; see `distinct`. */
export function apart(inputs: Symbolic[], masks: Masks, made: Layers): Symbolic[] {
  return distinct(inputs, (layer, from) => {
    made.push(layer);
    masks.carry(layer.output as Symbolic, masks.carriedBy(from));
  });
}

/** The mask that layers of Keras 3 give which merge tensors: there is one where all inputs have one. */
export function mergedMask(inputs: readonly Symbolic[], masks: Masks): ToldMask | null {
  const all = inputs.map((input) => masks.maskOf(input));
  return all.reduce((a, b) => (a === null || b === null ? null : either(a, b)));
}

/** The mask that such layers of Keras 2 give: a step counts where all masks have it. */
export function commonMask(inputs: readonly Symbolic[], masks: Masks): ToldMask | null {
  const all = inputs.map((input) => masks.maskOf(input)).filter((mask) => mask !== null);
  const different = all.filter((mask, i) => all.findIndex(({ text }) => text === mask.text) === i);
  return different.reduce<ToldMask | null>((a, b) => (a === null ? b : new ToldMask('LogicalAnd', [a, b])), null);
}

type Apply = (name: string, tensors: Symbolic[], ...rest: OperandTemplate[]) => Symbolic;

/** What applies operations to tensors, followed by other operands. */
function applyTo(made: Layers, settings: Readonly<Record<string, unknown>> = {}): Apply {
  return (operation, tensors, ...rest) => {
    const operands = [...tensors.map((_, tensor) => ({ tensor })), ...rest];
    const layer = new Operation({ name: nextName('keras_merge'), operation, operands, settings });
    made.push(layer);
    return layer.apply(tensors) as Symbolic;
  };
}

/** A softmax of Keras 3 that is told a mask: numbers that it leaves out count as none, and come out as 0. */
export function maskedSoftmax({ json }: BuiltLayer, x: Symbolic, mask: Symbolic | ToldMask, made: Layers): Symbolic {
  const apply = applyTo(made);
  const told = mask instanceof ToldMask ? mask.symbolic(made) : mask;
  const counts = told.dtype === 'bool' ? told : apply('Greater', [told], 0.5);
  const { axis = -1 } = json.config;
  const softmax = applyTo(made, { axis })('Softmax', [apply('Where', [counts, x], -1e9)]);
  return apply('Where', [counts, softmax], 0);
}

/** The place of each step of [batch, ..., steps, features], counted from `start`. */
export function placesOf(x: Symbolic, start: number, made: Layers): Symbolic {
  const apply = applyTo(made);
  const ones = applyTo(made, { dtype: 'int32' })('OnesLike', [apply('GetItem', [x], [{ ellipsis: true }, 0])]);
  return apply('Add', [applyTo(made, { axis: -1 })('Cumsum', [ones])], start - 1);
}

/** A sum, without a mask. */
export function addedTo(a: Symbolic, b: Symbolic, made: Layers): Symbolic {
  return applyTo(made)('Add', [a, b]);
}

/** Inputs of one dtype: tfjs joins them as the first one is. */
export function asFloats(inputs: Symbolic[], masks: Masks, made: Layers): Symbolic[] {
  if (inputs.every(({ dtype }) => dtype === inputs[0]!.dtype)) return inputs;
  return inputs.map((x) => {
    if (x.dtype === 'float32') return x;
    const cast = applyTo(made, { dtype: 'float32' })('Cast', [x]);
    masks.carry(cast, masks.carriedBy(x));
    return cast;
  });
}

/** What such a layer of Keras 3 gives, where an input has a mask: as operations. */
export function mergeMasked(operation: string, inputs: readonly Symbolic[], masks: Masks, made: Layers): Symbolic {
  const wide = (mask: ToldMask): Symbolic => new ToldMask('ExpandDims', [mask], { axis: -1 }).symbolic(made);
  const apply = applyTo(made);
  const merged = mergedMask(inputs, masks);
  if (operation === 'Multiply') {
    const factors = inputs.map((x) => {
      const mask = masks.maskOf(x);
      return mask === null ? x : apply('Where', [wide(mask), x], 1);
    });
    const product = factors.reduce((a, b) => apply('Multiply', [a, b]));
    return merged === null ? product : apply('Where', [wide(merged), product], 0);
  }
  let [output, mask] = [inputs[0]!, masks.maskOf(inputs[0]!)];
  for (const x of inputs.slice(1)) {
    const own = masks.maskOf(x);
    const other = own === null ? x : apply('Where', [wide(own), x, output]);
    const known = mask === null ? output : apply('Where', [wide(mask), output, other]);
    output = apply(operation, [known, other]);
    mask = mask === null || own === null ? null : either(mask, own);
  }
  return output;
}

/** The Concatenate that joins masks as Keras 3 does, where an input has one. */
export function joinAsKeras3(built: BuiltLayer, inputs: readonly Symbolic[], masks: Masks): BuiltLayer {
  if (built.layer instanceof Concatenate || !inputs.some((input) => masks.isMasked(input))) return built;
  const layer = madeFor(built, () => {
    const { name, axis, trainable } = built.layer.getConfig() as { name: string; axis: number; trainable: boolean };
    // One that was applied without masks stays in the model.
    return new Concatenate({ name: built.layer.inboundNodes.length === 0 ? name : `${name}_masked`, axis, trainable });
  });
  return { ...built, layer };
}
