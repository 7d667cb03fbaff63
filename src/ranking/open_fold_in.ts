/** What `foldIn` reads of an open table: the rows of keys, and those that keys have. */
import type { HostBags } from '../backends/kernel_set.js';
import { ArgumentTypeError } from '../base/errors.js';
import { rowBlocks } from '../base/row_blocks.js';
import type { IdsInput } from '../ids/parse_ids.js';
import { readRowsAt } from '../lookup/lookup.js';
import type { OpenTable } from '../tables/keys/open_table.js';
import { idsInLayout, readKeys } from '../tables/keys/read_keys.js';
import type { KeysInput } from '../tfjs/models/key_inputs.js';
import { knownRows, usedRows } from './open_keys.js';

/** Stands for a key without a row. */
const NONE = 2 ** 31 - 1;

/** Row numbers in the form of keys. */
export function rowsOfKeys(table: OpenTable, keys: unknown): IdsInput {
  if (keys === undefined || keys === null) throw new ArgumentTypeError('ids', 'keys in any form', keys);
  const batch = readKeys(keys as KeysInput, table.keyKind, 'ids');
  const rows = knownRows(table, batch).map((row) => (row >= 0 ? row : NONE));
  return idsInLayout(rows, batch.layout) as IdsInput;
}

/** Bags without the keys that have no row: nothing is known of them. */
export function withoutUnknown({ values, rowSplits, weights }: HostBags): HostBags {
  const kept: number[] = [];
  const splits = new Int32Array(rowSplits.length);
  for (let user = 0; user + 1 < rowSplits.length; user++) {
    for (let i = rowSplits[user]!; i < rowSplits[user + 1]!; i++) if (values[i] !== NONE) kept.push(i);
    splits[user + 1] = kept.length;
  }
  return {
    values: Int32Array.from(kept, (i) => values[i]!),
    rowSplits: splits,
    weights: weights === null ? null : Float32Array.from(kept, (i) => weights[i]!),
  };
}

/** Shows the rows that keys have, in blocks. */
export function visitUsedRows(table: OpenTable, visit: (values: Float32Array, rows: number) => void): void {
  const used = usedRows(table);
  for (const { firstRow, rows } of rowBlocks({ rows: used.length, columns: table.outputDim })) {
    visit(readRowsAt(table.variable!, used.slice(firstRow, firstRow + rows)), rows);
  }
}
