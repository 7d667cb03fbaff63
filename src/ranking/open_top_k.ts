/** The best keys of an open table for each query. */
import * as tf from '@tensorflow/tfjs';
import { floatTable } from '../backends/kernel_set.js';
import type { IdLists } from '../backends/ranking.js';
import { ValueError, described } from '../base/errors.js';
import { rowBlocks } from '../base/row_blocks.js';
import type { KeysInput } from '../tfjs/models/key_inputs.js';
import { readRowsAt } from '../lookup/lookup.js';
import { readKeys } from '../tables/keys/read_keys.js';
import type { OpenTable } from '../tables/keys/open_table.js';
import { kernelsInUse } from './ranked_table.js';

export interface KeyedTopKOptions {
  /** Keys that are left out, a row for each query; those without a row count for nothing. */
  exclude?: KeysInput | null | undefined;
  /** The only keys that count, a row for each query. */
  only?: KeysInput | null | undefined;
}

export interface KeyedTopK {
  /** Products, the best first; -Infinity where there is no key. */
  values: tf.Tensor2D; // [queries, k]
  /** For each query its keys, the best first: a BigInt64Array, or strings; fewer than k where there are no more. */
  keys: (BigInt64Array | string[])[];
}

/** The rows that keys have, one after the other. */
class UsedRows {
  readonly rows: Int32Array;
  readonly #placeOf: Int32Array;

  constructor(readonly table: OpenTable) {
    this.rows = table.usedRows();
    this.#placeOf = new Int32Array(table.capacity).fill(-1);
    this.rows.forEach((row, place) => (this.#placeOf[row] = place));
  }

  /** Places of the keys of each query, ascending and each once. */
  lists(given: KeysInput | null | undefined, argument: string, queries: number): IdLists | null {
    if (given === undefined || given === null) return null;
    const batch = readKeys(given, this.table.keyKind, argument);
    const expected = `keys in rows, one for each of ${queries} queries`;
    const { layout } = batch;
    const isRagged = layout.kind === 'ragged' && layout.nestedRowSplits.length === 1;
    const isDense = layout.kind === 'dense' && layout.shape.length === 2;
    if (!isRagged && !isDense) throw new ValueError(argument, expected, described('keys in another form'));
    const splits = layout.kind === 'ragged' ? layout.nestedRowSplits[0]! : null;
    const [count, width] =
      splits === null ? ((layout as { shape: unknown }).shape as [number, number]) : [splits.length - 1, 0];
    if (count !== queries) throw new ValueError(argument, expected, described(`${count} rows`));
    const [rows] = this.table.foundRowsOf(batch, false) as [Int32Array];
    const places: number[] = [];
    const rowSplits = new Int32Array(queries + 1);
    for (let q = 0; q < queries; q++) {
      const [from, to] = splits === null ? [q * width, (q + 1) * width] : [splits[q]!, splits[q + 1]!];
      const own = [...rows.subarray(from, to)].filter((row) => row >= 0 && row < this.table.capacity);
      places.push(...[...new Set(own)].map((row) => this.#placeOf[row]!).sort((a, b) => a - b));
      rowSplits[q + 1] = places.length;
    }
    return { values: Int32Array.from(places), rowSplits };
  }

  /** Shows the rows of keys, in blocks. */
  visit(visit: (rows: Float32Array, first: number, count: number) => void): void {
    const variable = this.table.variable!;
    const columns = this.table.outputDim;
    const { rows } = this;
    for (const { firstRow: first, rows: count } of rowBlocks({ rows: rows.length, columns })) {
      const values = readRowsAt(variable, rows.subarray(first, first + count));
      visit(values, first, count);
    }
  }
}

/** `topK` of an open table, whose arguments were checked. */
export function openTopK(
  queries: Float32Array,
  count: number,
  table: OpenTable,
  k: number,
  { exclude, only }: KeyedTopKOptions,
): KeyedTopK {
  const used = new UsedRows(table);
  const lists = { exclude: used.lists(exclude, 'exclude', count), only: used.lists(only, 'only', count) };
  const values = new Float32Array(count * k).fill(-Infinity);
  const indices = new Int32Array(count * k).fill(-1);
  const kernels = kernelsInUse();
  if (count > 0) {
    used.visit((rows, firstRow, size) => {
      const block = floatTable(rows, size, table.outputDim);
      kernels.topK({ table: block, firstRow, queries, count, k, ...lists, values, indices });
    });
  }
  const keys = Array.from({ length: count }, (_, q) => {
    const places = indices.subarray(q * k, (q + 1) * k).filter((place) => place >= 0);
    return table.keysOf(places.map((place) => used.rows[place]!));
  });
  return { values: tf.tensor2d(values, [count, k]), keys };
}
