/**
 * Made-up interactions of which the best possible ranking is known.
 *
 * Users and items have directions in 8 dimensions, uniform. Each user has 12 to 24 items, drawn without repetitions with
 * chances in proportion to exp(4 cos) / (k + 10), of the angle between the user and item k. One of them is held back and
 * ranked among 99 items that the user does not have, drawn uniformly; another one chooses the number of epochs. No ranking
 * can be expected to exceed the one by the true chances.
 */
import { Random } from '../random.js';
import type { ItemsOfUsers } from '../interactions.js';

export interface MadeUp {
  readonly numUsers: number;
  readonly numItems: number;
  readonly train: ItemsOfUsers;
  readonly valid: ItemsOfUsers;
  readonly test: ItemsOfUsers;
  readonly negatives: ItemsOfUsers;
  /** Of the ranking by the true chances. */
  readonly best: { readonly hitRate: number; readonly ndcg: number };
}

const USERS = 1500;
const ITEMS = 500;
const DIM = 8;
const SHARPNESS = 4;
const CANDIDATES = 99;

/** [count, DIM], of length 1. */
function directions(count: number, random: Random): Float64Array {
  const all = Float64Array.from({ length: count * DIM }, () => random.normal());
  for (let start = 0; start < all.length; start += DIM) {
    const length = Math.hypot(...all.subarray(start, start + DIM));
    for (let i = start; i < start + DIM; i++) all[i]! /= length;
  }
  return all;
}

/** `k`: how many ranks count. */
export function makeUp(seed: number, k: number): MadeUp {
  const random = new Random(seed);
  const [users, items] = [directions(USERS, random), directions(ITEMS, random)];
  const [train, valid, test, negatives]: Int32Array[][] = [[], [], [], []];
  const exponents = new Float64Array(ITEMS);
  let [hits, gain] = [0, 0];
  for (let user = 0; user < USERS; user++) {
    for (let item = 0; item < ITEMS; item++) {
      let cosine = 0;
      for (let i = 0; i < DIM; i++) cosine += users[user * DIM + i]! * items[item * DIM + i]!;
      exponents[item] = SHARPNESS * cosine - Math.log(item + 10);
    }
    const order = random.drawOrder(exponents);
    const count = 12 + random.below(13);
    // Shuffled, as the first ones of the order are likelier.
    const own = random.permutation(count).map((at) => order[at]!);
    const others = random.permutation(ITEMS - count).map((at) => order[count + at]!);
    const [candidates, held] = [others.slice(0, CANDIDATES), own.at(-1)!];
    train!.push(own.slice(0, -2));
    valid!.push(own.slice(-2, -1));
    test!.push(own.slice(-1));
    negatives!.push(candidates);
    const rank = candidates.filter((item) => exponents[item]! > exponents[held]!).length;
    if (rank < k) [hits, gain] = [hits + 1, gain + 1 / Math.log2(rank + 2)];
  }
  const best = { hitRate: hits / USERS, ndcg: gain / USERS };
  return { numUsers: USERS, numItems: ITEMS, train: train!, valid: valid!, test: test!, negatives: negatives!, best };
}
