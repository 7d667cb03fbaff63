/** What functions of ranking read of an open table: the rows of keys, and those that keys have. */
import { ValueError, described } from '../base/errors.js';
import type { OpenTable } from '../tables/keys/open_table.js';
import { readKeys, type KeyBatch } from '../tables/keys/read_keys.js';
import type { KeysInput } from '../tfjs/models/key_inputs.js';

/** The rows that keys have, ascending. */
export function usedRows(table: OpenTable): Int32Array {
  const { end, holes } = table.usedRange();
  const used = new Int32Array(end - holes.length);
  let [at, hole] = [0, 0];
  for (let row = 0; row < end; row++) {
    if (holes[hole] === row) hole += 1;
    else used[at++] = row;
  }
  return used;
}

/** The row of each key of a batch; -1 for those without one. */
export function knownRows(table: OpenTable, batch: KeyBatch): Int32Array {
  const [rows] = table.foundRowsOf(batch, false) as [Int32Array];
  return rows.map((row) => (row < table.capacity ? Math.max(row, -1) : -1));
}

/** Keys in rows: the row of the table that each has, -1 for those without one. */
export interface KeyLists {
  readonly batch: KeyBatch;
  readonly rows: Int32Array;
  readonly splits: Int32Array;
}

/**
 * Reads keys in rows: uneven lists, ragged or dense ones.
 *
 * @throws ValueError for keys in another form, and where there are not `count` rows; null: any number.
 */
export function keyLists(table: OpenTable, given: KeysInput, argument: string, count: number | null): KeyLists {
  const batch = readKeys(given, table.keyKind, argument);
  const expected = `keys in rows${count === null ? '' : `, ${count} of them`}`;
  const { layout } = batch;
  const isRagged = layout.kind === 'ragged' && layout.nestedRowSplits.length === 1;
  // Without a key there is nothing to tell lists of keys from lists of lists.
  const isEmpty = layout.kind === 'dense' && layout.shape.length === 1 && layout.shape[0] === 0;
  const isDense = layout.kind === 'dense' && layout.shape.length === 2;
  if (!isRagged && !isDense && !isEmpty) throw new ValueError(argument, expected, described('keys in another form'));
  let splits: Int32Array;
  if (layout.kind === 'ragged') splits = layout.nestedRowSplits[0]!;
  else {
    const [rows, width = 0] = (layout as { shape: readonly number[] }).shape;
    splits = Int32Array.from({ length: rows! + 1 }, (_, row) => row * width);
  }
  if (count !== null && splits.length !== count + 1) {
    throw new ValueError(argument, expected, described(`${splits.length - 1} rows`));
  }
  return { batch, rows: knownRows(table, batch), splits };
}
