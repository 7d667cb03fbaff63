/** The rows of a table that differ from what it was. */
import type { Checksum } from './table_checksum.js';

/** Changed rows of some columns, which lie together. */
export interface DeltaPart {
  readonly firstColumn: number;
  /** Ascending. */
  readonly ids: Int32Array;
  /** [ids, columns of the part] */
  readonly values: Float32Array;
}

export interface TableDelta {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  /** Of the whole table, before and now. */
  readonly base: Checksum;
  readonly result: Checksum;
  /** In the order of columns, then of rows. */
  readonly parts: readonly DeltaPart[];
}

/** How many rows changed: those of other columns may be the same. */
export function changedRows(parts: readonly Pick<DeltaPart, 'firstColumn' | 'ids'>[]): number {
  const isCut = parts.some(({ firstColumn }) => firstColumn !== parts[0]!.firstColumn);
  if (!isCut) return parts.reduce((sum, { ids }) => sum + ids.length, 0);
  const rows = new Set<number>();
  for (const { ids } of parts) for (const id of ids) rows.add(id);
  return rows.size;
}
