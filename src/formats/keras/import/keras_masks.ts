/** Layers that have to be others here, so that masks go where they go in Keras 3. */
import * as tf from '@tensorflow/tfjs';
import { Concatenate } from '../../../layers/merge/concatenate.js';
import { naming } from '../layer_error.js';
import type { BuiltLayer } from './built.js';
import type { Masks } from './masks.js';

type Symbolic = tf.SymbolicTensor;

/** By the layer that they come before or stand for. */
const made = new WeakMap<BuiltLayer, tf.layers.Layer>();

function madeFor(built: BuiltLayer, make: () => tf.layers.Layer): tf.layers.Layer {
  const layer = made.get(built) ?? naming(built.json, make);
  made.set(built, layer);
  return layer;
}

/** The steps of a sequence without their mask, which TensorFlow.js would pass on. */
export function withoutMask(built: BuiltLayer, steps: Symbolic): Symbolic {
  const dims = steps.shape.slice(1).map((_, i) => i + 1);
  const layer = madeFor(built, () => tf.layers.permute({ dims, name: `${built.layer.name}_unmasked` }));
  return layer.apply(steps) as Symbolic;
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
