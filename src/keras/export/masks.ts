/** Masks that Keras takes otherwise than TensorFlow.js. */
import type * as tf from '@tensorflow/tfjs';
import { heldError, type MaskedLayer } from '../import/masks.js';
import { followMasks } from '../nested_masks.js';
import { namedLayer } from './layer_json.js';

/** Throws where Keras predicts something else because of a mask, in models within the model too. */
export function checkMasks(model: tf.LayersModel): void {
  const describe = (layer: tf.layers.Layer): MaskedLayer => ({ json: { ...namedLayer(layer), config: {} }, layer });
  const results = followMasks(model, [], describe, (masks, layer, inputs) => masks.checkPassed(layer, inputs));
  results.forEach(({ isHeld }, i) => {
    if (isHeld) throw heldError(namedLayer(model.outputs[i]!.sourceLayer));
  });
}
