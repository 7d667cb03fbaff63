/** Shards: the slices of one table that meet on one device, merged into one wider piece. */
import type { Span } from './plan.js';
import type { Placement } from './strategies/placement.js';

/** Adjacent columns of a table of the table-parallel group, which counts on its own. */
export interface Shard {
  readonly table: number;
  readonly columns: Span;
}

/** For each device its shards. A table's columns are handed out in the order of devices, whatever their widths. */
export function mergeSlices(placement: Placement): Shard[][] {
  const slices = placement.widths.map(() => 0);
  const columns = placement.widths.map(() => 0);
  return placement.divided.map((tables) => {
    const shards = new Map<number, Shard>();
    for (const table of tables) {
      const width = placement.widths[table]![slices[table]!++]!;
      const start = columns[table]!;
      columns[table] = start + width;
      const held = shards.get(table);
      if (held === undefined) shards.set(table, { table, columns: [start, start + width] });
      else held.columns[1] += width;
    }
    return [...shards.values()];
  });
}

/**
 * Outputs to be joined, for each input whose table was cut: from the input's place on, one output for each device that
 * holds a shard. Counting devices, not merges, keeps this right when several inputs share a table.
 */
export function joinedOutputs(map: readonly number[], widths: readonly number[][], held: readonly number[]): Span[] {
  const ranges: Span[] = [];
  map.forEach((table, input) => {
    if (widths[table]!.length > 1) ranges.push([input, input + held[table]!]);
  });
  return ranges;
}
