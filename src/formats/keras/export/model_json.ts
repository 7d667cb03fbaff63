/** Models as Keras 3 writes them: their JSON, and where each weight goes. */
import * as tf from '@tensorflow/tfjs';
import { kerasNamesOf } from '../../../tfjs/models/keras_names.js';
import { described } from '../../../base/errors.js';
import { DistributedEmbedding } from '../../../layers/distributed_embedding/layer.js';
import { Embedding } from '../../../layers/embedding/embedding.js';
import { RaggedEmbedding } from '../../../layers/embedding/ragged_embedding.js';
import { DotInteraction } from '../../../layers/feature_interaction/dot_interaction.js';
import { FeatureCross } from '../../../layers/feature_interaction/feature_cross.js';
import { layerError } from '../layer_error.js';
import { NameCounter, weightPaths } from '../layer_paths.js';
import { STOCK_LAYERS } from '../stock_layers.js';
import {
  configOf,
  inputEntry,
  interactionEntry,
  keras,
  namedLayer,
  stockEntry,
  type LayerEntry,
} from './layer_json.js';
import type { Hdf5Array } from './hdf5_bytes.js';
import { frozenLayer, isKeyed, type FrozenLayer } from './keyed_json.js';
import { checkAxis } from './axes.js';
import { kerasOrder } from './keras_order.js';
import { ENDS_HERE, LOOPS, MERGED, STEPWISE } from '../import/masks.js';
import { MultiHeadAttention } from '../../../layers/attention/multi_head_attention.js';
import { graphOf } from '../nested_masks.js';
import { Concatenate } from '../../../layers/merge/concatenate.js';
import { checkMasks, type StepMasks } from './masks.js';
import { WithMask } from '../../../layers/merge/with_mask.js';
import { Operation } from '../../../layers/operations/operation.js';
import { GlobalAveragePooling1D } from '../../../layers/pooling/global_average_pooling1d.js';
import { attentionCall, attentionEntry, operationEntry } from './operation_json.js';
import { withKerasNames } from './named_json.js';
import { preprocessingEntry } from './preprocessing_json.js';
import { distributedEntry, flattenNumbered, mapNumbered, tableEntry, type DistributedEntry } from './table_json.js';

type Json = Record<string, unknown>;
type Node = tf.layers.Layer['inboundNodes'][number];

/** A weight and its place in the file. */
export interface WeightPlace {
  readonly path: string;
  readonly weight: tf.LayerVariable;
  /** What is written in its place. */
  readonly array?: Omit<Hdf5Array, 'path'>;
}

/** A model on its way into a file. */
export interface ExportedModel {
  readonly json: LayerEntry;
  readonly weights: readonly WeightPlace[];
}

/** Layers that pass the mask of their input on, here and in Keras. */
const PASSING = [...STEPWISE, ...LOOPS, 'BatchNormalization', 'UnitNormalization'];
const NO_ENTRY = (layer: tf.layers.Layer): boolean => layer.getClassName() === 'InputLayer';

/** Layers whose ids may be absent: Keras RS takes weights for that, which operations make of the ids. */
function leavesOut(layer: tf.layers.Layer): layer is RaggedEmbedding | Embedding {
  return layer instanceof RaggedEmbedding || (layer instanceof Embedding && layer.maskZero && layer.combiner !== null);
}

function isFunctional(model: tf.LayersModel): boolean {
  return (
    !(model instanceof tf.Sequential) ||
    model.layers.some((layer) => leavesOut(layer) || isKeyed(layer) || isNoLayer(layer))
  );
}

/** Whether Keras has an operation for it, or nothing: a Sequential there holds neither. */
function isNoLayer(layer: tf.layers.Layer): boolean {
  return layer instanceof Operation || layer instanceof WithMask;
}

/** Where a tensor comes from. */
interface Origin {
  readonly layer: tf.layers.Layer;
  readonly node: number;
  readonly tensor: number;
}

/** The inputs of a call by where they come from. */
function originsOf({ inboundLayers, nodeIndices, tensorIndices }: Node): Origin[] {
  return inboundLayers.map((layer, i) => ({ layer, node: nodeIndices[i]!, tensor: tensorIndices[i]! }));
}

function operation(module: string, className: string, name: string, config: Json, args: unknown[]): Json {
  const fields = { module: `keras.src.ops.${module}`, class_name: className, registered_name: className };
  return { ...fields, config: { name, ...config }, name, inbound_nodes: [{ args, kwargs: {} }] };
}

/** The layers of a graph, and where their weights lie below it. */
interface ExportedLayers {
  readonly layers: readonly Json[];
  readonly weights: readonly WeightPlace[];
}

/** The graph of one model while it is written. */
class GraphWriter {
  readonly layers: Json[] = [];
  readonly #names: Set<string>;
  readonly #distributed = new Map<tf.layers.Layer, DistributedEntry>();
  readonly #frozen = new Map<tf.layers.Layer, FrozenLayer>();
  /** By the names of layers, where their weights lie below them. */
  readonly #weights = new Map<string, readonly WeightPlace[]>();

  constructor(
    private readonly model: tf.LayersModel,
    private readonly told: StepMasks,
  ) {
    this.#names = new Set(model.layers.map(({ name }) => name));
  }

  /** The calls of a layer that belong to this model. */
  #nodes(layer: tf.layers.Layer): Node[] {
    const kept = (this.model as unknown as { containerNodes: Set<string> }).containerNodes;
    return layer.inboundNodes.filter((_, i) => kept.has(`${layer.name}_ib-${i}`));
  }

  /** Where a tensor comes from, as Keras counts calls and outputs; a tensor with another mask is itself there. */
  place({ layer, node, tensor }: Origin): [string, number, number] {
    if (layer instanceof WithMask) return this.place(originsOf(layer.inboundNodes[node]!)[0]!);
    const index = this.#nodes(layer).indexOf(layer.inboundNodes[node]!);
    const nested = this.#distributed.get(layer)?.nested;
    return [layer.name, index, nested === undefined ? tensor : flattenNumbered(nested).indexOf(tensor)];
  }

  #tensor(symbolic: tf.SymbolicTensor, history: [string, number, number]): Json {
    const { shape, dtype } = symbolic;
    return { class_name: '__keras_tensor__', config: { shape, dtype, keras_history: history } };
  }

  #inputs(node: Node): Json[] {
    return originsOf(node).map((origin, i) => this.#tensor(node.inputTensors[i]!, this.place(origin)));
  }

  /** The masks of inputs that are given them, or come from such by layers that pass masks on; null for others. */
  #givenMasks(node: Node): (Json | null)[] {
    return originsOf(node).map(({ layer, node: at }) => {
      const call = layer.inboundNodes[at]!;
      if (!(layer instanceof WithMask)) {
        return PASSING.includes(namedLayer(layer).className) ? this.#givenMasks(call)[0]! : null;
      }
      if (layer.mask === 'own') return this.#givenMasks(call)[0]!;
      return layer.mask === 'given' ? this.#inputs(call)[1]! : null;
    });
  }

  #newName(wanted: string): string {
    let name = wanted;
    for (let i = 1; this.#names.has(name); i++) name = `${wanted}_${i}`;
    this.#names.add(name);
    return name;
  }

  /** Ids of keys, and weights of 0 where a key counts nowhere. */
  #looked(layer: tf.layers.Layer, frozen: FrozenLayer, [keys, weights]: Json[], node: Node): Json[] {
    const { shape } = node.inputTensors[0]!;
    const tensor = (name: string, dtype: string): Json =>
      this.#tensor({ shape, dtype } as tf.SymbolicTensor, [name, 0, 0]);
    const lookup = frozen.lookup(this.#newName(`${layer.name}_lookup`));
    const name = lookup.config['name'] as string;
    this.layers.push({ ...lookup, name, inbound_nodes: [{ args: [keys], kwargs: {} }] });
    this.#weights.set(name, []);
    const ids = tensor(name, 'int64');
    if (frozen.firstCounted === 0 || frozen.entry.class_name === 'Embedding') {
      return weights === undefined ? [ids] : [ids, weights];
    }
    const add = (
      suffix: string,
      module: string,
      op: string,
      dtype: string,
      args: unknown[],
      config: Json = {},
    ): Json => {
      const own = this.#newName(`${layer.name}_${suffix}`);
      this.layers.push(operation(module, op, own, config, args));
      return tensor(own, dtype);
    };
    const isPresent = add('present', 'numpy', 'GreaterEqual', 'bool', [ids, frozen.firstCounted]);
    const ones = add('ones', 'core', 'Cast', 'float32', [isPresent], { dtype: 'float32' });
    return [ids, weights === undefined ? ones : add('weights', 'numpy', 'Multiply', 'float32', [ones, weights])];
  }

  /** Ids and weights of 0 where an id is absent; the ids themselves must be rows of the table. */
  #present(layer: RaggedEmbedding | Embedding, [ids, weights]: Json[], node: Node): Json[] {
    const named = namedLayer(layer);
    if (layer.combiner === null) {
      const received = described('rows of different lengths that stay apart');
      throw layerError(named, 'combiner', "'sum', 'mean' or 'sqrtn': Keras has no such rows in a batch", received);
    }
    const [first] = node.inputTensors;
    if (first!.rank < 2) throw layerError(named, 'inputs', 'a padded batch', described('values and row splits'));
    const add = (
      suffix: string,
      module: string,
      className: string,
      dtype: string,
      args: unknown[],
      config: Json = {},
    ): Json => {
      const name = this.#newName(`${layer.name}_${suffix}`);
      this.layers.push(operation(module, className, name, config, args));
      return this.#tensor({ shape: first!.shape, dtype } as tf.SymbolicTensor, [name, 0, 0]);
    };
    const isRagged = layer instanceof RaggedEmbedding;
    const kind = isRagged ? 'GreaterEqual' : 'NotEqual';
    const isPresent = add('present', 'numpy', kind, 'bool', [ids, isRagged && layer.maskZero ? 1 : 0]);
    const ones = add('ones', 'core', 'Cast', 'float32', [isPresent], { dtype: 'float32' });
    const rows = isRagged ? add('rows', 'numpy', 'Maximum', 'int32', [ids, 0]) : ids!;
    return [rows, weights === undefined ? ones : add('weights', 'numpy', 'Multiply', 'float32', [ones, weights])];
  }

  /** The operations that make a mask of ids, or of the steps that Masking takes. */
  #mask(layer: tf.layers.Layer, source: tf.SymbolicTensor): Json {
    const { sourceLayer, nodeIndex } = source;
    const isMasking = sourceLayer.getClassName() === 'Masking';
    const steps = isMasking ? sourceLayer.inboundNodes[nodeIndex!]!.inputTensors[0]! : source;
    if (!this.model.layers.includes(steps.sourceLayer) || sourceLayer instanceof Concatenate) {
      const expected = 'steps whose mask an embedding or Masking of the same model makes, where a call has states';
      throw layerError(namedLayer(layer), 'mask', expected, described('another mask'));
    }
    const add = (className: string, shape: tf.Shape, args: unknown[], config: Json): Json => {
      const name = this.#newName(`${layer.name}_mask`);
      this.layers.push(operation('numpy', className, name, config, args));
      return this.#tensor({ shape, dtype: 'bool' } as unknown as tf.SymbolicTensor, [name, 0, 0]);
    };
    const place = this.place({ layer: steps.sourceLayer, node: steps.nodeIndex!, tensor: steps.tensorIndex! });
    const { maskValue = 0 } = isMasking ? (sourceLayer as unknown as { maskValue: number }) : {};
    const counts = add('NotEqual', steps.shape, [this.#tensor(steps, place), maskValue], {});
    return isMasking ? add('Any', steps.shape.slice(0, -1), [counts], { axis: -1, keepdims: false }) : counts;
  }

  /** Keras takes the mask of the query of several heads from the query alone: a layer there must have made it. */
  #checkQuery(layer: tf.layers.Layer, node: Node, [mask]: readonly (Json | null)[]): void {
    if (!(layer instanceof MultiHeadAttention) || mask === null || mask === undefined) return;
    let [origin] = originsOf(node) as [Origin];
    while (origin.layer instanceof WithMask) [origin] = originsOf(origin.layer.inboundNodes[origin.node]!) as [Origin];
    const { className } = namedLayer(origin.layer);
    if (MERGED.includes(className) || ENDS_HERE.includes(className)) return;
    const expected = 'a query whose mask a layer of Keras passes on: no call there is given one';
    throw layerError(namedLayer(layer), 'query_mask', expected, described('a mask of its own'));
  }

  #args(layer: tf.layers.Layer, node: Node): unknown[] {
    const inputs = this.#inputs(node);
    const distributed = this.#distributed.get(layer);
    if (distributed !== undefined) {
      const count = distributed.tables.length;
      const ids = mapNumbered(distributed.nested, (feature) => inputs[feature]);
      if (inputs.length === count) return [ids];
      if (inputs.length !== 2 * count) {
        throw layerError(
          namedLayer(layer),
          'weights',
          'weights for all features, as in Keras RS',
          described('for some'),
        );
      }
      return [ids, mapNumbered(distributed.nested, (feature) => inputs[count + feature])];
    }
    const frozen = this.#frozen.get(layer);
    if (frozen !== undefined) return this.#looked(layer, frozen, inputs, node);
    if (leavesOut(layer)) return this.#present(layer, inputs, node);
    if (layer instanceof Embedding || layer instanceof FeatureCross) return inputs;
    const merges = STOCK_LAYERS.get(layer.getClassName())?.merges === true;
    return merges || inputs.length > 1 ? [inputs] : inputs;
  }

  #calls(layer: tf.layers.Layer): Json[] {
    const takesStates = LOOPS.includes(namedLayer(layer).className);
    return this.#nodes(layer).map((node) => {
      const kwargs = Object.entries(node.callArgs ?? {}).filter(([field, value]) => {
        const isState = field === 'initialState' && takesStates;
        return !isState && value !== null && value !== undefined && value !== false;
      });
      if (kwargs.length > 0) {
        throw layerError(
          namedLayer(layer),
          kwargs[0]![0],
          'a call with inputs alone',
          described('an argument of its own'),
        );
      }
      const masks = this.#givenMasks(node);
      this.#checkQuery(layer, node, masks);
      const attention = attentionCall(layer, this.#inputs(node), masks);
      if (attention !== null) return attention;
      const args = this.#args(layer, node);
      const [given] = masks;
      const reads = takesStates || layer instanceof GlobalAveragePooling1D;
      const isReversed =
        layer.getClassName() === 'TfjsEmbeddings>ReversibleEmbedding' && node.inputTensors[0]!.dtype !== 'int32';
      const told = isReversed
        ? { reverse: true }
        : reads && given !== null && given !== undefined
          ? { mask: given }
          : {};
      if (!takesStates || node.inputTensors.length === 1) return { args, kwargs: told };
      const [sequence, ...states] = this.#inputs(node);
      const source = this.told.get(node.inputTensors[0]!);
      const mask = source === undefined || 'mask' in told ? told : { mask: this.#mask(layer, source) };
      return { args: [sequence], kwargs: { initial_state: states, ...mask } };
    });
  }

  #checkInputs(): void {
    const unused = this.model.inputs.find(({ sourceLayer }) => !this.model.layers.includes(sourceLayer));
    if (unused === undefined) return;
    const expected = 'an input that outputs depend on';
    throw layerError(namedLayer(unused.sourceLayer), 'inputs', expected, described('one that no layer reads'));
  }

  #entry(layer: tf.layers.Layer): ExportedModel {
    if (isKeyed(layer)) {
      const made = frozenLayer(layer, this.model);
      this.#frozen.set(layer, made);
      const [path] = weightPaths(made.entry.class_name, null, 1);
      return { json: made.entry, weights: [{ path: path!, weight: layer.weights[0]!, array: made.rows }] };
    }
    if (!(layer instanceof DistributedEmbedding)) return exportLayer(layer, this.told);
    const [node] = this.#nodes(layer);
    const made = distributedEntry(
      layer,
      node!.inputTensors.map(({ shape }) => shape),
    );
    this.#distributed.set(layer, made);
    return { json: made.entry, weights: placeTables(layer, made) };
  }

  /** An operation of Keras has one call. */
  #writeOperation(layer: Operation): void {
    const [node, ...others] = this.#nodes(layer);
    if (others.length > 0) {
      throw layerError(namedLayer(layer), 'inbound_nodes', 'one call, as in Keras', described(`${others.length + 1}`));
    }
    this.layers.push(operationEntry(layer, this.#inputs(node!)));
  }

  write(): void {
    this.#checkInputs();
    const made = this.model.layers.map((layer): [tf.layers.Layer, ExportedModel | null] => {
      if (isNoLayer(layer)) return [layer, null];
      if (NO_ENTRY(layer))
        return [layer, { json: inputEntry(layer.output as tf.SymbolicTensor, layer.name), weights: [] }];
      return [layer, this.#entry(layer)];
    });
    for (const [layer, exported] of made) {
      if (exported === null) {
        if (layer instanceof Operation) this.#writeOperation(layer);
        continue;
      }
      const calls = NO_ENTRY(layer) ? [] : this.#calls(layer);
      this.layers.push({ ...exported.json, name: layer.name, inbound_nodes: calls });
      this.#weights.set(layer.name, exported.weights);
    }
  }

  /** All that was written in the order of Keras, by which it counts the names of weights. */
  sorted(outputs: readonly [string, number, number][]): ExportedLayers {
    const written = new Map(this.layers.map((layer) => [layer['name'], layer]));
    const layers = kerasOrder(this.layers, outputs).map((name) => written.get(name)!);
    const counter = new NameCounter();
    const weights = layers.flatMap(({ name, class_name: className }) => {
      const own = this.#weights.get(name as string);
      // Operations are no layers, and not counted.
      return own === undefined ? [] : below(counter.next(className as string), own);
    });
    return { layers, weights };
  }
}

function below(folder: string, weights: readonly WeightPlace[]): WeightPlace[] {
  return weights.map(({ path, ...rest }) => ({ path: `${folder}/${path}`, ...rest }));
}

/** Keras 3 takes no slashes, which part the names of its weights. */
function checkNames(model: tf.LayersModel): void {
  for (const layer of [model as tf.layers.Layer, ...model.layers]) {
    if (!layer.name.includes('/')) continue;
    throw layerError(namedLayer(layer), 'name', 'a name without a slash, as Keras 3 has them', layer.name);
  }
}

function layerEntry(layer: tf.layers.Layer): LayerEntry {
  if (layer instanceof Embedding || layer instanceof RaggedEmbedding) return tableEntry(layer);
  if (layer instanceof DotInteraction)
    return interactionEntry(layer, 'DotInteraction', ['selfInteraction', 'skipGather']);
  if (layer instanceof FeatureCross) {
    const weights = ['kernelInitializer', 'biasInitializer', 'kernelRegularizer', 'biasRegularizer'];
    const fields = ['projectionDim', 'diagScale', 'useBias', 'preActivation', ...weights];
    return interactionEntry(layer, 'FeatureCross', fields);
  }
  const own = preprocessingEntry(layer) ?? attentionEntry(layer);
  if (own !== null) return own;
  const config = layer.getConfig() as Json;
  if (layer.getClassName() === 'Embedding') return stockEmbedding(layer, config);
  checkAxis(layer);
  return stockEntry(namedLayer(layer), configOf(layer), layer.getClassName());
}

/** The embedding layer of TensorFlow.js itself. */
function stockEmbedding(layer: tf.layers.Layer, config: Json): LayerEntry {
  const { inputDim, outputDim, embeddingsInitializer, embeddingsRegularizer, embeddingsConstraint, maskZero } = config;
  const own = new Embedding({
    name: layer.name,
    trainable: layer.trainable,
    inputDim: inputDim as number,
    outputDim: outputDim as number,
    embeddingsInitializer: embeddingsInitializer as never,
    embeddingsRegularizer: embeddingsRegularizer as never,
    embeddingsConstraint: embeddingsConstraint as never,
    maskZero: maskZero as boolean,
  });
  return tableEntry(own);
}

/** A layer or a model within the model. */
function exportLayer(layer: tf.layers.Layer, told: StepMasks): ExportedModel {
  if (layer instanceof tf.LayersModel) return modelEntry(layer, told);
  const json = layerEntry(layer);
  const inner = json.config['layer'] as LayerEntry | undefined;
  const paths = weightPaths(json.class_name, inner?.class_name ?? null, layer.weights.length);
  return { json, weights: layer.weights.map((weight, i) => ({ path: paths[i]!, weight })) };
}

/** Keras RS keeps a layer for each feature; the first of a table has the weights. */
function placeTables(layer: DistributedEmbedding, { nested, tables }: DistributedEntry): WeightPlace[] {
  const counter = new NameCounter();
  const placed = new Set<number>();
  return flattenNumbered(nested).flatMap((feature) => {
    const name = counter.next('EmbedReduce');
    const table = tables[feature]!;
    if (placed.has(table)) return [];
    placed.add(table);
    return [{ path: `_default_device_embedding_layers/${name}/vars/0`, weight: layer.weights[table]! }];
  });
}

function functionalEntry(model: tf.LayersModel, name: string, told: StepMasks): ExportedModel {
  const writer = new GraphWriter(model, told);
  writer.write();
  const places = (tensors: readonly tf.SymbolicTensor[]): [string, number, number][] =>
    tensors.map(({ sourceLayer: layer, nodeIndex: node, tensorIndex: tensor }) =>
      writer.place({ layer, node: node!, tensor: tensor! }),
    );
  const outputs = places(model.outputs);
  // Keras counts calls of a graph from 1 where they are outputs of the model, and there alone.
  const ends = outputs.map(([layer, node, tensor], i) => {
    const { sourceLayer } = model.outputs[i]!;
    return [layer, sourceLayer instanceof tf.LayersModel && isFunctional(sourceLayer) ? node + 1 : node, tensor];
  });
  const { layers, weights } = writer.sorted(outputs);
  const config = {
    name,
    trainable: model.trainable,
    layers,
    input_layers: places(model.inputs),
    output_layers: ends,
  };
  const module = 'keras.src.models.functional';
  return {
    json: { module, class_name: 'Functional', config, registered_name: 'Functional' },
    weights: below('layers', weights),
  };
}

function sequentialEntry(model: tf.LayersModel, told: StepMasks): ExportedModel {
  const counter = new NameCounter();
  const [input] = model.inputs;
  const made = model.layers.filter((each) => !NO_ENTRY(each)).map((layer) => exportLayer(layer, told));
  const layers = [inputEntry(input!, input!.sourceLayer.name), ...made.map(({ json }) => json)];
  const config = { name: model.name, trainable: model.trainable, dtype: 'float32', layers };
  const weights = made.flatMap(({ json, weights: own }) => below(counter.next(json.class_name), own));
  return { json: { ...keras('Sequential', config), module: 'keras' }, weights: below('layers', weights) };
}

function modelEntry(model: tf.LayersModel, told: StepMasks): ExportedModel {
  checkNames(model);
  return isFunctional(model) ? functionalEntry(graphOf(model), model.name, told) : sequentialEntry(model, told);
}

/** Returns the model's JSON and the places of its weights. Throws ValueError, which names the layer, for what Keras lacks. */
export function exportModel(model: tf.LayersModel): ExportedModel {
  const exported = modelEntry(model, checkMasks(model));
  return { ...exported, json: withKerasNames(exported.json, kerasNamesOf(model)) };
}
