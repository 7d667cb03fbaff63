/** The ops of a model: its layers, from the inputs to what is asked for, as `predict` runs them. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import type { GraphVariable } from './graph/function_builder.js';
import type { GraphBuilder } from './graph/graph_builder.js';
import type { GraphForm } from './graph/graph_form.js';
import { RefusedOp } from './graph/refused_op.js';
import { Operations } from './graph/operations.js';
import type { Value } from './graph/value.js';
import { LayerCall, type Emitted, type GraphContext } from './layers/layer_call.js';
import { maskOf } from './layers/masks.js';
import { emitterOf } from './layers/registry.js';

/** What tfjs keeps of each use of a layer. */
export interface LayerNode {
  readonly inputTensors: readonly tf.SymbolicTensor[];
  readonly outputTensors: readonly tf.SymbolicTensor[];
}

/** The node that a symbolic tensor comes from, which tfjs keeps to itself. */
export function nodeOf(symbolic: tf.SymbolicTensor): LayerNode {
  const { sourceLayer, nodeIndex } = symbolic as unknown as {
    sourceLayer: { inboundNodes: readonly LayerNode[] };
    nodeIndex: number;
  };
  return sourceLayer.inboundNodes[nodeIndex]!;
}

/** Whether it is fed: tfjs lets inputs come from themselves. */
export function isInput(symbolic: tf.SymbolicTensor): boolean {
  return layerOf(symbolic).getClassName() === 'InputLayer';
}

export function layerOf(symbolic: tf.SymbolicTensor): tf.layers.Layer {
  return (symbolic as unknown as { sourceLayer: tf.layers.Layer }).sourceLayer;
}

/** A model within a model, sequential or not. */
export function isModel(layer: tf.layers.Layer): layer is tf.LayersModel {
  const { inputs, outputs } = layer as Partial<tf.LayersModel>;
  return layer instanceof tf.LayersModel && Array.isArray(inputs) && Array.isArray(outputs);
}

/** A model, or as much of one as a signature asks for. */
export interface ModelPart {
  readonly inputs: readonly tf.SymbolicTensor[];
  readonly outputs: readonly tf.SymbolicTensor[];
}

export interface ModelGraphOptions {
  readonly customOps: boolean;
  readonly variableOf: (weight: tf.LayerVariable) => GraphVariable;
}

export class ModelGraph implements GraphContext {
  readonly operations: Operations;
  readonly customOps: boolean;
  readonly variableOf: (weight: tf.LayerVariable) => GraphVariable;

  constructor(
    readonly graph: GraphBuilder,
    readonly form: GraphForm,
    options: ModelGraphOptions,
  ) {
    this.operations = new Operations(graph);
    this.customOps = options.customOps;
    this.variableOf = options.variableOf;
  }

  /** The values of the outputs of a model, given those of its inputs. */
  emitModel(part: ModelPart, given: readonly Value[]): Value[] {
    return [...this.#emitModel(part, given, []).outputs];
  }

  #emitModel({ inputs, outputs }: ModelPart, given: readonly Value[], givenMasks: readonly (Value | null)[]): Emitted {
    const known = new Map<LayerNode, Emitted>();
    const fed = new Map(inputs.map((input, i) => [input.id, { value: given[i]!, mask: givenMasks[i] ?? null }]));
    const valueOf = (symbolic: tf.SymbolicTensor): { value: Value; mask: Value | null } => {
      const value = fed.get(symbolic.id);
      if (value !== undefined) return value;
      const node = nodeOf(symbolic);
      const emitted = known.get(node) ?? emitNode(symbolic, node);
      const place = node.outputTensors.findIndex(({ id }) => id === symbolic.id);
      return { value: emitted.outputs[place]!, mask: emitted.masks[place]! };
    };
    const emitNode = (symbolic: tf.SymbolicTensor, node: LayerNode): Emitted => {
      const layer = layerOf(symbolic);
      if (isInput(symbolic)) throw missingInput(layer);
      const all = node.inputTensors.map(valueOf);
      const values = all.map(({ value }) => value);
      const masks = all.map(({ mask }) => mask);
      // A call takes the mask of its first input alone.
      const emitted = this.#emitLayer(layer, values, masks[0] ?? null, masks);
      known.set(node, emitted);
      return emitted;
    };
    const results = outputs.map(valueOf);
    return { outputs: results.map(({ value }) => value), masks: results.map(({ mask }) => mask) };
  }

  emit(layer: tf.layers.Layer, inputs: readonly Value[], mask: Value | null): Emitted {
    return this.#emitLayer(layer, inputs, mask, [mask]);
  }

  #emitLayer(
    layer: tf.layers.Layer,
    inputs: readonly Value[],
    mask: Value | null,
    masks: readonly (Value | null)[],
  ): Emitted {
    return this.graph.within(layer.name, () => {
      if (isModel(layer)) return this.#emitModel(layer, inputs, masks);
      const call = new LayerCall(layer, inputs, mask, this, masks);
      const emitter = emitterOf(layer.getClassName());
      if (emitter === null) throw call.refuse('whose class has no counterpart there');
      try {
        const result = emitter(call);
        const outputs = Array.isArray(result) ? (result as readonly Value[]) : [result as Value];
        const own = maskOf(call, masks);
        // tfjs gives every output of a layer the mask of the first.
        return { outputs, masks: outputs.map(() => own) };
      } catch (error) {
        throw error instanceof RefusedOp ? call.refuse(error.message) : error;
      }
    });
  }
}

function missingInput(layer: tf.layers.Layer): ValueError {
  return new ValueError(
    'signatures',
    `inputs from which all outputs follow`,
    described(`none for input ${layer.name}`),
  );
}
