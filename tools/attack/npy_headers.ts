/** Hostile headers of `.npy` files. */
import { HOSTILE_HEADERS } from './hostile/headers.js';
import { programAttack } from './program_attack.js';

const { length } = HOSTILE_HEADERS;

export const npyHeaders = programAttack({
  name: 'npy',
  describe: `opens .npy files with hostile headers; a round is ${length} kinds, long and short, and 5000 changed ones`,
  file: new URL('./programs/npy_headers_program.ts', import.meta.url),
  timeoutMs: 60_000,
});
