/** Hostile calls of the native addon. */
import type { Attack } from './attack.js';
import { runProgram } from './child_program.js';

const CALLS = 20_000;
const TIMEOUT_MS = 300_000;
const PROGRAM = new URL('./addon_calls_program.ts', import.meta.url);

export const addonCalls: Attack = {
  name: 'addon',
  describe: `calls every function of the native addon with anything; a round is ${CALLS} calls`,
  async run({ rounds, seed, progress, found }) {
    for (let round = 0; round < rounds; round++) {
      const { problem } = await runProgram(PROGRAM, [seed + round, CALLS], { timeoutMs: TIMEOUT_MS });
      if (problem !== null) found({ seed: seed + round, what: problem });
      progress(round + 1);
    }
  },
};
