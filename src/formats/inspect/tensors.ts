/** What the tensors of a file hold: their statistics and the rows that are near each other, a few rows at a time. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { rowBlocks } from '../../base/row_blocks.js';
import type { StoredArray } from '../../io/weights/array_file.js';

export interface TensorStatistics {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  /** Standard deviation, of all values as they are. */
  readonly deviation: number;
  /** How many are 0, and how many are NaN or infinite, which the others leave out. */
  readonly zeros: number;
  readonly notFinite: number;
}

/** A row and the cosine of its angle with the one that was asked for. */
export interface NearRow {
  readonly row: number;
  readonly cosine: number;
}

interface Block {
  readonly firstRow: number;
  readonly values: Float32Array | Int32Array | Uint8Array;
}

async function valuesOf(tensor: tf.Tensor): Promise<Block['values']> {
  try {
    return (await tensor.data()) as Block['values'];
  } finally {
    tensor.dispose();
  }
}

/** All values, in blocks of whole rows; at once where they are packed. */
async function* blocksOf(array: StoredArray): AsyncGenerator<Block> {
  const [rows, ...rest] = array.shape;
  const columns = rest.reduce((size, each) => size * each, 1);
  const { readRows } = array;
  if (readRows === undefined || rows === undefined) {
    yield { firstRow: 0, values: await valuesOf(await array.read()) };
    return;
  }
  for (const { firstRow, rows: count } of rowBlocks({ rows, columns })) {
    yield { firstRow, values: await valuesOf(readRows(firstRow, count)) };
  }
}

async function oneRow(array: StoredArray, row: number): Promise<Float64Array> {
  if (array.readRows !== undefined) return Float64Array.from(await valuesOf(array.readRows(row, 1)));
  const columns = array.shape[1]!;
  return Float64Array.from((await valuesOf(await array.read())).subarray(row * columns, (row + 1) * columns));
}

export async function statisticsOf(array: StoredArray): Promise<TensorStatistics> {
  let [min, max, sum, squares, count, zeros, notFinite] = [Infinity, -Infinity, 0, 0, 0, 0, 0];
  for await (const { values } of blocksOf(array)) {
    for (const value of values) {
      if (!Number.isFinite(value)) {
        notFinite++;
        continue;
      }
      count++;
      sum += value;
      squares += value * value;
      if (value === 0) zeros++;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  const mean = sum / count;
  const deviation = Math.sqrt(Math.max(0, squares / count - mean * mean));
  return { min, max, mean, deviation, zeros, notFinite };
}

/** The rows that are nearest to one, itself left out; ties by the lower row, rows of zeros and of NaN never. */
export async function rowsNear(array: StoredArray, row: number, count: number): Promise<NearRow[]> {
  const [rows, columns] = array.shape;
  if (array.shape.length !== 2) {
    throw new ValueError('tensor', 'a table [rows, columns]', described(`one of shape [${array.shape.join(', ')}]`));
  }
  if (row >= rows!) throw new ValueError('near', `a row from 0 to ${rows! - 1}`, row);
  const wanted = await oneRow(array, row);
  const best: NearRow[] = [];
  const length = Math.sqrt(wanted.reduce((squares, x) => squares + x * x, 0));
  for await (const { firstRow, values } of blocksOf(array)) {
    for (let r = 0; r * columns! < values.length; r++) {
      let [product, squares] = [0, 0];
      for (let c = 0; c < columns!; c++) {
        const value = values[r * columns! + c]!;
        product += value * wanted[c]!;
        squares += value * value;
      }
      const cosine = product / (length * Math.sqrt(squares));
      if (firstRow + r === row || !Number.isFinite(cosine)) continue;
      let place = best.length;
      while (place > 0 && cosine > best[place - 1]!.cosine) place--;
      if (place >= count) continue;
      best.splice(place, 0, { row: firstRow + r, cosine });
      if (best.length > count) best.pop();
    }
  }
  return best;
}
