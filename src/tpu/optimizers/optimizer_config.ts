/** TPU optimizers as plain data, and back. */
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { closestName } from '../../base/closest_name.js';
import { readConfig } from '../config/fields.js';
import { Adagrad } from './adagrad.js';
import { AdagradMomentum } from './adagrad_momentum.js';
import { Adam } from './adam.js';
import { CustomOptimizer } from './custom_optimizer.js';
import { FTRL } from './ftrl.js';
import { SGD } from './sgd.js';
import { TPUEmbeddingOptimizer } from './tpu_optimizer.js';

const CLASSES = { SGD, Adagrad, AdagradMomentum, Adam, FTRL, CustomOptimizer } as const;
type ClassName = keyof typeof CLASSES;
const NAMES = Object.keys(CLASSES) as ClassName[];
const EXPECTED = `an instance of one of ${NAMES.map((name) => `emb.tpu.${name}`).join(', ')}`;

/** An optimizer with its class, for a config. */
export interface SerializedOptimizer {
  readonly className: string;
  readonly config: Record<string, unknown>;
}

/** The optimizer of a table or of all tables: an instance, or null. Throws ValueError for anything else, as upstream. */
export function readOptimizer(value: unknown, argument = 'optimizer'): TPUEmbeddingOptimizer | null {
  if (value === undefined || value === null) return null;
  if (value instanceof TPUEmbeddingOptimizer) return value;
  throw new ValueError(argument, EXPECTED, value);
}

export function optimizerConfig(optimizer: TPUEmbeddingOptimizer | null): SerializedOptimizer | null {
  return optimizer === null ? null : { className: optimizer.getClassName(), config: optimizer.getConfig() };
}

/** Functions are not saved with models: what is loaded has null in their place. */
function checkComputation(config: unknown, argument: string): void {
  const { customComputation } = readConfig<{ customComputation?: unknown }>(config ?? {}, `${argument}.config`);
  if (customComputation !== null) return;
  const note =
    'A function is not saved with a model: make the model again, with its CustomOptimizer, and give it the saved weights ' +
    '(loadWeights or setWeights).';
  throw new ArgumentTypeError(`${argument}.config.customComputation`, 'a function', customComputation, note);
}

/** An optimizer from {className, config}, with keys in camelCase or snake_case; instances and null are left alone. */
export function optimizerFromConfig(value: unknown, argument = 'optimizer'): TPUEmbeddingOptimizer | null {
  if (value === undefined || value === null || value instanceof TPUEmbeddingOptimizer || !isRecord(value)) {
    return readOptimizer(value, argument);
  }
  const { className, config } = readConfig<{ className?: unknown; config?: unknown }>(value, argument);
  if (typeof className !== 'string') return readOptimizer(value, argument);
  const known = NAMES.find((name) => name === className);
  if (known === 'CustomOptimizer') checkComputation(config, argument);
  if (known !== undefined) return CLASSES[known].fromConfig((config ?? {}) as object);
  const meant = closestName(className, NAMES);
  const note = meant === undefined ? undefined : `Did you mean ${meant}?`;
  throw new ValueError(`${argument}.className`, `one of ${NAMES.join(', ')}`, className, note);
}
