/** Hostile and generated trainings, captured beside op by op. */
import type { Attack } from './attack.js';
import { runProgram } from './child_program.js';

/** What the program prints. */
interface Report {
  readonly tried: number;
  readonly captured: number;
  readonly reasons: Readonly<Record<string, number>>;
  readonly fallen: readonly string[];
}

const FILE = new URL('./programs/captured_program.ts', import.meta.url);
const LONGEST_MS = 3_600_000;

/** Trainings that ran op by op show nothing of captured steps: they are told apart, by why they did. */
function say({ tried, captured, reasons, fallen }: Report, seed: number): void {
  const refused = Object.entries(reasons).sort(([, a], [, b]) => b - a);
  const count = refused.reduce((sum, [, times]) => sum + times, 0);
  const parts = [`${tried} trainings`, `${captured} captured and equal`, `${fallen.length} different`];
  console.error(`captured, seed ${seed}: ${[...parts, `${count} op by op, which prove nothing`].join(', ')}`);
  for (const [reason, times] of refused) console.error(`  ${String(times).padStart(4)} ${reason}`);
}

export const capturedSteps: Attack = {
  name: 'captured',
  describe: 'trains with hostile and generated changes between steps, captured and op by op; a round is all of them',
  async run({ rounds, seed, progress, found }) {
    for (let round = 0; round < rounds; round++) {
      const { lastLine, problem } = await runProgram(FILE, [seed + round], { timeoutMs: LONGEST_MS });
      if (problem !== null) found({ seed: seed + round, what: problem });
      else {
        const report = JSON.parse(lastLine) as Report;
        say(report, seed + round);
        for (const what of report.fallen) found({ seed: seed + round, what });
      }
      progress(round + 1);
    }
  },
};
