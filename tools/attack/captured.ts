/** Hostile and generated trainings, captured beside op by op. */
import { availableParallelism } from 'node:os';
import type { Attack } from './attack.js';
import { runProgram } from './child_program.js';

/** What the program prints. */
interface Report {
  readonly tried: number;
  readonly captured: number;
  readonly idle: number;
  readonly reasons: Readonly<Record<string, number>>;
  readonly fallen: readonly string[];
}

const FILE = new URL('./programs/captured_program.ts', import.meta.url);
/** Of one training, on a machine that is busy. */
const LONGEST_MS = 600_000;
const SAY_EVERY_MS = 10_000;
/** More would share the threads of TensorFlow. */
const MOST_PROCESSES = 4;

/** How far a round is, by the lines that its processes write. */
class Progress {
  readonly #start = Date.now();
  #said = Date.now();
  #total = 0;
  #done = 0;
  #different = 0;

  constructor(private readonly seed: number) {}

  readonly hear = (line: string): void => {
    const count = /^(\d+) trainings$/.exec(line);
    if (count !== null) this.#total += Number(count[1]);
    const [, kind, what] = /^ {2}(captured|idle|refused|different) (.*)$/.exec(line) ?? [];
    if (kind === undefined) return;
    this.#done += 1;
    if (kind === 'different') this.#different += 1;
    if (kind === 'different') console.error(`captured, seed ${this.seed}: ${what}`);
    if (Date.now() - this.#said >= SAY_EVERY_MS) this.#say();
  };

  #say(): void {
    this.#said = Date.now();
    const rate = (this.#done * 1000) / (this.#said - this.#start);
    const left = Math.ceil((this.#total - this.#done) / rate);
    const done = `${this.#done} of ${this.#total} trainings, ${this.#different} different`;
    console.error(`captured, seed ${this.seed}: ${done}; ${rate.toFixed(1)} a second, ${left} s left`);
  }
}

function united(reports: readonly Report[]): Report {
  const reasons: Record<string, number> = {};
  for (const report of reports)
    for (const [reason, count] of Object.entries(report.reasons)) reasons[reason] = (reasons[reason] ?? 0) + count;
  return {
    tried: reports.reduce((sum, { tried }) => sum + tried, 0),
    captured: reports.reduce((sum, { captured }) => sum + captured, 0),
    idle: reports.reduce((sum, { idle }) => sum + idle, 0),
    reasons,
    fallen: reports.flatMap(({ fallen }) => fallen),
  };
}

/** Trainings that ran op by op show nothing of captured steps: they are told apart, by why they did. */
function say({ tried, captured, idle, reasons, fallen }: Report, seed: number): void {
  const refused = Object.entries(reasons).sort(([, a], [, b]) => b - a);
  const count = refused.reduce((sum, [, times]) => sum + times, 0);
  const parts = [`${tried} trainings`, `${captured} captured and equal`, `${fallen.length} different`];
  parts.push(`${idle} in which nothing changes op by op either`);
  console.error(`captured, seed ${seed}: ${[...parts, `${count} op by op, which prove nothing`].join(', ')}`);
  for (const [reason, times] of refused) console.error(`  ${String(times).padStart(4)} ${reason}`);
}

export const capturedSteps: Attack = {
  name: 'captured',
  describe: 'trains with hostile and generated changes between steps, captured and op by op; a round is all of them',
  async run({ rounds, seed, progress, found }) {
    const count = Math.min(availableParallelism(), MOST_PROCESSES);
    const parts = Array.from({ length: count }, (_, part) => `${part}/${count}`);
    for (let round = 0; round < rounds; round++) {
      const { hear } = new Progress(seed + round);
      const options = { timeoutMs: LONGEST_MS, onLine: hear };
      const ends = await Promise.all(parts.map((part) => runProgram(FILE, [seed + round, part], options)));
      for (const { problem } of ends) if (problem !== null) found({ seed: seed + round, what: problem });
      const report = united(ends.flatMap(({ problem, lastLine }) => (problem === null ? [JSON.parse(lastLine)] : [])));
      say(report, seed + round);
      for (const what of report.fallen) found({ seed: seed + round, what });
      progress(round + 1);
    }
  },
};
