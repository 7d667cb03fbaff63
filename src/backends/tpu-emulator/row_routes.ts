/** Which ids of a batch go to which device, where the rows of a table are dealt out. */
import type { LayoutShard, TableLayout } from '../../partition/table_layout.js';
import type { Combiner } from '../../types.js';
import type { CheckedBags } from './host_bags.js';

/** What one device gets of a batch: bags that have an id there, with local rows and a factor for each. */
export interface RowRoute {
  readonly shard: LayoutShard;
  /** Number of the bag in the batch, for each bag of the route. */
  readonly bags: Int32Array;
  readonly values: Int32Array;
  readonly rowSplits: Int32Array;
  /** null: all factors are 1. */
  readonly weights: Float32Array | null;
  /** Place of each id in the batch. */
  readonly positions: Int32Array;
}

/** Finds the shard and the local row of an id. */
export class RowOwners {
  private readonly starts: Int32Array | null;
  private readonly step: number;
  /** Place of the shard by remainder. */
  private readonly byRemainder: Int32Array;

  constructor(private readonly layout: TableLayout) {
    const { shards } = layout;
    this.step = shards[0]?.rows.step ?? 1;
    const isRange = this.step === 1;
    this.starts = isRange ? Int32Array.from(shards, ({ rows }) => rows.first) : null;
    this.byRemainder = new Int32Array(isRange ? 0 : this.step).fill(-1);
    if (!isRange) shards.forEach(({ rows }, place) => (this.byRemainder[rows.first] = place));
  }

  /** Place of the shard that holds the row; -1 for a row outside the table. */
  shardOf(id: number): number {
    if (id < 0 || id >= this.layout.rows) return -1;
    if (this.starts === null) return this.byRemainder[id % this.step]!;
    let [low, high] = [0, this.starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle]! <= id) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  localRow(id: number, shard: number): number {
    const { first, step } = this.layout.shards[shard]!.rows;
    return step === 1 ? id - first : Math.floor(id / step);
  }
}

/** By what each bag's sum is divided; null: by nothing. */
function divisors({ rowSplits, weights, batch }: CheckedBags, combiner: Combiner): Float64Array | null {
  if (combiner === 'sum') return null;
  const result = new Float64Array(batch);
  let isOne = true;
  for (let bag = 0; bag < batch; bag++) {
    let sum = 0;
    for (let i = rowSplits[bag]!; i < rowSplits[bag + 1]!; i++) {
      const weight = weights === null ? 1 : weights[i]!;
      sum += combiner === 'mean' ? weight : weight * weight;
    }
    result[bag] = combiner === 'mean' ? sum : Math.sqrt(sum);
    if (result[bag] !== 1) isOne = false;
  }
  return isOne ? null : result;
}

/**
 * The routes of a batch, one for each shard, in the order of shards. The divisor of mean and sqrtn is that of the whole
 * bag and goes into the factors, so that each device takes plain sums. Ids outside the table go nowhere.
 */
export function rowRoutes(layout: TableLayout, owners: RowOwners, given: CheckedBags, combiner: Combiner): RowRoute[] {
  const { values, rowSplits, weights, batch } = given;
  const { shards } = layout;
  const divisor = divisors(given, combiner);
  const owner = new Int32Array(values.length);
  const counts = new Int32Array(shards.length);
  const bagCounts = new Int32Array(shards.length);
  const lastBag = new Int32Array(shards.length).fill(-1);
  for (let bag = 0; bag < batch; bag++) {
    for (let i = rowSplits[bag]!; i < rowSplits[bag + 1]!; i++) {
      const shard = (owner[i] = owners.shardOf(values[i]!));
      if (shard < 0) continue;
      counts[shard]!++;
      if (lastBag[shard] === bag) continue;
      lastBag[shard] = bag;
      bagCounts[shard]!++;
    }
  }
  const weighted = weights !== null || divisor !== null;
  const routes = shards.map((shard, place) => ({
    shard,
    bags: new Int32Array(bagCounts[place]!),
    values: new Int32Array(counts[place]!),
    rowSplits: new Int32Array(bagCounts[place]! + 1),
    weights: weighted ? new Float32Array(counts[place]!) : null,
    positions: new Int32Array(counts[place]!),
  }));
  counts.fill(0);
  bagCounts.fill(0);
  lastBag.fill(-1);
  for (let bag = 0; bag < batch; bag++) {
    const by = divisor === null ? 1 : divisor[bag]!;
    for (let i = rowSplits[bag]!; i < rowSplits[bag + 1]!; i++) {
      const place = owner[i]!;
      if (place < 0) continue;
      const route = routes[place]!;
      if (lastBag[place] !== bag) {
        lastBag[place] = bag;
        route.bags[bagCounts[place]!++] = bag;
      }
      const at = counts[place]!++;
      route.values[at] = owners.localRow(values[i]!, place);
      route.positions[at] = i;
      route.rowSplits[bagCounts[place]!] = at + 1;
      // A divisor of 0 gives zeros, as everywhere.
      if (route.weights !== null) route.weights[at] = by === 0 ? 0 : (weights === null ? 1 : weights[i]!) / by;
    }
  }
  return routes;
}
