/** Where two runs of a generated use differ. */
import type { Moment } from '../../layers/distributed_embedding/run.js';

const LISTS = ['outputs', 'tables', 'state'] as const;

/** `tolerance`: by how much of 1 and of a value it may be off; 0: in no bit. */
export function differences(actual: readonly Moment[], expected: readonly Moment[], tolerance = 0): string[] {
  const found: string[] = [];
  actual.forEach((moment, step) => {
    for (const list of LISTS) {
      moment[list].forEach(({ values }, i) => {
        const other = expected[step]![list][i]!.values;
        const isFar = (value: number, place: number): boolean =>
          !Object.is(value, other[place]) && !(Math.abs(value - other[place]!) <= tolerance * (1 + Math.abs(value)));
        const at = values.findIndex(isFar);
        if (at < 0 && values.length === other.length) return;
        found.push(`step ${step}, ${list} ${i}: [${at}] is ${values[at]}, expected ${other[at]}`);
      });
    }
  });
  return found;
}
