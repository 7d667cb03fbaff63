/** A layer of a file applied to the tensors of a graph, as the call in the file says. */
import type * as tf from '@tensorflow/tfjs';
import { described } from '../../../base/errors.js';
import { DistributedEmbedding } from '../../../layers/distributed_embedding/layer.js';
import { Embedding } from '../../../layers/embedding/embedding.js';
import { RaggedEmbedding } from '../../../layers/embedding/ragged_embedding.js';
import { FeatureCross } from '../../../layers/feature_interaction/feature_cross.js';
import { isRecord } from '../../../base/options.js';
import { layerError, naming } from '../layer_error.js';
import { STOCK_LAYERS } from '../stock_layers.js';
import { settleAxis } from './axes.js';
import { layersOf, type Built, type BuiltModel } from './built.js';
import { followMasks } from '../nested_masks.js';
import { joinAsKeras3, withoutMask } from './keras_masks.js';
import { LOOPS, type MaskedLayer, type Masks } from './masks.js';
import { flatten, type CallJson } from './nodes.js';
import type { Json } from './topology.js';

type Symbolic = tf.SymbolicTensor;

/** A call with tensors in place of references. */
export type Call = CallJson;

function isSymbolic(value: unknown): value is Symbolic {
  return isRecord(value) && 'sourceLayer' in value;
}

/** Whether an argument is not given: models with several inputs have a list or record of masks, one for each. */
function isAbsent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((each) => each === null);
  if (isRecord(value) && !isSymbolic(value)) return Object.values(value).every((each) => each === null);
  return value === null || value === undefined || value === false;
}

/** What of the kwargs has an effect; `known` are those that the layer takes. */
function readKwargs({ json }: Built, kwargs: Json, known: readonly string[]): Json {
  const given = Object.entries(kwargs).filter(([, value]) => !isAbsent(value));
  for (const [key, value] of given) {
    if (known.includes(key)) continue;
    const received = isSymbolic(value) ? described('a tensor') : value;
    throw layerError(json, `inbound_nodes.${key}`, 'nothing: TensorFlow.js calls the layer without it', received);
  }
  return Object.fromEntries(given);
}

function tensorsOf(built: Built, value: unknown): Symbolic[] {
  const list = flatten(value);
  for (const item of list) {
    if (!isSymbolic(item)) throw layerError(built.json, 'inbound_nodes', 'tensors alone', item);
  }
  return list as Symbolic[];
}

/** The tensors for a nested model in the order of its inputs. */
function modelInputs(built: BuiltModel, value: unknown): Symbolic[] {
  const keys = built.inputKeys;
  if (!isRecord(value) || isSymbolic(value) || keys === null) return tensorsOf(built, value);
  return keys.map((key) => {
    const tensor = Object.hasOwn(value, key) ? value[key] : undefined;
    if (!isSymbolic(tensor)) throw layerError(built.json, 'inbound_nodes', `a tensor for the input ${key}`, tensor);
    return tensor;
  });
}

function single<T>(list: readonly T[]): T | T[] {
  return list.length === 1 ? list[0]! : [...list];
}

/** Lets the masks of inputs into a model, and those of its outputs out. */
export function passThrough(
  built: BuiltModel,
  inputs: readonly Symbolic[],
  outputs: readonly Symbolic[],
  masks: Masks,
): void {
  const parts = new Map<tf.layers.Layer, MaskedLayer>(layersOf(built).map((part) => [part.layer, part]));
  const before = inputs.map((input) => masks.carriedBy(input));
  const after = followMasks(built.model, before, (layer) => {
    return parts.get(layer) ?? { json: { className: layer.getClassName(), name: layer.name, config: {} }, layer };
  });
  outputs.forEach((output, i) => masks.carry(output, after[i]!));
}

/** Applies the layer; returns its outputs as Keras counts them. */
export function callLayer(built: Built, { args, kwargs: all, tellsMask }: Call, masks: Masks): Symbolic[] {
  const { json } = built;
  const [first, second] = args;
  const { mask, ...kwargs } = all;
  const most = (count: number): void => {
    if (args.length <= count) return;
    throw layerError(json, 'inbound_nodes', `at most ${count} arguments`, described(`${args.length}`));
  };
  if (built.kind === 'model') {
    most(1);
    readKwargs(built, all, []);
    const inputs = modelInputs(built, first);
    const outputs = flatten(naming(json, () => built.model.apply(single(inputs)))) as Symbolic[];
    passThrough(built, inputs, outputs, masks);
    return outputs;
  }
  const { layer } = built;
  if (layer instanceof Embedding || layer instanceof RaggedEmbedding || layer instanceof DistributedEmbedding) {
    most(2);
    const weights = second ?? readKwargs(built, kwargs, ['weights'])['weights'] ?? null;
    if (layer instanceof DistributedEmbedding) {
      const options = weights === null ? {} : { weights };
      return flatten(naming(json, () => layer.apply(first as never, options))) as Symbolic[];
    }
    const inputs = tensorsOf(built, weights === null ? [first] : [first, weights]);
    const output = naming(json, () => layer.apply(single(inputs) as Symbolic));
    masks.pass(built, inputs, [output]);
    return [output];
  }
  const merges = STOCK_LAYERS.get(json.className)?.merges === true || layer instanceof FeatureCross;
  // As an operation `a + b` takes two tensors, as a layer a list of them.
  const inputs = tensorsOf(built, merges ? [...args] : first);
  if (!merges) most(1);
  const states = LOOPS.includes(json.className) ? ['initial_state'] : [];
  const { initial_state: initial } = readKwargs(built, kwargs, states);
  if (initial !== undefined) inputs.push(...tensorsOf(built, initial));
  if (isRecord(first) && !isSymbolic(first))
    throw layerError(json, 'inbound_nodes', 'a tensor or a list', described('an object'));
  if (inputs[0] !== undefined) settleAxis(built, inputs[0]);
  const caller = tellsMask && json.className === 'Concatenate' ? joinAsKeras3(built, inputs, masks) : built;
  // Keras 3 tells that there is no mask, but for calls with states, to which it passes none; others take what comes.
  const isUnmasked = mask === null || (mask === undefined && initial !== undefined);
  if (tellsMask && LOOPS.includes(json.className) && isUnmasked && masks.isMasked(inputs[0]!))
    inputs[0] = withoutMask(built, inputs[0]!);
  masks.check(caller, inputs, mask);
  const outputs = flatten(naming(json, () => caller.layer.apply(merges ? inputs : single(inputs)))) as Symbolic[];
  masks.pass(caller, inputs, outputs);
  return outputs;
}
