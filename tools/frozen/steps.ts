/** How many files, functions and calls a step goes through, beside what it was. */

export interface Passage {
  readonly files: number;
  readonly functions: number;
  readonly calls: number;
}

/** The most that a step may go through. */
const LIMITS: Readonly<Record<string, Partial<Passage>>> = {
  'captured step on tensorflow': { files: 25, calls: 400 },
  'op by op on cpu': { files: 45 },
  'DistributedEmbedding, 2 devices': { files: 60 },
};

export type Passages = Readonly<Record<string, Passage>>;

/** One line for each flow: now, and in parentheses before. */
export function passageLines(now: Passages, before: Passages | undefined): string[] {
  return Object.entries(now).map(([flow, is]) => {
    const counts = (['files', 'functions', 'calls'] as const).map((what) => {
      const limit = LIMITS[flow]?.[what];
      const verdict = limit === undefined ? '' : `, at most ${limit}: ${is[what] <= limit ? 'met' : 'not met'}`;
      return `${what} ${is[what]} (${before?.[flow]?.[what] ?? 'not recorded'}${verdict})`;
    });
    return `${flow}: ${counts.join(', ')}`;
  });
}
