/** Hostile models in files. */
import { HOSTILE_MODELS } from './hostile/models.js';
import { programAttack } from './program_attack.js';

export const modelFiles = programAttack({
  name: 'models',
  describe: `loads models that were spoilt; a round is ${HOSTILE_MODELS.length} kinds, and 200 with some bytes changed`,
  file: new URL('./programs/model_files_program.ts', import.meta.url),
  timeoutMs: 180_000,
});
