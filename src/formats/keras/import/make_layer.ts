/** Layers made of their JSON. */
import * as tf from '@tensorflow/tfjs';
import { closestName } from '../../../base/closest_name.js';
import { warnOnce } from '../../../base/warn_once.js';
import { isRecord } from '../../../base/options.js';
import { Operation } from '../../../layers/operations/operation.js';
import { mendFlatten } from '../../../layers/mended/flatten.js';
import { penalizeOutputs } from '../../../layers/mended/penalties.js';
import { readRegularizer } from '../../../tables/regularizers.js';
import { layerError, naming } from '../layer_error.js';
import { STOCK_LAYERS } from '../stock_layers.js';
import { isOwnClass, makeOwnLayer } from './own_layers.js';
import { activityRegularizer, classOf, makeCustomLayer, stockArguments, type Reading } from './stock_config.js';
import { nameHere, readLayer, type LayerJson } from './topology.js';
import { customObject, unknownWithin, type CustomObjects } from './names/user_classes.js';

/** Dtypes of inputs; ids of 64 bits enter as int32, which holds every row of a table. */
const INPUT_DTYPES: Readonly<Record<string, tf.DataType>> = {
  float32: 'float32',
  float16: 'float32',
  bfloat16: 'float32',
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
export const REFUSED: Readonly<Record<string, string>> = {
  Lambda: 'Its code is Python: write it in the model with layers or functions of keras.ops, which files tell.',
  StringLookup: 'Strings enter a model at the inputs of the whole model alone, where a pipeline looks them up.',
  TextVectorization: 'Strings enter a model at the inputs of the whole model alone, where a pipeline looks them up.',
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
  const { config } = layer;
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
  return { batchShape: shape as (number | null)[], dtype: INPUT_DTYPES[dtype]!, name: nameHere(layer) };
}

/** Says once that a layer of mixed precision computes in float32, as TensorFlow.js has no shorter floats. */
function tellPrecision({ className, config, name }: LayerJson): void {
  const { dtype } = config;
  const policy = isRecord(dtype) && isRecord(dtype['config']) ? dtype['config']['name'] : dtype;
  if (typeof policy !== 'string' || !/^(mixed_|b?float16)/.test(policy)) return;
  warnOnce(`the ${className} "${name}" computes in float32 here, where its policy ${policy} has shorter floats`);
}

/** Layers of this package that compute alike for each step and for all at once. */
const STEPWISE = [
  'Embedding',
  'EmbedReduce',
  'FeatureCross',
  'UnitNormalization',
  'Normalization',
  'Discretization',
  'IntegerLookup',
  'Hashing',
];

/** An axis of a step as one of all steps. */
function stepAxis(axis: unknown): unknown {
  if (Array.isArray(axis)) return axis.map(stepAxis);
  return typeof axis === 'number' && axis > 0 ? axis + 1 : axis;
}

/** A layer of this package for each step, as one for all steps; null for other layers. */
function timeDistributed(layer: LayerJson, reading: Reading): tf.layers.Layer | null {
  if (layer.className !== 'TimeDistributed') return null;
  const inner = readLayer(layer.config['layer'], `${layer.name}.layer`);
  const { className, config } = inner;
  if (className === 'GlobalAveragePooling1D') {
    const settings = {
      axis: config['data_format'] === 'channels_first' ? 3 : 2,
      keepdims: config['keepdims'] === true,
    };
    return naming(layer, () => new Operation({ name: nameHere(layer), operation: 'Mean', settings }));
  }
  if (!STEPWISE.includes(className)) return null;
  const trainable = layer.config['trainable'] !== false && config['trainable'] !== false;
  const own: Record<string, unknown> = { ...config, trainable };
  if (config['axis'] !== undefined) own['axis'] = stepAxis(config['axis']);
  // Keras passes masks of steps on, none that the layer makes.
  if (className === 'Embedding') own['mask_zero'] = false;
  return makeOwnLayer({ ...inner, name: layer.name, tensorName: nameHere(layer), config: own }, reading);
}

/** Layers that are operations here: a difference, and a softmax along other axes than the last; null for others. */
function operationFor(layer: LayerJson): tf.layers.Layer | null {
  const { className, config } = layer;
  const name = nameHere(layer);
  if (className === 'Subtract') return new Operation({ name, operation: 'Subtract' });
  const { axis = -1 } = config;
  if (className !== 'Softmax' || axis === -1) return null;
  const one = Array.isArray(axis) && axis.length === 1 ? (axis as unknown[])[0] : axis;
  return new Operation({ name, operation: 'Softmax', settings: { axis: one } });
}

/** The table of a PositionEmbedding of Keras Hub, whose ids are places; null for other layers. */
function positionTable(layer: LayerJson, reading: Reading): tf.layers.Layer | null {
  if (layer.className !== 'PositionEmbedding') return null;
  const { sequence_length, initializer, ...config } = layer.config;
  const shape = layer.buildConfig?.['input_shape'];
  if (!Array.isArray(shape)) {
    const expected = 'the shape with which it was built, as .keras files tell it';
    throw layerError(layer, 'build_config.input_shape', expected, shape);
  }
  const sizes = {
    input_dim: sequence_length,
    output_dim: shape.at(-1) as unknown,
    embeddings_initializer: initializer,
  };
  return makeOwnLayer({ ...layer, className: 'Embedding', config: { ...config, ...sizes } }, reading);
}

/** What a class of a user computes is known to the user alone. */
const GIVE = 'It is a class of its own, which may compute anything: give one that computes the same as customObjects.';

/** Throws for a class of a user that is not given, the layer itself or one in its config. */
export function checkClasses(layer: LayerJson, customObjects: CustomObjects): void {
  if (layer.isCustom && customObject(layer.written, customObjects) === undefined) {
    throw layerError(layer, 'class_name', 'a class of Keras, or one of customObjects', layer.className, GIVE);
  }
  const { layers: _own, ...config } = layer.config;
  const unknown = unknownWithin(config, customObjects);
  if (unknown === null) return;
  throw layerError(layer, unknown.path, 'a class of Keras, or one of customObjects', unknown.name, GIVE);
}

/** Makes any layer but inputs and models. Throws ValueError, which names the layer. */
export function makeLayer(layer: LayerJson, reading: Reading): tf.layers.Layer {
  tellPrecision(layer);
  checkClasses(layer, reading.customObjects);
  const custom = customObject(layer.written, reading.customObjects);
  if (custom !== undefined) return makeCustomLayer(layer, custom, reading);
  if (isOwnClass(layer.className)) return makeOwnLayer(layer, reading);
  const other =
    timeDistributed(layer, reading) ?? positionTable(layer, reading) ?? naming(layer, () => operationFor(layer));
  if (other !== null) return other;
  if (!STOCK_LAYERS.has(layer.className)) throw unknownClass(layer);
  const args = stockArguments(layer, reading);
  const [cls, fromConfig] = registered(classOf(layer));
  // A layer within, made of a class that a user gives, is there already.
  const isMade = args['layer'] instanceof tf.layers.Layer;
  const made = naming(layer, () => {
    return isMade ? new (cls as new (args: object) => tf.layers.Layer)(args) : fromConfig(cls, args);
  });
  // As tfjs does where weights follow: initial values are not computed.
  if (reading.strict)
    (made as unknown as { setFastWeightInitDuringBuild(on: boolean): void }).setFastWeightInitDuringBuild(true);
  if (layer.className === 'Flatten') mendFlatten(made);
  const activity = activityRegularizer(layer, reading);
  if (activity !== null)
    penalizeOutputs(
      made,
      naming(layer, () => readRegularizer(activity, 'activity_regularizer')!),
    );
  return made;
}
