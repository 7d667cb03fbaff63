/** Masks that Keras takes otherwise than TensorFlow.js. */
import type * as tf from '@tensorflow/tfjs';
import { described } from '../../errors.js';
import { Masks, type MaskedLayer } from '../import/masks.js';
import { layerError } from '../layer_error.js';
import { STOCK_LAYERS } from '../stock_layers.js';
import { namedLayer } from './layer_json.js';

type Symbolic = tf.SymbolicTensor;
type Node = tf.layers.Layer['inboundNodes'][number];

/** Layers that skip masked steps. */
const LOOPS = ['SimpleRNN', 'LSTM', 'GRU', 'Bidirectional'];

/** The calls of a model, from inputs to outputs. */
function callsOf(model: tf.LayersModel): Node[] {
  const { nodesByDepth } = model as unknown as { nodesByDepth: Readonly<Record<string, Node[]>> };
  const depths = Object.keys(nodesByDepth).sort((a, b) => Number(b) - Number(a));
  return depths.flatMap((depth) => nodesByDepth[depth]!);
}

/** Throws where Keras predicts something else because of a mask. `model`: one that holds the graph of its layers. */
export function checkMasks(model: tf.LayersModel): void {
  const masks = new Masks();
  /** Sums and the like of tensors of which not all have the same mask. */
  const mixed = new Set<Symbolic>();
  for (const { outboundLayer: layer, inputTensors, outputTensors } of callsOf(model)) {
    if (inputTensors.length === 0) continue;
    const built: MaskedLayer = { json: { ...namedLayer(layer), config: {} }, layer };
    const { className } = built.json;
    if (LOOPS.includes(className) && mixed.has(inputTensors[0]!)) {
      const expected = 'the same mask on all that is merged: Keras joins masks in another way';
      throw layerError(built.json, 'mask', expected, described('a mask that a merging layer joined'));
    }
    masks.check(built, inputTensors, undefined);
    masks.pass(built, inputTensors, outputTensors);
    const merges = STOCK_LAYERS.get(className)?.merges === true && className !== 'Concatenate';
    const sources = new Set(inputTensors.map((input) => masks.sourceOf(input)));
    const isMixed = (merges && sources.size > 1) || inputTensors.some((input) => mixed.has(input));
    if (isMixed && masks.sourceOf(outputTensors[0]!) !== undefined) mixed.add(outputTensors[0]!);
  }
  for (const output of model.outputs) masks.checkWhole(output, namedLayer(output.sourceLayer));
}
