/** The ids of a lookup on the host, checked against the table. */
import type * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../bag_tensors.js';
import { IdOutOfRange, type BagOptions } from '../kernel_set.js';

/** Like `HostBags`, and whether all bags have one length. */
export interface CheckedBags {
  readonly values: Int32Array;
  readonly rowSplits: Int32Array;
  readonly weights: Float32Array | null;
  readonly batch: number;
  /** The length of every bag, or null where lengths differ. */
  readonly length: number | null;
}

function lengthOf(rowSplits: Int32Array): number | null {
  const batch = rowSplits.length - 1;
  if (batch === 0) return 0;
  const length = rowSplits[1]!;
  for (let bag = 1; bag <= batch; bag++) if (rowSplits[bag] !== bag * length) return null;
  return length;
}

function checkRange(values: Int32Array, rows: number): void {
  for (let position = 0; position < values.length; position++) {
    const id = values[position]!;
    if (id < 0 || id >= rows) throw new IdOutOfRange(id, position, rows);
  }
}

/** Reads a batch; an id outside the table is refused here, before anything is sent. */
export function readBags({ values, rowSplits, weights }: BagTensors, rows: number, options: BagOptions): CheckedBags {
  const ids = values.dataSync<'int32'>();
  const splits = (rowSplits as tf.Tensor).dataSync<'int32'>();
  if (options.outOfRange === 'error') checkRange(ids, rows);
  return {
    values: ids,
    rowSplits: splits,
    weights: weights === null ? null : weights.dataSync<'float32'>(),
    batch: splits.length - 1,
    length: lengthOf(splits),
  };
}
