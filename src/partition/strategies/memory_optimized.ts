/** Strategy `memory_optimized`: each slice goes where least is, largest first. */
import { columnSlices } from '../column_slices.js';
import { descending, slicesOf, type Placement, type PlacementProblem } from './placement.js';

interface Bin {
  size: number;
  readonly tables: number[];
}

/** Least full first, then by their lists of tables. */
function ascending(a: Bin, b: Bin): number {
  if (a.size !== b.size) return a.size - b.size;
  const shared = Math.min(a.tables.length, b.tables.length);
  for (let place = 0; place < shared; place++) {
    const difference = a.tables[place]! - b.tables[place]!;
    if (difference !== 0) return difference;
  }
  return a.tables.length - b.tables.length;
}

/** Puts the first bin where it belongs in an otherwise sorted list. */
function settleFirst(bins: Bin[]): void {
  const moved = bins[0]!;
  let place = 0;
  while (place + 1 < bins.length && ascending(bins[place + 1]!, moved) < 0) {
    bins[place] = bins[place + 1]!;
    place++;
  }
  bins[place] = moved;
}

/** The device with the lowest number ends with least memory. */
export function memoryOptimized(problem: PlacementProblem): Placement {
  const widths = columnSlices(problem);
  const bins: Bin[] = Array.from({ length: problem.worldSize }, () => ({ size: 0, tables: [] }));
  for (const { size, table } of slicesOf(problem, widths).sort(descending)) {
    bins[0]!.size += size;
    bins[0]!.tables.push(table);
    settleFirst(bins);
  }
  return { widths, divided: bins.map(({ tables }) => tables) };
}
