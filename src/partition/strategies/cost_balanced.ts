/** Strategy `cost_balanced`: memory, elements read and bytes exchanged, evened out together. */
import { automaticThreshold, columnSlices, evenWidths, sliceCount } from '../column_slices.js';
import type { RankLoad } from '../rank_load.js';
import { LoadBins, type LoadItem } from './load_bins.js';
import { memoryBalanced } from './memory_balanced.js';
import type { PlacedTable, Placement, PlacementProblem } from './placement.js';

/** A slice may weigh up to this part of a device's fair share; finer cuts are tried only while they help. */
const GRAINS = [Infinity, 2, 1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32];
/** Even enough: the busiest device has this much of a fair share. */
const EVEN = 1.06;
/** Finer cuts send ids more often, so they must be better by this factor. */
const GAIN = 0.98;
/** What they may cost of the predicted step, beside the best placement so far. */
const DEARER = 1.03;

/** Placements tried with the same slices, and how much more weight what was worse gets in the next. */
const MOST_TRIALS = 6;
const MORE_WEIGHT = 1.06;

/** Memory, elements read, elements of pooled rows that leave, ids and elements of gradients that come. */
function weigh({ rows, ids, inputs }: PlacedTable, width: number): number[] {
  return [rows * width, ids * width, inputs * width, ids + inputs * width];
}

/** Where not all can be even, reads come first: both passes read rows and the update writes them, bytes move once a pass. */
const PRIORITIES = [1, 1, 0.95, 0.95];

/** What each device would have of each quantity, were nothing cut and all even. */
function fairShares({ tables, worldSize }: PlacementProblem): number[] {
  const shares = [0, 0, 0, 0];
  for (const table of tables) weigh(table, table.columns).forEach((load, kind) => (shares[kind]! += load / worldSize));
  return shares;
}

/** Loads as parts of a fair share; a share of 0 weighs nothing. */
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
    list.map((width) => {
      const load = relative(weigh(problem.tables[table]!, width), shares);
      return { table, width, load: load.map((part, kind) => part * PRIORITIES[kind]!) };
    }),
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

type Kind = 'bytesMemory' | 'elementsRead' | 'bytesOut' | 'bytesExchanged' | 'seconds';
/** What must not get worse, and which of the weighed quantities make it up. */
const LIMITED: readonly (readonly [Kind, readonly number[]])[] = [
  ['bytesMemory', [0]],
  ['elementsRead', [1]],
  ['bytesOut', [2]],
  ['bytesExchanged', [2, 3]],
  ['seconds', [1]],
];

const WORDS: Readonly<Record<Kind, string>> = {
  bytesMemory: 'memory',
  elementsRead: 'elements read',
  bytesOut: 'bytes sent',
  bytesExchanged: 'bytes exchanged',
  seconds: 'predicted seconds',
};

/** The busiest device's load of each kind. */
function busiest(loads: readonly RankLoad[]): Record<Kind, number> {
  const most = (kind: Kind): number => Math.max(...loads.map((load) => load[kind]));
  return Object.fromEntries(LIMITED.map(([kind]) => [kind, most(kind)])) as Record<Kind, number>;
}

/** Of what the busiest device has more than the limit. */
function exceeded(loads: readonly RankLoad[], limit: Record<Kind, number>): (typeof LIMITED)[number][] {
  const found = busiest(loads);
  return LIMITED.filter(([kind]) => found[kind] > limit[kind]);
}

/** In words, of what one plan's busiest device has more than another's. */
export function worseIn(loads: readonly RankLoad[], others: readonly RankLoad[]): string[] {
  return exceeded(loads, busiest(others)).map(([kind]) => WORDS[kind]);
}

/**
 * Places slices so that nothing exceeds the limits: what does weighs more in the next trial. Null where that fails.
 */
function placeWithin(
  problem: PlacementProblem,
  widths: readonly number[][],
  shares: readonly number[],
  limit: Record<Kind, number>,
): Placement | null {
  const weighed = [...shares];
  for (let trial = 0; trial < MOST_TRIALS; trial++) {
    const placement = placeSlices(problem, widths, weighed);
    const worse = exceeded(problem.loads(placement), limit);
    if (worse.length === 0) return placement;
    for (const quantity of new Set(worse.flatMap(([, quantities]) => quantities))) weighed[quantity]! /= MORE_WEIGHT;
  }
  return null;
}

/** How much more than the mean the busiest device has, of whatever it has most of. */
function unevenness(problem: PlacementProblem, placement: Placement, shares: readonly number[]): number {
  const next = placement.widths.map(() => 0);
  const devices = placement.divided.map((tables) => {
    const held = new Map<number, number>();
    for (const table of tables) {
      const width = placement.widths[table]![next[table]!++]!;
      held.set(table, (held.get(table) ?? 0) + width);
    }
    const loads = shares.map(() => 0);
    for (const [table, width] of held) {
      weigh(problem.tables[table]!, width).forEach((load, kind) => (loads[kind]! += load));
    }
    return loads;
  });
  const ratios = shares.map((_, kind) => {
    const total = devices.reduce((sum, loads) => sum + loads[kind]!, 0);
    return total === 0 ? 1 : (Math.max(...devices.map((loads) => loads[kind]!)) * devices.length) / total;
  });
  return Math.max(...ratios);
}

/**
 * Starts from `memory_balanced` and takes another placement only where the busiest device then has no more memory,
 * elements read, bytes sent, bytes sent and received, and predicted seconds, and what it has most of comes nearer to the mean.
 */
export function costBalanced(problem: PlacementProblem): Placement {
  const shares = fairShares(problem);
  const start = memoryBalanced(problem);
  const limit = busiest(problem.loads(start));
  let best = start;
  let { seconds } = limit;
  let least = unevenness(problem, start, shares);
  let filled = start.divided.every(({ length }) => length > 0);
  let before = '';
  for (const widths of [columnSlices(problem), ...GRAINS.map((grain) => widthsForGrain(problem, grain, shares))]) {
    if (filled && least <= EVEN) break;
    const cuts = widths.map(({ length }) => length).join();
    if (cuts === before) continue;
    before = cuts;
    const placement = placeWithin(problem, widths, shares, limit);
    if (placement === null) continue;
    const found = unevenness(problem, placement, shares);
    const fills = placement.divided.every(({ length }) => length > 0);
    const { seconds: cost } = busiest(problem.loads(placement));
    const better = filled === fills ? found < least * GAIN && cost <= seconds * DEARER : fills;
    if (better) [best, least, filled, seconds] = [placement, found, fills, cost];
  }
  return best;
}
