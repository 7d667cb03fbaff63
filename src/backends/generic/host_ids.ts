/** What the composed kernels know about a batch on the host: which bag each id is in, and which ids count. */
import * as tf from '@tensorflow/tfjs';
import { isReadAsync } from '../../base/waiting_reads.js';
import { checkIds as checkHostIds, type BagOptions } from '../kernel_set.js';

/** Attributes of the bag kernels; `validate` checks ids that already lie on a GPU too. */
export interface BagAttributes extends BagOptions {
  readonly rows?: number;
  readonly validate?: boolean;
}

/** How webgpu keeps tensors. */
interface WaitingBackend {
  readonly tensorMap?: { get(dataId: object): { readonly resource?: unknown } };
}

/** Whether a tensor lies on a GPU that is read by waiting. Uploads are lazy, so fresh tensors are still on the host. */
function isUploaded({ dataId }: tf.Tensor): boolean {
  return isReadAsync() && ((tf.backend() as WaitingBackend).tensorMap?.get(dataId).resource ?? null) !== null;
}

/** Throws IdOutOfRange for the first id outside the table. Ids that lie on such a GPU are read only on request. */
export function checkIds(values: tf.Tensor1D, rows: number, options: BagAttributes): void {
  if (options.outOfRange === 'zero' || (options.validate !== true && isUploaded(values))) return;
  checkHostIds(values.dataSync<'int32'>(), rows, options);
}

/** The bag of each id, and how many ids each bag has. */
export interface Segments {
  readonly bagOf: Int32Array; // [nnz]
  readonly counts: Float32Array; // [batch]
}

export function segmentsOf(rowSplits: tf.Tensor1D, nnz: number): Segments {
  const splits = rowSplits.dataSync();
  const batch = splits.length - 1;
  const bagOf = new Int32Array(nnz);
  const counts = new Float32Array(batch);
  for (let bag = 0; bag < batch; bag++) {
    bagOf.fill(bag, splits[bag], splits[bag + 1]);
    counts[bag] = splits[bag + 1]! - splits[bag]!;
  }
  return { bagOf, counts };
}

/** Ids that name a row, grouped. */
export interface UniqueRows {
  readonly uniqueIds: Int32Array; // [u] ascending
  readonly positions: Int32Array; // [kept] where each id that counts stands in `values`
  readonly groupOf: Int32Array; // [kept] which of uniqueIds it is
}

/** Groups the ids of a batch by row. Reads the ids. */
export function groupRows(values: tf.Tensor1D, rows: number, options: BagAttributes): UniqueRows {
  const ids = values.dataSync();
  checkIds(values, rows, { ...options, validate: true });
  const positions = Int32Array.from(ids.keys()).filter((i) => ids[i]! >= 0 && ids[i]! < rows);
  const uniqueIds = Int32Array.from(new Set(positions.map((i) => ids[i]!))).sort();
  const groups = new Map<number, number>();
  uniqueIds.forEach((id, group) => groups.set(id, group));
  return { uniqueIds, positions, groupOf: positions.map((i) => groups.get(ids[i]!)!) };
}
