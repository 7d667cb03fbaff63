/** Strategy `basic`: slices go round the devices in the order of tables. */
import { columnSlices } from '../column_slices.js';
import { everyNth, slicesOf, type Placement, type PlacementProblem } from './placement.js';

/** Device r gets slices r, r + N, r + 2N and so on. */
export function basic(problem: PlacementProblem): Placement {
  const { worldSize } = problem;
  const widths = columnSlices(problem);
  const tables = slicesOf(problem, widths).map(({ table }) => table);
  return { widths, divided: Array.from({ length: worldSize }, (_, device) => everyNth(tables, device, worldSize)) };
}
