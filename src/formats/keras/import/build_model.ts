/** Models built of their JSON: graphs of layers, and layers one after the other. */
import * as tf from '@tensorflow/tfjs';
import type { NamedEnds } from '../../../tfjs/models/keras_names.js';
import { describe, described } from '../../../base/errors.js';
import { isRecord } from '../../../base/options.js';
import { Embedding } from '../../../layers/embedding/embedding.js';
import { layerError, naming } from '../layer_error.js';
import { foldAbsentIds, type CalledLayer } from './absent_ids.js';
import { settleAxis } from './axes.js';
import { asInference, isOfInference } from './inference_calls.js';
import { layersOf, type Built, type BuiltLayer, type BuiltModel } from './built.js';
import { inKerasOrder } from '../call_order.js';
import { ATTENTION_OPERANDS, callLayer, modelInputs, passThrough } from './call_layer.js';
import { apart, withMask } from './keras_masks.js';
import { Masks } from './masks.js';
import { checkClasses, inputArguments, makeLayer } from './make_layer.js';
import { TensorRef, flatten, readCalls, readRefs, refsOf, replaceRefs, type CallJson } from './nodes.js';
import type { Reading } from './stock_config.js';
import { callOperation, isOperation } from './operations.js';
import { ToldMask, isTensor, readMask } from './told_masks.js';
import { StringInputs, isStringInput, takesStrings } from './string_inputs.js';
import { isModel, nameHere, readLayers, type LayerJson } from './topology.js';
import { customObject } from './names/user_classes.js';

type Symbolic = tf.SymbolicTensor;

/** Reading, and every layer that was made, so that a failed import can free them. */
export interface Building extends Reading {
  /** Whether all within is called as in inference, whatever the model does. */
  readonly isInference?: boolean;
  /** Whether it is a model within a model: its inputs may come to have masks. */
  readonly isInner?: boolean;
  readonly made: tf.layers.Layer[];
}

/** The tables of a TokenAndPositionEmbedding of Keras Hub: of ids, and of their places. */
function tokensAndPlaces(json: LayerJson, building: Building): BuiltLayer {
  const { vocabulary_size, sequence_length, embedding_dim, embeddings_initializer, mask_zero, trainable } = json.config;
  const part = (name: string, className: string, config: object): BuiltLayer => {
    const buildConfig = { input_shape: [null, null, embedding_dim] };
    const own = { ...json, name: `${json.name}_${name}`, className, buildConfig, config: { trainable, ...config } };
    const layer = makeLayer(own, building);
    building.made.push(layer);
    return { kind: 'layer', json: own, layer };
  };
  const table = { input_dim: vocabulary_size, output_dim: embedding_dim, embeddings_initializer, mask_zero };
  const tokens = part('token_embedding', 'Embedding', table);
  const initializer = embeddings_initializer;
  const places = part('position_embedding', 'PositionEmbedding', { sequence_length, initializer });
  return { ...tokens, json, places };
}

/** Freezes all layers of a model, as Keras does, each of them for itself. */
function freeze(part: Built): void {
  if (part.kind === 'model') part.parts.forEach(freeze);
  else for (const { layer } of layersOf(part)) layer.trainable = false;
}

function build(given: LayerJson, building: Building): Built {
  const json = building.isInference === true ? asInference(given) : given;
  const built = buildPart(json, building);
  // Some layers of tfjs do not read it, and no model does.
  if (json.config['trainable'] === false) freeze(built);
  return built;
}

function buildPart(json: LayerJson, building: Building): Built {
  if (isModel(json)) return buildModel(json, { ...building, isInner: true });
  if (json.className === 'TokenAndPositionEmbedding') return tokensAndPlaces(json, building);
  const layer = makeLayer(json, building);
  building.made.push(layer);
  return { kind: 'layer', json, layer };
}

/** One call of one layer, and how many of its tensors are still missing. */
interface PendingCall extends CallJson {
  readonly json: LayerJson;
  readonly layer: string;
  readonly node: number;
  missing: number;
}

const keyOf = (layer: string, node: number): string => `${node}/${layer}`;

/** The number of the first call of a layer, where what it gives goes on, and where it is an output of the model. */
interface FirstNodes {
  readonly inner: number;
  readonly outer: number;
}

/** Numbers of calls by the layer that is called. */
function numbersByLayer(refs: readonly TensorRef[]): Map<string, number[]> {
  const numbers = new Map<string, number[]>();
  for (const { layer, node } of refs) {
    const own = numbers.get(layer);
    if (own === undefined) numbers.set(layer, [node]);
    else own.push(node);
  }
  return numbers;
}

/**
 * Models within models begin with a call of their own, which Keras does not write. Keras 2 and the first releases of
 * Keras 3 count it: the first written call then has the number 1. Later ones count it for outputs of the model alone. All
 * calls are needed, so the numbers say how they are counted.
 */
function firstNodes(
  called: readonly CalledLayer[],
  refs: readonly TensorRef[],
  outputs: readonly TensorRef[],
  version: Building['version'],
): Map<string, FirstNodes> {
  const [inner, outer] = [numbersByLayer(refs), numbersByLayer(outputs)];
  const counted: FirstNodes[] = [
    { inner: 1, outer: 1 },
    { inner: 0, outer: 0 },
  ];
  return new Map(
    called.flatMap(({ layer, calls }) => {
      if (!isModel(layer)) return [];
      const [own = [], ends = []] = [inner.get(layer.name), outer.get(layer.name)];
      const fits = (first: FirstNodes): boolean => {
        const numbers = new Set([...own.map((node) => node - first.inner), ...ends.map((node) => node - first.outer)]);
        return numbers.size === calls.length && [...numbers].every((node) => node >= 0 && node < calls.length);
      };
      const isSplit = version === 3 && layer.className !== 'Sequential';
      const found = (isSplit ? [{ inner: 0, outer: 1 }, ...counted] : counted).find(fits);
      const least = Math.min(1, ...own, ...ends);
      return [[layer.name, found ?? { inner: least, outer: least }] as const];
    }),
  );
}

/** The outputs of all calls, by layer and number of the call. */
class Graph {
  readonly #outputs = new Map<string, readonly (Symbolic | ToldMask)[]>();

  constructor(
    private readonly model: LayerJson,
    readonly masks: Masks,
    private readonly building: Building,
  ) {}

  #withoutMask(tensor: Symbolic): Symbolic {
    const { isInner = false, made } = this.building;
    const bare = this.#bare.get(tensor) ?? withMask(tensor, null, this.masks, made, isInner);
    this.#bare.set(tensor, bare);
    return bare;
  }

  /** Tensors whose masks a call has taken away, and each without one where a later call asked for it. */
  readonly #bare = new Map<Symbolic, Symbolic | null>();

  /** Takes the mask of a tensor away from all that ask for it from now on. */
  takeMask(tensor: Symbolic): void {
    if (!this.#bare.has(tensor)) this.#bare.set(tensor, null);
  }

  /** Whether a tensor's mask was taken away. */
  isTaken(tensor: Symbolic): boolean {
    return this.#bare.has(tensor);
  }

  set(layer: string, node: number, outputs: readonly (Symbolic | ToldMask)[]): void {
    this.#outputs.set(keyOf(layer, node), outputs);
  }

  has(key: string): boolean {
    return this.#outputs.has(key);
  }

  /** A tensor as a call finds it that runs now. */
  get(ref: TensorRef): Symbolic | ToldMask {
    const found = this.made(ref);
    return !(found instanceof ToldMask) && this.#bare.has(found) ? this.#withoutMask(found) : found;
  }

  /** A tensor as it was made. */
  made({ layer, node, tensor }: TensorRef): Symbolic | ToldMask {
    const found = this.#outputs.get(keyOf(layer, node))?.[tensor];
    if (found !== undefined) return found;
    const expected = 'tensors that the layers of the model give';
    throw layerError(this.model, 'layers', expected, described(`${describe(layer)}, ${node}, ${tensor}`));
  }
}

/** What one call gives: of a layer, or of an operation, which may be a mask. */
function runCall(
  json: LayerJson,
  part: Built | undefined,
  call: CallJson,
  masks: Masks,
  building: Building,
): readonly (Symbolic | ToldMask)[] {
  if (part !== undefined) return callLayer(part, call, masks, building.made);
  const mask = readMask(json, call);
  return mask === null ? callOperation(json, call, building) : [mask];
}

/** In Keras 3 an attention of several heads takes the masks of its operands away, in a model within the model too. */
function takeMasks(part: Built | undefined, { args, kwargs, tellsMask }: CallJson, graph: Graph): void {
  if (part === undefined || !tellsMask) return;
  if (part.kind === 'layer') {
    if (part.json.className !== 'MultiHeadAttention') return;
    const operands = [...args.slice(0, 3), ...ATTENTION_OPERANDS.map((name) => kwargs[name])];
    for (const each of operands) if (isTensor(each)) graph.takeMask(each);
    return;
  }
  modelInputs(part, args[0]).forEach((each, i) => part.takesMasks[i] === true && graph.takeMask(each));
}

function takesMasks(part: Built | undefined): boolean {
  if (part?.kind === 'model') return part.takesMasks.includes(true);
  return part?.json.className === 'MultiHeadAttention';
}

/** Runs all calls, each once what it takes is there. */
function runCalls(
  json: LayerJson,
  calls: readonly PendingCall[],
  graph: Graph,
  parts: ReadonlyMap<string, Built>,
  building: Building,
  outputs: readonly TensorRef[],
): void {
  // Which calls see a mask that another one takes away is a matter of order.
  const isOrdered = calls.some((call) => takesMasks(parts.get(call.layer)));
  const places = isOrdered ? new Map(inKerasOrder(calls, outputs).map((call, i) => [call, i])) : null;
  const waiting = new Map<string, PendingCall[]>();
  const { masks } = graph;
  for (const call of calls) {
    const keys = new Set(refsOf([call.args, call.kwargs]).map(({ layer, node }) => keyOf(layer, node)));
    for (const key of keys) {
      if (graph.has(key)) continue;
      call.missing++;
      waiting.set(key, [...(waiting.get(key) ?? []), call]);
    }
  }
  // The next one is the last.
  const ready = calls.filter(({ missing }) => missing === 0).reverse();
  if (places !== null) ready.sort((a, b) => places.get(b)! - places.get(a)!);
  let done = 0;
  for (let call = ready.pop(); call !== undefined; call = ready.pop()) {
    const part = parts.get(call.layer);
    const replace = (value: unknown): unknown => replaceRefs(value, (ref) => graph.get(ref));
    const kwargs = replace(call.kwargs) as CallJson['kwargs'];
    const given = { args: call.args.map(replace), kwargs, tellsMask: call.tellsMask };
    graph.set(call.layer, call.node, runCall(call.json, part, given, masks, building));
    takeMasks(part, given, graph);
    done++;
    const next = (waiting.get(keyOf(call.layer, call.node)) ?? []).filter((each) => --each.missing === 0);
    ready.push(...next.reverse());
    if (places !== null) ready.sort((a, b) => places.get(b)! - places.get(a)!);
  }
  if (done === calls.length) return;
  const stuck = calls.find(({ missing }) => missing > 0)!;
  const received = described(`a call of ${describe(stuck.layer)} that takes what no layer gives`);
  throw layerError(json, 'layers', 'calls that follow one another', received);
}

/** Lets a pipeline make the inputs, where some are strings. */
function withStrings(
  strings: StringInputs,
  inputs: readonly Symbolic[],
  layers: readonly LayerJson[],
): Pick<BuiltModel, 'strings'> {
  if (strings.isEmpty) return {};
  const names = new Map(layers.map((layer) => [nameHere(layer), layer.name]));
  for (const input of inputs) {
    const { name } = input.sourceLayer;
    strings.addNumbers(input, names.get(name) ?? name);
  }
  return { strings };
}

/** What Keras calls the inputs, where it is not what they are called here. */
function namedInputs(layers: readonly LayerJson[], inputs: unknown): NamedEnds | null {
  const isKeyed = isRecord(inputs) && !(inputs instanceof TensorRef);
  if (isKeyed && Object.values(inputs).every((item) => item instanceof TensorRef)) {
    return { names: Object.keys(inputs).sort(), isKeyed };
  }
  const isRenamed = layers.some((layer) => layer.className === 'InputLayer' && layer.tensorName !== undefined);
  return isRenamed ? { names: refsOf(inputs).map(({ layer }) => layer), isKeyed: false } : null;
}

/** What Keras calls the outputs: the keys of an object, or the layers that give them; null where a name comes twice. */
function namedOutputs(outputs: unknown): NamedEnds | null {
  const isKeyed = isRecord(outputs) && !(outputs instanceof TensorRef);
  const isFlat = isKeyed && Object.values(outputs).every((item) => item instanceof TensorRef);
  const names = isKeyed ? Object.keys(outputs).sort() : refsOf(outputs).map(({ layer }) => layer);
  const isKnown = isKeyed ? isFlat : names.length > 1 && new Set(names).size === names.length;
  return isKnown ? { names, isKeyed: isFlat } : null;
}

/** The names that Keras has for layers that have others here. */
function renamedLayers(layers: readonly LayerJson[]): Record<string, string> {
  return Object.fromEntries(
    layers.flatMap(({ name, tensorName }) => (tensorName === undefined ? [] : [[tensorName, name]])),
  );
}

/** The class that a user gives for a model; null for models of Keras. */
function modelClass(json: LayerJson, { customObjects }: Building): typeof tf.LayersModel | null {
  const cls = customObject(json.written, customObjects) as typeof tf.LayersModel | undefined;
  if (cls === undefined) return null;
  if (cls === tf.LayersModel || cls.prototype instanceof tf.LayersModel) return cls;
  throw layerError(
    json,
    'class_name',
    'a class of models in customObjects',
    described(`${cls.name}, which is another`),
  );
}

function buildFunctional(json: LayerJson, building: Building): BuiltModel {
  const layers = readLayers(json);
  const names = new Set<string>();
  for (const { name } of layers) {
    if (names.has(name)) throw layerError(json, 'layers', 'layers of different names', name);
    names.add(name);
  }
  const inputs = readRefs(json.config['input_layers'], json, 'input_layers');
  const outputs = readRefs(json.config['output_layers'], json, 'output_layers');
  const graph = new Graph(json, new Masks(), building);
  const parts = new Map<string, Built>();
  const called = layers.map((layer) => ({ layer, calls: layer.className === 'InputLayer' ? [] : readCalls(layer) }));
  const found = foldAbsentIds(called, refsOf(outputs));
  const refs = found.flatMap(({ calls }) => calls.flatMap((call) => refsOf([call.args, call.kwargs])));
  const first = firstNodes(found, refs, refsOf(outputs), building.version);
  const calls: PendingCall[] = [];
  const strings = new StringInputs();
  for (const { layer } of found) if (isStringInput(layer)) strings.add(layer);
  for (const { layer, calls: own } of found) {
    if (strings.standingFor(layer.name) !== undefined) continue;
    if (layer.className === 'InputLayer') {
      const input = naming(layer, () => tf.input(inputArguments(layer)));
      if (layer.isRagged) (input.sourceLayer as { ragged?: boolean }).ragged = true;
      graph.set(layer.name, 0, [input]);
      continue;
    }
    const start = first.get(layer.name)?.inner ?? 0;
    const others = own.flatMap((call, i): PendingCall[] => {
      const looked = strings.call(layer, call, i, building.made);
      if (looked === null) return [{ ...call, json: layer, layer: layer.name, node: start + i, missing: 0 }];
      graph.set(layer.name, start + i, [looked]);
      return [];
    });
    calls.push(...others);
    if (others.length === 0 && own.length > 0) continue;
    if (isOperation(layer)) continue;
    const isInference = building.isInference === true || isOfInference({ layer, calls: own }, building.version);
    parts.set(layer.name, build(layer, { ...building, isInference }));
  }
  const within = ({ layer, node, tensor }: TensorRef): TensorRef => {
    const { inner, outer } = first.get(layer) ?? { inner: 0, outer: 0 };
    return new TensorRef(layer, node - outer + inner, tensor);
  };
  runCalls(json, calls, graph, parts, building, refsOf(outputs).map(within));
  const { masks } = graph;
  const given = flatten(replaceRefs(inputs, (ref) => strings.standingFor(ref.layer) ?? graph.made(ref))) as Symbolic[];
  const asTensor = (value: Symbolic | ToldMask): Symbolic =>
    value instanceof ToldMask ? value.symbolic(building.made) : value;
  const result = (ref: TensorRef): Symbolic => asTensor(graph.get(within(ref)));
  // The loop of tfjs gives a tensor that is asked for twice once.
  const results = apart(flatten(replaceRefs(outputs, result)) as Symbolic[], masks, building.made);
  for (const each of results) masks.checkWhole(each, json);
  if (given.length === 0) throw layerError(json, 'input_layers', 'at least one input', described('none'));
  const cls = modelClass(json, building) ?? tf.LayersModel;
  const model = naming(json, () => new cls({ inputs: given, outputs: results, name: nameHere(json) }));
  const ends = strings.isEmpty ? namedInputs(layers, inputs) : null;
  return {
    kind: 'model',
    json,
    model,
    parts: [...parts.values()],
    takesMasks: given.map((each) => graph.isTaken(each)),
    inputKeys: ends?.names ?? null,
    names: { inputs: ends, outputs: namedOutputs(outputs), layers: renamedLayers(layers) },
    ...withStrings(strings, given, layers),
  };
}

/** The shape with which a Sequential without an input layer was built. */
function builtShape({ config, buildConfig }: LayerJson): unknown {
  return config['build_input_shape'] ?? buildConfig?.['input_shape'] ?? null;
}

/** The strings with which a Sequential begins; null where it begins with something else. */
function textStart(json: LayerJson, [first]: readonly LayerJson[]): LayerJson | null {
  if (first === undefined || isStringInput(first)) return first ?? null;
  const shape = first.config['batch_input_shape'] ?? first.config['batch_shape'] ?? builtShape(json);
  if (!['StringLookup', 'TextVectorization'].includes(first.className) || !Array.isArray(shape)) return null;
  return {
    ...first,
    name: `${first.name}_input`,
    className: 'InputLayer',
    config: { batch_shape: shape, dtype: 'string' },
  };
}

function buildSequential(json: LayerJson, building: Building): BuiltModel {
  const cls = (modelClass(json, building) ?? tf.Sequential) as new (args: { name: string }) => tf.Sequential;
  const model = naming(json, () => new cls({ name: nameHere(json) }));
  const parts: Built[] = [];
  const masks = new Masks();
  const strings = new StringInputs();
  let all = readLayers(json);
  const start = textStart(json, all);
  if (start !== null) {
    strings.add(start);
    all = all.slice(all.indexOf(start) + 1);
    const [lookup] = all;
    if (lookup === undefined || !takesStrings(lookup))
      throw layerError(start, 'dtype', 'numbers, or a layer that takes strings after it', 'string');
    const looked = naming(lookup, () => strings.lookUp(lookup, start, 0, building.made));
    model.add(looked.sourceLayer);
    if (strings.standingFor(start.name)![0] !== looked)
      throw layerError(start, 'batch_shape', '[null, 1]', start.config['batch_shape']);
    all = all.slice(1);
  }
  all.forEach((layer, place) => {
    if (layer.className === 'InputLayer') {
      if (place > 0) throw layerError(layer, 'class_name', 'a layer that takes inputs', layer.className);
      const { batchShape, dtype, name } = inputArguments(layer);
      return naming(layer, () =>
        model.add(tf.layers.inputLayer({ batchInputShape: batchShape as number[], dtype, name })),
      );
    }
    const part = build(layer, building);
    const starts = layer.config['batch_input_shape'] ?? layer.config['batch_shape'];
    if (parts.length === 0 && model.layers.length === 0 && part.kind === 'layer' && !Array.isArray(starts)) {
      const shape = builtShape(json);
      const dtype = part.layer instanceof Embedding ? 'int32' : 'float32';
      if (!Array.isArray(shape)) {
        throw layerError(json, 'build_input_shape', 'the shape with which it was built', shape);
      }
      const start = { ...layer, name: `${layer.name}_input`, config: { batch_shape: shape, dtype } };
      const { batchShape, name } = inputArguments(start);
      naming(layer, () => model.add(tf.layers.inputLayer({ batchInputShape: batchShape as number[], dtype, name })));
    }
    parts.push(part);
    const [input] = model.outputs ?? [];
    const first = input ?? model.inputs?.[0];
    if (part.kind === 'layer' && first !== undefined) settleAxis(part, first);
    if (part.kind === 'layer' && input !== undefined) {
      masks.check(part, [input]);
      masks.checkPassed(part, [input]);
    }
    naming(layer, () => model.add(part.kind === 'layer' ? part.layer : (part.model as unknown as tf.layers.Layer)));
    const from = [input ?? model.inputs[0]!];
    if (part.kind === 'layer') masks.pass(part, from, model.outputs);
    else passThrough(part, from, model.outputs, masks);
  });
  if (parts.length === 0 && strings.isEmpty) throw layerError(json, 'layers', 'at least one layer', described('none'));
  for (const result of model.outputs) masks.checkWhole(result, json);
  // Names of inputs are there once it is built.
  naming(json, () => model.build());
  const [head] = parts;
  const takes = head?.kind === 'model' ? head.takesMasks : [];
  return {
    kind: 'model',
    json,
    model,
    parts,
    takesMasks: takes,
    inputKeys: null,
    ...withStrings(strings, model.inputs, readLayers(json)),
  };
}

/** Builds a model and all within. Throws ValueError, which names the layer and the field at fault. */
export function buildModel(json: LayerJson, building: Building): BuiltModel {
  checkClasses(json, building.customObjects);
  const isGraph = json.isCustom ? 'input_layers' in json.config : json.className !== 'Sequential';
  return isGraph ? buildFunctional(json, building) : buildSequential(json, building);
}
