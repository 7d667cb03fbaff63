/** Strategy `memory_balanced`: equal numbers of slices, sizes evened out by going to and fro. */
import { columnSlices } from '../column_slices.js';
import { descending, everyNth, slicesOf, type Placement, type PlacementProblem } from './placement.js';

/** Slices by falling size: device r gets number r of each round to, then number N - 1 - r of each round fro. */
export function memoryBalanced(problem: PlacementProblem): Placement {
  const { worldSize } = problem;
  const widths = columnSlices(problem);
  const tables = slicesOf(problem, widths)
    .sort(descending)
    .map(({ table }) => table);
  const divided = Array.from({ length: worldSize }, (_, device) => [
    ...everyNth(tables, device, 2 * worldSize),
    ...everyNth(tables, 2 * worldSize - 1 - device, 2 * worldSize),
  ]);
  return { widths, divided };
}
