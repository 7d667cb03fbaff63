/** What a strategy is asked and what it answers. */
import type { RankLoad } from '../rank_load.js';

/** A table-parallel table. */
export interface PlacedTable {
  readonly rows: number;
  readonly columns: number;
  /** Rows must not be cut. */
  readonly whole: boolean;
  /** Ids per sample that look it up, over all its inputs. */
  readonly ids: number;
  /** Number of its inputs. */
  readonly inputs: number;
}

export interface PlacementProblem {
  readonly tables: readonly PlacedTable[];
  readonly worldSize: number;
  readonly columnSliceThreshold: number | null;
  /** Load of each device under a placement, all groups counted. */
  readonly loads: (placement: Placement) => RankLoad[];
}

/** Slices and where they go. Slices of one table are handed out in the order of devices. */
export interface Placement {
  /** Widths of the slices of each table. */
  readonly widths: number[][];
  /** For each device the tables that it gets a slice of, in order. */
  readonly divided: number[][];
}

/** A way to place tables on devices. */
export type Strategy = (problem: PlacementProblem) => Placement;

/** A slice, for sorting. */
export interface Slice {
  readonly size: number;
  readonly table: number;
}

/** All slices in the order of tables. */
export function slicesOf(problem: PlacementProblem, widths: readonly (readonly number[])[]): Slice[] {
  return widths.flatMap((list, table) => list.map((width) => ({ size: width * problem.tables[table]!.rows, table })));
}

/** Largest first, of equal ones the later table first. */
export function descending(a: Slice, b: Slice): number {
  return b.size - a.size || b.table - a.table;
}

/** Every `step`-th item from `first` on. */
export function everyNth<T>(items: readonly T[], first: number, step: number): T[] {
  const found: T[] = [];
  for (let place = first; place < items.length; place += step) found.push(items[place]!);
  return found;
}
