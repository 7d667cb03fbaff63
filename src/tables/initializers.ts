/** How a table begins. */
import type * as tf from '@tensorflow/tfjs';
import type { WriteRows } from '../backends/contract.js';
import { isRecord } from '../base/options.js';
import type { TableSize } from '../partition/table_layout.js';
import { ConstantValues } from './constant_values.js';
import { readRegistered, type Family, type Registered } from './registered_objects.js';

export type Initializer = ReturnType<typeof tf.initializers.zeros>;
/** Hands over all rows of a table, in order. */
export type FillRows = (write: WriteRows) => void;
/** An initializer of one table, whose values may come a few rows at a time. */
export interface RowsInitializer extends Initializer {
  readonly fillRows?: FillRows;
}
/** A table that is to be filled, and what errors call it. */
export interface TableToFill extends TableSize {
  readonly name: string;
  /** What its initializer was given as; `embeddingsInitializer` by default. */
  readonly argument?: string;
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

/** A class and a config of Keras as TensorFlow.js has them: arrays as lists, and a Constant of them as `ConstantValues`. */
export function adaptInitializer(
  className: string,
  config: Record<string, unknown>,
): [string, Record<string, unknown>] {
  const adapted = Object.fromEntries(
    Object.entries(config).map(([key, value]) => {
      const isArray = isRecord(value) && ['__numpy__', '__tensor__'].includes(String(value['class_name']));
      return [key, isArray && isRecord(value['config']) ? value['config']['value'] : value];
    }),
  );
  const isMany = className === 'Constant' && Array.isArray(adapted['value']);
  return [isMany ? ConstantValues.className : className, adapted];
}

const FAMILY: Family = {
  argument: 'embeddingsInitializer',
  sample: 'Zeros',
  classes: INITIALIZER_CLASSES,
  // Keras spellings that tfjs does not know.
  aliases: { uniform: 'RandomUniform', normal: 'RandomNormal', zero: 'Zeros', one: 'Ones', eye: 'Identity' },
  adapt: (className, config) => {
    const [adaptedName, adapted] = adaptInitializer(className, config);
    // Keras 3 may write a generator's whole state here; tfjs takes numbers.
    if (typeof adapted['seed'] === 'object' && adapted['seed'] !== null) delete adapted['seed'];
    for (const key of ['mode', 'distribution']) {
      const word = adapted[key];
      if (typeof word === 'string') adapted[key] = word.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    }
    return [adaptedName, adapted];
  },
};

/** The initializer of a table, `randomUniform` by default as in the stock layer; `seed` goes to one given by name. */
export function readInitializer(identifier: unknown, seed: number | null = null): Initializer {
  return readInitializerOf(FAMILY.argument, identifier, 'randomUniform', seed);
}

/** The same of another weight or argument, and with its default. */
export function readInitializerOf(
  argument: string,
  identifier: unknown,
  byDefault?: string,
  seed: number | null = null,
): Initializer {
  const defaults = seed === null ? {} : { seed };
  return readRegistered(identifier ?? byDefault, { ...FAMILY, argument }, defaults) as Registered as Initializer;
}
