/** How many files, functions and calls a step goes through, beside what it was. */

export interface Passage {
  readonly files: number;
  readonly functions: number;
  readonly calls: number;
}

/** The most files that a step may go through. */
const LIMITS: Readonly<Record<string, number>> = { 'op by op on cpu': 45, 'DistributedEmbedding, 2 devices': 60 };

export type Passages = Readonly<Record<string, Passage>>;

/** One line for each flow: now, and in parentheses before. */
export function passageLines(now: Passages, before: Passages | undefined): string[] {
  return Object.entries(now).map(([flow, is]) => {
    const counts = (['files', 'functions', 'calls'] as const).map((what) => {
      return `${what} ${is[what]} (${before?.[flow]?.[what] ?? 'not recorded'})`;
    });
    const limit = LIMITS[flow];
    const verdict = limit === undefined ? '' : `; at most ${limit} files: ${is.files <= limit ? 'met' : 'not met'}`;
    return `${flow}: ${counts.join(', ')}${verdict}`;
  });
}
