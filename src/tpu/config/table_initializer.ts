/** How a table or a slot begins: a function, an initializer of tfjs, or a config. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { readInitializerOf, type Initializer, type InitializerInput } from '../../tables/initializers.js';
import { serializeRegistered } from '../../tables/registered_objects.js';
import { RowIdInitializer } from './row_id_initializer.js';

/**
 * Gives the values of a table; large tables ask for whole rows in blocks.
 *
 * @param shape - [rows, dim].
 * @param dtype - float32.
 * @returns A float32 tensor of that shape.
 */
export type InitializerFunction = (shape: number[], dtype: tf.DataType) => tf.Tensor;

/** As the field of a config holds it. */
export type TableInitializer = InitializerFunction | Initializer | RowIdInitializer;

/** As constructors take it. */
export type TableInitializerInput = TableInitializer | InitializerInput;

const EXPECTED = 'a function (shape, dtype) => tensor, an initializer, the name or the config of one, or null';

/** Keras and this package write an initializer as {className, config}. */
function rowIds(value: unknown): RowIdInitializer | null {
  if (value instanceof RowIdInitializer) return value;
  if (!isRecord(value)) return null;
  const name = value['className'] ?? value['class_name'];
  return name === RowIdInitializer.className ? RowIdInitializer.fromConfig((value['config'] ?? {}) as object) : null;
}

/** Throws ValueError for what is no initializer, as upstream. */
export function readTableInitializer(value: unknown, argument = 'initializer'): TableInitializer {
  if (typeof value === 'function') return value as InitializerFunction;
  const found = rowIds(value);
  if (found !== null) return found;
  if (typeof value !== 'string' && !isRecord(value)) throw new ValueError(argument, EXPECTED, value);
  return readInitializerOf(argument, value);
}

/** An initializer as tfjs has them. */
export function asInitializer(initializer: TableInitializer): Initializer {
  if (typeof initializer !== 'function') return initializer as Initializer;
  const made = {
    apply: (shape: number[], dtype: tf.DataType = 'float32') => initializer(shape, dtype),
    getClassName: () => (initializer.name === '' ? 'the initializer' : initializer.name),
    getConfig: () => ({}),
  };
  return made as unknown as Initializer;
}

/** The initializer of a slot; numbers stand for constants. */
export function constantOr(value: number | TableInitializer): Initializer {
  return typeof value === 'number' ? tf.initializers.constant({ value }) : asInitializer(value);
}

/** For a config; functions stay as they are. */
export function initializerConfig(initializer: TableInitializer): unknown {
  return typeof initializer === 'function' ? initializer : serializeRegistered(initializer as Initializer);
}
