/** How many mutants the specs caught, and whether that is enough. */

/** Share of the mutants that are not equivalent which the specs must catch. */
export const NEEDED = 0.85;

export interface Tally {
  readonly caught: number;
  readonly survived: number;
  readonly equivalent: number;
  /** What the mutants were drawn from. */
  readonly total: number;
}

/** Where the true share lies with 95 % certainty, by Wilson's formula; all that there is leaves no doubt. */
export function doubt(caught: number, tried: number, isAll: boolean): [low: number, high: number] {
  const share = caught / tried;
  if (isAll) return [share, share];
  const z = 1.96;
  const center = (share + (z * z) / (2 * tried)) / (1 + (z * z) / tried);
  const spread = (z * Math.sqrt((share * (1 - share)) / tried + (z * z) / (4 * tried * tried))) / (1 + (z * z) / tried);
  return [center - spread, center + spread];
}

export function isEnough({ caught, survived }: Tally): boolean {
  return caught > 0 && caught / (caught + survived) >= NEEDED;
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

/** The line that a measurement ends with. */
export function tallyText(room: string, tally: Tally): string {
  const { caught, survived, equivalent, total } = tally;
  const tried = caught + survived;
  const counts = `${room}: ${caught} caught, ${survived} survived, ${equivalent} equivalent, of ${total} mutants`;
  if (tried === 0) return `${counts}: fail`;
  const [low, high] = doubt(caught, tried, tried + equivalent === total);
  const range = low === high ? '' : ` (${percent(low)} to ${percent(high)})`;
  return `${counts}: ${percent(caught / tried)} %${range} of ${percent(NEEDED)} %: ${isEnough(tally) ? 'pass' : 'fail'}`;
}
