/** A layer of a file applied to the tensors of a graph, as the call in the file says. */
import type * as tf from '@tensorflow/tfjs';
import { described } from '../../../base/errors.js';
import { DistributedEmbedding } from '../../../layers/distributed_embedding/layer.js';
import { Embedding } from '../../../layers/embedding/embedding.js';
import { RaggedEmbedding } from '../../../layers/embedding/ragged_embedding.js';
import { FeatureCross } from '../../../layers/feature_interaction/feature_cross.js';
import { KerasLayer } from '../../../layers/keras/keras_layer.js';
import { nextName } from '../../../base/layer_names.js';
import { isRecord } from '../../../base/options.js';
import { Operation } from '../../../layers/operations/operation.js';
import { layerError, naming } from '../layer_error.js';
import { STOCK_LAYERS } from '../stock_layers.js';
import { settleAxis } from './axes.js';
import { layersOf, type Built, type BuiltLayer, type BuiltModel } from './built.js';
import { followMasks } from '../nested_masks.js';
import {
  addedTo,
  apart,
  asFloats,
  commonMask,
  joinAsKeras3,
  maskedSoftmax,
  mergeMasked,
  mergedMask,
  placesOf,
  withMask,
} from './keras_masks.js';
import { ATTENTION, ENDS_HERE, LEAVE_OUT, LOOPS, MERGED, type MaskedLayer, type Masks } from './masks.js';
import { flatten, type CallJson } from './nodes.js';
import { constantTensor } from './operations.js';
import { ToldMask, isTensor } from './told_masks.js';
import type { Json } from './topology.js';

type Symbolic = tf.SymbolicTensor;

/** A call with tensors in place of references. */
export type Call = CallJson;

/** Whether an argument is not given: models with several inputs have a list or record of masks, one for each. */
function isAbsent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((each) => each === null);
  if (isRecord(value) && !isTensor(value)) return Object.values(value).every((each) => each === null);
  return value === null || value === undefined || value === false;
}

/** What of the kwargs has an effect; `known` are those that the layer takes. */
function readKwargs({ json }: Built, kwargs: Json, known: readonly string[]): Json {
  const given = Object.entries(kwargs).filter(([, value]) => !isAbsent(value));
  for (const [key, value] of given) {
    if (known.includes(key)) continue;
    const received = isTensor(value) ? described('a tensor') : value;
    throw layerError(json, `inbound_nodes.${key}`, 'nothing: TensorFlow.js calls the layer without it', received);
  }
  return Object.fromEntries(given);
}

function tensorsOf(built: Built, value: unknown): Symbolic[] {
  const list = flatten(value);
  for (const item of list) {
    if (!isTensor(item)) throw layerError(built.json, 'inbound_nodes', 'tensors alone', item);
  }
  return list as Symbolic[];
}

/** The tensors for a nested model in the order of its inputs. */
export function modelInputs(built: BuiltModel, value: unknown): Symbolic[] {
  const keys = built.inputKeys;
  if (!isRecord(value) || isTensor(value) || keys === null) return tensorsOf(built, value);
  return keys.map((key) => {
    const tensor = Object.hasOwn(value, key) ? value[key] : undefined;
    if (!isTensor(tensor)) throw layerError(built.json, 'inbound_nodes', `a tensor for the input ${key}`, tensor);
    return tensor;
  });
}

/** The tensors for a nested model with the masks that the call tells, in their order. */
function maskedInputs(
  built: BuiltModel,
  inputs: readonly Symbolic[],
  told: unknown,
  masks: Masks,
  made: tf.layers.Layer[],
): Symbolic[] {
  if (told === undefined) return [...inputs];
  const list = [told].flat();
  return inputs.map((x, i) => {
    const mask = readMask(list[i] ?? null);
    if (mask === undefined || list.length !== inputs.length) {
      throw layerError(built.json, 'inbound_nodes.mask', `a mask for each of ${inputs.length} inputs`, told);
    }
    return withMask(x, mask, masks, made);
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

/** Operands of attention, by the names and the order that Keras has for them. */
export const ATTENTION_OPERANDS = ['query', 'value', 'key'];

/** A mask that a file tells; null where it tells that there is none. */
function readMask(value: unknown): ToldMask | null | undefined {
  if (value === undefined || value === null || value instanceof ToldMask) return value;
  return isTensor(value) ? new ToldMask('Cast', [value], { dtype: 'bool' }) : undefined;
}

/** The inputs of a layer of attention, each with its mask, and the mask of the attention itself. */
function attentionInputs(built: BuiltLayer, { args, kwargs, tellsMask }: Call, masks: Masks, made: Layers): Symbolic[] {
  const { json } = built;
  const isMany = json.className === 'MultiHeadAttention';
  const given = isMany ? [...args] : ([args[0]].flat() as unknown[]);
  const { mask, use_causal_mask: _causal, return_attention_scores: _scores, ...rest } = kwargs;
  const known = [...ATTENTION_OPERANDS, 'attention_mask', ...ATTENTION_OPERANDS.map((name) => `${name}_mask`)];
  const named = readKwargs(built, rest, isMany ? known : []);
  const operands = isMany ? ATTENTION_OPERANDS.map((name, i) => given[i] ?? named[name] ?? null) : given;
  const list = tensorsOf(
    built,
    operands.filter((each) => each !== null),
  );
  const told = isMany ? ATTENTION_OPERANDS.map((name) => named[`${name}_mask`]) : mask;
  const own = list.map((_, i) => {
    if (!tellsMask || !Array.isArray(told)) return undefined;
    // A list of masks tells all of them; of several heads each mask is an argument, null where it is not given.
    if (!isMany) return readMask(told[i] ?? null);
    // Keras takes the mask of the query from the query, whatever the call tells.
    if (i === 0 && !masks.isMasked(list[0]!)) return undefined;
    return readMask(told[i]) ?? undefined;
  });
  // Where one has to be told, all are.
  const isTold = own.some((each, i) => each !== undefined && !masks.has(list[i]!, each));
  const inputs = list.map((x, i) => (isTold && own[i] !== undefined ? withMask(x, own[i], masks, made, true) : x));
  const attention = given[6] ?? named['attention_mask'] ?? null;
  if (attention === null) return inputs;
  if (inputs.length === 2) inputs.push(inputs[1]!);
  const tensor = attention instanceof ToldMask ? attention.symbolic(made) : attention;
  return [...inputs, isTensor(tensor) ? tensor : constantTensor(json, tensor, inputs[0]!, made)];
}

type Layers = tf.layers.Layer[];

/** The rows of a PositionEmbedding for a sequence: those of its places, or of `positions`. */
function positionRows(built: BuiltLayer, args: readonly unknown[], kwargs: Json, made: Layers): Symbolic {
  const { start_index: start = 0, positions = args[2] } = readKwargs(built, kwargs, ['start_index', 'positions']);
  const [x] = tensorsOf(built, args[0]);
  const from = args[1] ?? start;
  if (typeof from !== 'number') throw layerError(built.json, 'inbound_nodes.start_index', 'a number', from);
  const places = positions === undefined || positions === null ? placesOf(x!, from, made) : positions;
  return naming(built.json, () => built.layer.apply(tensorsOf(built, places)) as Symbolic);
}

/** Rows of ids, or vectors against all rows: Keras is told which by an argument, the layer here by the dtype. */
function looked(built: BuiltLayer, [x]: readonly Symbolic[], told: unknown, kwargs: Json, made: Layers): Symbolic {
  const { reverse = told } = readKwargs(built, kwargs, ['reverse']);
  const dtype = reverse === true ? 'float32' : 'int32';
  if (x!.dtype === dtype) return naming(built.json, () => built.layer.apply(x!) as Symbolic);
  const cast = new Operation({ name: nextName('keras_cast'), operation: 'Cast', settings: { dtype } });
  made.push(cast);
  return naming(built.json, () => built.layer.apply(cast.apply(x!) as Symbolic) as Symbolic);
}

/** Applies the layer; returns its outputs as Keras counts them. `made`: where layers that are made for it are noted. */
export function callLayer(built: Built, call: Call, masks: Masks, made: Layers): Symbolic[] {
  const { kwargs: all, tellsMask } = call;
  const { json } = built;
  // Masks are tensors to all but layers that take masks.
  const asTensors = (value: unknown): unknown => {
    if (value instanceof ToldMask) return value.symbolic(made);
    return Array.isArray(value) ? value.map(asTensors) : value;
  };
  const args = call.args.map(asTensors);
  const [first, second] = args;
  const { mask, ...kwargs } = all;
  const most = (count: number): void => {
    if (args.length <= count) return;
    throw layerError(json, 'inbound_nodes', `at most ${count} arguments`, described(`${args.length}`));
  };
  if (built.kind === 'model') {
    most(1);
    const inputs = maskedInputs(
      built,
      modelInputs(built, first),
      readKwargs(built, all, ['mask'])['mask'],
      masks,
      made,
    );
    const outputs = flatten(naming(json, () => built.model.apply(single(inputs)))) as Symbolic[];
    passThrough(built, inputs, outputs, masks);
    return outputs;
  }
  const { layer } = built;
  if (built.places !== undefined) {
    const inputs = tensorsOf(built, first);
    const rows = naming(json, () => layer.apply(inputs) as Symbolic);
    masks.pass(built, inputs, [rows]);
    const places = built.places.layer.apply(placesOf(rows, 0, made)) as Symbolic;
    return [withMask(addedTo(rows, places, made), masks.maskOf(rows), masks, made)];
  }
  if (json.className === 'PositionEmbedding') return [positionRows(built, args, kwargs, made)];
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
  const isAttention = ATTENTION.includes(json.className);
  const isDifference = json.className === 'Subtract';
  const merges = STOCK_LAYERS.get(json.className)?.merges === true || layer instanceof FeatureCross || isDifference;
  const inputs = isAttention ? attentionInputs(built, call, masks, made) : tensorsOf(built, merges ? args : first);
  if (!merges && !isAttention) most(json.className === 'ReversibleEmbedding' ? 2 : 1);
  if (json.className === 'ReversibleEmbedding') return [looked(built, tensorsOf(built, first), second, kwargs, made)];
  const isLoop = LOOPS.includes(json.className);
  const { initial_state: initial } = isAttention
    ? {}
    : readKwargs(built, kwargs, isLoop ? ['initial_state'] : layer instanceof KerasLayer ? ['training'] : []);
  if (initial !== undefined) inputs.push(...tensorsOf(built, initial));
  if (isRecord(first) && !isTensor(first))
    throw layerError(json, 'inbound_nodes', 'a tensor or a list', described('an object'));
  if (inputs[0] !== undefined) settleAxis(built, inputs[0]);
  const caller = tellsMask && json.className === 'Concatenate' ? joinAsKeras3(built, inputs, masks) : built;
  // Keras 3 passes no masks on by itself to calls with states; others take what comes where none is told.
  const told = isLoop && tellsMask && initial !== undefined ? (mask ?? null) : (mask ?? undefined);
  if (json.className === 'Softmax' && tellsMask && (isTensor(mask) || mask instanceof ToldMask)) {
    return [withMask(maskedSoftmax(built, inputs[0]!, mask, made), masks.maskOf(inputs[0]!), masks, made)];
  }
  // They compute without the mask, and pass it on.
  const passed = isLoop && tellsMask && initial !== undefined && told === null ? masks.maskOf(inputs[0]!) : null;
  const own = isAttention ? undefined : readMask(told);
  if (own !== undefined) inputs[0] = withMask(inputs[0]!, own, masks, made);
  masks.check(caller, inputs);
  if (tellsMask) masks.checkPassed(caller, inputs);
  if (tellsMask && LEAVE_OUT.includes(json.className) && inputs.some((input) => masks.isMasked(input))) {
    const merged = mergeMasked(json.className, inputs, masks, made);
    return [withMask(merged, mergedMask(inputs, masks), masks, made)];
  }
  const alike = json.className === 'Concatenate' ? asFloats(inputs, masks, made) : inputs;
  const given = apart(alike, masks, made);
  const outputs = flatten(naming(json, () => caller.layer.apply(merges ? given : single(given)))) as Symbolic[];
  masks.pass(caller, inputs, outputs);
  const [output] = outputs as [Symbolic];
  if (passed !== null && (caller.layer as unknown as { returnSequences: boolean }).returnSequences)
    return [withMask(output, passed, masks, made), ...outputs.slice(1)];
  if (ENDS_HERE.includes(json.className)) {
    // In Keras 2 layers of preprocessing end a mask.
    const isEnd = !tellsMask && ['Normalization', 'Rescaling'].includes(json.className);
    return [withMask(output, isEnd ? null : masks.maskOf(inputs[0]!), masks, made)];
  }
  if (!MERGED.includes(json.className) && !LEAVE_OUT.includes(json.className)) return outputs;
  if (tellsMask || isDifference) {
    // Of a model within a model it is not known yet which of the others have masks.
    const isBare = tellsMask && inputs.some((input) => masks.isBare(input));
    const joined = (tellsMask ? mergedMask : commonMask)(inputs, masks);
    return [withMask(output, isBare ? null : joined, masks, made, isBare)];
  }
  // Keras 2 joins them as it is done here.
  masks.set(output, output, commonMask(inputs, masks));
  return outputs;
}
