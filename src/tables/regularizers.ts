/** Penalties on a table, added to the loss. */
import type * as tf from '@tensorflow/tfjs';
import { readRegistered, type Family, type Registered } from './registered_objects.js';

export type Regularizer = ReturnType<typeof tf.regularizers.l2>;
/** A name ('l1', 'l2', 'l1l2'), a config, or an object of `tf.regularizers`. */
export type RegularizerInput = string | { className: string; config: object } | Regularizer;

const FAMILY: Family = {
  argument: 'embeddingsRegularizer',
  sample: 'L1L2',
  classes: ['L1L2', 'L1', 'L2'],
  aliases: {},
  // tfjs has one class for the three of Keras; a part that is not given is 0 in L1 and L2, 0.01 in L1L2.
  adapt: (className, config) => {
    if (className === 'L1') return ['L1L2', { l1: config['l1'] ?? 0.01, l2: 0 }];
    if (className === 'L2') return ['L1L2', { l1: 0, l2: config['l2'] ?? 0.01 }];
    return [className, config];
  },
};

/** The regularizer given as this argument, or null. */
export function readRegularizer(identifier: unknown, argument = FAMILY.argument): Regularizer | null {
  if (identifier === undefined || identifier === null) return null;
  return readRegistered(identifier, { ...FAMILY, argument }) as Registered as Regularizer;
}
