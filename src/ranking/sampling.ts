/** Negatives: items that users do not have, drawn by number, so that a draw depends on its seed and place alone. */
import * as tf from '@tensorflow/tfjs';
import { randomKey, randomWords, type RandomKey } from '../backends/counter_random.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { rowBlocks, rowsAtOnce } from '../base/row_blocks.js';
import { RaggedTensor } from '../ids/ragged_tensor.js';
import { checkFinite } from './losses/loss.js';

/** How likely items are: alike, by a power of their counts, or by their ids, the lower the likelier. */
export type NegativesDistribution = 'uniform' | 'popularity' | 'log-uniform';

export interface NegativesArgs {
  /** Items are 0 to numItems - 1. */
  numItems: number;
  /** How many negatives each positive gets. */
  perPositive: number;
  /** The item of each row, which is never drawn for it. */
  positives: ArrayLike<number> | tf.Tensor1D;
  /** Items that are never drawn: a row for each positive, or, with `users`, for each user. */
  seen?: RaggedTensor | null | undefined;
  /** Which row of `seen` belongs to each positive. Default: its own. */
  users?: ArrayLike<number> | tf.Tensor1D | null | undefined;
  /** Default: 'uniform'. */
  distribution?: NegativesDistribution | undefined;
  /** How often each item occurs, by id; needed for 'popularity'. */
  counts?: ArrayLike<number> | undefined;
  /** What counts are raised to. Default: 0.75. */
  power?: number | undefined;
  /** A whole number from 0 to 2^53 - 1. Default: 0. */
  seed?: number | undefined;
  /** Which draw of this seed it is: another step gives others. Default: 0. */
  step?: number | undefined;
}

const FIELDS = [
  ...['numItems', 'perPositive', 'positives', 'seen', 'users', 'distribution', 'counts', 'power', 'seed', 'step'],
] as (keyof NegativesArgs)[];
const DISTRIBUTIONS: readonly NegativesDistribution[] = ['uniform', 'popularity', 'log-uniform'];
const WORDS = 2 ** 32;
/** So many random words are made at once, where a row has fewer. */
const MOST_WORDS = 2048;
/** So often an item that may not be drawn is drawn anew; then one is chosen among those that are left. */
const MOST_TRIES = 64;

function whole(value: unknown, argument: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const expected =
    most === Number.MAX_SAFE_INTEGER ? `a whole number >= ${least}` : `a whole number in [${least}, ${most}]`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!(Number.isSafeInteger(value) && value >= least && value <= most))
    throw new ValueError(argument, expected, value);
  return value;
}

/** Whole numbers below `most`. */
function idsOf(given: unknown, argument: string, most: number): Int32Array {
  const list = given instanceof tf.Tensor ? given.dataSync() : given;
  const isList = Array.isArray(list) || (ArrayBuffer.isView(list) && !(list instanceof DataView));
  if (!isList) throw new ArgumentTypeError(argument, 'a list or 1-D tensor of whole numbers', given);
  return Int32Array.from(list as ArrayLike<number>, (id, i) => {
    if (Number.isInteger(id) && id >= 0 && id < most) return id;
    throw new ValueError(`${argument}[${i}]`, `a whole number in [0, ${most})`, id);
  });
}

/** What the user of a row has seen, ascending, each once. */
type SeenBy = (row: number) => Int32Array;

function seenBy(given: Partial<NegativesArgs>, positives: Int32Array, numItems: number): SeenBy {
  const { seen } = given;
  const ofUser = new Map<number, Int32Array>();
  if (seen !== undefined && seen !== null && !(seen instanceof RaggedTensor)) {
    throw new ArgumentTypeError('seen', 'a RaggedTensor', seen);
  }
  const splits = seen?.rowSplits ?? null;
  const users =
    (given.users ?? null) === null ? null : idsOf(given.users, 'users', splits === null ? Infinity : splits.length - 1);
  const rows = users?.length ?? (splits === null ? positives.length : splits.length - 1);
  if (rows !== positives.length) {
    const argument = users === null ? 'seen' : 'users';
    throw new ValueError(argument, `${positives.length} rows, one for each positive`, described(`${rows}`));
  }
  const values = seen === undefined || seen === null ? new Int32Array(0) : idsOf(seen.values, 'seen', numItems);
  const sorted = (user: number): Int32Array => {
    const known = ofUser.get(user);
    if (known !== undefined) return known;
    const own = splits === null ? new Int32Array(0) : values.slice(splits[user], splits[user + 1]).sort();
    const once = own.filter((id, i) => i === 0 || id !== own[i - 1]);
    ofUser.set(user, once);
    return once;
  };
  return (row) => sorted(users?.[row] ?? row);
}

/** The first of `count` places from which on something holds; `count` where it holds nowhere. */
function firstPlace(count: number, holds: (place: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Where an id stands in an ascending list, or would. Not by `firstPlace`, whose calls take longer than the search. */
function placeOf(list: Int32Array, id: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Items by how likely they are. */
interface Weighted {
  /** The item of a number in [0, 1). */
  readonly draw: (part: number) => number;
  /** In any measure. */
  readonly chance: (item: number) => number;
}

function weightedOf(given: Partial<NegativesArgs>, numItems: number): Weighted | null {
  const { distribution = 'uniform' } = given;
  if (!DISTRIBUTIONS.includes(distribution)) {
    const expected = `'uniform', 'popularity' or 'log-uniform'`;
    if (typeof distribution === 'string') throw new ValueError('distribution', expected, distribution);
    throw new ArgumentTypeError('distribution', expected, distribution);
  }
  if (distribution === 'uniform') return null;
  if (distribution === 'log-uniform') {
    const range = Math.log(numItems + 1);
    const draw = (part: number): number => Math.min(Math.floor(Math.exp(part * range)) - 1, numItems - 1);
    return { draw, chance: (item) => Math.log((item + 2) / (item + 1)) };
  }
  const power = checkFinite(given.power ?? 0.75, 'power');
  const { counts } = given;
  if (counts === undefined || counts === null) throw new ArgumentTypeError('counts', 'a count for each item', counts);
  if (counts.length !== numItems) throw new ValueError('counts', `${numItems} counts`, counts);
  const sums = new Float64Array(numItems);
  let total = 0;
  for (let item = 0; item < numItems; item++) {
    const count = counts[item]!;
    if (!(count >= 0 && count < Infinity)) throw new ValueError(`counts[${item}]`, 'a number >= 0', count);
    sums[item] = total += count === 0 ? 0 : count ** power;
  }
  const draw = (part: number): number => {
    const sought = part * total;
    return firstPlace(numItems - 1, (item) => sums[item]! > sought);
  };
  return { draw, chance: (item) => sums[item]! - (sums[item - 1] ?? 0) };
}

/** One of the items that are left, by their chances; -1 where none has one. */
function drawLeft(part: number, { chance }: Weighted, numItems: number, isSeen: (item: number) => boolean): number {
  let total = 0;
  for (let item = 0; item < numItems; item++) if (!isSeen(item)) total += chance(item);
  let [left, last] = [part * total, -1];
  for (let item = 0; item < numItems; item++) {
    if (isSeen(item) || chance(item) === 0) continue;
    last = item;
    left -= chance(item);
    if (left < 0) break;
  }
  return last;
}

/**
 * Returns negatives for positives: items that are drawn at random, but never the positive itself or what was seen.
 *
 * What is drawn for a place depends on `seed`, `step`, the row and the column, and on nothing else. 'popularity' draws
 * items by counts to a power, 'log-uniform' item i with a chance of log((i + 2) / (i + 1)), for ids in falling order of
 * their counts. Items that may not be drawn leave their chance to the others in proportion.
 *
 * @param args - Items, positives, what was seen, distribution and seed.
 * @returns int32 [positives, perPositive]; the caller disposes it.
 * @throws TypeError for arguments of a wrong type; ValueError for numbers out of range, rows that do not fit each other,
 * and a row for which no item is left. Source: tf.random.log_uniform_candidate_sampler (TensorFlow 2.21) for that
 * distribution, which excludes nothing.
 *
 * @example
 * const seen = emb.RaggedTensor.fromRows([[0, 1], [2, 3]]);
 * emb.sampling.negatives({ numItems: 4, perPositive: 3, positives: [0, 2], seen }); // rows of 2 and 3, of 0 and 1
 */
export function negatives(args: NegativesArgs): tf.Tensor2D {
  const given = readOptions<NegativesArgs>(
    args,
    FIELDS,
    'args',
    'emb.sampling.negatives({numItems, perPositive, positives})',
  );
  const numItems = whole(given.numItems, 'numItems', 1, 2 ** 31 - 1);
  const positives = idsOf(given.positives, 'positives', numItems);
  const each = whole(given.perPositive, 'perPositive', 1, Math.floor((2 ** 31 - 5) / Math.max(2, positives.length)));
  const key = randomKey(whole(given.seed ?? 0, 'seed', 0));
  const firstRow = whole(given.step ?? 0, 'step', 0) * positives.length;
  const weighted = weightedOf(given, numItems);
  const seenOf = seenBy(given, positives, numItems);
  const drawn = new Int32Array(positives.length * each);
  const atOnce = Math.min(positives.length, rowsAtOnce(each, MOST_WORDS));
  const words = new Int32Array(2 * each * atOnce);
  for (const { firstRow: first, rows } of rowBlocks({ rows: positives.length, columns: each }, MOST_WORDS)) {
    randomWords(words, key, { firstRow: firstRow + first, rowStep: 1, rows, firstColumn: 0, columns: each });
    for (let row = first; row < first + rows; row++) {
      const at = { words, from: (row - first) * each, drawn, to: row * each, each };
      const [seen, positive] = [seenOf(row), positives[row]!];
      const before = placeOf(seen, positive);
      const isNew = seen[before] !== positive;
      const left = numItems - seen.length - (isNew ? 1 : 0);
      if (left === 0) {
        throw new ValueError(`seen[${row}]`, 'an item at least that was not seen', described('all items'));
      }
      // The number of the positive among the items that were not seen, which those after it pass over.
      if (weighted === null) drawAlike(at, left, seen, isNew ? positive - before : left);
      else drawWeighted(at, { weighted, seen, positive, numItems, key, row, place: firstRow + row });
    }
  }
  return tf.tensor2d(drawn, [positives.length, each], 'int32');
}

/** The words of a row, and where its items go. */
interface RowAt {
  readonly words: Int32Array;
  readonly from: number;
  readonly drawn: Int32Array;
  readonly to: number;
  readonly each: number;
}

/** Items that are not in `seen`, all alike, but for that of the number `without`. */
function drawAlike({ words, from, drawn, to, each }: RowAt, left: number, seen: Int32Array, without: number): void {
  const { length } = seen;
  for (let i = 0; i < each; i++) {
    let number = Math.floor(((words[from + i]! >>> 0) / WORDS) * left);
    if (number >= without) number++;
    // How many of the seen ones come before the item.
    let [low, high] = [0, length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (seen[middle]! - middle > number) high = middle;
      else low = middle + 1;
    }
    drawn[to + i] = number + low;
  }
}

interface Draw {
  readonly weighted: Weighted;
  readonly seen: Int32Array;
  readonly positive: number;
  readonly numItems: number;
  readonly key: RandomKey;
  readonly row: number;
  /** The row of the generator. */
  readonly place: number;
}

function drawWeighted({ words, from, drawn, to, each }: RowAt, draw: Draw): void {
  const { weighted, seen, positive, numItems, key, row, place } = draw;
  const isSeen = (item: number): boolean => item === positive || seen[placeOf(seen, item)] === item;
  const more = new Int32Array(4);
  for (let column = 0; column < each; column++) {
    let part = (words[from + column]! >>> 0) / WORDS;
    let item = weighted.draw(part);
    for (let tries = 1; isSeen(item); tries++) {
      // The words after those of the row.
      const firstColumn = each * tries + column;
      randomWords(more, key, { firstRow: place, rowStep: 1, rows: 1, firstColumn, columns: 1 });
      part = (more[0]! >>> 0) / WORDS;
      item = tries < MOST_TRIES ? weighted.draw(part) : drawLeft(part, weighted, numItems, isSeen);
      if (item < 0) {
        const expected = 'an item at least that was not seen and has a count';
        throw new ValueError(`seen[${row}]`, expected, described('none'));
      }
    }
    drawn[to + column] = item;
  }
}
