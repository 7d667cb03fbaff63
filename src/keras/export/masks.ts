/** Masks that Keras takes otherwise than TensorFlow.js. */
import type * as tf from '@tensorflow/tfjs';
import { described } from '../../errors.js';
import { heldError, LOOPS, type MaskedLayer, type Masks } from '../import/masks.js';
import { layerError } from '../layer_error.js';
import { followMasks } from '../nested_masks.js';
import { namedLayer } from './layer_json.js';

function checkJoined(masks: Masks, { json }: MaskedLayer, [first]: readonly tf.SymbolicTensor[]): void {
  if (!LOOPS.includes(json.className) || !masks.carriedBy(first!).isMixed) return;
  const expected = 'the same mask on all that is merged: Keras joins masks in another way';
  throw layerError(json, 'mask', expected, described('a mask that a merging layer joined'));
}

/** Throws where Keras predicts something else because of a mask, in models within the model too. */
export function checkMasks(model: tf.LayersModel): void {
  const describe = (layer: tf.layers.Layer): MaskedLayer => ({ json: { ...namedLayer(layer), config: {} }, layer });
  const results = followMasks(model, [], describe, checkJoined);
  results.forEach(({ isHeld }, i) => {
    if (isHeld) throw heldError(namedLayer(model.outputs[i]!.sourceLayer));
  });
}
