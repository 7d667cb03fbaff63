/**
 * How far the run without mutants is. It takes minutes, in a process of which Stryker tells nothing until it is done: the
 * runner notes in a file how many specs it ran, and the reporter reads that.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = '.specs-run';
const PERIOD_MS = 2_000;

/** A reporter of jasmine. It counts on over several runs. */
export class DryRunProgress {
  private count = 0;
  private last = 0;

  specDone({ status }: { readonly status: string }): void {
    if (status === 'excluded') return;
    this.count++;
    if (Date.now() - this.last < PERIOD_MS) return;
    this.last = Date.now();
    writeFileSync(FILE, String(this.count));
  }
}

/** How many specs ran; 0 before the first one. */
export function specsRun(): number {
  try {
    return Number(readFileSync(FILE, 'utf8'));
  } catch {
    return 0;
  }
}
