/** Strategy `cost_balanced`: memory, elements read and bytes exchanged, evened out together. */
import { automaticThreshold, columnSlices, evenWidths, sliceCount } from '../column_slices.js';
import type { RankLoad } from '../rank_load.js';
import { LoadBins, type LoadItem } from './load_bins.js';
import { memoryBalanced } from './memory_balanced.js';
import type { PlacedTable, Placement, PlacementProblem } from './placement.js';

/** A slice may weigh up to this part of a device's fair share; finer cuts are tried only while they help. */
const GRAINS = [Infinity, 2, 1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32];
/** Even enough: the busiest device has this much of a fair share. */
const EVEN = 1.04;
/** Finer cuts send ids more often, so they must be better by this factor. */
const GAIN = 0.99;

/** Memory, elements read, elements of pooled rows that leave, ids and elements of gradients that come. */
function weigh({ rows, ids, inputs }: PlacedTable, width: number): number[] {
  return [rows * width, ids * width, inputs * width, ids + inputs * width];
}

/** What each device would have of each quantity, were nothing cut and all even. */
function fairShares({ tables, worldSize }: PlacementProblem): number[] {
  const shares = [0, 0, 0, 0];
  for (const table of tables) weigh(table, table.columns).forEach((load, kind) => (shares[kind]! += load / worldSize));
  return shares;
}

/** Loads as parts of a fair share; what nobody has weighs nothing. */
function relative(loads: readonly number[], shares: readonly number[]): number[] {
  return loads.map((load, kind) => (shares[kind]! > 0 ? load / shares[kind]! : 0));
}

function widthsForGrain(problem: PlacementProblem, grain: number, shares: readonly number[]): number[][] {
  const { tables, worldSize } = problem;
  const threshold = problem.columnSliceThreshold ?? automaticThreshold(tables, worldSize);
  return tables.map((table) => {
    const least = threshold === null ? 1 : sliceCount(table, threshold, worldSize);
    const most = table.whole ? 1 : Math.min(worldSize, table.columns);
    const weight = Math.max(...relative(weigh(table, table.columns), shares));
    let count = 1;
    while (weight / count > grain && count < most) count *= 2;
    return evenWidths(table.columns, Math.min(Math.max(count, least), most));
  });
}

/** Places slices of these widths, no two of one table on one device. */
function placeSlices(problem: PlacementProblem, widths: readonly number[][], shares: readonly number[]): Placement {
  const items: LoadItem[] = widths.flatMap((list, table) =>
    list.map((width) => ({ table, width, load: relative(weigh(problem.tables[table]!, width), shares) })),
  );
  const bins = new LoadBins(problem.worldSize, shares.length);
  bins.fill(items);
  bins.even();
  return placementOf(bins.contents(), widths.length);
}

/** A table's slices are handed out in the order of devices, so its widths are listed in that order. */
function placementOf(devices: readonly (readonly LoadItem[])[], tables: number): Placement {
  const widths: number[][] = Array.from({ length: tables }, () => []);
  const divided = devices.map((items) => {
    const sorted = [...items].sort((a, b) => a.table - b.table);
    for (const { table, width } of sorted) widths[table]!.push(width);
    return sorted.map(({ table }) => table);
  });
  return { widths, divided };
}

type Kind = 'bytesMemory' | 'elementsRead' | 'bytesOut' | 'bytesIn' | 'seconds';
const KINDS: readonly Kind[] = ['bytesMemory', 'elementsRead', 'bytesOut', 'bytesIn', 'seconds'];

/** The busiest device's load of each kind; without limits of memory, all tables count. */
function busiest(loads: readonly RankLoad[]): Record<Kind, number> {
  const most = (kind: Kind): number => Math.max(...loads.map((load) => load[kind]));
  return Object.fromEntries(KINDS.map((kind) => [kind, most(kind)])) as Record<Kind, number>;
}

function neverWorse(found: Record<Kind, number>, than: Record<Kind, number>): boolean {
  return KINDS.every((kind) => found[kind] <= than[kind]);
}

/** How much more than a fair share the busiest device has, of whatever it has most of. */
function unevenness(problem: PlacementProblem, placement: Placement, shares: readonly number[]): number {
  const next = placement.widths.map(() => 0);
  const parts = placement.divided.map((tables) => {
    const held = new Map<number, number>();
    for (const table of tables) {
      const width = placement.widths[table]![next[table]!++]!;
      held.set(table, (held.get(table) ?? 0) + width);
    }
    const loads = shares.map(() => 0);
    for (const [table, width] of held) {
      relative(weigh(problem.tables[table]!, width), shares).forEach((part, kind) => (loads[kind]! += part));
    }
    return Math.max(...loads);
  });
  return Math.max(...parts);
}

/**
 * Starts from `memory_balanced` and takes another placement only where the busiest device then has no more memory,
 * elements read, bytes sent, bytes received and predicted seconds, and its largest part of a fair share falls.
 */
export function costBalanced(problem: PlacementProblem): Placement {
  const shares = fairShares(problem);
  const start = memoryBalanced(problem);
  const limit = busiest(problem.loads(start));
  let best = start;
  let least = unevenness(problem, start, shares);
  let filled = start.divided.every(({ length }) => length > 0);
  let before = '';
  for (const widths of [columnSlices(problem), ...GRAINS.map((grain) => widthsForGrain(problem, grain, shares))]) {
    if (filled && least <= EVEN) break;
    const cuts = widths.map(({ length }) => length).join();
    if (cuts === before) continue;
    before = cuts;
    const placement = placeSlices(problem, widths, shares);
    const found = unevenness(problem, placement, shares);
    const fills = placement.divided.every(({ length }) => length > 0);
    if ((filled && !fills) || (filled === fills && found >= least * GAIN)) continue;
    if (!neverWorse(busiest(problem.loads(placement)), limit)) continue;
    [best, least, filled] = [placement, found, fills];
  }
  return best;
}
