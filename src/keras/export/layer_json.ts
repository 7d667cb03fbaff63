/** Layers as Keras 3 writes them. */
import type * as tf from '@tensorflow/tfjs';
import { toCamelCase } from '../../config/camel_case.js';
import { described } from '../../errors.js';
import { layerError, type NamedLayer } from '../layer_error.js';
import { STOCK_LAYERS } from '../stock_layers.js';
import { fieldJson, snakeWord } from './python_config.js';

type Json = Record<string, unknown>;

/** What stands for a layer in a model, but for its calls. */
export interface LayerEntry {
  readonly module: string;
  readonly class_name: string;
  readonly config: Json;
  readonly registered_name: string | null;
}

/** Settings that Keras has otherwise by default. */
const WRITTEN = ['reset_after', 'data_format'];
/** Of Keras 2 alone. */
const GONE = ['ThresholdedReLU'];

export function namedLayer(layer: tf.layers.Layer): NamedLayer {
  return { className: layer.getClassName(), name: layer.name };
}

export function keras(className: string, config: Json): LayerEntry {
  return { module: 'keras.layers', class_name: className, config, registered_name: null };
}

export function inputEntry(tensor: tf.SymbolicTensor, name: string): LayerEntry {
  return keras('InputLayer', { batch_shape: tensor.shape, dtype: tensor.dtype, sparse: false, name });
}

/** A layer within another, from its config. */
function innerEntry(value: unknown, outer: NamedLayer): LayerEntry {
  const { className, config } = value as { className: string; config: Json };
  return stockEntry({ className, name: String(config['name'] ?? outer.name) }, config);
}

/** A layer of TensorFlow.js. Throws ValueError, which names it, where Keras has none that computes alike. */
export function stockEntry(layer: NamedLayer, config: Json): LayerEntry {
  const { className, name } = layer;
  const stock = STOCK_LAYERS.get(className);
  if (stock === undefined || GONE.includes(className)) {
    throw layerError(layer, 'className', 'a layer that Keras 3 has', described(className));
  }
  const written: Json = { name, dtype: 'float32' };
  // Some layers of Keras do not take it at all.
  if (config['trainable'] === false) written['trainable'] = false;
  for (const field of stock.fields) {
    const value = config[toCamelCase(field)];
    if (value === undefined) continue;
    written[field] = field === 'layer' ? innerEntry(value, layer) : fieldJson(value, layer, field);
  }
  for (const [here, theirs] of Object.entries(stock.renamed)) written[theirs.at(-1)!] = config[toCamelCase(here)];
  for (const field of WRITTEN) if (Object.hasOwn(stock.fixed, field)) written[field] = stock.fixed[field]![0];
  const activity = config['activityRegularizer'];
  if (activity !== undefined && activity !== null)
    written['activity_regularizer'] = fieldJson(activity, layer, 'activity_regularizer');
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
