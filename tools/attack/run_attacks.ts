/** Runs attacks one after the other and counts what they find. */
import type { Attack, Finding } from './attack.js';

export interface Summary {
  readonly seed: number;
  readonly rounds: number;
  /** Findings by name of the attack. */
  readonly attacks: Readonly<Record<string, number>>;
  readonly findings: number;
}

/** Says how far it is, and each finding at once with the command that repeats it. */
export async function runAttacks(
  attacks: readonly Attack[],
  { rounds, seed }: { readonly rounds: number; readonly seed: number },
  say: (line: string) => void,
): Promise<Summary> {
  const counts: Record<string, number> = {};
  for (const { name, run } of attacks) {
    counts[name] = 0;
    const found = (finding: Finding): void => {
      counts[name]! += 1;
      say(`${name}: FOUND ${finding.what}`);
      say(`  npm run attack -- --only ${name} --rounds 1 --seed ${finding.seed}`);
    };
    const progress = (done: number): void => say(`${name}: ${done} of ${rounds} rounds, ${counts[name]} findings`);
    await run({ rounds, seed, progress, found });
  }
  return { seed, rounds, attacks: counts, findings: Object.values(counts).reduce((sum, count) => sum + count, 0) };
}
