/** Layers as Keras 3 writes them. */
import * as tf from '@tensorflow/tfjs';
import { toCamelCase } from '../../../base/camel_case.js';
import { described } from '../../../base/errors.js';
import { keyInputKind } from '../../../tfjs/models/key_inputs.js';
import { outputPenaltyOf } from '../../../layers/mended/penalties.js';
import { serializeRegistered, type Registered } from '../../../tables/registered_objects.js';
import { layerError, type NamedLayer } from '../layer_error.js';
import { layerOf, type StockLayer } from '../stock_layers.js';
import { checkVolume } from '../volumes.js';
import { fieldJson, snakeWord } from './python_config.js';

type Json = Record<string, unknown>;

/** What stands for a layer in a model, but for its calls. */
export interface LayerEntry {
  readonly module: string;
  readonly class_name: string;
  readonly config: Json;
  readonly registered_name: string | null;
  /** What Python passes over: Keras has no rows of different lengths. */
  readonly tfjs_embeddings?: { readonly ragged: true };
}

/** Settings that Keras has otherwise by default. */
const WRITTEN = ['data_format'];
/** A class of Keras by the name of the one that computes the same here. */
function kerasName(className: string): string {
  return className.replace('TfjsEmbeddings>', '');
}

export function namedLayer(layer: tf.layers.Layer): NamedLayer {
  return { className: kerasName(layer.getClassName()), name: layer.name };
}

export function keras(className: string, config: Json): LayerEntry {
  return { module: 'keras.layers', class_name: className, config, registered_name: null };
}

export function inputEntry(tensor: tf.SymbolicTensor, name: string): LayerEntry {
  const keys = keyInputKind(tensor.sourceLayer);
  const entry = keras('InputLayer', { batch_shape: tensor.shape, dtype: keys ?? tensor.dtype, sparse: false, name });
  if (keys !== null) return entry;
  const isRagged = (tensor.sourceLayer as { ragged?: boolean }).ragged === true;
  return isRagged ? { ...entry, tfjs_embeddings: { ragged: true } } : entry;
}

/** The whole config of a layer of TensorFlow.js, and of the one within it. */
export function configOf(layer: tf.layers.Layer): Json {
  const config = layer.getConfig() as Json;
  const held = layer as unknown as Json;
  // Layers of tfjs keep none; of this one it is what its own fields tell.
  const isOwn = layer.getClassName() === 'TfjsEmbeddings>ActivityRegularization';
  const penalty = isOwn ? null : (outputPenaltyOf(layer) as Registered | null);
  if (penalty !== null) config['activityRegularizer'] = serializeRegistered(penalty);
  const inner = held['layer'];
  if (inner instanceof tf.layers.Layer) config['layer'] = { className: inner.getClassName(), config: configOf(inner) };
  return config;
}

/** Throws for what Keras takes, but not as TensorFlow.js computes it. */
function checkFixed(layer: NamedLayer, config: Json, { fixed }: StockLayer): void {
  for (const [field, allowed] of Object.entries(fixed)) {
    // TensorFlow.js computes with 1, whatever it is told.
    if (field === 'dilation_rate') continue;
    const value = config[toCamelCase(field)];
    if (value === undefined || value === null) continue;
    const written = typeof value === 'string' ? snakeWord(value) : value;
    if (allowed.some((each) => JSON.stringify(each) === JSON.stringify(written))) continue;
    const expected = allowed.map((each) => JSON.stringify(each)).join(' or ');
    throw layerError(layer, field, `${expected}: otherwise Keras and TensorFlow.js differ`, written);
  }
}

/** Throws for convolutions that Keras, with channels first, pads otherwise than with channels last. */
function checkPadding(layer: NamedLayer, written: Json): void {
  if (!/^(Depthwise)?Conv\dD$/.test(layer.className) || written['padding'] !== 'same') return;
  const isStepped = [written['strides']].flat().some((stride) => stride !== 1);
  if (written['data_format'] !== 'channels_first' || !isStepped) return;
  const expected = "'channels_last' where padding is 'same' and steps are longer than 1: Keras pads otherwise";
  throw layerError(layer, 'data_format', expected, 'channels_first');
}

/** A layer within another, from its config. */
function innerEntry(value: unknown, outer: NamedLayer): LayerEntry {
  const { className, config } = value as { className: string; config: Json };
  const named = { className: kerasName(className), name: String(config['name'] ?? outer.name) };
  return stockEntry(named, config, className);
}

/** Keras makes no layer that runs forward of one that runs backward. */
function addBackward(written: Json): void {
  const layer = written['layer'] as LayerEntry;
  if (layer.config['go_backwards'] !== true) return;
  const config = { ...layer.config, name: `${String(layer.config['name'])}_forward`, go_backwards: false };
  written['backward_layer'] = { ...layer, config };
}

/** A layer of TensorFlow.js. Throws ValueError, which names it, where Keras has none that computes alike. `registered`: the name of its class here. */
export function stockEntry(layer: NamedLayer, config: Json, registered = layer.className): LayerEntry {
  const { className, name } = layer;
  const stock = layerOf(registered);
  if (stock === undefined) {
    throw layerError(layer, 'className', 'a layer that can be written for Keras 3', described(className));
  }
  checkFixed(layer, config, stock);
  const written: Json = { name, dtype: 'float32' };
  // Some layers of Keras do not take it at all.
  if (config['trainable'] === false) written['trainable'] = false;
  for (const field of stock.fields) {
    const value = config[toCamelCase(field)];
    if (value === undefined) continue;
    written[field] = field === 'layer' ? innerEntry(value, layer) : fieldJson(value, layer, field);
  }
  if (className === 'Bidirectional') addBackward(written);
  for (const [here, theirs] of Object.entries(stock.renamed)) written[theirs.at(-1)!] = config[toCamelCase(here)];
  for (const field of WRITTEN) if (Object.hasOwn(stock.fixed, field)) written[field] = stock.fixed[field]![0];
  const activity = config['activityRegularizer'];
  if (activity !== undefined && activity !== null)
    written['activity_regularizer'] = fieldJson(activity, layer, 'activity_regularizer');
  checkVolume({ ...layer, config: written });
  checkPadding(layer, written);
  // Of Keras 2 alone: a ReLU that begins later.
  if (className === 'ThresholdedReLU') {
    const { theta, ...own } = written;
    return keras('ReLU', { ...own, threshold: theta });
  }
  return keras(className, written);
}

/** Of those of this package that are no lookups. */
export function interactionEntry(layer: tf.layers.Layer, className: string, fields: readonly string[]): LayerEntry {
  const config = layer.getConfig() as Json;
  const named = namedLayer(layer);
  const written: Json = { name: layer.name, trainable: layer.trainable, dtype: 'float32' };
  for (const field of fields) {
    const value = config[field];
    const key = snakeWord(field);
    written[key] = fieldJson(value, named, key);
  }
  const file = snakeWord(className.charAt(0).toLowerCase() + className.slice(1));
  return {
    module: `keras_rs.src.layers.feature_interaction.${file}`,
    class_name: className,
    config: written,
    registered_name: `keras_rs>${className}`,
  };
}
