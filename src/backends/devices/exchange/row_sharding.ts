/** Which ids of a batch go to which device, where the rows of a table are dealt out. */
import { bagDivisor } from '../../../ids/bag_divisor.js';
import type { TableLayout } from '../../../partition/table_layout.js';
import type { Combiner } from '../../../base/types.js';
import type { LazyBags, ShardIds } from './place_ids.js';

/** The shard of each id of a batch, -1 for one outside the table, and its row there. */
interface Owners {
  readonly shards: Int32Array;
  readonly localRows: Int32Array;
}

/** Rows in ranges, on whichever devices these lie: the first guess is right where ranges are equally long. */
function rangeOwners({ rows, shards }: TableLayout, values: Int32Array): Owners {
  const firstOf = (place: number): number => shards[place]!.rows.first;
  const ascending = Int32Array.from(shards.keys()).sort((a, b) => firstOf(a) - firstOf(b));
  const starts = Int32Array.from([...ascending].map(firstOf).concat(rows));
  const last = shards.length - 1;
  const perShard = Math.ceil(rows / shards.length);
  const found: Owners = { shards: new Int32Array(values.length), localRows: new Int32Array(values.length) };
  for (let i = 0; i < values.length; i++) {
    const id = values[i]!;
    if (id < 0 || id >= rows) {
      found.shards[i] = -1;
      continue;
    }
    let shard = Math.min(last, Math.floor(id / perShard));
    while (starts[shard]! > id) shard--;
    while (starts[shard + 1]! <= id) shard++;
    found.shards[i] = ascending[shard]!;
    found.localRows[i] = id - starts[shard]!;
  }
  return found;
}

/** Rows dealt out one by one. */
function moduloOwners({ rows, shards }: TableLayout, step: number, values: Int32Array): Owners {
  const byRemainder = new Int32Array(step).fill(-1);
  shards.forEach((shard, place) => (byRemainder[shard.rows.first] = place));
  const found: Owners = { shards: new Int32Array(values.length), localRows: new Int32Array(values.length) };
  for (let i = 0; i < values.length; i++) {
    const id = values[i]!;
    const isInside = id >= 0 && id < rows;
    found.shards[i] = isInside ? byRemainder[id % step]! : -1;
    if (isInside) found.localRows[i] = Math.floor(id / step);
  }
  return found;
}

function ownersOf(layout: TableLayout, values: Int32Array): Owners {
  const step = layout.shards[0]!.rows.step;
  return step === 1 ? rangeOwners(layout, values) : moduloOwners(layout, step, values);
}

/** By what each bag's sum is divided, rounded as the kernels of one device round it; null: by nothing. */
function divisors({ rowSplits, weights, batch }: LazyBags, combiner: Combiner): Float32Array | null {
  if (combiner === 'sum') return null;
  const result = new Float32Array(batch);
  let isOne = true;
  for (let bag = 0; bag < batch; bag++) {
    result[bag] = bagDivisor(weights, rowSplits[bag]!, rowSplits[bag + 1]!, combiner);
    if (result[bag] !== 1) isOne = false;
  }
  return isOne ? null : result;
}

/** Where the ids and the bags of each shard begin when those of all shards follow one another. */
function startsOf(counts: Int32Array): Int32Array {
  const starts = new Int32Array(counts.length + 1);
  counts.forEach((count, shard) => (starts[shard + 1] = starts[shard]! + count));
  return starts;
}

/**
 * The routes of a batch, one for each shard, in the order of shards. The divisor of mean and sqrtn is that of the whole
 * bag and goes into the factors, so that each device takes plain sums. Ids outside the table go nowhere.
 */
export function shardIds(layout: TableLayout, given: LazyBags, combiner: Combiner): ShardIds[] {
  const { values, rowSplits, weights, batch } = given;
  const { shards } = layout;
  const divisor = divisors(given, combiner);
  const { shards: owner, localRows } = ownersOf(layout, values);
  const counts = new Int32Array(shards.length);
  const bagCounts = new Int32Array(shards.length);
  const lastBag = new Int32Array(shards.length).fill(-1);
  for (let bag = 0; bag < batch; bag++) {
    for (let i = rowSplits[bag]!, end = rowSplits[bag + 1]!; i < end; i++) {
      const shard = owner[i]!;
      if (shard < 0) continue;
      counts[shard]!++;
      if (lastBag[shard] === bag) continue;
      lastBag[shard] = bag;
      bagCounts[shard]!++;
    }
  }
  // One array of each kind for all routes; each of these has one more row split than bags.
  const starts = startsOf(counts);
  const bagStarts = startsOf(bagCounts);
  const total = starts[shards.length]!;
  const local = new Int32Array(total);
  const positions = new Int32Array(total);
  const factors = weights !== null || divisor !== null ? new Float32Array(total) : null;
  const bags = new Int32Array(bagStarts[shards.length]!);
  const splits = new Int32Array(bags.length + shards.length);
  const next = starts.slice();
  const nextBag = bagStarts.slice();
  lastBag.fill(-1);
  for (let bag = 0; bag < batch; bag++) {
    const by = divisor === null ? 1 : divisor[bag]!;
    for (let i = rowSplits[bag]!, end = rowSplits[bag + 1]!; i < end; i++) {
      const shard = owner[i]!;
      if (shard < 0) continue;
      if (lastBag[shard] !== bag) {
        lastBag[shard] = bag;
        bags[nextBag[shard]!++] = bag;
      }
      const at = next[shard]!++;
      local[at] = localRows[i]!;
      positions[at] = i;
      splits[nextBag[shard]! + shard] = at + 1 - starts[shard]!;
      // A divisor of 0 gives zeros, as everywhere.
      if (factors !== null) factors[at] = by === 0 ? 0 : (weights === null ? 1 : weights[i]!) / by;
    }
  }
  return shards.map((shard, place) => {
    const [from, to] = [starts[place]!, starts[place + 1]!];
    const [firstBag, endBag] = [bagStarts[place]!, bagStarts[place + 1]!];
    return {
      shard,
      bags: bags.subarray(firstBag, endBag),
      values: local.subarray(from, to),
      rowSplits: splits.subarray(firstBag + place, endBag + place + 1),
      weights: factors === null ? null : factors.subarray(from, to),
      positions: positions.subarray(from, to),
    };
  });
}

/** Adds rows, one after the other from `from` on, to those of their bags. */
export function addToBags(
  pooled: Float32Array,
  columns: number,
  bags: Int32Array,
  rows: Float32Array,
  from: number,
): void {
  for (let i = 0, at = from; i < bags.length; i++) {
    const to = bags[i]! * columns;
    for (let column = 0; column < columns; column++) pooled[to + column] = pooled[to + column]! + rows[at++]!;
  }
}

/** Copies the rows of some bags, one after the other from `to` on. */
export function copyOfBags(
  pooled: Float32Array,
  columns: number,
  bags: Int32Array,
  rows: Float32Array,
  to: number,
): void {
  for (let i = 0, at = to; i < bags.length; i++) {
    const from = bags[i]! * columns;
    for (let column = 0; column < columns; column++) rows[at++] = pooled[from + column]!;
  }
}
