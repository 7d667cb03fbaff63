/** Where the parts of one table lie: the plan, seen from the table. */
import { isModulo, type PlanData, type Span } from './plan.js';

/** Rows first, first + step, ... of a table, `count` of them: local row r is global row first + step * r. */
export interface ShardRows {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/** A rectangle of a table on one device. */
export interface LayoutShard {
  readonly device: number;
  readonly rows: ShardRows;
  readonly columns: Readonly<Span>;
  /** Held in the memory of the host, because the plan says so: does not count against the device's. */
  readonly inHost: boolean;
}

/**
 * `columns`: each shard has all rows and some columns (one shard: the whole table on one device); `rows`: each has all
 * columns and some rows; `copies`: each device has everything. Shards without elements are left out.
 */
export interface TableLayout {
  readonly kind: 'columns' | 'rows' | 'replicated';
  readonly rows: number;
  readonly columns: number;
  readonly shards: readonly LayoutShard[];
}

/** Rows and columns of a table. */
export interface TableSize {
  readonly rows: number;
  readonly columns: number;
}

/** A table that lies on one device. */
export function wholeOn(device: number, { rows, columns }: TableSize): TableLayout {
  const shard: LayoutShard = { device, rows: { first: 0, step: 1, count: rows }, columns: [0, columns], inHost: false };
  return { kind: 'columns', rows, columns, shards: [shard] };
}

/** Elements of a shard. */
export function shardSize({ rows, columns }: LayoutShard): number {
  return rows.count * (columns[1] - columns[0]);
}

/** The layout of each table of a plan, in the order of `tables`. */
export function tableLayouts(plan: PlanData, tables: readonly TableSize[]): TableLayout[] {
  const copied = new Set((plan.dataParallelTables ?? []).map(({ table }) => table));
  const rowSliced = new Set(plan.tableGroups.rowSlice);
  const shards = tables.map((): LayoutShard[] => []);
  plan.ranks.forEach(({ tableParallel, rowSlice }, device) => {
    tableParallel?.shards.forEach(({ table, columns }, place) => {
      const weight = tableParallel.concatGroups.findIndex((group) => group.includes(place));
      const inHost = tableParallel.physicalTables[weight]?.cpuOffload ?? false;
      const rows = { first: 0, step: 1, count: tables[table]!.rows };
      shards[table]!.push({ device, rows, columns: [columns[0], columns[1]], inHost });
    });
    for (const shard of rowSlice ?? []) {
      if (shard.inputDim === 0) continue;
      const rows = isModulo(shard)
        ? { first: shard.modulo.remainder, step: shard.modulo.divisor, count: shard.inputDim }
        : { first: shard.rows[0], step: 1, count: shard.inputDim };
      shards[shard.table]!.push({ device, rows, columns: [0, shard.outputDim], inHost: false });
    }
    for (const table of copied) {
      const { rows, columns } = tables[table]!;
      shards[table]!.push({ device, rows: { first: 0, step: 1, count: rows }, columns: [0, columns], inHost: false });
    }
  });
  return tables.map(({ rows, columns }, table) => {
    const kind = copied.has(table) ? 'replicated' : rowSliced.has(table) ? 'rows' : 'columns';
    return { kind, rows, columns, shards: shards[table]! };
  });
}

/** The layout of a slot of the table with `columns` columns: like the table, or one value for each of its rows. */
export function slotLayout(layout: TableLayout, columns: number): TableLayout {
  if (columns === layout.columns) return layout;
  return {
    ...layout,
    columns,
    shards: layout.shards.map((shard) => ({ ...shard, columns: [0, columns] })),
  };
}

function sameShard(a: LayoutShard, b: LayoutShard): boolean {
  return (
    a.device === b.device &&
    a.inHost === b.inHost &&
    a.rows.first === b.rows.first &&
    a.rows.step === b.rows.step &&
    a.rows.count === b.rows.count &&
    a.columns[0] === b.columns[0] &&
    a.columns[1] === b.columns[1]
  );
}

/** Whether two layouts put everything in the same places. */
export function sameLayout(a: TableLayout, b: TableLayout): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.rows !== b.rows || a.columns !== b.columns) return false;
  return a.shards.length === b.shards.length && a.shards.every((shard, i) => sameShard(shard, b.shards[i]!));
}
