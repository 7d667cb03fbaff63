/** Cutting tables by columns. */
import type { PlacementProblem, PlacedTable } from './strategies/placement.js';

/** Number of slices: halved until a slice is no larger than the threshold, one per device and column at most. */
export function sliceCount(table: PlacedTable, threshold: number, worldSize: number): number {
  const most = table.whole ? 1 : Math.min(worldSize, table.columns);
  let count = 1;
  let size = table.rows * table.columns;
  while (size > threshold && count < most) {
    count *= 2;
    size /= 2;
  }
  return Math.min(count, most);
}

/** Widths of slices that are as equal as can be; the first ones are wider. */
export function evenWidths(columns: number, count: number): number[] {
  const width = Math.floor(columns / count);
  const wider = columns % count;
  return Array.from({ length: count }, (_, slice) => (slice < wider ? width + 1 : width));
}

/** The threshold that yields one piece for each device, by halving the largest piece; null where tables suffice. */
export function automaticThreshold(tables: readonly PlacedTable[], worldSize: number): number | null {
  const sizes = tables.filter(({ whole }) => !whole).map(({ rows, columns }) => rows * columns);
  sizes.sort((a, b) => b - a);
  // What is halved never grows, so halves come in falling order too: the larger of the two heads is the largest piece.
  const halves: number[] = [];
  let [firstSize, firstHalf] = [0, 0];
  let threshold: number | null = null;
  for (let pieces = tables.length; pieces < worldSize && sizes.length > 0; pieces++) {
    const [size, half] = [sizes[firstSize] ?? -1, halves[firstHalf] ?? -1];
    const largest = Math.max(size, half);
    if (size >= half) firstSize++;
    else firstHalf++;
    threshold = largest - 1;
    const part = Math.floor(largest / 2);
    halves.push(part, part);
  }
  return threshold;
}

/** Widths of the slices of each table for the threshold that was asked for, or the automatic one. */
export function columnSlices(problem: PlacementProblem): number[][] {
  const { tables, worldSize } = problem;
  const threshold = problem.columnSliceThreshold ?? automaticThreshold(tables, worldSize);
  if (threshold === null) return tables.map(({ columns }) => [columns]);
  return tables.map((table) => evenWidths(table.columns, sliceCount(table, threshold, worldSize)));
}
