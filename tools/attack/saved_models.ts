/** Hostile SavedModels. */
import { HOSTILE_SAVED_MODELS } from './hostile/saved_models.js';
import { programAttack } from './program_attack.js';

export const savedModels = programAttack({
  name: 'savedmodels',
  describe: `loads SavedModels that were spoilt; a round is ${HOSTILE_SAVED_MODELS.length} kinds, and 100 with some bytes changed`,
  file: new URL('./programs/saved_models_program.ts', import.meta.url),
  timeoutMs: 300_000,
});
