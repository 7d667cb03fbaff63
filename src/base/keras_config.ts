/** Configs of the embedding layers of Keras 2 and 3, NVIDIA distributed-embeddings and Keras RS as arguments of ours. */
import { ArgumentTypeError, ValueError } from './errors.js';
import { camelKeys } from './camel_case.js';
import { sayUnknownKey } from './unknown_key.js';

/** Arguments of the layers; everything else in a config is handled below or named in a warning. */
const ARGUMENTS = new Set([
  'name',
  'trainable',
  'batchInputShape',
  'inputShape',
  'batchSize',
  'inputDim',
  'outputDim',
  'embeddingsInitializer',
  'embeddingsRegularizer',
  'embeddingsConstraint',
  'activityRegularizer',
  'maskZero',
  'inputLength',
  'combiner',
  'maxNorm',
  'outOfRange',
  'optimizer',
  'storage',
  'table',
  'weights',
  'seed',
]);

/**
 * Keys that change nothing about results. `useCustomKernel` (NVIDIA) chooses code, as `setKernels` does here;
 * `customObjects` is put there by tfjs while it loads.
 */
const WITHOUT_EFFECT = new Set(['useCustomKernel', 'customObjects', 'autocast', 'loraEnabled', 'buildConfig']);

/** Keys whose feature does not exist here: fine when off, an error when on. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  quantizationConfig: 'null: tables are float32',
  quantizationMode: 'null: tables are float32',
  loraRank: 'null: low-rank adaptation is not supported',
  sparse: 'false: results are dense',
};

/** Policies under which Keras keeps the table in float32. */
const FLOAT32_TABLE = /^(float32|int32|mixed_?b?float16)$/i;

/** Throws for a dtype or policy of Keras whose variables are not float32. */
export function checkFloat32Policy(dtype: unknown): void {
  if (dtype === undefined || dtype === null) return;
  const expected = 'a dtype or policy whose variables are float32';
  const policy = dtype as { config?: { name?: unknown } };
  const name = typeof dtype === 'object' ? policy.config?.name : dtype;
  if (typeof name !== 'string') throw new ArgumentTypeError('dtype', expected, dtype);
  if (!FLOAT32_TABLE.test(name)) throw new ValueError('dtype', expected, name);
}

/**
 * Returns a layer's arguments from its config.
 *
 * Keys may be in snake or camel case. Dtype policies of Keras 3 and `batch_shape` are understood. Nothing with an effect
 * is dropped silently: `mask_zero` and `input_length` are kept (NVIDIA's layer drops them), a feature that is missing here
 * is a ValueError when it is on, and an unknown key is named in a warning.
 *
 * @throws TypeError where the config is no object; ValueError for what cannot be honoured.
 *
 * @example
 * readKerasConfig({input_dim: 12, output_dim: 5, combiner: 'sum', use_custom_kernel: true});
 * // {inputDim: 12, outputDim: 5, combiner: 'sum'}
 */
export function readKerasConfig(config: unknown): Record<string, unknown> {
  if (config === null || typeof config !== 'object' || Array.isArray(config)) {
    throw new ArgumentTypeError('config', 'an object', config);
  }
  const args: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(camelKeys(config as Record<string, unknown>))) {
    if (key === 'dtype') checkFloat32Policy(value);
    else if (key === 'batchShape') args['batchInputShape'] = value;
    else if (ARGUMENTS.has(key)) args[key] = value;
    else if (Object.hasOwn(UNSUPPORTED, key)) refuse(key, value);
    else if (!WITHOUT_EFFECT.has(key) && value !== null && value !== undefined) {
      sayUnknownKey(key, 'an embedding layer', [...ARGUMENTS]);
    }
  }
  return args;
}

function refuse(key: string, value: unknown): void {
  if (value === undefined || value === null || value === false) return;
  throw new ValueError(key, UNSUPPORTED[key]!, value);
}
