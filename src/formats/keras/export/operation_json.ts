/** Operations, and layers of attention, as Keras 3 writes them. */
import type * as tf from '@tensorflow/tfjs';
import { isRecord } from '../../../base/options.js';
import { AdditiveAttention, Attention } from '../../../layers/attention/attention.js';
import { MULTI_HEAD_FIELDS, MultiHeadAttention } from '../../../layers/attention/multi_head_attention.js';
import { ruleOf, type Operation } from '../../../layers/operations/operation.js';
import { GlobalAveragePooling1D } from '../../../layers/pooling/global_average_pooling1d.js';
import { UnitNormalization } from '../../../layers/unit_normalization.js';
import { keras, namedLayer, type LayerEntry } from './layer_json.js';
import { fieldJson, snakeWord } from './python_config.js';

type Json = Record<string, unknown>;

/** Modules of Keras's operations, but for those of `numpy`. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  core: ['Cast', 'ConvertToTensor', 'StopGradient', 'Unstack'],
  math: ['Erf', 'Logsumexp', 'Rsqrt'],
  nn: [
    'Elu',
    'Gelu',
    'HardSigmoid',
    'HardSilu',
    'LeakyRelu',
    'LogSigmoid',
    'LogSoftmax',
    'Normalize',
    'OneHot',
    'Relu',
    'Relu6',
    'Selu',
    'Sigmoid',
    'Silu',
    'Softmax',
    'Softplus',
    'Softsign',
  ],
};

function written(template: unknown, tensors: readonly Json[]): unknown {
  if (Array.isArray(template)) return template.map((each) => written(each, tensors));
  if (!isRecord(template)) return template;
  if (Number.isInteger(template['tensor'])) return tensors[template['tensor'] as number];
  if ('value' in template) return { class_name: '__tensor__', config: template };
  if (template['ellipsis'] === true) return { class_name: '__ellipsis__', config: {} };
  const { start = null, stop = null, step = null } = template;
  return { class_name: '__slice__', config: { start, stop, step } };
}

/** An operation; `tensors`: its inputs, as they are written. */
export function operationEntry(layer: Operation, tensors: readonly Json[]): Json {
  const { name, operation, operands, settings } = layer;
  const [module = 'numpy'] = Object.entries(MODULES).find(([, names]) => names.includes(operation)) ?? [];
  const own = Object.entries(settings).map(([key, value]) => [snakeWord(key), value] as const);
  const isList = ruleOf(operation).operands[0] === 'xs';
  const args = operands === null ? (isList ? [tensors] : tensors) : written(operands, tensors);
  const inbound_nodes = [{ args, kwargs: {} }];
  // The operation of Keras takes one axis when it is read from a file, the layer a list.
  if (operation === 'Softmax' && Array.isArray(settings['axis'])) {
    return { ...keras('Softmax', { name, dtype: 'float32', axis: settings['axis'] }), name, inbound_nodes };
  }
  return {
    module: `keras.src.ops.${module}`,
    class_name: operation,
    config: { name, ...Object.fromEntries(own) },
    registered_name: operation,
    name,
    inbound_nodes,
  };
}

/** Settings that Keras has in its calls, or not at all. */
const CALLED = ['useCausalMask', 'returnAttentionScores', 'zeroesMasked'];

const KINDS = [
  {
    cls: MultiHeadAttention,
    className: 'MultiHeadAttention',
    fields: MULTI_HEAD_FIELDS.filter((field) => !CALLED.includes(field)),
  },
  { cls: Attention, className: 'Attention', fields: ['useScale', 'scoreMode', 'dropout'] },
  { cls: AdditiveAttention, className: 'AdditiveAttention', fields: ['useScale', 'dropout'] },
  { cls: GlobalAveragePooling1D, className: 'GlobalAveragePooling1D', fields: ['dataFormat', 'keepdims'] },
  { cls: UnitNormalization, className: 'UnitNormalization', fields: ['axis'] },
] as const;

/** Null for layers of other kinds. */
export function attentionEntry(layer: tf.layers.Layer): LayerEntry | null {
  const kind = KINDS.find(({ cls }) => layer instanceof cls);
  if (kind === undefined) return null;
  const config = layer.getConfig() as Json;
  const written: Json = { name: layer.name, trainable: layer.trainable, dtype: 'float32' };
  for (const field of kind.fields) {
    const key = snakeWord(field);
    written[key] = fieldJson(config[field], namedLayer(layer), key);
  }
  return keras(kind.className, written);
}

/** The call of a layer of attention; `masks`: of its inputs, where they have to be told. Null for other layers. */
export function attentionCall(
  layer: tf.layers.Layer,
  tensors: readonly Json[],
  masks: readonly (Json | null)[],
): { args: unknown[]; kwargs: Json } | null {
  const isMany = layer instanceof MultiHeadAttention;
  if (!isMany && !(layer instanceof Attention) && !(layer instanceof AdditiveAttention)) return null;
  const kwargs: Json = {};
  if (layer.useCausalMask) kwargs['use_causal_mask'] = true;
  if (layer.returnAttentionScores) kwargs['return_attention_scores'] = true;
  if (!isMany) {
    const isTold = masks.some((mask) => mask !== null);
    return { args: [tensors], kwargs: isTold ? { ...kwargs, mask: masks } : kwargs };
  }
  const [query, value, key, attention] = tensors;
  if (attention !== undefined) kwargs['attention_mask'] = attention;
  // Keras takes the mask of the query from the query itself.
  ['value_mask', 'key_mask'].forEach((name, i) => {
    const mask = masks[i + 1] ?? null;
    if (mask !== null) kwargs[name] = mask;
  });
  return { args: key === undefined ? [query, value] : [query, value, key], kwargs };
}
