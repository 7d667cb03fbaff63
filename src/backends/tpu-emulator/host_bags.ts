/** The ids of a lookup on the host. */
import type * as tf from '@tensorflow/tfjs';
import { uniformLength } from '../../ragged/shared_splits.js';
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

/** The first id outside a table of so many rows, or null. */
export function strayOf(values: Int32Array, rows: number): IdOutOfRange | null {
  // The sign bit of an id below 0, and of what an id from `rows` on leaves of the last row; no branch per id.
  const last = (rows - 1) | 0;
  const { length } = values;
  let signs = rows > 0 || length === 0 ? 0 : -1;
  for (let position = 0; position < length; position++) {
    const id = values[position]!;
    signs |= id | (last - id);
  }
  if (signs >= 0) return null;
  const position = values.findIndex((id) => id < 0 || id >= rows);
  return new IdOutOfRange(values[position]!, position, rows);
}

/** Ids that were read. */
interface ReadIds {
  readonly values: Int32Array;
  /** A copy that nobody else can change. */
  readonly isOurs: boolean;
  /** Devices found all ids in a table of so many rows; -1: not looked at. */
  rows: number;
}

/** Reads batches. A step comes with the tensors of its lookups, of which what was read is kept until then. */
export class BagReader {
  private ids = new WeakMap<tf.DataId, ReadIds>();
  private splits = new WeakMap<tf.DataId, Pick<BatchBags, 'rowSplits' | 'length'>>();

  /** `readsCopies`: whether the array that a tensor gives is a copy. */
  constructor(private readonly readsCopies: (tensor: tf.Tensor) => boolean) {}

  /** Reads a batch anew; ids are not looked at. */
  read(bags: BagTensors): BatchBags {
    this.ids.delete(bags.values.dataId);
    this.splits.delete(bags.rowSplits.dataId);
    return this.again(bags).batch;
  }

  /** Devices have looked these up in a table of so many rows, and found no id outside. */
  found({ values }: BagTensors, rows: number): void {
    const read = this.ids.get(values.dataId);
    if (read?.isOurs === true) read.rows = rows;
  }

  /** Reads a batch that may have been read before; an id outside the table is refused before anything is sent. */
  readChecked(bags: BagTensors, rows: number, { outOfRange }: BagOptions): BatchBags {
    const { ids, batch } = this.again(bags);
    if (outOfRange !== 'error' || ids.rows === rows) return batch;
    const stray = strayOf(ids.values, rows);
    if (stray !== null) throw stray;
    return batch;
  }

  /** Lets go of what was kept. */
  forget(): void {
    this.ids = new WeakMap();
    this.splits = new WeakMap();
  }

  private again({ values, rowSplits, weights }: BagTensors): { ids: ReadIds; batch: BatchBags } {
    let ids = this.ids.get(values.dataId);
    if (ids === undefined) {
      const isOurs = this.readsCopies(values);
      ids = { values: values.dataSync<'int32'>(), isOurs, rows: -1 };
      this.ids.set(values.dataId, ids);
    }
    let splits = this.splits.get(rowSplits.dataId);
    if (splits === undefined) {
      const array = (rowSplits as tf.Tensor).dataSync<'int32'>();
      splits = { rowSplits: array, length: uniformLength(array) };
      this.splits.set(rowSplits.dataId, splits);
    }
    const factors = weights === null ? null : weights.dataSync<'float32'>();
    const batch = splits.rowSplits.length - 1;
    return { ids, batch: { values: ids.values, ...splits, weights: factors, batch } };
  }
}
