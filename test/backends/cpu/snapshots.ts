/** Every way to keep the values that a table has now; shared by the specs of the backends that write in place. */
import * as tf from '@tensorflow/tfjs';

/** Keeps values of a [4, 3] table: tensors, or arrays. */
export type Snapshot = (table: tf.Variable) => (tf.Tensor | ArrayLike<number>)[];

const as2d = (table: tf.Variable): tf.Tensor2D => table as unknown as tf.Tensor2D;

export const SNAPSHOTS: Readonly<Record<string, Snapshot>> = {
  clone: (table) => [table.clone()],
  'clone of a clone': (table) => tf.tidy(() => [table.clone().clone()]),
  reshape: (table) => [table.reshape([2, 6])],
  'reshape to one axis': (table) => [table.flatten()],
  'slice of rows': (table) => [as2d(table).slice([1, 0], [2, 3])],
  'slice of all': (table) => [as2d(table).slice([0, 0], [4, 3])],
  'slice of columns': (table) => [as2d(table).slice([0, 1], [4, 1])],
  'slice of a reshape': (table) => tf.tidy(() => [table.reshape([12]).slice([2], [7])]),
  stridedSlice: (table) => [tf.stridedSlice(table, [0, 0], [4, 3], [1, 1])],
  split: (table) => tf.split(table, 2),
  expandDims: (table) => [table.expandDims()],
  squeeze: (table) => tf.tidy(() => [table.expandDims().squeeze([0])]),
  unstack: (table) => tf.unstack(table as unknown as tf.Tensor),
  'stack of one': (table) => [tf.stack([table as unknown as tf.Tensor])],
  'concat of one': (table) => [tf.concat([table as unknown as tf.Tensor])],
  cast: (table) => [table.cast('float32')],
  transpose: (table) => [tf.transpose(table, [0, 1])],
  'pad by nothing': (table) => [
    tf.pad(table, [
      [0, 0],
      [0, 0],
    ]),
  ],
  'tile by one': (table) => [tf.tile(table, [1, 1])],
  'broadcast to the same shape': (table) => [tf.broadcastTo(table, [4, 3])],
  gather: (table) => [tf.gather(table, tf.tensor1d([0, 1, 3], 'int32'))],
  'another variable': (table) => [tf.variable(table as unknown as tf.Tensor) as unknown as tf.Tensor],
  'assign to another variable': (table) => {
    const other = tf.variable(tf.zeros([4, 3]));
    other.assign(table as unknown as tf.Tensor);
    return [other as unknown as tf.Tensor];
  },
  dataSync: (table) => [table.dataSync()],
  arraySync: (table) => [(table.arraySync() as number[][]).flat()],
  bufferSync: (table) => [table.bufferSync().values as Float32Array],
  'dataSync of a clone': (table) => tf.tidy(() => [table.clone().dataSync()]),
  'dataSync of a slice': (table) => tf.tidy(() => [as2d(table).slice([1, 0], [2, 3]).dataSync()]),
};

/** The values of a snapshot in an array of our own. */
export function valuesOf(kept: tf.Tensor | ArrayLike<number>): number[] {
  return kept instanceof tf.Tensor ? Array.from(kept.dataSync()) : Array.from(kept);
}

export const START = Float32Array.from({ length: 12 }, (_, i) => i);
/** Row r loses this much in ten steps: ids 0, 0, 1, 3 with gradients of one and a learning rate of one. */
const LOST = [20, 10, 0, 10];
export const AFTER_TEN_STEPS = Array.from(START, (x, i) => x - LOST[Math.floor(i / 3)]!);
