/** Metrics of lists that scores put in an order: what stands at the first ranks. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import { listsOf, type Lists } from '../losses/lists.js';
import { checkFinite, weighRows, type LossArguments } from '../losses/loss.js';
import { meanMetric, type Metric } from './metric.js';

/** Options of the metrics of ranked lists. */
export interface RankedMetricArgs {
  /** How many ranks are looked at; null (default): all. */
  k?: number | null | undefined;
  /** What a row without a positive counts as; null (default): it is left out, as in papers. Keras RS has 0. */
  emptyAs?: number | null | undefined;
}

/** Options of `map`. */
export interface MeanAveragePrecisionArgs extends RankedMetricArgs {
  /** What is divided by: all 'positives' of a row (default), or at most as many as fit, 'min(k, positives)'. */
  divisor?: 'positives' | 'min(k, positives)' | undefined;
}

/** Options of `dcgAtK` and `ndcgAtK`. */
export interface GainArgs extends RankedMetricArgs {
  /** What a label is worth: 'exponential' (default), 2^label - 1, or 'linear', the label. */
  gain?: 'exponential' | 'linear' | undefined;
}

/** Lists in the order of their scores. */
export interface RankedLists {
  /** Labels at the first ranks, float32 [batch, k]; 0 for what does not count. */
  readonly found: tf.Tensor2D;
  /** The highest labels in their order, as far as there are ranks. */
  readonly best: () => tf.Tensor2D;
  /** How many positives a row has, [batch]: labels of 1 or more, or for gains above 0. */
  readonly positives: tf.Tensor;
  /** How many items a row has, [batch]. */
  readonly items: tf.Tensor;
}

export type RankedName = 'recall' | 'precision' | 'hitRate' | 'mrr' | 'map' | 'dcg' | 'ndcg';

/** What metrics are told, with their defaults. */
export interface RankedSettings {
  readonly gain: 'exponential' | 'linear';
  readonly divisor: 'positives' | 'min(k, positives)';
}

export const RANKED_DEFAULTS: RankedSettings = { gain: 'exponential', divisor: 'positives' };

/** 1, 2, … for the ranks of found labels. */
function ranksOf({ shape }: tf.Tensor2D): tf.Tensor1D {
  return tf.range(1, shape[1] + 1, 1, 'float32');
}

const hitsOf = ({ found }: RankedLists): tf.Tensor2D => found.greaterEqual(1).cast('float32');

function gainsOf(labels: tf.Tensor2D, { gain }: RankedSettings): tf.Tensor {
  const gains = gain === 'linear' ? labels : tf.pow(2, labels).sub(1);
  const discounts = tf.log(2).div(tf.log(ranksOf(labels).add(1)));
  return gains.mul(discounts).sum(1);
}

/** The metric of each row, [batch]; what it is for rows without a positive does not matter. */
export const RANKED: Readonly<Record<RankedName, (lists: RankedLists, settings: RankedSettings) => tf.Tensor>> = {
  recall: (lists) => hitsOf(lists).sum(1).div(tf.maximum(lists.positives, 1)),
  precision: (lists) =>
    hitsOf(lists)
      .sum(1)
      .div(tf.maximum(tf.minimum(lists.items, lists.found.shape[1]), 1)),
  hitRate: (lists) => hitsOf(lists).max(1),
  mrr: (lists) => hitsOf(lists).div(ranksOf(lists.found)).max(1),
  map: (lists, { divisor }) => {
    const hits = hitsOf(lists);
    const precisions = tf.cumsum(hits, 1).div(ranksOf(lists.found));
    const { positives } = lists;
    const most = divisor === 'positives' ? positives : tf.minimum(positives, hits.shape[1]);
    return precisions.mul(hits).sum(1).div(tf.maximum(most, 1));
  },
  dcg: ({ found }, settings) => gainsOf(found, settings),
  ndcg: ({ found, best }, settings) => {
    const ideal = gainsOf(best(), settings);
    return tf.where(ideal.greater(0), gainsOf(found, settings).div(ideal), tf.zerosLike(ideal));
  },
};

/** Lower than any score that counts. */
const LEAST_SCORE = -3.4e38;

/** Labels in the order of scores, of equal ones the lower index first; what is not there comes last. */
function inOrder({ labels, valid }: Lists, scores: tf.Tensor2D, k: number): tf.Tensor2D {
  const of = tf.where(valid, tf.maximum(scores, LEAST_SCORE), tf.fill(scores.shape, -Infinity));
  const [rows, items] = scores.shape;
  const starts = tf.range(0, rows, 1, 'int32').mul(tf.scalar(items, 'int32')).expandDims(1);
  // One list for all rows: `wasm` gathers by rows wrongly (tfjs 4.22).
  return tf.gather(labels.as1D(), tf.topk(of, k).indices.add<tf.Tensor1D>(starts)) as unknown as tf.Tensor2D;
}

function rankedLists(given: LossArguments, k: number | null, isGraded: boolean): RankedLists {
  const lists = listsOf(given);
  const { labels, scores, valid } = lists;
  const most = Math.min(k ?? Infinity, scores.shape[1]);
  const isPositive = isGraded ? labels.greater(0) : labels.greaterEqual(1);
  return {
    found: inOrder(lists, scores, most),
    best: () => tf.topk(labels, most).values as tf.Tensor2D,
    positives: isPositive.cast('float32').sum(1),
    items: valid.cast('float32').sum(1),
  };
}

/** Throws TypeError for no number, ValueError for one that is no number of ranks. */
export function checkRanks(k: unknown): number {
  if (typeof k !== 'number') throw new ArgumentTypeError('k', 'a whole number > 0', k);
  if (!(Number.isSafeInteger(k) && k > 0)) throw new ValueError('k', 'a whole number > 0', k);
  return k;
}

function checkChoice<T extends string>(value: unknown, argument: string, choices: readonly [T, ...T[]]): T {
  if (value === undefined) return choices[0];
  if (choices.includes(value as T)) return value as T;
  const expected = choices.map((each) => `'${each}'`).join(' or ');
  if (typeof value === 'string') throw new ValueError(argument, expected, value);
  throw new ArgumentTypeError(argument, expected, value);
}

type AnyArgs = MeanAveragePrecisionArgs & GainArgs;

/** A metric under the name that `compile` knows: with its ranks, where they are given. */
function ranked(name: RankedName, args: unknown, own: readonly (keyof AnyArgs & string)[], whole: string): Metric {
  const given = readOptions<AnyArgs>(args, ['k', 'emptyAs', ...own], 'args', `emb.metrics.${whole}({…})`);
  const k = (given.k ?? null) === null ? null : checkRanks(given.k);
  const emptyAs = (given.emptyAs ?? null) === null ? null : checkFinite(given.emptyAs, 'emptyAs');
  const settings: RankedSettings = {
    gain: checkChoice(given.gain, 'gain', ['exponential', 'linear']),
    divisor: checkChoice(given.divisor, 'divisor', ['positives', 'min(k, positives)']),
  };
  const isGraded = name === 'dcg' || name === 'ndcg';
  return meanMetric(k === null ? whole : `${name}At${k}`, (batch) => {
    const lists = rankedLists(batch, k, isGraded);
    const has = lists.positives.greater(0).cast('float32');
    const values = RANKED[name](lists, settings).mul(has);
    if (emptyAs === null) return [weighRows(values, batch).sum(), weighRows(has, batch).sum()];
    const filled = values.add(tf.sub(1, has).mul(emptyAs));
    return [weighRows(filled, batch).sum(), weighRows(tf.onesLike(has), batch).sum()];
  });
}

/**
 * Makes recall at k: the part of a row's positives that stand at its first k ranks, the mean over the rows.
 *
 * Labels of 1 or more are positives; labels below 0 and masked items are left out. Equal scores are ranked by index, the
 * lower first. Rows without a positive are left out. In `compile` tfjs takes the mean over batches, each by its rows.
 *
 * @param args - Ranks, and what rows without a positive count as.
 * @returns A metric: labels and scores [batch, items] to a scalar.
 * @throws TypeError and ValueError for options that are none; in the metric, ValueError for shapes that do not fit each
 * other. Source: keras_rs.metrics.RecallAtK (0.4.0), with `emptyAs: 0`.
 *
 * @example
 * emb.metrics.recallAtK({ k: 2 })([[1, 0, 1]], [[3, 2, 1]]).print(); // 0.5
 */
export function recallAtK(args: RankedMetricArgs = {}): Metric {
  return ranked('recall', args, [], 'recallAtK');
}

/**
 * Makes precision at k: the part of the first k ranks that are positives; lists of fewer items have fewer ranks.
 *
 * @param args - Ranks, and what rows without a positive count as.
 * @returns A metric: labels and scores [batch, items] to a scalar.
 * @throws As `recallAtK`. Source: keras_rs.metrics.PrecisionAtK (0.4.0), with `emptyAs: 0`.
 *
 * @example
 * emb.metrics.precisionAtK({ k: 2 })([[1, 0, 1]], [[3, 2, 1]]).print(); // 0.5
 */
export function precisionAtK(args: RankedMetricArgs = {}): Metric {
  return ranked('precision', args, [], 'precisionAtK');
}

/**
 * Makes the hit rate at k: the part of the rows that have a positive at one of the first k ranks.
 *
 * @param args - Ranks, and what rows without a positive count as.
 * @returns A metric: labels and scores [batch, items] to a scalar.
 * @throws As `recallAtK`. Source: He et al., Neural Collaborative Filtering (2017).
 *
 * @example
 * emb.metrics.hitRateAtK({ k: 1 })([[1, 0], [0, 1]], [[3, 2], [3, 2]]).print(); // 0.5
 */
export function hitRateAtK(args: RankedMetricArgs = {}): Metric {
  return ranked('hitRate', args, [], 'hitRateAtK');
}

/**
 * Makes the mean reciprocal rank: 1 / (rank of the first positive), 0 where it is not among the first k.
 *
 * @param args - Ranks, and what rows without a positive count as.
 * @returns A metric: labels and scores [batch, items] to a scalar.
 * @throws As `recallAtK`. Source: keras_rs.metrics.MeanReciprocalRank (0.4.0), with `emptyAs: 0`.
 *
 * @example
 * emb.metrics.mrr()([[0, 1, 1]], [[3, 2, 1]]).print(); // 0.5
 */
export function mrr(args: RankedMetricArgs = {}): Metric {
  return ranked('mrr', args, [], 'mrr');
}

/**
 * Makes the mean average precision: the sum of the precisions at the ranks of positives, by how many positives there are.
 *
 * @param args - Ranks, what is divided by, and what rows without a positive count as.
 * @returns A metric: labels and scores [batch, items] to a scalar.
 * @throws As `recallAtK`. Source: keras_rs.metrics.MeanAveragePrecision (0.4.0), with `emptyAs: 0`.
 *
 * @example
 * emb.metrics.map()([[1, 0, 1]], [[3, 2, 1]]).print(); // 0.8333333, the mean of 1 / 1 and 2 / 3
 */
export function map(args: MeanAveragePrecisionArgs = {}): Metric {
  return ranked('map', args, ['divisor'], 'map');
}

/**
 * Makes the discounted cumulative gain at k: the sum of (2^label - 1) / log2(1 + rank).
 *
 * @param args - Ranks, gains, and what rows without a label above 0 count as.
 * @returns A metric: labels and scores [batch, items] to a scalar.
 * @throws As `recallAtK`. Source: keras_rs.metrics.DCG (0.4.0), with `emptyAs: 0`.
 *
 * @example
 * emb.metrics.dcgAtK({ k: 2 })([[0, 2, 1]], [[3, 2, 1]]).print(); // 1.8927893, 3 / log2(3)
 */
export function dcgAtK(args: GainArgs = {}): Metric {
  return ranked('dcg', args, ['gain'], 'dcgAtK');
}

/**
 * Makes the normalized discounted cumulative gain at k: `dcgAtK` by what the best order would have.
 *
 * @param args - Ranks, gains, and what rows without a label above 0 count as.
 * @returns A metric: labels and scores [batch, items] to a scalar.
 * @throws As `recallAtK`. Source: keras_rs.metrics.NDCG (0.4.0), with `emptyAs: 0`.
 *
 * @example
 * emb.metrics.ndcgAtK()([[0, 1]], [[3, 2]]).print(); // 0.6309298, 1 / log2(3)
 */
export function ndcgAtK(args: GainArgs = {}): Metric {
  return ranked('ndcg', args, ['gain'], 'ndcgAtK');
}
