/** Where the ids of a batch stand in what the caller gave, in words. */
import { rowOf } from './row_splits.js';
import type { SparsePlaces } from './sparse_values.js';

/** As much of a batch as its places need. */
interface PlacedIds {
  readonly idsShape: readonly number[] | null;
  readonly nestedRowSplits: readonly Int32Array[] | null;
  readonly places: SparsePlaces | null;
}

/** The place of an id in a tensor of this shape, `[2, 1]`; null for a scalar. */
export function densePlace(shape: readonly number[], position: number): string | null {
  if (shape.length === 0) return null;
  const index: number[] = [];
  let rest = position;
  for (const size of [...shape].reverse()) {
    index.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return `[${index.join(', ')}]`;
}

function raggedPlace(nestedRowSplits: readonly Int32Array[], position: number): string {
  const rows: number[] = [];
  let [entry, inRow] = [position, 0];
  [...nestedRowSplits].reverse().forEach((splits, above) => {
    const row = rowOf(splits, entry);
    const within = entry - splits[row]!;
    if (above === 0) inRow = within;
    else rows.unshift(within);
    entry = row;
  });
  rows.unshift(entry);
  return `row ${rows.length === 1 ? entry : `[${rows.join(', ')}]`}, position ${inRow}`;
}

/**
 * Where a batch has the id of this flat position: `[2, 1]` in a tensor or even arrays, `row 2, position 1` in ragged
 * ids, `index [2, 40]` in sparse ones; null for a single id.
 */
export function placeOf({ idsShape, nestedRowSplits, places }: PlacedIds, position: number): string | null {
  if (idsShape !== null) return densePlace(idsShape, position);
  if (nestedRowSplits !== null) return raggedPlace(nestedRowSplits, position);
  const rank = places!.denseShape.length;
  return `index [${places!.indices.subarray(position * rank, (position + 1) * rank).join(', ')}]`;
}
