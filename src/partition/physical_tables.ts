/** Weights of a device: shards that stay in the host's memory, and shards of equal width one below the other. */
import { INT32_MAX } from '../base/types.js';
import { widthOf, type PhysicalTable } from './plan.js';
import type { PlanTable } from './plan_table.js';
import type { Shard } from './shards.js';

const BYTES_PER_ELEMENT = 4;

/** A shard with the table that it is a part of. */
export interface TableShardOf {
  readonly shard: Shard;
  readonly table: PlanTable;
}

export interface Weights {
  readonly physicalTables: PhysicalTable[];
  readonly concatGroups: number[][];
  readonly weightOffsets: number[][];
}

/**
 * For each shard whether it stays in the host's memory: smallest first, shards go to the device while their sum fits.
 * Each shard is decided on its own, before shards are joined.
 */
export function offloaded(shards: readonly TableShardOf[], deviceMemory: number | null): boolean[] {
  const result = shards.map(() => false);
  if (deviceMemory === null) return result;
  const sizes = shards.map(({ shard, table }) => widthOf(shard) * table.rows);
  const order = sizes.map((_, place) => place).sort((a, b) => sizes[a]! - sizes[b]! || a - b);
  let total = 0;
  for (const place of order) {
    total += sizes[place]! * BYTES_PER_ELEMENT;
    result[place] = total > deviceMemory;
  }
  return result;
}

/**
 * Joins shards of equal width whose tables agree in combiner, initializer, optimizer, regularizer and constraint.
 * What stays in the host's memory is not joined, and no weight has more rows than an int32 id can name.
 */
export function joinShards(shards: readonly TableShardOf[], inHost: readonly boolean[]): Weights {
  const weights: Weights = { physicalTables: [], concatGroups: [], weightOffsets: [] };
  const keys: string[] = [];
  shards.forEach(({ shard, table }, place) => {
    const width = widthOf(shard);
    const key = `${width}|${table.joinKey}`;
    const fits = (weight: number): boolean =>
      keys[weight] === key && weights.physicalTables[weight]!.inputDim + table.rows <= INT32_MAX;
    const found = inHost[place] ? -1 : keys.findIndex((_, weight) => fits(weight));
    if (found === -1) {
      const { rows, combiner } = table;
      weights.physicalTables.push({ inputDim: rows, outputDim: width, combiner, cpuOffload: inHost[place]! });
      weights.concatGroups.push([place]);
      weights.weightOffsets.push([0, rows]);
      keys.push(inHost[place] ? '' : key);
      return;
    }
    const weight = weights.physicalTables[found]!;
    weight.inputDim += table.rows;
    weights.concatGroups[found]!.push(place);
    weights.weightOffsets[found]!.push(weight.inputDim);
  });
  return weights;
}
