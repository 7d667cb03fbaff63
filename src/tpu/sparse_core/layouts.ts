/** Where the rows of tables lie on SparseCores: several tables, padded, make one stack. */

/** A machine of SparseCores. */
export interface Cores {
  readonly chips: number;
  readonly coresPerChip: number;
}

/**
 * Where one table lies. Row r of it is on shard (r + rotation) mod numSparseCores, at row offset + floor(r /
 * numSparseCores) of the shard.
 */
export interface SparseCoreLayout {
  readonly tableName: string;
  /** Names of the stack's tables, joined by `_`. */
  readonly stackedTableName: string;
  readonly numSparseCores: number;
  /** Chips. */
  readonly numPartitions: number;
  /** Rows of the whole stack on one core. */
  readonly totalRowsPerSparseCoreShard: number;
  /** Rows of the stack's earlier tables on one core. */
  readonly sparseCoreShardRowOffset: number;
  readonly sparseCoreShardRotation: number;
  readonly unshardedShape: readonly [rows: number, columns: number];
  /** Rows a multiple of 8 x cores, columns of 8. */
  readonly unshardedPaddedShape: readonly [rows: number, columns: number];
}

/** Rows of all shards that come before the table in its stack. */
export function columnOffset(layout: SparseCoreLayout): number {
  return layout.sparseCoreShardRowOffset * layout.numSparseCores;
}

/** Rows of one shard that are the table's. */
export function rowsInShard(layout: SparseCoreLayout): number {
  return layout.unshardedPaddedShape[0] / layout.numSparseCores;
}
