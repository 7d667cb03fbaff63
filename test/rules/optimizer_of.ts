/** The optimizer that runs an update, and the settings with which it does. */
import { readSettings, type SparseOptimizerConfig } from '../../src/rules/optimizer_settings.js';
import { OPTIMIZER_NAMES, UPDATE_NAMES, updateOf, type OptimizerName, type UpdateName } from '../../src/rules/rules.js';

/** Fields on which the choice of an update may depend. */
const SWITCHES: readonly SparseOptimizerConfig[] = [
  {},
  { amsgrad: true },
  { momentum: 0.5 },
  { centered: true },
  { centered: true, momentum: 0.5 },
];

export function optimizerOf(update: UpdateName): { name: OptimizerName; config: SparseOptimizerConfig } {
  for (const name of OPTIMIZER_NAMES) {
    for (const config of SWITCHES) {
      const by = { optimizerName: name, settings: readSettings(name, config) };
      if (updateOf(by) === update || updateOf(by, true) === update) return { name, config };
    }
  }
  throw new Error(`no optimizer runs ${update}`);
}

/** Updates that an optimizer runs on tables whose rows begin together. */
export const OF_PLAIN_TABLES = UPDATE_NAMES.filter((name) => !name.endsWith('ByRow'));
