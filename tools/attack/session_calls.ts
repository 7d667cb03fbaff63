/** Hostile calls of sessions on a server. */
import { programAttack } from './program_attack.js';

export const sessionCalls = programAttack({
  name: 'sessions',
  describe: 'starts and finishes runs on a server with anything among what they are given; a round is 4000 calls',
  file: new URL('./programs/session_calls_program.ts', import.meta.url),
  timeoutMs: 300_000,
});
