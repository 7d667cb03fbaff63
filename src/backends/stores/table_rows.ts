/**
 * Tables that come to be a few rows at a time, in the memory where they stay, and variables that get more rows at their
 * end, which tfjs has none of: values never lie anywhere twice.
 */
import * as tf from '@tensorflow/tfjs';
import { rowBlocks } from '../../base/row_blocks.js';
import type { Words } from '../../codecs/codec.js';
import type { WriteRows } from '../contract.js';
import { storeInUse } from '../registry.js';
import type { RowSource } from '../row_history.js';
import { type Grown, tableOf } from '../table.js';

/** Rows that lie in more pieces than these are not read piece by piece. */
const MOST_RUNS = 1024;

/** A float32 tensor of the rows that `fill` writes; the others are zeros. */
export function writtenTable<Rank extends tf.Rank>(
  shape: tf.ShapeMap[Rank],
  fill: (write: WriteRows) => void,
): tf.Tensor<Rank> {
  const writer = storeInUse().begin(shape);
  try {
    fill(writer.write);
    return writer.finish() as tf.Tensor<Rank>;
  } catch (error) {
    writer.cancel();
    throw error;
  }
}

/** Numbers of a row. */
export function widthOf(shape: readonly number[]): number {
  return shape.slice(1).reduce((product, size) => product * size, 1);
}

/** Some rows: read into `room` where the store does that, else a slice that is still to be read. */
function rowsOrSlice(tensor: tf.Tensor, firstRow: number, rows: number, room?: Float32Array): Words | tf.Tensor {
  if (tensor.dtype === 'float32') {
    const values = room ?? new Float32Array(rows * widthOf(tensor.shape));
    if (storeInUse().read(tensor, firstRow, values)) return values;
  }
  return tf.tidy(() => tensor.slice([firstRow], [rows]));
}

/** Some rows of a tensor of numbers, row-major; in `room` where they were read there. */
export function readRows(tensor: tf.Tensor, firstRow: number, rows: number, room?: Float32Array): Words {
  const found = rowsOrSlice(tensor, firstRow, rows, room);
  if (!(found instanceof tf.Tensor)) return found;
  try {
    return found.dataSync() as Words;
  } finally {
    found.dispose();
  }
}

/** The same where the backend may read by waiting; of any type of numbers. */
export async function rowsRead(
  tensor: tf.Tensor,
  firstRow: number,
  rows: number,
  room?: Float32Array,
): Promise<Words | Uint8Array> {
  const found = rowsOrSlice(tensor, firstRow, rows, room);
  if (!(found instanceof tf.Tensor)) return found;
  try {
    return await found.data();
  } finally {
    found.dispose();
  }
}

/** Writes rows of a variable by their numbers, each at most once; its snapshots stay as they are. */
export function writeRowsAt(variable: tf.Variable, rows: Int32Array, values: Words): void {
  if (rows.length === 0) return;
  const store = storeInUse();
  const write = store.rewrite(variable);
  if (write === null) return writeWhole(variable, rows, values);
  if (store.writeAt !== null) return store.writeAt(variable, rows, values);
  const width = widthOf(variable.shape);
  for (let first = 0, end = 1; end <= rows.length; end++) {
    // Rows one after the other are written at once.
    if (end < rows.length && rows[end] === rows[end - 1]! + 1) continue;
    write(rows[first]!, values.subarray(first * width, end * width));
    first = end;
  }
}

function writeWhole(variable: tf.Variable, rows: Int32Array, values: Words): void {
  tf.tidy(() => {
    const places = tf.tensor2d(rows, [rows.length, 1], 'int32');
    const updates = tf.tensor(values, [rows.length, ...variable.shape.slice(1)], variable.dtype as 'float32');
    variable.assign(tf.tensorScatterUpdate(variable, places, updates));
  });
}

/** The rows of a tensor of floats and, after them, `more` rows that `fill` writes, the first as row 0. */
export function withRows<T extends tf.Tensor>(tensor: T, more: number, fill: (write: WriteRows) => void): T {
  const [rows, ...row] = tensor.shape as [number, ...number[]];
  return writtenTable([rows + more, ...row] as never, (write) => {
    for (const block of rowBlocks({ rows, columns: widthOf(tensor.shape) })) {
      write(block.firstRow, readRows(tensor, block.firstRow, block.rows) as Float32Array);
    }
    fill((firstRow, values) => write(rows + firstRow, values));
  }) as tf.Tensor as T;
}

/** The same with rows that are full of a number. */
export function withRowsOf<T extends tf.Tensor>(tensor: T, more: number, value: number): T {
  const columns = widthOf(tensor.shape);
  return withRows(tensor, more, (write) => {
    for (const { firstRow, rows } of rowBlocks({ rows: more, columns })) {
      write(firstRow, new Float32Array(rows * columns).fill(value));
    }
  });
}

/** The rows of a tensor in other places, `source[i]` as row i; those of no source are full of a number. */
export function rowsFrom<T extends tf.Tensor>(tensor: T, source: RowSource, start: number): T {
  const [, ...row] = tensor.shape as [number, ...number[]];
  const width = widthOf(tensor.shape);
  if (tensor.dtype === 'int32') return wordsFrom(tensor, source) as tf.Tensor as T;
  const runs = source.reduce((count, from, to) => count + (from >= 0 && from !== source[to - 1]! + 1 ? 1 : 0), 0);
  // Where they lie scattered they are read at once.
  const whole = runs > MOST_RUNS ? (tensor.dataSync() as Words) : null;
  const read = (first: number, rows: number): Words =>
    whole === null ? readRows(tensor, first, rows) : whole.subarray(first * width, (first + rows) * width);
  return writtenTable([source.length, ...row] as never, (write) => {
    for (const { firstRow, rows } of rowBlocks({ rows: source.length, columns: width })) {
      const block = source.subarray(firstRow, firstRow + rows);
      if (Object.is(start, 0) && block.every((from) => from < 0)) continue;
      const values = new Float32Array(rows * width).fill(start);
      for (let to = 0, end = 1; end <= rows; end++) {
        if (end < rows && block[to]! >= 0 && block[end] === block[end - 1]! + 1) continue;
        if (block[to]! >= 0) values.set(read(block[to]!, end - to), to * width);
        to = end;
      }
      write(firstRow, values);
    }
  }) as tf.Tensor as T;
}

/** The same of packed rows, which are numbers of 0 where they have no source. */
function wordsFrom(tensor: tf.Tensor, source: RowSource): tf.Tensor {
  const width = widthOf(tensor.shape);
  const words = tensor.dataSync<'int32'>();
  const moved = new Int32Array(source.length * width);
  source.forEach((from, to) => {
    if (from >= 0) moved.set(words.subarray(from * width, (from + 1) * width), to * width);
  });
  return tf.tensor2d(moved, [source.length, width], 'int32');
}

/** Gives variables their new values, which stay the caller's: as `assign` does, which takes no other shape. */
export function grow(all: readonly Grown[]): void {
  const engine = tf.engine();
  for (const { variable, values } of all) {
    const { shape, size, strides, dataId } = values;
    // tfjs counts bytes by the size that the variable has.
    engine.disposeTensor(variable);
    Object.assign(variable, { shape: [...shape], size, strides: [...strides], dataId });
    engine.incRef(variable, null as never);
  }
}

/** The same for variables that get more rows at their end. */
export function growAtEnd(all: readonly Grown[]): void {
  for (const { variable } of all) tableOf(variable).hasHadRows(variable.shape[0]!);
  grow(all);
}
