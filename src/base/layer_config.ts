/** Configs of layers that are no embedding tables: the fields that are known, everything else named. */
import { ArgumentTypeError } from './errors.js';
import { camelKeys } from './camel_case.js';
import { checkFloat32Policy } from './keras_config.js';
import { sayUnknownKey } from './unknown_key.js';

/** What tfjs and Keras put beside a layer's own fields while they save and load. */
const WITHOUT_EFFECT = ['customObjects', 'autocast', 'buildConfig'];

/**
 * Returns the known fields of a config with snake_case or camelCase keys.
 *
 * `batch_shape` (Keras 3) becomes `batchInputShape`. A dtype or policy of Keras must keep variables in float32; `ignored`
 * keys are dropped; any other key is named in a warning.
 *
 * @throws TypeError where the config is no object; ValueError for another dtype.
 *
 * @example
 * readLayerConfig({self_interaction: true, dtype: 'float32'}, ['selfInteraction']); // {selfInteraction: true}
 */
export function readLayerConfig(
  config: unknown,
  known: readonly string[],
  ignored: readonly string[] = [],
): Record<string, unknown> {
  if (config === null || typeof config !== 'object' || Array.isArray(config)) {
    throw new ArgumentTypeError('config', 'an object', config);
  }
  const args: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(camelKeys(config as Record<string, unknown>))) {
    if (ignored.includes(key) || WITHOUT_EFFECT.includes(key)) continue;
    if (key === 'dtype') checkFloat32Policy(value);
    else if (key === 'batchShape') args['batchInputShape'] = value;
    else if (known.includes(key)) args[key] = value;
    else if (value !== null && value !== undefined) {
      sayUnknownKey(key, 'a layer', known);
    }
  }
  return args;
}
