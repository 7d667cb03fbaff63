/** Masks that Keras takes otherwise than TensorFlow.js. */
import type * as tf from '@tensorflow/tfjs';
import { LEAVE_OUT, LOOPS, heldError, type MaskedLayer } from '../import/masks.js';
import { layerError } from '../layer_error.js';
import { described } from '../../../base/errors.js';
import { followMasks } from '../nested_masks.js';
import { WithMask } from '../../../layers/merge/with_mask.js';
import { namedLayer } from './layer_json.js';

/** By the steps of a recurrent call with states, the tensor that their mask is made of: ids, or what Masking gives. */
export type StepMasks = ReadonlyMap<tf.SymbolicTensor, tf.SymbolicTensor>;

/** The tensor that a layer made, which may come with another mask. */
function madeOf(tensor: tf.SymbolicTensor): tf.SymbolicTensor {
  const { sourceLayer: layer, nodeIndex } = tensor;
  return layer instanceof WithMask ? madeOf(layer.inboundNodes[nodeIndex!]!.inputTensors[0]!) : tensor;
}

/** Throws for masked queries that two calls take: after the first, in the order of Keras, their masks are gone. */
class MaskedQueries {
  readonly #calls = new Map<tf.SymbolicTensor, number>();
  readonly #queries = new Map<tf.SymbolicTensor, MaskedLayer>();

  take(layer: MaskedLayer, inputs: readonly tf.SymbolicTensor[], isMasked: boolean): void {
    const operands = new Set(inputs.slice(0, 3).map(madeOf));
    for (const each of operands) this.#calls.set(each, (this.#calls.get(each) ?? 0) + 1);
    if (isMasked) this.#queries.set(madeOf(inputs[0]!), layer);
  }

  check(): void {
    for (const [query, { json }] of this.#queries) {
      if (this.#calls.get(query) === 1) continue;
      const expected = 'a masked query that one call of an attention takes: Keras takes its mask away in the first';
      throw layerError(json, 'query_mask', expected, described(`${this.#calls.get(query)} calls`));
    }
  }
}

/**
 * Throws where Keras predicts something else because of a mask, in models within the model too. Returns the masks that
 * calls have to tell: Keras 3 passes none on by itself where a call has initial states.
 */
export function checkMasks(model: tf.LayersModel): StepMasks {
  const told = new Map<tf.SymbolicTensor, tf.SymbolicTensor>();
  const describe = (layer: tf.layers.Layer): MaskedLayer => ({ json: { ...namedLayer(layer), config: {} }, layer });
  const queries = new MaskedQueries();
  const results = followMasks(model, [], describe, (masks, layer, inputs) => {
    masks.checkPassed(layer, inputs);
    if (LEAVE_OUT.includes(layer.json.className) && inputs.some((input) => masks.isMasked(input))) {
      const expected = 'inputs without masks: Keras leaves masked numbers out, and TensorFlow.js does not';
      throw layerError(layer.json, 'mask', expected, described('the mask of an embedding or of Masking'));
    }
    const source = masks.sourceOf(inputs[0]!);
    if (layer.json.className === 'MultiHeadAttention') queries.take(layer, inputs, masks.isMasked(inputs[0]!));
    const isLoop = LOOPS.includes(layer.json.className);
    if (isLoop && inputs.length > 1 && source !== undefined) told.set(inputs[0]!, source);
  });
  queries.check();
  results.forEach(({ isHeld }, i) => {
    if (isHeld) throw heldError(namedLayer(model.outputs[i]!.sourceLayer));
  });
  return told;
}
