/** Calls of the native addon while another thread rewrites ids, splits, weights and results. */
import { programAttack } from './program_attack.js';

export const addonRaces = programAttack({
  name: 'races',
  describe:
    'calls the native addon while a thread rewrites ids, splits, uses, weights and results; a round is 10000 calls',
  file: new URL('./programs/addon_races_program.ts', import.meta.url),
  timeoutMs: 300_000,
});
