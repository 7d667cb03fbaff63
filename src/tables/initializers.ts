/** How a table begins. */
import type * as tf from '@tensorflow/tfjs';
import type { WriteRows } from '../backends/contract.js';
import { readRegistered, type Family, type Registered } from './registered_objects.js';

export type Initializer = ReturnType<typeof tf.initializers.zeros>;
/** Hands over all rows of a table, in order. */
export type FillRows = (write: WriteRows) => void;
/** An initializer of one table, whose values may come a few rows at a time. */
export interface RowsInitializer extends Initializer {
  readonly fillRows?: FillRows;
}
/** A name ('randomUniform', 'zeros', ...), a config, or an object of `tf.initializers`. */
export type InitializerInput = string | { className: string; config: object } | Initializer;

/** The classes of TensorFlow.js, as it spells them. */
export const INITIALIZER_CLASSES: readonly string[] = [
  'Zeros',
  'Ones',
  'Constant',
  'RandomUniform',
  'RandomNormal',
  'TruncatedNormal',
  'Identity',
  'VarianceScaling',
  'GlorotUniform',
  'GlorotNormal',
  'HeNormal',
  'HeUniform',
  'LeCunNormal',
  'LeCunUniform',
  'Orthogonal',
];

const FAMILY: Family = {
  argument: 'embeddingsInitializer',
  sample: 'Zeros',
  classes: INITIALIZER_CLASSES,
  // Keras spellings that tfjs does not know.
  aliases: { uniform: 'RandomUniform', normal: 'RandomNormal', zero: 'Zeros', one: 'Ones', eye: 'Identity' },
  adapt: (className, config) => {
    const adapted = { ...config };
    // Keras 3 may write a generator's whole state here; tfjs takes numbers.
    if (typeof adapted['seed'] === 'object' && adapted['seed'] !== null) delete adapted['seed'];
    for (const key of ['mode', 'distribution']) {
      const word = adapted[key];
      if (typeof word === 'string') adapted[key] = word.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    }
    return [className, adapted];
  },
};

/** The initializer of a table, `randomUniform` by default as in the stock layer; `seed` goes to one given by name. */
export function readInitializer(identifier: unknown, seed: number | null = null): Initializer {
  const defaults = seed === null ? {} : { seed };
  return readRegistered(identifier ?? 'randomUniform', FAMILY, defaults) as Registered as Initializer;
}

/** The initializer of another weight, given as this argument. */
export function readInitializerOf(argument: string, identifier: unknown, byDefault: string): Initializer {
  return readRegistered(identifier ?? byDefault, { ...FAMILY, argument }) as Registered as Initializer;
}
