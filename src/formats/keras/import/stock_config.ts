/** Configs of Keras's own layers as arguments of the layers of TensorFlow.js; what these cannot do is an error. */
import * as tf from '@tensorflow/tfjs';
import { checkFloat32Policy } from '../../../base/keras_config.js';
import { toCamelCase } from '../../../base/camel_case.js';
import { closestName } from '../../../base/closest_name.js';
import { described } from '../../../base/errors.js';
import { KerasHardSigmoid } from '../../../layers/keras_hard_sigmoid.js';
import { InferenceBatchNormalization } from '../../../layers/inference_batch_normalization.js';
import { kindFor } from '../../../layers/keras/keras_layers.js';
import { KERAS_ACTIVATIONS } from '../../../layers/keras_activations.js';
import { GRU } from '../../../layers/recurrent/gru.js';
import { readComposed } from '../composed_activations.js';
import { INITIALIZER_CLASSES, adaptInitializer } from '../../../tables/initializers.js';
import { isRecord } from '../../../base/options.js';
import { warnOnce } from '../../../base/warn_once.js';
import { layerError, naming } from '../layer_error.js';
import { WITHOUT_EFFECT, layerFor, type StockLayer } from '../stock_layers.js';
import { checkVolume } from '../volumes.js';
import { isModel, nameHere, readLayer, type Json, type LayerJson } from './topology.js';
import { customObject, makeCustom, type CustomObject, type CustomObjects } from './names/user_classes.js';

/** What is known while a file is read. */
export interface Reading {
  readonly version: 2 | 3;
  /** false: what cannot be honoured is left out with a warning. */
  readonly strict: boolean;
  /** Sizes in the shapes of the weights that the file holds; null where that is not asked for. */
  readonly sizes: ReadonlySet<number> | null;
  /** Classes that a user gives for those of the file that are not Keras's. */
  readonly customObjects: CustomObjects;
}

/** Fields with a size of a weight. */
const SIZES = ['units', 'filters', 'input_dim', 'output_dim', 'vocabulary_size', 'embedding_dim'];

/** Throws for a layer whose weights the file cannot hold, before there is memory for them. */
export function checkSizes({ sizes }: Reading, layer: LayerJson, config: Json = layer.config, path = ''): void {
  if (sizes === null) return;
  for (const field of SIZES) {
    const value = config[field];
    if (typeof value !== 'number' || sizes.has(value)) continue;
    throw layerError(layer, `${path}${field}`, 'a size of a weight in the file', value);
  }
}

/** The functions that both have, by Keras's name. */
export const ACTIVATIONS: Readonly<Record<string, string>> = {
  elu: 'elu',
  gelu: 'gelu',
  hard_sigmoid: 'hardSigmoid',
  linear: 'linear',
  log_softmax: 'logSoftmax',
  mish: 'mish',
  relu: 'relu',
  relu6: 'relu6',
  selu: 'selu',
  sigmoid: 'sigmoid',
  silu: 'swish',
  softmax: 'softmax',
  softplus: 'softplus',
  softsign: 'softsign',
  swish: 'swish',
  tanh: 'tanh',
  ...KERAS_ACTIVATIONS,
};

/** Other spellings of Keras. */
const INITIALIZER_NAMES: Readonly<Record<string, string>> = {
  IdentityInitializer: 'Identity',
  OrthogonalInitializer: 'Orthogonal',
};

/** Throws for what cannot be honoured; says it once where the reading is not strict. */
export function refuse(
  reading: Reading,
  layer: LayerJson,
  field: string,
  expected: string,
  received: unknown,
  note?: string,
): void {
  const error = layerError(layer, field, expected, received, note);
  if (reading.strict) throw error;
  warnOnce(`left out because strict is false: ${error.message}`);
}

/** A function or object as `{className, config}`; null where there is none. */
function readObject(value: unknown): { className: string; config: Json } | null {
  if (typeof value === 'string') return { className: value, config: {} };
  if (!isRecord(value) || typeof value['class_name'] !== 'string') return null;
  return { className: value['class_name'], config: isRecord(value['config']) ? value['config'] : {} };
}

/** An object of a class that the user gives; null for those of Keras. */
function readCustom(
  value: unknown,
  layer: LayerJson,
  { customObjects }: Reading,
): tf.serialization.Serializable | null {
  const cls =
    isRecord(value) && typeof value['class_name'] === 'string' ? customObject(value, customObjects) : undefined;
  if (cls === undefined) return null;
  return naming(layer, () => makeCustom(cls, camelKeys((value as Json)['config'])));
}

/** Keys in camel case. */
function camelKeys(config: unknown): Record<string, unknown> {
  if (!isRecord(config)) return {};
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [toCamelCase(key), value]));
}

function readActivation(value: unknown, layer: LayerJson, field: string, reading: Reading): string | null {
  if (value === null) return null;
  // Keras writes functions of its own by name, and others as objects, which may have these names too.
  const name = isRecord(value) && typeof value['config'] === 'string' ? `the function ${value['config']}` : value;
  const known = typeof name === 'string' && Object.hasOwn(ACTIVATIONS, name) ? ACTIVATIONS[name]! : readComposed(value);
  if (known === null) {
    refuse(reading, layer, field, `one of ${Object.keys(ACTIVATIONS).join(', ')}`, name);
    return null;
  }
  // Keras 3 has another function of this name.
  if (name === 'hard_sigmoid' && reading.version === 3) return KerasHardSigmoid.className;
  return known;
}

function readInitializer(value: unknown, layer: LayerJson, field: string, reading: Reading): object | null {
  if (value === null) return null;
  const custom = readCustom(value, layer, reading);
  if (custom !== null) return custom;
  const object = readObject(value);
  const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
  const wanted = object === null ? '' : plain(INITIALIZER_NAMES[object.className] ?? object.className);
  const className = INITIALIZER_CLASSES.find((each) => plain(each) === wanted);
  if (object === null || className === undefined) {
    refuse(reading, layer, field, `one of ${INITIALIZER_CLASSES.join(', ')}`, object?.className ?? value);
    return null;
  }
  const config = camelWords(object.config);
  // Keras 3 may write a generator's whole state as the seed, and axes that TensorFlow.js knows by itself.
  if (isRecord(config['seed'])) delete config['seed'];
  for (const key of ['inputAxes', 'outputAxes']) {
    if (config[key] !== undefined && config[key] !== null)
      refuse(reading, layer, `${field}.${key}`, 'null', config[key]);
    delete config[key];
  }
  const [adapted, values] = adaptInitializer(className, config);
  return { className: adapted, config: values };
}

/** The regularizer of what a layer gives, as `{className, config}` or an object; null where it has none. */
export function activityRegularizer(layer: LayerJson, reading: Reading): object | null {
  const { activity_regularizer: value = null, l1, l2 } = layer.config;
  if (layer.className === 'ActivityRegularization') return { className: 'L1L2', config: { l1: l1 ?? 0, l2: l2 ?? 0 } };
  return readRegularizer(value, layer, 'activity_regularizer', reading);
}

function readRegularizer(value: unknown, layer: LayerJson, field: string, reading: Reading): object | null {
  if (value === null) return null;
  const custom = readCustom(value, layer, reading);
  if (custom !== null) return custom;
  const object = readObject(value);
  const { l1, l2 } = object?.config ?? {};
  const given = { L1: { l1: l1 ?? 0.01, l2: 0 }, L2: { l1: 0, l2: l2 ?? 0.01 }, L1L2: { l1: l1 ?? 0, l2: l2 ?? 0 } };
  const name = object === null ? '' : object.className.replaceAll('_', '').toUpperCase();
  if (Object.hasOwn(given, name)) return { className: 'L1L2', config: given[name as keyof typeof given] };
  refuse(reading, layer, field, 'L1, L2 or L1L2', object?.className ?? value);
  return null;
}

/** Constraints that both have, by the name without underscores. */
const CONSTRAINTS = ['MaxNorm', 'MinMaxNorm', 'NonNeg', 'UnitNorm'];

function readConstraint(value: unknown, layer: LayerJson, field: string, reading: Reading): object | null {
  if (value === null) return null;
  const object = readObject(value);
  const className = object?.className.replaceAll('_', '').toLowerCase();
  const known = CONSTRAINTS.find((each) => each.toLowerCase() === className);
  if (object !== null && known !== undefined) return { className: known, config: camelKeys(object.config) };
  refuse(reading, layer, field, `one of ${CONSTRAINTS.join(', ')}`, object?.className ?? value);
  return null;
}

/** Keys and words in camel case, as TensorFlow.js has them: `channels_last` is `channelsLast`. */
function camelWords(config: Json): Record<string, unknown> {
  const entries = Object.entries(config).map(([key, value]) => {
    return [toCamelCase(key), typeof value === 'string' ? toCamelCase(value) : value] as const;
  });
  return Object.fromEntries(entries);
}

function readInner(value: unknown, layer: LayerJson, field: string, reading: Reading): object {
  const inner = readLayer(value, `${layer.name}.${field}`);
  const cls = customObject(inner.written, reading.customObjects);
  if (cls !== undefined) return makeCustomLayer(inner, cls, reading);
  const stock = layerFor(inner.className, inner.config);
  const activity = inner.config['activity_regularizer'];
  if (activity !== undefined && activity !== null)
    refuse(
      reading,
      layer,
      `${field}.activity_regularizer`,
      'null',
      activity,
      'Of a layer within another none is applied.',
    );
  if (isModel(inner) || stock === undefined) {
    throw layerError(layer, field, 'a layer that TensorFlow.js has', described(`a ${inner.className}`));
  }
  return { className: classOf(inner), config: stockArguments(inner, reading) };
}

/** The name under which the class is registered that computes what this layer of Keras does. */
export function classOf({ className, config, isInference = false }: LayerJson): string {
  if (kindFor(className, config) !== null) return `TfjsEmbeddings>${className}`;
  if (className === 'BatchNormalization' && isInference) return InferenceBatchNormalization.className;
  return className === 'GRU' && config['reset_after'] === true ? GRU.className : className;
}

function readField(field: string, value: unknown, layer: LayerJson, reading: Reading): unknown {
  if (field.endsWith('activation')) return readActivation(value, layer, field, reading);
  if (field.endsWith('_initializer')) return readInitializer(value, layer, field, reading);
  if (field.endsWith('_regularizer')) return readRegularizer(value, layer, field, reading);
  if (field.endsWith('_constraint')) return readConstraint(value, layer, field, reading);
  if (field === 'layer') return readInner(value, layer, field, reading);
  // Keras 2 wrote the axis of a BatchNormalization as a list of one, as a Softmax may have it.
  if (field === 'axis' && ['BatchNormalization', 'Softmax'].includes(layer.className) && Array.isArray(value)) {
    if (value.length !== 1) refuse(reading, layer, field, 'one axis', value);
    return (value as unknown[])[0];
  }
  // tfjs makes a list as long as an axis is high.
  if (
    field === 'shared_axes' &&
    ([value].flat() as unknown[]).some((axis) => typeof axis === 'number' && !(axis > 0 && axis < 8))
  )
    throw layerError(layer, field, 'axes of the input', value);
  if (field === 'reset_after' && typeof value !== 'boolean') refuse(reading, layer, field, 'true or false', value);
  if (field === 'seed') return typeof value === 'number' ? value : null;
  return typeof value === 'string' ? toCamelCase(value) : value;
}

/** A layer of a class that the user gives: of its config, with names as TensorFlow.js has them. */
export function makeCustomLayer(layer: LayerJson, cls: CustomObject, reading: Reading): tf.layers.Layer {
  const { dtype: _policy, build_config: _built, ...config } = layer.config;
  const given = Object.entries(config).map(([field, value]) => {
    const isKnown = /(^|_)(activation|initializer|regularizer)$/.test(field) || field === 'layer';
    return [toCamelCase(field), isKnown ? readField(field, value, layer, reading) : value] as const;
  });
  const args = { ...Object.fromEntries(given), ...readStart(layer.config), name: nameHere(layer) };
  const made = naming(layer, () => makeCustom(cls, args));
  if (made instanceof tf.layers.Layer) return made;
  throw layerError(
    layer,
    'class_name',
    'a class of layers in customObjects',
    described(`${cls.name}, which is another`),
  );
}

/** The policy, with float32 in the place of shorter floats, in which layers compute here. */
function withoutShortFloats(dtype: unknown): unknown {
  const name = isRecord(dtype) && isRecord(dtype['config']) ? dtype['config']['name'] : dtype;
  return name === 'float16' || name === 'bfloat16' ? 'float32' : dtype;
}

function sameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What tells two layers apart, without their names and without what only Python needs. */
function essence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essence);
  if (!isRecord(value)) return value;
  const skipped = ['name', 'go_backwards', 'seed', 'shared_object_id', 'module', 'registered_name', 'build_config'];
  const entries = Object.entries(value).filter(([key]) => !skipped.includes(key));
  return entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, essence(item)]);
}

/** The layer that runs backwards must be what TensorFlow.js makes of the other one. */
function checkBackward(layer: LayerJson, backward: unknown, reading: Reading): void {
  if (backward === undefined || backward === null) return;
  const forward = layer.config['layer'];
  const goesBack = (each: unknown): boolean => readObject(each)?.config['go_backwards'] === true;
  if (sameValue(essence(forward), essence(backward)) && goesBack(forward) !== goesBack(backward)) return;
  refuse(reading, layer, 'backward_layer', 'the layer that runs forward, reversed', described('another one'));
}

/** The shape and dtype with which a layer begins a model; absent in most configs. */
function readStart(config: Json): Record<string, unknown> {
  const shape = config['batch_input_shape'] ?? config['batch_shape'];
  return shape === undefined || shape === null ? {} : { batchInputShape: shape };
}

function checkRest(field: string, value: unknown, layer: LayerJson, stock: StockLayer, reading: Reading): void {
  if (value === undefined || value === null || WITHOUT_EFFECT.has(field)) return;
  if (Object.hasOwn(stock.fixed, field)) {
    const allowed = stock.fixed[field]!;
    if (allowed.some((each) => sameValue(each, value))) return;
    const text = allowed.map((each) => JSON.stringify(each)).join(' or ');
    return refuse(reading, layer, field, text, value, 'TensorFlow.js cannot do otherwise.');
  }
  if (field === 'batch_input_shape' || field === 'batch_shape') return;
  // Keras 2 writes it beside those of the two weights that the layer has.
  if (field === 'kernel_initializer' && /^(Separable|Depthwise)Conv/.test(layer.className)) return;
  // It is applied where the layer is made.
  if (field === 'activity_regularizer') return;
  if (field === 'quantization_config') return refuse(reading, layer, field, 'null', value);
  const meant = closestName(field, stock.fields);
  refuse(
    reading,
    layer,
    field,
    stock.fields.length === 0 ? 'no settings of its own' : `one of ${stock.fields.join(', ')}`,
    described(`the field ${field}`),
    meant && `Did you mean ${meant}?`,
  );
}

/** The arguments that TensorFlow.js takes for a layer of Keras. Throws ValueError, which names the layer and the field. */
export function stockArguments(layer: LayerJson, reading: Reading): Record<string, unknown> {
  const stock = layerFor(layer.className, layer.config)!;
  const { config } = layer;
  naming(layer, () => checkFloat32Policy(withoutShortFloats(config['dtype'])));
  checkSizes(reading, layer);
  checkVolume(layer);
  const args: Record<string, unknown> = { name: nameHere(layer), ...readStart(config) };
  if (config['trainable'] !== undefined) args['trainable'] = config['trainable'] !== false;
  for (const field of stock.fields) {
    const value = config[field];
    if (value !== undefined) args[toCamelCase(field)] = readField(field, value, layer, reading);
  }
  for (const [here, theirs] of Object.entries(stock.renamed)) {
    const field = theirs.find((each) => config[each] !== undefined);
    if (field !== undefined) args[toCamelCase(here)] = config[field];
  }
  const known = new Set([...stock.fields, ...Object.values(stock.renamed).flat(), 'dtype', 'backward_layer']);
  for (const [field, value] of Object.entries(config)) {
    if (!known.has(field)) checkRest(field, value, layer, stock, reading);
  }
  if (layer.className === 'Bidirectional') checkBackward(layer, config['backward_layer'], reading);
  return args;
}
