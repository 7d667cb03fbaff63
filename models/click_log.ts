/**
 * A made-up log of shown advertisements and clicks, of which the best possible ranking is known.
 *
 * Each row is drawn independently:
 * - `user`: one of 200, uniform; `item`: one of 100, item k with weight 1 / (k + 5); `device`: one of 4, uniform;
 *   `slot` of the page: one of 5, uniform;
 * - `hour`: uniform in [0, 24), one decimal; `price`: exp(2 + 0.8 N), two decimals;
 * - `tags`: 0 to 5 of 50 tags (every number equally likely, tag k with weight 1 / (k + 5), repeats left out), separated
 *   by `|`;
 * - `click`: yes with probability sigmoid(z), where
 *   z = -0.7 + u[user] + v[item] + 0.8 sin(2 pi hour / 24) - 0.5 (ln(price) - 2) + 1.5 mean(t[tag]) + w[device][slot],
 *   the mean of no tags being 0, and u, v ~ 0.7 N, t ~ N, w ~ 0.7 N drawn once.
 * As z is known, so is the AUC of a ranking by the true probabilities, which no model can be expected to exceed.
 */
import { Random } from './random.js';

export interface ClickLog {
  readonly table: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };
  /** The true probability of a click in each row. */
  readonly truth: Float64Array;
}

const USERS = 200;
const ITEMS = 100;
const DEVICES = ['phone', 'tablet', 'laptop', 'television'];
const SLOTS = ['top', 'left', 'right', 'middle', 'bottom'];
const TAGS = 50;
const MOST_TAGS = 5;

/** Draws k with weight 1 / (k + 5). */
function harmonic(count: number, random: Random): () => number {
  const totals = new Float64Array(count);
  let total = 0;
  for (let k = 0; k < count; k++) totals[k] = total += 1 / (k + 5);
  return () => {
    const mark = random.next() * total;
    return Math.min(
      totals.findIndex((each) => each > mark),
      count - 1,
    );
  };
}

export function makeClickLog(rowCount: number, seed: number): ClickLog {
  const random = new Random(seed);
  const effects = (count: number, scale: number): Float64Array =>
    Float64Array.from({ length: count }, () => scale * random.normal());
  const user = effects(USERS, 0.7);
  const item = effects(ITEMS, 0.7);
  const tag = effects(TAGS, 1);
  const pair = effects(DEVICES.length * SLOTS.length, 0.7);
  const drawItem = harmonic(ITEMS, random);
  const drawTag = harmonic(TAGS, random);
  const truth = new Float64Array(rowCount);
  const rows = Array.from({ length: rowCount }, (_, row) => {
    const u = random.below(USERS);
    const v = drawItem();
    const d = random.below(DEVICES.length);
    const s = random.below(SLOTS.length);
    const hour = Math.floor(random.next() * 240) / 10;
    const price = Math.round(Math.exp(2 + 0.8 * random.normal()) * 100) / 100 + 0.01;
    const tags = [...new Set(Array.from({ length: random.below(MOST_TAGS + 1) }, drawTag))];
    const tagEffect = tags.reduce((sum, each) => sum + tag[each]!, 0) / Math.max(tags.length, 1);
    const z =
      -0.7 +
      user[u]! +
      item[v]! +
      0.8 * Math.sin((2 * Math.PI * hour) / 24) -
      0.5 * (Math.log(price) - 2) +
      1.5 * tagEffect +
      pair[d * SLOTS.length + s]!;
    const probability = 1 / (1 + Math.exp(-z));
    truth[row] = probability;
    const names = [`user${u}`, `item${v}`, DEVICES[d]!, SLOTS[s]!];
    const cells = [...names, hour.toFixed(1), price.toFixed(2), tags.map((k) => `tag${k}`).join('|')];
    return [...cells, random.next() < probability ? 'yes' : 'no'];
  });
  return { table: { columns: ['user', 'item', 'device', 'slot', 'hour', 'price', 'tags', 'click'], rows }, truth };
}
