/** Features whose ids are looked up one by one: a bag for each place of a sequence. */
import type { IdBatch } from '../../ragged/parse_ids.js';
import { hostIds, hostWeights } from './feature_ids.js';

/** Ids by bag, on the host. */
export interface IdBags {
  readonly values: Int32Array;
  readonly rowSplits: Int32Array;
  readonly weights: Float32Array | null;
  /** Where each id lies among all that were given. */
  readonly positions: Int32Array;
}

/** The place of each id within its sample: its column in sparse ids, its position in ragged ones. */
function placesOf({ places, rowSplits }: IdBatch, count: number): Int32Array {
  const columns = new Int32Array(count);
  if (places !== null) {
    const rank = places.denseShape.length;
    return columns.map((_, i) => places.indices[i * rank + rank - 1]!);
  }
  for (let row = 0; row + 1 < rowSplits!.length; row++) {
    for (let i = rowSplits![row]!; i < rowSplits![row + 1]!; i++) columns[i] = i - rowSplits![row]!;
  }
  return columns;
}

/**
 * The bags of sequences of `length` places: bag `sample * length + place`. Ids beyond that length are left out; a place
 * without an id is an empty bag.
 */
export function sequenceBags(batch: IdBatch, length: number): IdBags {
  const ids = hostIds(batch);
  const weights = hostWeights(batch);
  const columns = placesOf(batch, ids.length);
  const samples = batch.rowSplits!.length - 1;
  const rowSplits = new Int32Array(samples * length + 1);
  const positions: number[] = [];
  for (let row = 0; row < samples; row++) {
    for (let i = batch.rowSplits![row]!; i < batch.rowSplits![row + 1]!; i++) {
      if (columns[i]! >= length) continue;
      positions.push(i);
      rowSplits[row * length + columns[i]! + 1]!++;
    }
  }
  for (let bag = 1; bag < rowSplits.length; bag++) rowSplits[bag]! += rowSplits[bag - 1]!;
  return {
    values: Int32Array.from(positions, (i) => ids[i]!),
    rowSplits,
    weights: weights === null ? null : Float32Array.from(positions, (i) => weights[i]!),
    positions: Int32Array.from(positions),
  };
}
