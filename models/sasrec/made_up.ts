/**
 * Made-up sequences of which the best possible ranking is known.
 *
 * Items have directions in 6 dimensions, uniform, and two random matrices A and B say where steps lead: after the items a, b
 * comes item k with a chance in proportion to exp(4.9 cos(A b, k) + 3.5 cos(B a, k)) / (k + 30), among the items that the
 * user has not had. Users have 8 to 32 items. No ranking can be expected to exceed the one by the true chances.
 */
import type { ItemsOfUsers } from '../interactions.js';
import { Random } from '../random.js';

export interface MadeUp {
  readonly numItems: number;
  /** In their order. */
  readonly sequences: ItemsOfUsers;
  /** Of the ranking of each user's last item by the true chances. */
  readonly best: { readonly hitRate: number; readonly ndcg: number };
}

const [USERS, ITEMS, DIM] = [3000, 300, 6];
const [FEWEST, MOST] = [8, 32];
const [OF_LAST, OF_ONE_BEFORE] = [4.9, 3.5];

/** [rows][DIM], rows of length 1. */
function directions(rows: readonly (readonly number[])[]): number[][] {
  return rows.map((row) => {
    const length = Math.hypot(...row);
    return row.map((each) => each / length);
  });
}

const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, each, i) => sum + each * b[i]!, 0);

/** A place, drawn with these chances, which need not add up to 1. */
function drawn(chances: Float64Array, random: Random): number {
  let left = random.next() * chances.reduce((sum, each) => sum + each, 0);
  const found = chances.findIndex((chance) => (left -= chance) < 0);
  // Rounding may leave a little.
  return found < 0 ? chances.indexOf(Math.max(...chances)) : found;
}

/** `k`: how many ranks count. */
export function makeUp(seed: number, k: number): MadeUp {
  const random = new Random(seed);
  const normal = (rows: number): number[][] =>
    Array.from({ length: rows }, () => Array.from({ length: DIM }, () => random.normal()));
  const items = directions(normal(ITEMS));
  /** What each item multiplies the chances of all items by, [ITEMS][ITEMS]. */
  const effects = (sharpness: number): number[][] => {
    const matrix = normal(DIM);
    const targets = directions(items.map((item) => matrix.map((row) => dot(row, item))));
    return targets.map((target) => items.map((item) => Math.exp(sharpness * dot(target, item))));
  };
  const [ofLast, ofOneBefore] = [effects(OF_LAST), effects(OF_ONE_BEFORE)];
  const sequences: Int32Array[] = [];
  let [hits, gain] = [0, 0];
  for (let user = 0; user < USERS; user++) {
    const own = new Int32Array(FEWEST + random.below(MOST - FEWEST + 1));
    const chances = new Float64Array(ITEMS);
    for (let at = 0; at < own.length; at++) {
      const [last, oneBefore] = [ofLast[own[at - 1]!], ofOneBefore[own[at - 2]!]];
      chances.forEach((_, item) => (chances[item] = ((last?.[item] ?? 1) * (oneBefore?.[item] ?? 1)) / (item + 30)));
      for (const item of own.subarray(0, at)) chances[item] = 0;
      own[at] = drawn(chances, random);
    }
    sequences.push(own);
    const held = chances[own.at(-1)!]!;
    const rank = chances.filter((chance) => chance > held).length;
    if (rank < k) [hits, gain] = [hits + 1, gain + 1 / Math.log2(rank + 2)];
  }
  return { numItems: ITEMS, sequences, best: { hitRate: hits / USERS, ndcg: gain / USERS } };
}
