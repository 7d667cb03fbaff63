/** Approximate nearest neighbours: `emb.ann`. */
import { ArgumentTypeError, ValueError } from '../../base/errors.js';
import { checkChoice, checkCount, readOptions } from '../../base/options.js';
import type { FlatInput } from '../../ids/values.js';
import type { ByteInput } from '../../io/byte_source.js';
import type { RankedTable } from '../ranked_table.js';
import { readIndex, type AnnCodes, type AnnMetric } from './ann_file.js';
import { AnnIndex, indexOfParts, indexOfWeights, normalize, readIds, readIndexRows } from './ann_index.js';
import { offerIndexes } from './index_maker.js';
import { clustered, nearest, type Progress } from './clusters.js';

export type { AnnCodes, AnnMetric, AnnSettings } from './ann_file.js';
export type { Progress } from './clusters.js';
export { AnnIndex, type AnnSearchOptions } from './ann_index.js';

export interface AnnBuildOptions {
  /** How many lists; at most as many as there are rows. Default: about four times the square root of the rows. */
  lists?: number | undefined;
  /** What is scanned: codes of 8 bits, a quarter of the memory to read, or the rows themselves. Default: 'int8'. */
  codes?: AnnCodes | undefined;
  /** Default: 'dot'. */
  metric?: AnnMetric | undefined;
  /** A whole number from 0 to 2^53 - 1: which rows the lists begin with. Default: 0. */
  seed?: number | undefined;
  /** What rows are called: whole int32 >= 0, each once. Default: their numbers. */
  ids?: FlatInput | undefined;
  /** Whether rows are kept as they are, to rank what codes found; without them codes alone rank. Default: true. */
  keepRows?: boolean | undefined;
  /** Hears of each round of the search for lists. */
  onProgress?: Progress | undefined;
}

const FIELDS = ['lists', 'codes', 'metric', 'seed', 'ids', 'keepRows', 'onProgress'] as const;

/** Lists of about 250 rows of a million, a power of two. */
function listsFor(rows: number): number {
  return Math.max(1, Math.min(rows, 2 ** Math.round(Math.log2(4 * Math.sqrt(Math.max(1, rows))))));
}

/**
 * Returns an index of the rows of a table, which finds the best of millions for a query in a fraction of the time that
 * `emb.topK` takes, though not always all of them; more `probes` find more. Below about 100,000 rows exact search is as
 * good.
 *
 * Rows are copied: float32 [rows, dim] where they are kept, and dim + 8 bytes of codes each. It takes about as many
 * products as 900 lists for each row do: half a minute for a million rows of 64 numbers on one core. The same rows, settings and seed
 * give the same index on every backend.
 * Source: the inverted file of Faiss 1.15 (`index_factory('IVF4096,SQ8,RFlat')`).
 *
 * @param table - A tensor or variable [rows, dim], a layer or table that holds one, or nested arrays.
 * @param options - Lists, codes, metric, seed, ids.
 * @returns An `AnnIndex`. It holds no tensors.
 * @throws TypeError for arguments of another type; ValueError for a table without rows, or with numbers that are not finite,
 * for more lists than rows, and for ids that are not one for each row.
 *
 * @example
 * const index = emb.ann.build(tf.randomNormal([1000, 16]), { lists: 32, metric: 'cosine' });
 * index.search(tf.randomNormal([2, 16]), 5).indices.print();
 */
export function build(table: RankedTable | readonly (readonly number[])[], options: AnnBuildOptions = {}): AnnIndex {
  offerIndexes(indexOfWeights);
  const given = readOptions<AnnBuildOptions>(options, FIELDS);
  const metric = checkChoice(given.metric ?? 'dot', 'metric', ['dot', 'cosine']);
  const codes = checkChoice(given.codes ?? 'int8', 'codes', ['int8', 'none']);
  const seed = checkCount(given.seed ?? 0, 'seed', 0);
  const keepRows = given.keepRows ?? true;
  if (typeof keepRows !== 'boolean') throw new ArgumentTypeError('keepRows', 'true or false', keepRows);
  const { onProgress = () => undefined } = given;
  if (typeof onProgress !== 'function') throw new ArgumentTypeError('onProgress', 'a function', onProgress);
  const rows = readIndexRows(table, 'table', codes);
  if (rows.count === 0) throw new ValueError('table', 'a table with rows', table);
  const ids =
    given.ids === undefined ? Int32Array.from({ length: rows.count }, (_, row) => row) : readIds(given.ids, rows.count);
  const lists = checkCount(given.lists ?? listsFor(rows.count), 'lists', 1);
  if (lists > rows.count) throw new ValueError('lists', `at most as many as there are rows, ${rows.count}`, lists);
  if (metric === 'cosine') normalize(rows);
  const centroids = clustered(rows, lists, seed, onProgress);
  return indexOfParts({ metric, codes, keepRows, centroids, ids, rows, lists: nearest(rows, centroids) });
}

/**
 * Returns the index that `index.save` wrote, in a file, at a URL, or in bytes: searches give the same values and ids.
 *
 * @param source - A path, URL, File or bytes.
 * @returns An `AnnIndex`.
 * @throws TypeError for another kind of source; ValueError for another file and for one that is damaged; RuntimeError where
 * it cannot be read.
 *
 * @example
 * const index = await emb.ann.load('items.ann.safetensors');
 */
export async function load(source: ByteInput): Promise<AnnIndex> {
  offerIndexes(indexOfWeights);
  const { form, rows } = await readIndex(source);
  return new AnnIndex(form, rows);
}
