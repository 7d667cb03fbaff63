/** Hostile files of Keras models. */
import { HOSTILE_KERAS_FILES } from './hostile/keras_files.js';
import { programAttack } from './program_attack.js';

export const kerasFiles = programAttack({
  name: 'keras',
  describe: `loads Keras files that were spoilt; a round is ${HOSTILE_KERAS_FILES.length} kinds, 40 times each`,
  file: new URL('./programs/keras_files_program.ts', import.meta.url),
  timeoutMs: 300_000,
});
