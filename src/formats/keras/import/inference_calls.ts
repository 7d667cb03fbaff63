/**
 * Layers that a model of Keras 2 calls with `training=False`, as those of frozen bases are: they compute as in inference
 * while the model trains. They are built as layers that know nothing else. Keras 3 writes the argument too, and passes
 * what the model is called with in its place.
 */
import { described } from '../../../base/errors.js';
import { isRecord } from '../../../base/options.js';
import { layerError } from '../layer_error.js';
import type { CalledLayer } from './absent_ids.js';
import { isModel, readLayer, type LayerJson } from './topology.js';

/** Layers that do nothing but in training. */
const IDLE = /^(AlphaDropout|Dropout|GaussianDropout|GaussianNoise|SpatialDropout\dD)$/;
const WRAPPERS = ['TimeDistributed', 'Bidirectional'];
const RATES = ['dropout', 'recurrent_dropout'];

/** Whether training makes a difference to a layer. */
function trains(layer: LayerJson): boolean {
  const { className, config, isCustom } = layer;
  if (isCustom || isModel(layer) || IDLE.test(className) || className === 'BatchNormalization') return true;
  if (WRAPPERS.includes(className)) return trains(readLayer(config['layer'], `${layer.name}.layer`));
  return RATES.some((field) => (config[field] ?? 0) !== 0);
}

/** Whether all calls of a layer are those of inference. Throws ValueError where some are. */
export function isOfInference({ layer, calls }: CalledLayer, version: 2 | 3): boolean {
  if (version === 3) return false;
  const told = calls.filter(({ kwargs }) => kwargs['training'] === false).length;
  if (told === 0 || told === calls.length || !trains(layer)) return told > 0;
  throw layerError(layer, 'inbound_nodes.training', 'the same in all calls of the layer', described('both'));
}

/** The config of a wrapped layer of inference. */
function wrapped(value: unknown): unknown {
  if (!isRecord(value) || !isRecord(value['config'])) return value;
  const className = String(value['class_name']);
  if (IDLE.test(className)) return { ...value, class_name: 'Activation', config: linear(value['config']) };
  return { ...value, config: withoutRates(value['config']) };
}

function linear({ name, trainable = true }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { name, trainable, activation: 'linear' };
}

function withoutRates(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const zero = RATES.filter((field) => config[field] !== undefined).map((field) => [field, 0] as const);
  return { ...config, ...Object.fromEntries(zero) };
}

/** The layer that computes the same in training. Throws ValueError for one of which nobody knows it. */
export function asInference(layer: LayerJson): LayerJson {
  const { className, config } = layer;
  if (!trains(layer) || isModel(layer)) return layer;
  if (layer.isCustom) {
    const expected = 'a layer of Keras: what one of a class of its own computes without training is not known';
    throw layerError(layer, 'inbound_nodes.training', expected, false);
  }
  if (IDLE.test(className)) return { ...layer, className: 'Activation', config: linear(config) };
  if (className === 'BatchNormalization') return { ...layer, isInference: true };
  if (!WRAPPERS.includes(className)) return { ...layer, config: withoutRates(config) };
  const inner = readLayer(config['layer'], `${layer.name}.layer`);
  if (inner.className === 'BatchNormalization')
    throw layerError(layer, 'inbound_nodes.training', 'no BatchNormalization within', false);
  const backward = config['backward_layer'];
  const both = backward === undefined ? {} : { backward_layer: wrapped(backward) };
  return { ...layer, config: { ...config, layer: wrapped(config['layer']), ...both } };
}
