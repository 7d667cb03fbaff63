/** Negatives: items that users do not have, drawn by number, so that a draw depends on its seed and place alone. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { isRecord, readOptions } from '../base/options.js';
import { RaggedTensor } from '../ids/ragged_tensor.js';
import { isOpenTable } from '../tables/keys/is_open_table.js';
import type { OpenTable } from '../tables/keys/open_table.js';
import { readKeys } from '../tables/keys/read_keys.js';
import type { KeysInput } from '../tfjs/models/key_inputs.js';
import { drawAll, idsOf, SeenItems, whole, type Seen, type Weighted } from './draws.js';
import { checkFinite } from './losses/loss.js';
import { keyLists, knownRows, usedRows } from './open_keys.js';

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

/** Negatives among the keys of an open table. */
export interface KeyedNegativesArgs extends Pick<NegativesArgs, 'perPositive' | 'users' | 'power' | 'seed' | 'step'> {
  /** The keys that have a row in it are drawn. */
  table: OpenTable;
  /** The key of each row, which is never drawn for it; it may have no row. */
  positives: KeysInput;
  /** Keys that are never drawn: a row for each positive, or, with `users`, for each user. Those without a row count for nothing. */
  seen?: KeysInput | null | undefined;
  /** Default: 'uniform'; 'popularity': by how often training steps met them. */
  distribution?: 'uniform' | 'popularity' | undefined;
}

const KEYED_FIELDS = [
  ...['table', 'perPositive', 'positives', 'seen', 'users', 'distribution', 'power', 'seed', 'step'],
] as (keyof KeyedNegativesArgs)[];

const FIELDS = [
  ...['numItems', 'perPositive', 'positives', 'seen', 'users', 'distribution', 'counts', 'power', 'seed', 'step'],
] as (keyof NegativesArgs)[];
const DISTRIBUTIONS: readonly NegativesDistribution[] = ['uniform', 'popularity', 'log-uniform'];

function readSeen(given: Partial<NegativesArgs>, positives: Int32Array, numItems: number): Seen {
  const { seen } = given;
  if (seen !== undefined && seen !== null && !(seen instanceof RaggedTensor)) {
    throw new ArgumentTypeError('seen', 'a RaggedTensor', seen);
  }
  if ((seen?.shape.length ?? 2) !== 2) {
    throw new ValueError('seen', 'a RaggedTensor of shape [rows, null]', described(String(seen)));
  }
  const count = seen?.shape[0] ?? null;
  const users = usersOf(given.users, count, positives);
  return { lists: (seen ?? null) === null ? null : SeenItems.of(seen!, numItems), users };
}

/** Which of `count` rows of seen items belongs to each positive; null: its own. */
function usersOf(given: unknown, count: number | null, positives: Int32Array): Int32Array | null {
  const users = (given ?? null) === null ? null : idsOf(given, 'users', count ?? Infinity);
  const rows = users?.length ?? count ?? positives.length;
  if (rows === positives.length) return users;
  const argument = users === null ? 'seen' : 'users';
  throw new ValueError(argument, `${positives.length} rows, one for each positive`, described(`${rows}`));
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
    let [low, high] = [0, numItems - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! > sought) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return { draw, chance: (item) => sums[item]! - (sums[item - 1] ?? 0) };
}

/**
 * Returns negatives for positives: items that are drawn at random, but never the positive itself or what was seen.
 *
 * What is drawn for a place depends on `seed`, `step`, the row and the column, and on nothing else. 'popularity' draws
 * items by counts to a power, 'log-uniform' item i with a chance of log((i + 2) / (i + 1)), for ids in falling order of
 * their counts. Items that may not be drawn leave their chance to the others in proportion.
 *
 * With `table`, an open table (`emb.openTable`), items are the keys that have a row in it, and what is drawn depends on
 * which keys these are, too; positives and what was seen are keys, and 'popularity' goes by what the table has counted.
 *
 * @param args - Items, positives, what was seen, distribution and seed.
 * @returns int32 [positives, perPositive]; the caller disposes it. Of an open table a list of keys for each positive: a
 * BigInt64Array, or strings, which the table must keep (`keepTexts`; RuntimeError where it does not).
 * @throws TypeError for arguments of a wrong type; ValueError for numbers out of range, rows that do not fit each other,
 * and a row for which no item is left. Source: tf.random.log_uniform_candidate_sampler (TensorFlow 2.21) for that
 * distribution, which excludes nothing.
 *
 * @example
 * const seen = emb.RaggedTensor.fromRows([[0, 1], [2, 3]]);
 * emb.sampling.negatives({ numItems: 4, perPositive: 3, positives: [0, 2], seen }); // rows of 2 and 3, of 0 and 1
 */
export function negatives(args: NegativesArgs): tf.Tensor2D;
export function negatives(args: KeyedNegativesArgs): (BigInt64Array | string[])[];
export function negatives(args: NegativesArgs | KeyedNegativesArgs): tf.Tensor2D | (BigInt64Array | string[])[] {
  if (isRecord(args) && 'table' in args) return keyedNegatives(args as KeyedNegativesArgs);
  const given = readOptions<NegativesArgs>(
    args,
    FIELDS,
    'args',
    'emb.sampling.negatives({numItems, perPositive, positives})',
  );
  const numItems = whole(given.numItems, 'numItems', 1, 2 ** 31 - 1);
  const positives = idsOf(given.positives, 'positives', numItems);
  const weighted = weightedOf(given, numItems);
  const sampled = { numItems, positives, weighted, seen: readSeen(given, positives, numItems) };
  const { drawn, each } = drawAll(given, sampled);
  return tf.tensor2d(drawn, [positives.length, each], 'int32');
}

/** Items are the keys that have a row, numbered in the order of their rows. */
function keyedNegatives(args: KeyedNegativesArgs): (BigInt64Array | string[])[] {
  const given = readOptions<KeyedNegativesArgs>(
    args,
    KEYED_FIELDS,
    'args',
    'emb.sampling.negatives({table, perPositive, positives})',
  );
  const { table, distribution = 'uniform' } = given;
  if (!isOpenTable(table)) throw new ArgumentTypeError('table', 'an open table', table);
  if ((distribution as unknown) === 'log-uniform') {
    throw new ValueError('distribution', "'uniform' or 'popularity': keys are in no order", distribution);
  }
  const used = usedRows(table);
  if (used.length === 0) throw new ValueError('table', 'one with a key', described('an empty one'));
  const places = new Int32Array(table.capacity).fill(-1);
  used.forEach((row, place) => (places[row] = place));
  const placesOf = (rows: Int32Array): Int32Array => rows.map((row) => (row < 0 ? -1 : places[row]!));
  const batch = readKeys(given.positives, table.keyKind, 'positives');
  if (batch.layout.kind !== 'dense' || batch.layout.shape.length !== 1) {
    throw new ValueError('positives', 'one list of keys', described('keys in another form'));
  }
  const positives = placesOf(knownRows(table, batch));
  const seen = (given.seen ?? null) === null ? null : keyLists(table, given.seen!, 'seen', null);
  const users = usersOf(given.users, seen === null ? null : seen.splits.length - 1, positives);
  const { power } = given;
  const numItems = used.length;
  const weighted = weightedOf({ distribution, power, counts: table.countsOf(used) }, numItems);
  const lists = seen === null ? null : SeenItems.of(knownLists(placesOf(seen.rows), seen.splits), numItems);
  const { drawn, each } = drawAll(given, { numItems, positives, weighted, seen: { lists, users } });
  return Array.from(positives, (_, row) => {
    return table.keysOf(drawn.subarray(row * each, (row + 1) * each).map((place) => used[place]!));
  });
}

/** Rows of items without those that are not there. */
function knownLists(items: Int32Array, splits: Int32Array): RaggedTensor {
  const before = new Int32Array(items.length + 1);
  items.forEach((item, i) => (before[i + 1] = before[i]! + (item < 0 ? 0 : 1)));
  const known = items.filter((item) => item >= 0);
  return RaggedTensor.fromRowSplits(
    known,
    splits.map((split) => before[split]!),
  );
}
