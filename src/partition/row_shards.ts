/** Rows of a table dealt out to all devices, in ranges or one by one. */
import type { RowShard } from './plan.js';
import type { PlanTable } from './plan_table.js';
import type { RowSharding } from './plan_request.js';

/** The rows that one device holds; with fewer rows than devices the last devices hold none. */
export function rowShard(
  table: number,
  { rows, columns }: Pick<PlanTable, 'rows' | 'columns'>,
  device: number,
  worldSize: number,
  sharding: RowSharding,
): RowShard {
  const least = Math.floor(rows / worldSize);
  const longer = rows % worldSize;
  const inputDim = device < longer ? least + 1 : least;
  const shape = { inputDim, outputDim: columns };
  if (sharding === 'modulo') return { table, modulo: { divisor: worldSize, remainder: device }, ...shape };
  const start = device * least + Math.min(device, longer);
  return { table, rows: [start, start + inputDim], inputOffset: 0 - start, ...shape };
}
