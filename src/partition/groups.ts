/** Which tables are copied, placed whole or by columns, or cut by rows, and which inputs belong to each. */
import { GROUP_NAMES, type GroupName, type Groups } from './plan.js';
import type { PlanRequest } from './plan_request.js';

/** Tables, inputs and the map between them, by group. */
export interface Grouping {
  readonly tableGroups: Groups;
  readonly inputGroups: Groups;
  readonly mapGroups: Groups;
  readonly revGroupIds: number[];
}

function empty(): Groups {
  return { dataParallel: [], tableParallel: [], rowSlice: [] };
}

/** For each input, the place of its output when the outputs of the groups follow one another. */
export function reverseGroupIds(inputGroups: Groups): number[] {
  const places: number[] = [];
  GROUP_NAMES.flatMap((name) => inputGroups[name]).forEach((input, place) => (places[input] = place));
  return places;
}

/** The grouping of inputs that follows from that of tables. */
export function groupInputs(groupOf: readonly GroupName[], inputTableMap: readonly number[]): Grouping {
  const tableGroups = empty();
  const within = groupOf.map((name, table) => tableGroups[name].push(table) - 1);
  const inputGroups = empty();
  const mapGroups = empty();
  inputTableMap.forEach((table, input) => {
    const name = groupOf[table]!;
    inputGroups[name].push(input);
    mapGroups[name].push(within[table]!);
  });
  return { tableGroups, inputGroups, mapGroups, revGroupIds: reverseGroupIds(inputGroups) };
}

/** The group of each table by its size: small ones are copied, which is looked at first; large ones are cut by rows. */
export function groupTables(request: PlanRequest): GroupName[] {
  const { dataParallelThreshold: copied, rowSliceThreshold: byRows } = request;
  return request.tables.map(({ size }) => {
    if (copied !== null && copied > 0 && size <= copied) return 'dataParallel';
    if (byRows !== null && byRows > 0 && size >= byRows) return 'rowSlice';
    return 'tableParallel';
  });
}

/**
 * The table that goes to the row group when there are too few pieces for all devices: of those narrower than the
 * number of devices the largest whose rows suffice for all, else any such table, else the one with most rows.
 */
export function rowFallbackTable(request: PlanRequest, candidates: readonly number[]): number {
  const { tables, worldSize } = request;
  const rank = (table: number): [number, number, number] => {
    const { rows, columns, size } = tables[table]!;
    const enough = rows >= worldSize;
    return [enough ? (columns < worldSize ? 2 : 1) : 0, enough ? size : rows, table];
  };
  return candidates.reduce((best, table) => {
    const [a, b] = [rank(best), rank(table)];
    const place = a.findIndex((value, i) => value !== b[i]);
    return place !== -1 && b[place]! > a[place]! ? table : best;
  });
}
