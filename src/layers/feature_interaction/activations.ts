/** Functions applied to each number of a tensor, given by name, by config or as a layer of tfjs. */
import type * as tf from '@tensorflow/tfjs';
import { KERAS_ACTIVATIONS } from '../keras_activations.js';
import { readRegistered, type Family, type Registered } from '../../tables/registered_objects.js';

/** What tfjs holds for the name of an activation. */
export interface Activation extends Registered {
  /**
   * @param tensor - Any float32 tensor.
   * @returns A tensor of the same shape.
   */
  apply(tensor: tf.Tensor): tf.Tensor;
}

/** A name ('relu', 'tanh', ...), a config, or a layer made by `tf.layers.activation`. */
export type ActivationInput = string | { className: string; config: object } | tf.layers.Layer;

const CLASSES = [
  'elu',
  'selu',
  'relu',
  'relu6',
  'linear',
  'sigmoid',
  'hardSigmoid',
  'kerasHardSigmoid',
  'softplus',
  'softsign',
  'tanh',
  'softmax',
  'logSoftmax',
  'gelu',
  'gelu_new',
  'mish',
  'swish',
  ...Object.values(KERAS_ACTIVATIONS),
];

/** The activation inside an activation layer, or in the config of one; anything else as it is. */
function unwrapped(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  const { className, class_name, config } = value as Record<string, unknown>;
  if ((className ?? class_name) === 'Activation') return (config as { activation?: unknown } | undefined)?.activation;
  const layer = value as Partial<Registered>;
  return layer.getClassName?.() === 'Activation' ? layer.getConfig!()['activation'] : value;
}

/** The activation given as this argument; none is `linear`. */
export function readActivation(argument: string, identifier: unknown): Activation {
  const family: Family = { argument, sample: 'relu', classes: CLASSES, aliases: { silu: 'swish' } };
  const wanted = unwrapped(identifier);
  return readRegistered(wanted ?? 'linear', family) as Activation;
}
