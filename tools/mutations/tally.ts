/** How many changes the specs notice, and whether that is enough. */

/** What became of a change. */
export type Fate =
  /** An expectation failed of a spec that holds without the change, and failed again. */
  | 'caught'
  | 'survived'
  /** Specs failed, but only because something was thrown in them: whatever runs the line would notice. */
  | 'thrown'
  /** A spec did not end. */
  | 'hung'
  /** The process ended, or nothing could be loaded. */
  | 'crashed'
  /** It is listed as making no difference. */
  | 'equivalent';

export interface Tally {
  readonly fates: Readonly<Record<Fate, number>>;
  /** Changes that were drawn but do not compile; others were drawn for them. */
  readonly uncompiled: number;
  /** What the changes were drawn from. */
  readonly total: number;
}

/** Share of equivalents in a sample that is believed. */
export const MOST_EQUIVALENT = 0.05;

export function noFates(): Record<Fate, number> {
  return { caught: 0, survived: 0, thrown: 0, hung: 0, crashed: 0, equivalent: 0 };
}

/** Share of those caught among those that a failed expectation caught or nothing did. */
export function shareOf({ fates: { caught, survived } }: Tally): number {
  return caught + survived === 0 ? 0 : caught / (caught + survived);
}

/** Where the true share lies with 95 % certainty, by Wilson's formula. */
export function doubt(caught: number, tried: number): [low: number, high: number] {
  const share = caught / tried;
  const z = 1.96;
  const center = (share + (z * z) / (2 * tried)) / (1 + (z * z) / tried);
  const spread = (z * Math.sqrt((share * (1 - share)) / tried + (z * z) / (4 * tried * tried))) / (1 + (z * z) / tried);
  return [center - spread, center + spread];
}

export function isEnough(tally: Tally, needed: number): boolean {
  const { equivalent } = tally.fates;
  const all = Object.values(tally.fates).reduce((a, b) => a + b, 0);
  // Of a few, one is more than a share of 5 % already.
  return shareOf(tally) >= needed && equivalent <= Math.max(1, MOST_EQUIVALENT * all);
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

/** The line that a measurement ends with. */
export function tallyText(room: string, tally: Tally, needed: number): string {
  const { caught, survived, thrown, hung, crashed, equivalent } = tally.fates;
  const tried = caught + survived;
  const all = tried + thrown + hung + crashed + equivalent;
  const counts =
    `${room}: ${all} of ${tally.total} changes: ${caught} caught by a failed expectation, ${survived} survived; ` +
    `apart: ${thrown} only threw, ${hung} hung, ${crashed} crashed; ` +
    `${equivalent} equivalent; ${tally.uncompiled} more do not compile`;
  if (tried === 0) return `${counts}: nothing measured`;
  const [low, high] = doubt(caught, tried);
  const verdict = isEnough(tally, needed) ? 'pass' : 'fail';
  return (
    `${counts}\n${room}: ${percent(caught / tried)} % caught (95 % certain: ${percent(low)} to ${percent(high)}), ` +
    `${percent(needed)} % needed; ${percent(equivalent / all)} % equivalent, at most ${percent(MOST_EQUIVALENT)} %: ${verdict}`
  );
}
