/** Evaluation of recommenders over all items: who is recommended what was held back. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { checkBoolean } from '../base/layer_arguments.js';
import { isRecord, readOptions } from '../base/options.js';
import { warnOnce } from '../base/warn_once.js';
import { RaggedTensor } from '../ids/ragged_tensor.js';
import { readRowsAt } from '../lookup/lookup.js';
import { isOpenTable } from '../tables/keys/is_open_table.js';
import type { OpenTable } from '../tables/keys/open_table.js';
import type { KeysInput } from '../tfjs/models/key_inputs.js';
import { keyLists, usedRows } from './open_keys.js';
import { topK } from './top_k.js';
import { RANKED, RANKED_DEFAULTS, checkRanks, type RankedLists, type RankedName } from './metrics/ranked.js';

/** What `evaluate.ranking` computes; labels are 0 and 1. */
export type EvaluatedMetric = RankedName;

/** Users and items by their vectors: a score is their inner product. */
export interface ScoredVectors {
  /** [users, dim] float32. */
  users: tf.Tensor2D;
  /** [items, dim] float32. */
  items: tf.Tensor2D;
}

/** Users by their vectors, and the items of an open table by its rows: `train` and `test` are keys then. */
export interface ScoredKeys {
  /** [users, dim] float32. */
  users: tf.Tensor2D;
  /** Its keys are the items. */
  items: OpenTable;
}

/** Users and items by a model of ids. */
export interface ScoredByModel {
  /** Takes user ids [batch, 1] and item ids [batch, items], int32; gives scores [batch, items]. */
  model: tf.LayersModel;
  /** How many items there are. */
  numItems: number;
}

/** What items a user has, is to be recommended, and how that is measured. */
export interface RankingArgs {
  /** Items that each user has, a row for each: they are left out of the ranking. Default: none. */
  train?: RaggedTensor | null | undefined;
  /** Items that were held back, a row for each user. Those that are in `train` too do not count. */
  test: RaggedTensor;
  /** How many ranks are looked at. Default: 20. */
  k?: number | undefined;
  /** Default: recall, ndcg, precision, hitRate, mrr and map. */
  metrics?: readonly EvaluatedMetric[] | undefined;
  /** Whether each user's results are wanted. Default: false. */
  perUser?: boolean | undefined;
  /**
   * Told after each block of users how many are done.
   *
   * @param progress - Users that are done, `of` all.
   */
  onProgress?: ((progress: { readonly users: number; readonly of: number }) => void) | undefined;
  /**
   * Ranks the items of `test` among these alone, a row for each user. Such figures do not agree with those over all items,
   * and can put models in another order: for comparison with papers that have them.
   */
  sampledCandidates?: RaggedTensor | null | undefined;
}

/** The same of keys, a row for each user, in any form: keys of `test` without a row are items that nobody is recommended. */
export interface KeyedRankingArgs extends Omit<RankingArgs, 'train' | 'test' | 'sampledCandidates'> {
  /** Keys that each user has. */
  train?: KeysInput | null | undefined;
  /** Keys that were held back. */
  test: KeysInput;
  /** See `RankingArgs`. */
  sampledCandidates?: KeysInput | null | undefined;
}

/** Means over the users that have an item in `test`. */
export interface RankingResult extends Partial<Record<EvaluatedMetric, number>> {
  /** How many users that are. */
  users: number;
  /** The metrics of each user, NaN for users without an item in `test`; only where they were asked for. */
  perUser?: Partial<Record<EvaluatedMetric, Float32Array>>;
}

const DEFAULT_METRICS: readonly EvaluatedMetric[] = ['recall', 'ndcg', 'precision', 'hitRate', 'mrr', 'map'];
const FIELDS = ['train', 'test', 'k', 'metrics', 'perUser', 'onProgress', 'sampledCandidates'] as const;
/** Scores that lie in memory at once. */
const MOST_SCORES = 2 ** 21;

/** Users whose vectors are searched for at once. */
const MOST_USERS = 2048;

interface Scorer {
  /** null: any number. */
  readonly users: number | null;
  readonly items: number;
  /** Users that are ranked at once. */
  readonly block: number;
  /** The best items of each user, `width` of them, the best first; -1 where there is none. */
  readonly best: (block: readonly Judged[], width: number) => Int32Array;
  /** The items of users. */
  readonly read: (given: unknown, argument: string, users: number | null) => Items;
  /** Frees what was made for the ranking. */
  readonly end?: () => void;
}

function vectorsOf(value: unknown, argument: string): tf.Tensor2D {
  const expected = 'a float32 tensor [rows, dim]';
  if (!(value instanceof tf.Tensor)) throw new ArgumentTypeError(argument, expected, value);
  if (value.dtype !== 'float32') throw new ArgumentTypeError(argument, expected, value);
  if (value.rank !== 2) throw new ValueError(argument, expected, value);
  return value as tf.Tensor2D;
}

function scorerOf(of: unknown): Scorer {
  if (!isRecord(of)) throw new ArgumentTypeError('of', 'an object {users, items} or {model, numItems}', of);
  if (of['model'] === undefined) {
    const given = readOptions<ScoredVectors>(of, ['users', 'items'], 'of');
    if (isOpenTable(given.items)) return scorerOfKeys(vectorsOf(given.users, 'users'), given.items);
    const [users, items] = [vectorsOf(given.users, 'users'), vectorsOf(given.items, 'items')];
    if (users.shape[1] !== items.shape[1]) {
      throw new ValueError('items', `vectors of ${users.shape[1]} numbers, as the users have`, items);
    }
    const best = (block: readonly Judged[], width: number): Int32Array => bestByVectors(users, items, block, width);
    const read = readerOf(items.shape[0]);
    return { users: users.shape[0], items: items.shape[0], block: MOST_USERS, best, read };
  }
  const { model, numItems } = readOptions<ScoredByModel>(of, ['model', 'numItems'], 'of');
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', 'a model of layers', model);
  if (typeof numItems !== 'number') throw new ArgumentTypeError('numItems', 'a whole number > 0', numItems);
  if (!(Number.isSafeInteger(numItems) && numItems > 0))
    throw new ValueError('numItems', 'a whole number > 0', numItems);
  const block = Math.max(1, Math.floor(MOST_SCORES / numItems));
  const best = (judged: readonly Judged[], width: number): Int32Array => bestByModel(model, numItems, judged, width);
  return { users: null, items: numItems, block, best, read: readerOf(numItems) };
}

const readerOf = (items: number): Scorer['read'] => {
  return (given, argument, users) => Items.of(given, argument, users, items);
};

/** Items are the rows that keys have, by their place among them; keys without a row have the places after all of these. */
function scorerOfKeys(users: tf.Tensor2D, table: OpenTable): Scorer {
  if (users.shape[1] !== table.outputDim) {
    throw new ValueError(
      'items',
      `rows of ${users.shape[1]} numbers, as the users have`,
      described(`${table.outputDim}`),
    );
  }
  const used = usedRows(table);
  if (used.length === 0) throw new ValueError('items', 'a table with a key', described('an empty one'));
  const items = tf.tensor2d(readRowsAt(table.variable!, used), [used.length, table.outputDim]);
  const places = new Map(Array.from(used, (row, place) => [row, place]));
  const others = new Map<string, number>();
  return {
    users: users.shape[0],
    items: used.length,
    block: MOST_USERS,
    best: (block, width) => bestByVectors(users, items, block, width),
    read: (given, argument, count) => {
      if (given === undefined) throw new ArgumentTypeError(argument, 'keys, a row for each user', given);
      const { batch, rows, splits } = keyLists(table, given as KeysInput, argument, count);
      const values = rows.map((row, i) => {
        if (row >= 0) return places.get(row)!;
        const key = `${batch.words[2 * i]} ${batch.words[2 * i + 1]}`;
        if (!others.has(key)) others.set(key, used.length + others.size);
        return others.get(key)!;
      });
      return new Items(values, splits);
    },
    end: () => items.dispose(),
  };
}

const usersOf = (block: readonly Judged[]): Int32Array => Int32Array.from(block, ({ user }) => user);

function bestByVectors(users: tf.Tensor2D, items: tf.Tensor2D, block: readonly Judged[], width: number): Int32Array {
  const lists = (of: (judged: Judged) => ReadonlySet<number>): RaggedTensor =>
    RaggedTensor.fromRowLengths(
      Int32Array.from(block.flatMap((judged) => [...of(judged)])),
      Int32Array.from(block, (judged) => of(judged).size),
    );
  const isSampled = block[0]!.among !== null;
  const ranked = isSampled ? { only: lists(({ among }) => among!) } : { exclude: lists(({ had }) => had) };
  const { indices } = topK(tf.gather(users, tf.tensor1d(usersOf(block), 'int32')), items, width, ranked);
  return indices.dataSync<'int32'>();
}

function bestByModel(model: tf.LayersModel, numItems: number, block: readonly Judged[], width: number): Int32Array {
  const users = tf.tensor2d(usersOf(block), [block.length, 1], 'int32');
  const items = tf.range(0, numItems, 1, 'int32').expandDims(0).tile([block.length, 1]);
  const found = model.predictOnBatch([users, items]) as tf.Tensor;
  if (found.size !== block.length * numItems) {
    throw new ValueError('model', `one that gives scores [${block.length}, ${numItems}]`, found);
  }
  const scores = found.dataSync<'float32'>().slice();
  block.forEach(({ had, among }, row) => {
    for (let item = 0; item < numItems; item++) {
      if (among === null ? had.has(item) : !among.has(item)) scores[row * numItems + item] = -Infinity;
    }
  });
  return tf.topk(tf.tensor2d(scores, [block.length, numItems]), width).indices.dataSync<'int32'>();
}

/** Items by user. */
class Items {
  constructor(
    private readonly values: ArrayLike<number>,
    private readonly splits: Int32Array,
  ) {}

  /** Throws where they are not items of so many, in a row for each user; null: any number of users. */
  static of(given: unknown, argument: string, users: number | null, items: number): Items {
    if (!(given instanceof RaggedTensor))
      throw new ArgumentTypeError(argument, 'a RaggedTensor, a row for each user', given);
    const { values } = given;
    const made = new Items(values, given.rowSplits);
    if (given.nestedRowSplits.length !== 1) throw new ValueError(argument, 'rows of items', described('deeper ones'));
    if (users !== null && made.users !== users) {
      throw new ValueError(argument, `${users} rows, one for each user`, described(`${made.users} rows`));
    }
    for (let i = 0; i < values.length; i++) {
      const id = values[i]!;
      if (!(Number.isInteger(id) && id >= 0 && id < items))
        throw new ValueError(argument, `items in [0, ${items})`, id);
    }
    return made;
  }

  get users(): number {
    return this.splits.length - 1;
  }

  of(user: number): Set<number> {
    return new Set(Array.prototype.slice.call(this.values, this.splits[user], this.splits[user + 1]) as number[]);
  }
}

function metricsOf(given: unknown): readonly EvaluatedMetric[] {
  if (given === undefined) return DEFAULT_METRICS;
  const names = Object.keys(RANKED);
  if (!Array.isArray(given)) throw new ArgumentTypeError('metrics', `a list of ${names.join(', ')}`, given);
  const other = (given as unknown[]).find((name) => !names.includes(name as string));
  if (other !== undefined) throw new ValueError('metrics', `names among ${names.join(', ')}`, other);
  return given as EvaluatedMetric[];
}

/** A user who is looked at. */
interface Judged {
  readonly user: number;
  readonly positives: ReadonlySet<number>;
  /** Items that are not ranked. */
  readonly had: ReadonlySet<number>;
  /** The only ones that are; null: all others. */
  readonly among: ReadonlySet<number> | null;
  /** How many are ranked. */
  readonly ranked: number;
}

/** The users of a block, best items first: which of these were held back. */
function rankBlock(block: readonly Judged[], { items, best }: Scorer, k: number): RankedLists {
  const width = Math.min(k, items);
  const order = best(block, width);
  const found = new Float32Array(block.length * width);
  block.forEach(({ positives }, row) => {
    for (let at = row * width; at < (row + 1) * width; at++) if (positives.has(order[at]!)) found[at] = 1;
  });
  const counts = tf.tensor1d(
    block.map(({ positives }) => positives.size),
    'float32',
  );
  return {
    found: tf.tensor2d(found, [block.length, width]),
    best: () => tf.range(0, width, 1, 'float32').expandDims(0).less(counts.expandDims(1)).cast('float32'),
    positives: counts,
    items: tf.tensor1d(
      block.map(({ ranked }) => ranked),
      'float32',
    ),
  };
}

/**
 * Returns how well users are recommended the items that were held back, among all items that they do not have.
 *
 * Users without an item in `test` are left out. Of equal scores the item with the lower id comes first. Metrics are those
 * of `emb.metrics`, with labels of 0 and 1. Users are ranked block by block, with a turn for other work between blocks.
 *
 * Where `items` is an open table (`emb.openTable`), the rows of its keys are the items, and `train`, `test` and
 * `sampledCandidates` are keys, a row for each user. A key of `test` that has no row is an item that cannot be recommended.
 *
 * @param of - Vectors of users and items, an open table in place of those of items, or a model that scores ids.
 * @param args - What users have, what was held back, ranks and metrics.
 * @returns Means over the users, how many there are, and on request the metrics of each.
 * @throws TypeError for arguments of a wrong type; ValueError for items that are not there, numbers of users that do not
 * fit each other, metrics that are not known, and a `test` without items. Source: Krichene and Rendle, On Sampled Metrics
 * for Item Recommendation (2020), for why all items are ranked.
 *
 * @example
 * const rows = (items) => emb.RaggedTensor.fromRows(items);
 * const of = { users: tf.tensor2d([[1, 0]]), items: tf.tensor2d([[3, 0], [2, 0], [1, 0]]) };
 * await emb.evaluate.ranking(of, { train: rows([[0]]), test: rows([[2]]), k: 2 }); // recall 1, ndcg 0.63, …
 */
export async function ranking(of: ScoredVectors | ScoredByModel, args: RankingArgs): Promise<RankingResult>;
export async function ranking(of: ScoredKeys, args: KeyedRankingArgs): Promise<RankingResult>;
export async function ranking(
  of: ScoredVectors | ScoredByModel | ScoredKeys,
  args: RankingArgs | KeyedRankingArgs,
): Promise<RankingResult> {
  const scorer = scorerOf(of);
  try {
    return await ranked(scorer, args as RankingArgs);
  } finally {
    scorer.end?.();
  }
}

async function ranked(scorer: Scorer, args: RankingArgs): Promise<RankingResult> {
  const given = readOptions<RankingArgs>(args, FIELDS, 'args', 'emb.evaluate.ranking(…, {train, test, k})');
  const names = metricsOf(given.metrics);
  const k = checkRanks(given.k ?? 20);
  const tellsUsers = checkBoolean(given.perUser, 'perUser', false);
  const onProgress = given.onProgress ?? null;
  if (onProgress !== null && typeof onProgress !== 'function') {
    throw new ArgumentTypeError('onProgress', 'a function', onProgress);
  }
  const judged = judgedUsers(scorer, given);
  const perUser = new Map(names.map((name) => [name, new Float32Array(judged.users).fill(NaN)]));
  const sums = new Map(names.map((name) => [name, 0]));
  const { block: size } = scorer;
  for (let start = 0; start < judged.list.length; start += size) {
    const block = judged.list.slice(start, start + size);
    tf.tidy(() => {
      const lists = rankBlock(block, scorer, k);
      for (const name of names) {
        RANKED[name](lists, RANKED_DEFAULTS)
          .dataSync()
          .forEach((value, i) => {
            perUser.get(name)![block[i]!.user] = value;
            sums.set(name, sums.get(name)! + value);
          });
      }
    });
    onProgress?.({ users: Math.min(start + size, judged.list.length), of: judged.list.length });
    await tf.nextFrame();
  }
  const count = judged.list.length;
  const means = Object.fromEntries(names.map((name) => [name, sums.get(name)! / count]));
  return { ...means, users: count, ...(tellsUsers && { perUser: Object.fromEntries(perUser) }) };
}

/** The users that have something in `test`. */
function judgedUsers(scorer: Scorer, given: Partial<RankingArgs>): { users: number; list: Judged[] } {
  const test = scorer.read(given.test, 'test', scorer.users);
  const optional = (argument: 'train' | 'sampledCandidates'): Items | null =>
    (given[argument] ?? null) === null ? null : scorer.read(given[argument], argument, test.users);
  const [train, sampled] = [optional('train'), optional('sampledCandidates')];
  if (sampled !== null) {
    warnOnce(
      'emb.evaluate.ranking ranks among sampled candidates: such figures do not agree with those over all items, and can ' +
        'put models in another order (Krichene and Rendle, 2020)',
    );
  }
  const list: Judged[] = [];
  for (let user = 0; user < test.users; user++) {
    const positives = test.of(user);
    const had = train?.of(user) ?? new Set<number>();
    for (const item of had) positives.delete(item);
    if (positives.size === 0) continue;
    // What is not there is not ranked.
    for (const item of had) if (item >= scorer.items) had.delete(item);
    const isRanked = (item: number): boolean => item < scorer.items && !had.has(item);
    const among = sampled === null ? null : new Set([...sampled.of(user), ...positives].filter(isRanked));
    list.push({ user, positives, had, among, ranked: among?.size ?? scorer.items - had.size });
  }
  if (list.length === 0) throw new ValueError('test', 'an item at least that is not in `train`', described('none'));
  return { users: test.users, list };
}
