/**
 * Made-up users and items that are known by their features alone, of which the best possible ranking is known.
 *
 * Users have a country (of 6) and an age (of 5), items a genre (of 8) and one to three tags (of 20), all uniform. How well
 * item k goes with a user is a[country][genre] + b[age][genre] + mean over tags of c[age][tag] - ln(k + 10), with a, b and
 * c ~ 1.2 N. Each user has 12 items, drawn without repetitions with chances in proportion to the exponentials; two of them
 * are held back. No ranking can be expected to exceed the one by these sums.
 */
import type { ItemsOfUsers } from '../interactions.js';
import { Random } from '../random.js';
import { featureOf, type Feature } from './features.js';

export interface Data {
  readonly train: ItemsOfUsers;
  readonly test: ItemsOfUsers;
  readonly users: readonly Feature[];
  readonly items: readonly Feature[];
  /** Recall of the ranking by the true chances; null: not known. */
  readonly bestRecall: number | null;
}

const [USERS, ITEMS, COUNTRIES, AGES, GENRES, TAGS] = [2500, 300, 6, 5, 8, 20];
const [OWN, HELD] = [12, 2];

export function makeUp(seed: number, k: number): Data {
  const random = new Random(seed);
  const table = (rows: number, columns: number): number[][] =>
    Array.from({ length: rows }, () => Array.from({ length: columns }, () => 1.2 * random.normal()));
  const [a, b, c] = [table(COUNTRIES, GENRES), table(AGES, GENRES), table(AGES, TAGS)];
  const [countries, ages] = [COUNTRIES, AGES].map((size) => Array.from({ length: USERS }, () => [random.below(size)]));
  const genres = Array.from({ length: ITEMS }, () => [random.below(GENRES)]);
  const tags = genres.map(() => [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.below(TAGS)))]);
  const [train, test]: Int32Array[][] = [[], []];
  let recall = 0;
  for (let user = 0; user < USERS; user++) {
    const [country, age] = [countries![user]![0]!, ages![user]![0]!];
    const scores = genres.map(([genre], item) => {
      const ofTags = tags[item]!.reduce((sum, tag) => sum + c[age]![tag]!, 0) / tags[item]!.length;
      return a[country]![genre!]! + b[age]![genre!]! + ofTags - Math.log(item + 10);
    });
    const order = random.drawOrder(scores);
    // Shuffled, as the first ones of the order are likelier.
    const own = random.permutation(OWN).map((at) => order[at]!);
    const [kept, held] = [own.slice(HELD), own.slice(0, HELD)];
    train!.push(kept);
    test!.push(held);
    const had = new Set(kept);
    const ranked = Array.from(scores.keys()).filter((item) => !had.has(item));
    const best = new Set(ranked.sort((x, y) => scores[y]! - scores[x]!).slice(0, k));
    recall += held.filter((item) => best.has(item)).length / HELD;
  }
  return {
    train: train!,
    test: test!,
    users: [featureOf('country', COUNTRIES, countries!), featureOf('age', AGES, ages!)],
    items: [
      featureOf('item', ITEMS, genres.map((_, item) => [item])), // prettier-ignore
      featureOf('genre', GENRES, genres),
      featureOf('tags', TAGS, tags),
    ],
    bestRecall: recall / USERS,
  };
}
