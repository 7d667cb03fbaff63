/** Masks on their way through a model: into models within it and out of them, as Keras and TensorFlow.js pass them. */
import * as tf from '@tensorflow/tfjs';
import { Masks, type CarriedMask, type MaskedLayer } from './import/masks.js';

type Symbolic = tf.SymbolicTensor;
type Node = tf.layers.Layer['inboundNodes'][number];

/** The model with the graph of the layers. */
export function graphOf(model: tf.LayersModel): tf.LayersModel {
  if (!(model instanceof tf.Sequential)) return model;
  // A Sequential keeps the graph of its layers apart, and makes it when it first runs.
  const sequential = model as unknown as { readonly model?: tf.LayersModel; build(): void };
  if (sequential.model === undefined) sequential.build();
  return sequential.model!;
}

/** The calls of a model, from inputs to outputs. */
function callsOf(model: tf.LayersModel): Node[] {
  const { nodesByDepth } = model as unknown as { nodesByDepth: Readonly<Record<string, Node[]>> };
  const depths = Object.keys(nodesByDepth).sort((a, b) => Number(b) - Number(a));
  return depths.flatMap((depth) => nodesByDepth[depth]!);
}

/**
 * Follows the masks of inputs through a model; returns those of its outputs. Throws ValueError, which names the layer, where
 * Keras predicts something else because of a mask. `describe`: what errors tell of a layer; `check`: asked before each call.
 */
export function followMasks(
  model: tf.LayersModel,
  given: readonly CarriedMask[],
  describe: (layer: tf.layers.Layer) => MaskedLayer,
  check: (masks: Masks, layer: MaskedLayer, inputs: readonly Symbolic[]) => void = () => {},
): CarriedMask[] {
  const graph = graphOf(model);
  const masks = new Masks();
  given.forEach((each, i) => masks.carry(graph.inputs[i]!, each));
  for (const { outboundLayer: layer, inputTensors, outputTensors } of callsOf(graph)) {
    if (inputTensors.length === 0) continue;
    if (layer instanceof tf.LayersModel) {
      const before = inputTensors.map((input) => masks.carriedBy(input));
      const after = followMasks(layer, before, describe, check);
      outputTensors.forEach((output, i) => masks.carry(output, after[i]!));
      continue;
    }
    const described = describe(layer);
    check(masks, described, inputTensors);
    masks.check(described, inputTensors);
    masks.pass(described, inputTensors, outputTensors);
  }
  return graph.outputs.map((output) => masks.carriedBy(output));
}
