/** Hostile calls of the TensorFlow ops. */
import { programAttack } from './program_attack.js';

export const tensorFlowOps = programAttack({
  name: 'tensorflow',
  describe: 'runs every TensorFlow op with wrong, huge and shared tensors and attributes; a round is 3000 calls',
  file: new URL('./programs/tensorflow_ops_program.ts', import.meta.url),
  timeoutMs: 300_000,
});
