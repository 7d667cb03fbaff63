/** Attacks that run one program per round, whose last line is `{fallen: string[]}`: what fell, each in a sentence. */
import type { Attack } from './attack.js';
import { runProgram } from './child_program.js';

interface Program {
  readonly name: string;
  readonly describe: string;
  /** Takes a seed. */
  readonly file: URL;
  readonly timeoutMs: number;
}

export function programAttack({ name, describe, file, timeoutMs }: Program): Attack {
  return {
    name,
    describe,
    async run({ rounds, seed, progress, found }) {
      for (let round = 0; round < rounds; round++) {
        const { lastLine, problem } = await runProgram(file, [seed + round], { timeoutMs });
        const fallen = problem === null ? (JSON.parse(lastLine) as { fallen: string[] }).fallen : [problem];
        for (const what of fallen) found({ seed: seed + round, what });
        progress(round + 1);
      }
    },
  };
}
