/** The optimizer of one table. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { SparseOptimizer } from '../optimizers/sparse_optimizer.js';
import type { Codec } from '../codecs/codec.js';
import { TRAINED_STORAGES } from '../codecs/codecs.js';
import { FLOAT32 } from '../codecs/float32.js';
import { isConverting } from './storage.js';

const EXPECTED = 'an emb.train optimizer, such as emb.train.adagrad({learningRate: 0.1}), or null';

type Entry = [unknown, (cls: unknown, config: unknown) => unknown];

/**
 * An optimizer, or the one of a saved config; null where there is none. Rows that are never stepped have none, and
 * lose it where a model is quantized.
 */
export function readTableOptimizer(value: unknown, codec: Codec = FLOAT32): SparseOptimizer | null {
  const own = read(value);
  if (own === null || codec.training !== null) return own;
  if (isConverting()) return null;
  const note = `Nothing steps rows of ${codec.name}; ${TRAINED_STORAGES} is trained.`;
  throw new ValueError('optimizer', `none for a table of storage '${codec.name}'`, described('one'), note);
}

function read(value: unknown): SparseOptimizer | null {
  if (value === undefined || value === null) return null;
  return readPresent(value);
}

function readPresent(value: unknown): SparseOptimizer | null {
  if (value instanceof SparseOptimizer) return value;
  const { className, config } = Object(value) as { className?: unknown; config?: unknown };
  if (typeof className === 'string' && config !== undefined) return fromConfig(className, config);
  throw new ArgumentTypeError('optimizer', EXPECTED, value);
}

function fromConfig(className: string, config: unknown): SparseOptimizer | null {
  const map = tf.serialization.SerializationMap.getMap().classNameMap as unknown as Record<string, Entry | undefined>;
  const entry = Object.hasOwn(map, className) ? map[className] : undefined;
  if (entry === undefined) throw new ValueError('optimizer', EXPECTED, className);
  return read(entry[1](entry[0], config));
}
