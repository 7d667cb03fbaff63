/** What steps take: rows of a user and some of its items, and negatives. */
import * as tf from '@tensorflow/tfjs';
import type { ItemsOfUsers } from '../interactions.js';
import type { Random } from '../random.js';

/** An epoch of rows in random order: each item of each user stands in one of them. */
export interface Rows {
  readonly count: number;
  readonly users: Int32Array;
  /** [count, width]; places that are left over repeat an item of the row. */
  readonly items: Int32Array;
  /** What each place counts: 0 where it is left over. */
  readonly weights: Float32Array;
}

/**
 * Items of a user come to as few rows as hold them, evenly and at random. Each counts `items ^ -balance` of the user's
 * number of items: with 0 all items count alike, with 1 all users do.
 */
export function rowsOf(train: ItemsOfUsers, width: number, balance: number, random: Random): Rows {
  const count = train.reduce((sum, { length }) => sum + Math.ceil(length / width), 0);
  const users = new Int32Array(count);
  const items = new Int32Array(count * width);
  const weights = new Float32Array(count * width);
  const places = random.permutation(count);
  let next = 0;
  train.forEach((own, user) => {
    const rows = Math.ceil(own.length / width);
    const weight = own.length ** -balance;
    const order = rows === 1 || width === 1 ? null : random.permutation(own.length);
    for (let row = 0; row < rows; row++) {
      const place = places[next++]!;
      users[place] = user;
      for (let i = 0; i < width; i++) {
        const at = row + i * rows;
        const isLeftOver = at >= own.length;
        weights[place * width + i] = isLeftOver ? 0 : weight;
        const from = isLeftOver ? row : at;
        items[place * width + i] = own[order === null ? from : order[from]!]!;
      }
    }
  });
  return { count, users, items, weights };
}

/** What a step takes. */
export interface Batch {
  readonly [name: string]: tf.Tensor;
  /** int32 [rows]. */
  readonly users: tf.Tensor1D;
  /** int32 [rows, width]. */
  readonly items: tf.Tensor2D;
  /** float32 [rows, width]. */
  readonly weights: tf.Tensor2D;
  /** int32 [negatives], for all rows. */
  readonly negatives: tf.Tensor1D;
}

/** Pairs of what a user has and does not have, int32 [triples] each. */
export interface Triples {
  readonly [name: string]: tf.Tensor1D;
  readonly users: tf.Tensor1D;
  readonly items: tf.Tensor1D;
  readonly negatives: tf.Tensor1D;
}

export function batchOf({ users, items, weights, count }: Rows, start: number, size: number, drawn: Int32Array): Batch {
  const end = start + size;
  const width = items.length / count;
  const shape: [number, number] = [end - start, width];
  return {
    users: tf.tensor1d(users.subarray(start, end), 'int32'),
    items: tf.tensor2d(items.subarray(start * width, end * width), shape, 'int32'),
    weights: tf.tensor2d(weights.subarray(start * width, end * width), shape),
    negatives: tf.tensor1d(drawn, 'int32'),
  };
}

/** Rows of one item each, with as many negatives as `drawn` has for each. */
export function triplesOf({ users, items }: Rows, start: number, size: number, drawn: Int32Array): Triples {
  const end = start + size;
  const each = drawn.length / size;
  const ids = (all: Int32Array): tf.Tensor1D => {
    const own = all.subarray(start, end);
    return tf.tensor1d(each === 1 ? own : Int32Array.from(drawn, (_, i) => own[Math.floor(i / each)]!), 'int32');
  };
  return { users: ids(users), items: ids(items), negatives: tf.tensor1d(drawn, 'int32') };
}
