/** Configs of TensorFlow.js as Keras 3 writes them. */
import { ConstantValues } from '../../../tables/constant_values.js';
import { INITIALIZER_CLASSES } from '../../../tables/initializers.js';
import { KERAS_ACTIVATIONS } from '../../../layers/keras_activations.js';
import { isRecord } from '../../../base/options.js';
import { composedActivation } from '../composed_activations.js';
import { layerError, type NamedLayer } from '../layer_error.js';

type Json = Record<string, unknown>;

/** Functions that both compute alike, by their names here. */
const ACTIVATIONS: Readonly<Record<string, string>> = {
  elu: 'elu',
  gelu: 'gelu',
  kerasHardSigmoid: 'hard_sigmoid',
  linear: 'linear',
  logSoftmax: 'log_softmax',
  mish: 'mish',
  relu: 'relu',
  relu6: 'relu6',
  selu: 'selu',
  sigmoid: 'sigmoid',
  softmax: 'softmax',
  softplus: 'softplus',
  softsign: 'softsign',
  swish: 'silu',
  tanh: 'tanh',
  ...Object.fromEntries(Object.entries(KERAS_ACTIVATIONS).map(([name, own]) => [own, name])),
  kerasHardSilu: 'hard_silu',
};

/** Classes with other names in Keras. */
const NAMES: Readonly<Record<string, string>> = { LeCunNormal: 'LecunNormal', LeCunUniform: 'LecunUniform' };
/** What Keras takes of their configs. */
const INITIALIZER_FIELDS = [
  'value',
  'minval',
  'maxval',
  'mean',
  'stddev',
  'scale',
  'mode',
  'distribution',
  'gain',
  'seed',
];
const SEEDED_ONLY = ['GlorotUniform', 'GlorotNormal', 'HeNormal', 'HeUniform', 'LeCunNormal', 'LeCunUniform'];

/** `channelsLast` to `channels_last`. */
export function snakeWord(word: string): string {
  return word.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function read(value: unknown): { className: string; config: Json } | null {
  if (!isRecord(value) || typeof value['className'] !== 'string') return null;
  return { className: value['className'], config: isRecord(value['config']) ? value['config'] : {} };
}

function object(module: string, className: string, config: Json): Json {
  return { module, class_name: className, config, registered_name: null };
}

export function activationJson(value: unknown, layer: NamedLayer, field: string): string | Json | null {
  if (value === null || value === undefined) return null;
  const name = typeof value === 'string' ? value : (read(value)?.className ?? '');
  if (Object.hasOwn(ACTIVATIONS, name)) return ACTIVATIONS[name]!;
  const composed = composedActivation(name);
  if (composed !== null) return composed;
  throw layerError(layer, field, `one of ${Object.keys(ACTIVATIONS).join(', ')}, hardSigmoid, gelu_new`, name);
}

export function initializerJson(value: unknown, layer: NamedLayer, field: string): Json | null {
  if (value === null || value === undefined) return null;
  const given = read(value);
  if (given?.className === ConstantValues.className) {
    const array = { class_name: '__numpy__', config: { value: given.config['value'], dtype: 'float32' } };
    return object('keras.initializers', 'Constant', { value: array });
  }
  if (given === null || !INITIALIZER_CLASSES.includes(given.className)) {
    throw layerError(layer, field, `one of ${INITIALIZER_CLASSES.join(', ')}`, given?.className ?? value);
  }
  const { className } = given;
  const fields = SEEDED_ONLY.includes(className) ? ['seed'] : className === 'Identity' ? ['gain'] : INITIALIZER_FIELDS;
  const config: Json = {};
  for (const key of fields) {
    const part = given.config[key];
    if (part !== undefined) config[key] = typeof part === 'string' ? snakeWord(part) : part;
  }
  return object('keras.initializers', NAMES[className] ?? className, config);
}

export function regularizerJson(value: unknown, layer: NamedLayer, field: string): Json | null {
  if (value === null || value === undefined) return null;
  const given = read(value);
  if (given?.className !== 'L1L2') throw layerError(layer, field, 'L1L2', given?.className ?? value);
  const { l1, l2 } = given.config;
  return object('keras.regularizers', 'L1L2', { l1: l1 ?? 0, l2: l2 ?? 0 });
}

const CONSTRAINTS: Readonly<Record<string, readonly string[]>> = {
  MaxNorm: ['maxValue', 'axis'],
  UnitNorm: ['axis'],
  NonNeg: [],
  MinMaxNorm: ['minValue', 'maxValue', 'rate', 'axis'],
};

export function constraintJson(value: unknown, layer: NamedLayer, field: string): Json | null {
  if (value === null || value === undefined) return null;
  const given = read(value);
  if (given === null || !Object.hasOwn(CONSTRAINTS, given.className)) {
    throw layerError(layer, field, Object.keys(CONSTRAINTS).join(', '), given?.className ?? value);
  }
  const config = Object.fromEntries(
    CONSTRAINTS[given.className]!.flatMap((key) => {
      const part = given.config[key];
      return part === undefined ? [] : [[snakeWord(key), part]];
    }),
  );
  return object('keras.constraints', given.className, config);
}

/** One field of a layer's config, by its name in Keras. */
export function fieldJson(value: unknown, layer: NamedLayer, field: string): unknown {
  if (field.endsWith('activation')) return activationJson(value, layer, field);
  if (field.endsWith('_initializer')) return initializerJson(value, layer, field);
  if (field.endsWith('_regularizer')) return regularizerJson(value, layer, field);
  if (field.endsWith('_constraint')) return constraintJson(value, layer, field);
  return typeof value === 'string' ? snakeWord(value) : value;
}
