/** The ids of a model's inputs: dense tensors in which negative ids stand for nothing. */
import * as tf from '@tensorflow/tfjs';
import { parseIds, type IdsInput } from '../../ragged/parse_ids.js';
import { readFeatureIds, hostIds } from '../features/feature_ids.js';
import { copyIds, type HostIds } from '../features/host_ids.js';
import type { IdBatch } from '../../ragged/parse_ids.js';

/** Sparse ids that lack what is negative: the last axis is that of the ids of a sample. */
function withoutPadding(batch: IdBatch): IdBatch {
  const shape = batch.idsShape!.length > 1 ? [...batch.idsShape!] : [...batch.idsShape!, 1];
  const width = shape.at(-1)!;
  const all = hostIds(batch);
  const kept: number[] = [];
  all.forEach((id, i) => {
    if (id >= 0) kept.push(i);
  });
  const rows = shape.slice(0, -1).reduce((product, size) => product * size, 1);
  const rowSplits = new Int32Array(rows + 1);
  for (const i of kept) rowSplits[Math.floor(i / width) + 1]!++;
  for (let row = 1; row <= rows; row++) rowSplits[row]! += rowSplits[row - 1]!;
  const indices = Int32Array.from(kept.flatMap((i) => indexOf(i, shape)));
  const places = { indices, denseShape: shape, count: kept.length };
  const values = Int32Array.from(kept, (i) => all[i]!);
  const batchShape = shape.slice(0, -1);
  const none = { idsShape: null, nestedRowSplits: null, ragged: null, weights: null };
  return { kind: 'sparse', values, rowSplits, batchShape, places, ...none };
}

function indexOf(position: number, shape: readonly number[]): number[] {
  const index: number[] = [];
  let rest = position;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index.unshift(rest % shape[axis]!);
    rest = Math.floor(rest / shape[axis]!);
  }
  return index;
}

/** The ids of one input. Throws ValueError, which names it, for ids beyond the table. */
export function inputIds(ids: unknown, rows: number, path: string, owner: string): HostIds {
  if (!(ids instanceof tf.Tensor)) return copyIds(readFeatureIds(ids, null, path, 'weights'), rows, path, owner);
  const batch = parseIds(ids as IdsInput, null, { ids: path, weights: 'weights' });
  return copyIds(withoutPadding(batch), rows, path, owner);
}
