/** An inverted file: rows in lists, of which a search looks at a few. */
import * as tf from '@tensorflow/tfjs';
import { newFloats } from '../../backends/kernel_set.js';
import { floatRows, type IdLists, type RankJob } from '../../backends/ranking.js';
import { ValueError, described } from '../../base/errors.js';
import { checkCount, readOptions } from '../../base/options.js';
import { brand, hasBrand } from '../../base/per_process.js';
import { INT32_MAX } from '../../base/types.js';
import { codecOf } from '../../codecs/codecs.js';
import { FLOAT32 } from '../../codecs/float32.js';
import type { RaggedTensor } from '../../ids/ragged_tensor.js';
import { readInt32, type FlatInput } from '../../ids/values.js';
import type { FileTarget } from '../../io/weights/write_arrays.js';
import { checkMatrix } from '../../lookup/arguments.js';
import { idLists, listsOfQueries, MOST_PLACES, type TopK } from '../id_lists.js';
import { kernelsInUse, readRows, type RankedTable, type Rows } from '../ranked_table.js';
import { writeIndex, type AnnCodes, type AnnForm, type AnnMetric } from './ann_file.js';
import { nearest } from './clusters.js';
import { listKernels } from './list_kernels.js';
import { RowLists } from './row_lists.js';

export interface AnnSearchOptions {
  /** How many lists a query looks at; at most all. Default: `index.probes`. */
  probes?: number | undefined;
  /** Ids that are left out, a row for each query; those that the index lacks count for nothing. */
  exclude?: RaggedTensor | null | undefined;
  /** How many rows of each query are found by their codes, to be ranked by the rows themselves; at least `k`. Default: 2 k. */
  rerank?: number | undefined;
}

/** An index as plain arrays. */
export interface AnnParts extends AnnForm {
  readonly ids: Int32Array;
  readonly rows: Rows;
  /** The list of each row. */
  readonly lists: Int32Array;
}

/** Queries at a time: their lists of candidates lie in memory. */
const QUERIES_AT_ONCE = 2048;
/** So many more are found by sums in float32 than are wanted, as those in double precision order a few otherwise. */
const SPARE = 8;

/** Brings rows to length 1, in place; those of zeros stay. */
export function normalize({ numbers, count, dim }: Rows): void {
  for (let row = 0; row < count; row++) {
    let squares = 0;
    for (let i = row * dim; i < (row + 1) * dim; i++) squares += numbers[i]! ** 2;
    const length = Math.sqrt(squares);
    for (let i = row * dim; length > 0 && i < (row + 1) * dim; i++) numbers[i] = numbers[i]! / length;
  }
}

/** Numbers of rows for each query. */
interface Found {
  readonly rows: Int32Array; // [queries, m]
  readonly m: number;
}

/**
 * An index of rows for approximate search, which `emb.ann.build` makes and `emb.ann.load` reads. Rows are in lists around
 * centroids; a query is compared with the rows of those lists whose centroids are nearest to it, first by codes of 8 bits,
 * then the best of them by the rows themselves, in double precision. The same search gives the same values and ids on
 * every backend.
 *
 * The index holds the rows that it was given: changes of the table do not reach it. It holds no tensors.
 * Source: the inverted file of Faiss 1.15 (IndexIVFFlat, IndexIVFScalarQuantizer, IndexRefineFlat).
 *
 * @example
 * const index = emb.ann.build(items, { metric: 'dot', seed: 1 });
 * const { values, indices } = index.search(users, 20, { probes: 32 });
 */
export class AnnIndex {
  readonly metric: AnnMetric;
  readonly codes: AnnCodes;
  readonly dim: number;
  /** How many lists there are. */
  readonly lists: number;
  /** How many lists a search looks at by default: a 128th of all, at least 8. */
  readonly probes: number;
  readonly #centroids: Rows;
  readonly #rows: RowLists;

  /** @ignore Indexes come from `emb.ann.build` and `emb.ann.load`. */
  constructor({ metric, codes, centroids }: AnnForm, rows: RowLists) {
    // Not in a static block: bundlers keep classes that have one, whether they are used or not.
    if (!hasBrand(this, 'AnnIndex')) brand(AnnIndex, 'AnnIndex');
    this.metric = metric;
    this.codes = codes;
    this.dim = centroids.dim;
    this.lists = centroids.count;
    this.probes = Math.min(this.lists, Math.max(8, Math.ceil(this.lists / 128)));
    this.#centroids = centroids;
    this.#rows = rows;
  }

  /** How many rows there are. */
  get size(): number {
    return this.#rows.size;
  }

  /** Whether rows are kept beside their codes. */
  get keepsRows(): boolean {
    return this.#rows.rows !== null;
  }

  /**
   * Returns whether an id has a row.
   *
   * @param id - A whole number >= 0.
   * @returns True where it has one.
   */
  has(id: number): boolean {
    return this.#rows.placeOf(checkCount(id, 'id', 0)) >= 0;
  }

  /**
   * Returns for each query the `k` best rows of the lists that it looks at, the best first, ties by the lower id;
   * -Infinity and -1 where there are no more. A product that is NaN or -Infinity is never among them.
   *
   * @param queries - float32 [queries, dim].
   * @param k - How many rows, at least 1.
   * @param options - How many lists are looked at, what is left out, and how many rows are ranked again.
   * @returns `{values, indices}`, both [queries, k], float32 and int32; the caller disposes them.
   * @throws TypeError for arguments of another type; ValueError for shapes that do not belong together, `k` and `probes`
   * below 1, and `rerank` below `k`.
   *
   * @example
   * index.search(users, 10, { exclude: emb.RaggedTensor.fromRows([[3, 1], []]), rerank: 100 });
   */
  search(queries: tf.Tensor2D, k: number, options: AnnSearchOptions = {}): TopK {
    const { probes, exclude, rerank } = readOptions<AnnSearchOptions>(options, ['probes', 'exclude', 'rerank']);
    const places = checkCount(k, 'k', 1);
    const { dim } = this;
    const count = checkMatrix(queries, (queries as tf.Tensor | undefined)?.shape?.[0] ?? 0, dim, 'queries').shape[0];
    const looked = Math.min(this.lists, checkCount(probes ?? this.probes, 'probes', 1));
    const candidates = checkCount(rerank ?? this.#candidatesFor(places), 'rerank', places);
    const left = idLists(exclude, 'exclude', count, INT32_MAX + 1);
    if (count * places > MOST_PLACES) {
      throw new ValueError('k', `at most ${Math.floor(MOST_PLACES / count)} for ${count} queries`, k);
    }
    const values = newFloats('k', 'the best rows', [count, places]).fill(-Infinity);
    const indices = new Int32Array(values.length).fill(-1);
    const there = Math.min(places, Math.max(1, this.size));
    const numbers = queries.dataSync() as Float32Array;
    for (let first = 0; first < count; first += QUERIES_AT_ONCE) {
      const end = Math.min(count, first + QUERIES_AT_ONCE);
      const block = { numbers: numbers.slice(first * dim, end * dim), count: end - first, dim };
      if (this.metric === 'cosine') normalize(block);
      const { rows, m } = this.#candidates(block, looked, candidates, listsOfQueries(left, first, end));
      const job = { queries: block.numbers, count: block.count, candidates: rows, m, k: there };
      const best = ranked({ table: this.#rows.exact, ids: this.#rows.ids, ...job });
      for (let query = 0; query < block.count; query++) {
        const [from, to] = [query * there, (first + query) * places];
        values.set(best.values.subarray(from, from + there), to);
        indices.set(best.indices.subarray(from, from + there), to);
      }
    }
    return {
      values: tf.tensor2d(values, [count, places]),
      indices: tf.tensor2d(indices, [count, places], 'int32'),
    };
  }

  /**
   * Puts rows into the index; an id that is there gets the new row. Lists stay around the centroids that they were built
   * with: where most rows are others, build anew.
   *
   * @param ids - Whole int32 >= 0, each once.
   * @param rows - As many rows: a tensor or table [ids, dim], or nested arrays.
   * @throws TypeError for another kind of argument; ValueError for ids that are negative or repeated, for rows of another
   * shape, and for numbers that are not finite. Nothing is changed then.
   *
   * @example
   * index.add([1000, 1001], tf.randomNormal([2, 64]));
   */
  add(ids: FlatInput, rows: RankedTable | readonly (readonly number[])[]): void {
    const given = readIndexRows(rows, 'rows', this.codes);
    const names = readIds(ids, given.count);
    if (given.dim !== this.dim) {
      const received = described(`[${given.count}, ${given.dim}]`);
      throw new ValueError('rows', `rows of shape [${names.length}, ${this.dim}], one for each id`, received);
    }
    if (this.metric === 'cosine') normalize(given);
    const lists = nearest(given, this.#centroids);
    for (const id of names) this.#rows.remove(id);
    this.#rows.add(names, given.numbers, lists);
  }

  /**
   * Takes ids out of the index.
   *
   * @param ids - Whole int32 >= 0; those that the index lacks count for nothing.
   * @returns How many of them it had.
   * @throws TypeError for another kind of argument; ValueError for numbers that are not whole, or beyond int32.
   *
   * @example
   * index.remove([17, 4]); // 2
   */
  remove(ids: FlatInput): number {
    return readInt32(ids, 'ids').reduce((count, id) => count + Number(id >= 0 && this.#rows.remove(id)), 0);
  }

  /**
   * Writes the index as a safetensors file: ids, centroids, codes, and rows where they are kept.
   *
   * @param file - A path; in pages a WritableStream. All of the file is written, or nothing where there are files.
   * @returns A promise that is kept once the file is there.
   * @throws TypeError for another kind of target; RuntimeError where the system refuses.
   *
   * @example
   * await index.save('items.ann.safetensors');
   */
  async save(file: FileTarget): Promise<void> {
    const { metric, codes } = this;
    await writeIndex(file, { metric, codes, keepRows: this.keepsRows, centroids: this.#centroids }, this.#rows);
  }

  /** @ignore What `indexOfParts` makes the same index of, ids ascending. */
  parts(): AnnParts {
    const { exact, ids: all, starts, ends } = this.#rows;
    const ids = new Int32Array(this.size);
    const listAt = new Int32Array(all.length);
    let count = 0;
    starts.forEach((start, list) => {
      listAt.fill(list, start, ends[list]);
      ids.set(all.subarray(start, ends[list]), count);
      count += ends[list]! - start;
    });
    const places = ids.sort().map((id) => this.#rows.placeOf(id));
    const numbers = newFloats('index', 'its rows', [count, this.dim]);
    places.forEach((place, i) => numbers.set(floatRows(exact, place, 1), i * this.dim));
    const { metric, codes, keepsRows: keepRows } = this;
    const lists = places.map((place) => listAt[place]!);
    return { metric, codes, keepRows, centroids: this.#centroids, ids, rows: { numbers, count, dim: this.dim }, lists };
  }

  #candidatesFor(k: number): number {
    return this.codes === 'none' ? k + SPARE : Math.max(2 * k, k + SPARE);
  }

  /** Choices first .. end - 1 of each query, as the queries of each list. */
  #looks(chosen: Int32Array, probes: number, first: number, end: number): { members: Int32Array; splits: Int32Array } {
    const { lists } = this;
    const splits = new Int32Array(lists + 1);
    const each = (visit: (query: number, list: number) => void): void => {
      for (let query = 0; query * probes < chosen.length; query++) {
        for (let i = first; i < end; i++) {
          const list = chosen[query * probes + i]!;
          if (list >= 0) visit(query, list);
        }
      }
    };
    each((_, list) => splits[list + 1]!++);
    for (let list = 0; list < lists; list++) splits[list + 1]! += splits[list]!;
    const at = splits.slice();
    const members = new Int32Array(splits[lists]!);
    each((query, list) => (members[at[list]!++] = query));
    return { members, splits };
  }

  #nearestLists({ numbers, count, dim }: Rows, probes: number): Int32Array {
    const m = Math.min(this.lists, probes + SPARE);
    const values = new Float32Array(count * m).fill(-Infinity);
    const rows = new Int32Array(count * m).fill(-1);
    const table = { codec: FLOAT32, data: this.#centroids.numbers, rows: this.lists, dim };
    const job = { table, queries: numbers, count };
    kernelsInUse().topK({ ...job, firstRow: 0, k: m, exclude: null, only: null, values, indices: rows });
    return ranked({ ...job, ids: null, candidates: rows, m, k: probes }).indices;
  }

  /** The rows of each query that are best by what is scanned. */
  #candidates(queries: Rows, probes: number, wanted: number, exclude: IdLists | null): Found {
    const m = Math.min(wanted, Math.max(1, this.size));
    const { numbers, count } = queries;
    const values = newFloats('rerank', 'the candidates', [count, m]).fill(-Infinity);
    const rows = new Int32Array(count * m).fill(-1);
    const { table, ids, starts, ends } = this.#rows;
    if (count > 0 && this.size > 0) {
      const job = { table, ids, starts, ends, queries: numbers, count, k: m, exclude, values, indices: rows };
      const chosen = this.#nearestLists(queries, probes);
      // What the nearest list holds rules most of the others' rows out.
      for (const [first, end] of [
        [0, 1],
        [1, probes],
      ] as const) {
        if (first < end) listKernels().scanLists({ ...job, ...this.#looks(chosen, probes, first, end) });
      }
    }
    // Places in place of ids.
    rows.forEach((id, i) => (rows[i] = id < 0 ? -1 : this.#rows.placeOf(id)));
    return { rows, m };
  }
}

/** The index that `parts` was asked of. */
export function indexOfParts({ metric, codes, keepRows, centroids, ids, rows, lists }: AnnParts): AnnIndex {
  const codec = codecOf(codes === 'none' ? undefined : codes);
  const listed = new RowLists({ dim: rows.dim, lists: centroids.count, codec, keepRows });
  listed.add(ids, rows.numbers, lists);
  return new AnnIndex({ metric, codes, keepRows, centroids }, listed);
}

/** The same of arrays that come from weights, and may hold anything. */
export function indexOfWeights(parts: AnnParts): AnnIndex {
  return indexOfParts({ ...parts, ids: readIds(parts.ids, parts.rows.count) });
}

/** The best of candidates. */
function ranked(job: Omit<RankJob, 'values' | 'indices'>): { values: Float32Array; indices: Int32Array } {
  const places = job.count * job.k;
  const written = { values: newFloats('k', 'the best rows', [job.count, job.k]), indices: new Int32Array(places) };
  listKernels().rankRows({ ...job, ...written });
  return written;
}

/** Of rows beyond this the range may be beyond float32, which codes have no scale for. */
const LARGE = 2 ** 126;

/** Rows as an index takes them: copies. */
export function readIndexRows(given: unknown, argument: string, codes: AnnCodes): Rows {
  const read = readRows(given, argument);
  const { dim, numbers } = read;
  const at = numbers.findIndex((number) => !(Math.abs(number) < (codes === 'none' ? Infinity : LARGE)));
  if (at < 0) return read;
  const expected = codes === 'none' ? 'rows of finite numbers' : 'rows of numbers that codes of 8 bits can stand for';
  throw new ValueError(argument, expected, described(`${numbers[at]} in row ${Math.floor(at / dim)}`));
}

/** Ids >= 0, each once. */
export function readIds(given: unknown, count: number): Int32Array {
  const ids = readInt32(given, 'ids').slice();
  const bad = ids.findIndex((id) => id < 0);
  if (bad >= 0) throw new ValueError('ids', 'whole numbers >= 0', described(`${ids[bad]} at position ${bad}`));
  if (ids.length !== count) throw new ValueError('ids', `one for each of ${count} rows`, described(`${ids.length}`));
  const sorted = ids.slice().sort();
  const twice = sorted.findIndex((id, i) => i > 0 && id === sorted[i - 1]);
  if (twice >= 0) throw new ValueError('ids', 'each id once', described(`${sorted[twice]} twice`));
  return ids;
}
