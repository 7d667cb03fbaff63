/** Masks that Keras takes otherwise than TensorFlow.js. */
import type * as tf from '@tensorflow/tfjs';
import { LOOPS, heldError, type MaskedLayer } from '../import/masks.js';
import { LEAVE_OUT } from '../import/keras_masks.js';
import { layerError } from '../layer_error.js';
import { described } from '../../../base/errors.js';
import { followMasks } from '../nested_masks.js';
import { namedLayer } from './layer_json.js';

/** By the steps of a recurrent call with states, the tensor that their mask is made of: ids, or what Masking gives. */
export type StepMasks = ReadonlyMap<tf.SymbolicTensor, tf.SymbolicTensor>;

/**
 * Throws where Keras predicts something else because of a mask, in models within the model too. Returns the masks that
 * calls have to tell: Keras 3 passes none on by itself where a call has initial states.
 */
export function checkMasks(model: tf.LayersModel): StepMasks {
  const told = new Map<tf.SymbolicTensor, tf.SymbolicTensor>();
  const describe = (layer: tf.layers.Layer): MaskedLayer => ({ json: { ...namedLayer(layer), config: {} }, layer });
  const results = followMasks(model, [], describe, (masks, layer, inputs) => {
    masks.checkPassed(layer, inputs);
    if (LEAVE_OUT.includes(layer.json.className) && inputs.some((input) => masks.isMasked(input))) {
      const expected = 'inputs without masks: Keras leaves masked numbers out, and TensorFlow.js does not';
      throw layerError(layer.json, 'mask', expected, described('the mask of an embedding or of Masking'));
    }
    const source = masks.sourceOf(inputs[0]!);
    const isLoop = LOOPS.includes(layer.json.className);
    if (isLoop && inputs.length > 1 && source !== undefined) told.set(inputs[0]!, source);
  });
  results.forEach(({ isHeld }, i) => {
    if (isHeld) throw heldError(namedLayer(model.outputs[i]!.sourceLayer));
  });
  return told;
}
