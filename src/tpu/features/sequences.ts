/** Features whose ids are looked up one by one: a bag for each place of a sequence. */
import type { HostBags } from '../../backends/kernel_set.js';

/** Ids by sample, and where they lie in it. */
export interface IdsBySample extends HostBags {
  /** The place of each id within its sample; null: one after the other. */
  readonly columns: Int32Array | null;
}

export interface SequenceBags extends HostBags {
  /** Where each id lies among all that were given. */
  readonly positions: Int32Array;
}

/**
 * The bags of sequences of `length` places: bag `sample * length + place`. Ids beyond that length are left out; a place
 * without an id is an empty bag.
 */
export function sequenceBags({ values, rowSplits, weights, columns }: IdsBySample, length: number): SequenceBags {
  const samples = rowSplits.length - 1;
  const splits = new Int32Array(samples * length + 1);
  const all = new Int32Array(values.length);
  let count = 0;
  for (let row = 0; row < samples; row++) {
    const first = rowSplits[row]!;
    for (let i = first, end = rowSplits[row + 1]!; i < end; i++) {
      const place = columns === null ? i - first : columns[i]!;
      if (place >= length) continue;
      all[count++] = i;
      splits[row * length + place + 1]!++;
    }
  }
  for (let bag = 1; bag < splits.length; bag++) splits[bag]! += splits[bag - 1]!;
  const positions = all.subarray(0, count);
  return {
    values: positions.map((i) => values[i]!),
    rowSplits: splits,
    weights: weights === null ? null : Float32Array.from(positions, (i) => weights[i]!),
    positions,
  };
}
