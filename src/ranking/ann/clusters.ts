/** K-means: lists of rows that are near each other, found by the kernels that find the best rows. */
import { newFloats } from '../../backends/kernel_set.js';
import { randomKey, randomWords } from '../../backends/counter_random.js';
import { rowBlocks } from '../../base/row_blocks.js';
import { FLOAT32 } from '../../codecs/float32.js';
import { kernelsInUse, type Rows } from '../ranked_table.js';

/** Rows of a sample for each list, and how often their lists are found anew. */
const ROWS_A_LIST = 64;
const ROUNDS = 10;
/** By so much the two halves of a list that is split lie apart. */
const SPLIT = 2 ** -10;

/**
 * Hears of counted rounds.
 *
 * @param done - How many are done.
 * @param of - How many there are in all.
 */
export type Progress = (done: number, of: number) => void;

function rowOf({ numbers, dim }: Rows, row: number): Float32Array {
  return numbers.subarray(row * dim, (row + 1) * dim);
}

/** So many different rows, ascending: one of each of as many equal parts. */
function drawn(count: number, of: number, seed: number, stream: number): Int32Array {
  const words = new Int32Array(2 * count);
  const part = { firstRow: stream, rowStep: 1, rows: 1, firstColumn: 0, columns: count };
  randomWords(words, randomKey(seed), part);
  return Int32Array.from({ length: count }, (_, i) => {
    const [first, end] = [Math.floor((i * of) / count), Math.floor(((i + 1) * of) / count)];
    return first + Math.floor(((words[i]! >>> 0) / 2 ** 32) * (end - first));
  });
}

function rowsAt(rows: Rows, places: Int32Array): Rows {
  const { dim } = rows;
  const numbers = newFloats('table', 'a sample of the rows', [places.length, dim]);
  places.forEach((place, i) => numbers.set(rowOf(rows, place), i * dim));
  return { numbers, count: places.length, dim };
}

function meanOf({ numbers, count, dim }: Rows): Float32Array {
  const sums = new Float64Array(dim);
  for (let i = 0; i < count * dim; i++) sums[i % dim]! += numbers[i]!;
  return Float32Array.from(sums, (sum) => sum / Math.max(1, count));
}

/**
 * Returns for each row the nearest of the centroids, the lower one of equals. The kernel finds the two with the largest
 * x c - c c / 2, beside the mean of the centroids, as a sum of large squares would hide what differs; which of both it is
 * is decided in double precision, so that it is the same on every backend.
 */
export function nearest(rows: Rows, centroids: Rows): Int32Array {
  const { dim } = rows;
  const found = new Int32Array(rows.count);
  if (centroids.count < 2) return found;
  const center = meanOf(centroids);
  const data = new Float32Array(centroids.count * (dim + 1));
  const halves = new Float64Array(centroids.count);
  for (let c = 0; c < centroids.count; c++) {
    for (let i = 0; i < dim; i++) {
      const number = Math.fround(centroids.numbers[c * dim + i]! - center[i]!);
      data[c * (dim + 1) + i] = number;
      halves[c]! += (number * number) / 2;
    }
    data[c * (dim + 1) + dim] = -halves[c]!;
  }
  const table = { codec: FLOAT32, data, rows: centroids.count, dim: dim + 1 };
  const kernels = kernelsInUse();
  for (const block of rowBlocks({ rows: rows.count, columns: dim + 1 })) {
    const queries = new Float32Array(block.rows * (dim + 1)).fill(1);
    for (let r = 0; r < block.rows; r++) {
      const row = rowOf(rows, block.firstRow + r);
      for (let i = 0; i < dim; i++) queries[r * (dim + 1) + i] = row[i]! - center[i]!;
    }
    const values = new Float32Array(2 * block.rows).fill(-Infinity);
    const indices = new Int32Array(2 * block.rows).fill(-1);
    const lists = { exclude: null, only: null, values, indices };
    kernels.topK({ table, firstRow: 0, queries, count: block.rows, k: 2, ...lists });
    for (let r = 0; r < block.rows; r++) {
      const [a, b] = [indices[2 * r]!, indices[2 * r + 1]!];
      const [low, high] = a < b || b < 0 ? [a, b] : [b, a];
      let difference = high < 0 ? -1 : halves[low]! - halves[high]!;
      for (let i = 0; high >= 0 && i < dim; i++) {
        difference += queries[r * (dim + 1) + i]! * (data[high * (dim + 1) + i]! - data[low * (dim + 1) + i]!);
      }
      found[block.firstRow + r] = Math.max(0, difference > 0 ? high : low);
    }
  }
  return found;
}

/** Centroids as the means of their rows; those without rows take halves of the largest lists. */
function moved(sample: Rows, listOf: Int32Array, before: Rows): Rows {
  const { dim, count } = before;
  const sums = new Float64Array(count * dim);
  const counts = new Int32Array(count);
  listOf.forEach((list, row) => {
    counts[list]!++;
    for (let i = 0; i < dim; i++) sums[list * dim + i]! += sample.numbers[row * dim + i]!;
  });
  const numbers = Float32Array.from(before.numbers);
  for (let i = 0; i < sums.length; i++) {
    const rows = counts[Math.floor(i / dim)]!;
    if (rows > 0) numbers[i] = sums[i]! / rows;
  }
  const empty = [...counts.keys()].filter((list) => counts[list] === 0);
  for (const list of empty) {
    const largest = counts.reduce((best, rows, at) => (rows > counts[best]! ? at : best), 0);
    if (counts[largest]! < 2) break;
    for (let i = 0; i < dim; i++) {
      const number = numbers[largest * dim + i]!;
      numbers[list * dim + i] = number * (i % 2 === 0 ? 1 + SPLIT : 1 - SPLIT);
      numbers[largest * dim + i] = number * (i % 2 === 0 ? 1 - SPLIT : 1 + SPLIT);
    }
    counts[list] = counts[largest]! >> 1;
    counts[largest]! -= counts[list]!;
  }
  return { numbers, count, dim };
}

/** Returns `lists` centroids of rows. They depend on the rows, their order and the seed. */
export function clustered(rows: Rows, lists: number, seed: number, progress: Progress): Rows {
  const sample = rowsAt(rows, drawn(Math.min(rows.count, lists * ROWS_A_LIST), rows.count, seed, 0));
  let centroids = rowsAt(sample, drawn(lists, sample.count, seed, 1));
  for (let round = 0; lists > 1 && round < ROUNDS; round++) {
    centroids = moved(sample, nearest(sample, centroids), centroids);
    progress(round + 1, ROUNDS);
  }
  return centroids;
}
