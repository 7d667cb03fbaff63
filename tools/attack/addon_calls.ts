/** Hostile calls of the native addon. */
import { programAttack } from './program_attack.js';

export const addonCalls = programAttack({
  name: 'addon',
  describe: 'calls every function of the native addon with anything, shared memory included; a round is 20000 calls',
  file: new URL('./programs/addon_calls_program.ts', import.meta.url),
  timeoutMs: 300_000,
});
