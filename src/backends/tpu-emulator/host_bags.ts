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

/** Ids of a tensor, as a step comes with those of its lookup. */
interface KnownIds {
  readonly values: Int32Array;
  /** The largest where negative ids count as larger than all others; -1: there are none. */
  readonly most: number;
}

interface KnownSplits {
  readonly rowSplits: Int32Array;
  readonly length: number | null;
}

/** By the data of tensors, which never change. */
const knownIds = new WeakMap<tf.DataId, KnownIds>();
const knownSplits = new WeakMap<tf.DataId, KnownSplits>();

function idsOf(tensor: BagTensors['values']): KnownIds {
  let known = knownIds.get(tensor.dataId);
  if (known === undefined) {
    const values = tensor.dataSync<'int32'>();
    let most = -1;
    for (let position = 0; position < values.length; position++) {
      const id = values[position]! >>> 0;
      if (id > most) most = id;
    }
    known = { values, most };
    knownIds.set(tensor.dataId, known);
  }
  return known;
}

function splitsOf(tensor: BagTensors['rowSplits']): KnownSplits {
  let known = knownSplits.get(tensor.dataId);
  if (known === undefined) {
    const rowSplits = (tensor as tf.Tensor).dataSync<'int32'>();
    known = { rowSplits, length: lengthOf(rowSplits) };
    knownSplits.set(tensor.dataId, known);
  }
  return known;
}

function checkRange({ values, most }: KnownIds, rows: number): void {
  if (most < rows) return;
  const position = values.findIndex((id) => id < 0 || id >= rows);
  throw new IdOutOfRange(values[position]!, position, rows);
}

/** Reads a batch; an id outside the table is refused here, before anything is sent. */
export function readBags({ values, rowSplits, weights }: BagTensors, rows: number, options: BagOptions): CheckedBags {
  const ids = idsOf(values);
  const splits = splitsOf(rowSplits);
  if (options.outOfRange === 'error') checkRange(ids, rows);
  return {
    values: ids.values,
    rowSplits: splits.rowSplits,
    weights: weights === null ? null : weights.dataSync<'float32'>(),
    batch: splits.rowSplits.length - 1,
    length: splits.length,
  };
}
