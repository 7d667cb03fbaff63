/** The ids of a lookup on the host. */
import type * as tf from '@tensorflow/tfjs';
import type { BagTensors } from '../bag_tensors.js';
import { IdOutOfRange, type BagOptions } from '../kernel_set.js';

/** Like `HostBags`, and whether all bags have one length. */
export interface BatchBags {
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

/** The first id outside a table of so many rows, or null. */
export function strayOf(values: Int32Array, rows: number): IdOutOfRange | null {
  let most = -1; // negative ids count as larger than all others
  for (let position = 0; position < values.length; position++) {
    const id = values[position]! >>> 0;
    if (id > most) most = id;
  }
  if (most < rows) return null;
  const position = values.findIndex((id) => id < 0 || id >= rows);
  return new IdOutOfRange(values[position]!, position, rows);
}

/** Reads batches. A step comes with the tensors of its lookups, whose arrays are kept until then. */
export class BagReader {
  private arrays = new WeakMap<tf.DataId, Int32Array>();

  /** Reads a batch anew; ids are not looked at. */
  read({ values, rowSplits, weights }: BagTensors): BatchBags {
    for (const { dataId } of [values, rowSplits]) this.arrays.delete(dataId);
    return this.again({ values, rowSplits, weights });
  }

  /** Reads a batch whose tensors may have been read before; an id outside the table is refused before anything is sent. */
  readChecked(bags: BagTensors, rows: number, { outOfRange }: BagOptions): BatchBags {
    const read = this.again(bags);
    const stray = outOfRange === 'error' ? strayOf(read.values, rows) : null;
    if (stray !== null) throw stray;
    return read;
  }

  /** Lets go of what was kept. */
  forget(): void {
    this.arrays = new WeakMap();
  }

  private again({ values, rowSplits, weights }: BagTensors): BatchBags {
    const splits = this.arrayOf(rowSplits);
    return {
      values: this.arrayOf(values),
      rowSplits: splits,
      weights: weights === null ? null : weights.dataSync<'float32'>(),
      batch: splits.length - 1,
      length: lengthOf(splits),
    };
  }

  private arrayOf(tensor: BagTensors['values'] | BagTensors['rowSplits']): Int32Array {
    let array = this.arrays.get(tensor.dataId);
    if (array === undefined) {
      array = (tensor as tf.Tensor).dataSync<'int32'>();
      this.arrays.set(tensor.dataId, array);
    }
    return array;
  }
}
