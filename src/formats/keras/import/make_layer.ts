/** Layers made of their JSON. */
import * as tf from '@tensorflow/tfjs';
import { closestName } from '../../../base/closest_name.js';
import { warnOnce } from '../../../base/warn_once.js';
import { isRecord } from '../../../base/options.js';
import { layerError, naming } from '../layer_error.js';
import { STOCK_LAYERS } from '../stock_layers.js';
import { isOwnClass, makeOwnLayer } from './own_layers.js';
import { classOf, stockArguments, type Reading } from './stock_config.js';
import type { LayerJson } from './topology.js';

/** Dtypes of inputs; ids of 64 bits enter as int32, which holds every row of a table. */
const INPUT_DTYPES: Readonly<Record<string, tf.DataType>> = {
  float32: 'float32',
  int8: 'int32',
  int16: 'int32',
  int32: 'int32',
  int64: 'int32',
  uint8: 'int32',
  uint16: 'int32',
  bool: 'bool',
  string: 'string',
};

/** Layers of Keras with states of their own, which have no counterpart in a layers model. */
const REFUSED: Readonly<Record<string, string>> = {
  Lambda: 'Its code is Python.',
  StringLookup:
    'Strings do not enter a layers model: apply emb.preprocessing.StringLookup first, and begin the model with its ids.',
  TextVectorization: 'Split the text, then emb.preprocessing.StringLookup gives ids outside of a model.',
};

type FromConfig = (cls: unknown, config: Record<string, unknown>) => tf.layers.Layer;

function registered(className: string): [unknown, FromConfig] {
  const map = tf.serialization.SerializationMap.getMap().classNameMap as unknown as Record<
    string,
    [unknown, FromConfig]
  >;
  return map[className]!;
}

function unknownClass(layer: LayerJson): Error {
  const known = [...STOCK_LAYERS.keys(), 'Embedding', 'EmbedReduce', 'DistributedEmbedding'];
  const { className } = layer;
  const meant = closestName(className, known);
  const why = Object.hasOwn(REFUSED, className)
    ? REFUSED[className]
    : layer.module?.includes('.ops') === true
      ? 'It is an operation, not a layer.'
      : meant && `Did you mean ${meant}?`;
  return layerError(layer, 'class_name', 'a layer that TensorFlow.js or this package has', className, why);
}

/** The shape and dtype of an input layer. */
export function inputArguments(layer: LayerJson): { batchShape: (number | null)[]; dtype: tf.DataType; name: string } {
  const { config, name } = layer;
  for (const field of ['sparse', 'ragged', 'optional']) {
    if (config[field] !== true) continue;
    const note = field === 'ragged' ? 'Ragged rows enter a layers model padded.' : undefined;
    throw layerError(layer, field, 'false', true, note);
  }
  const shape = config['batch_shape'] ?? config['batch_input_shape'];
  const isShape = Array.isArray(shape) && shape.length > 0 && shape.length <= 8;
  if (
    !isShape ||
    !(shape as unknown[]).every((size) => size === null || (Number.isSafeInteger(size) && (size as number) >= 0))
  ) {
    throw layerError(layer, 'batch_shape', 'a shape with the batch axis', shape);
  }
  const dtype = config['dtype'] ?? 'float32';
  if (typeof dtype !== 'string' || !Object.hasOwn(INPUT_DTYPES, dtype)) {
    throw layerError(layer, 'dtype', `one of ${Object.keys(INPUT_DTYPES).join(', ')}`, dtype);
  }
  return { batchShape: shape as (number | null)[], dtype: INPUT_DTYPES[dtype]!, name };
}

/** Says once that a layer of mixed precision computes in float32, as TensorFlow.js has no shorter floats. */
function tellPrecision({ className, config, name }: LayerJson): void {
  const { dtype } = config;
  const policy = isRecord(dtype) && isRecord(dtype['config']) ? dtype['config']['name'] : dtype;
  if (typeof policy !== 'string' || !policy.startsWith('mixed_')) return;
  warnOnce(`the ${className} "${name}" computes in float32 here, where its policy ${policy} has shorter floats`);
}

/** Makes any layer but inputs and models. Throws ValueError, which names the layer. */
export function makeLayer(layer: LayerJson, reading: Reading): tf.layers.Layer {
  tellPrecision(layer);
  if (isOwnClass(layer.className)) return makeOwnLayer(layer, reading);
  if (!STOCK_LAYERS.has(layer.className)) throw unknownClass(layer);
  const args = stockArguments(layer, reading);
  const [cls, fromConfig] = registered(classOf(layer));
  const made = naming(layer, () => fromConfig(cls, args));
  // As tfjs does where weights follow: initial values are not computed.
  if (reading.strict)
    (made as unknown as { setFastWeightInitDuringBuild(on: boolean): void }).setFastWeightInitDuringBuild(true);
  return made;
}
