/** Rows of tables on their way to the shards of SparseCores and back: permutations of the first axis. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkLive } from '../../base/live_tensor.js';
import { readOptions } from '../../base/options.js';
import { readInt32 } from '../../ids/values.js';
import { wholeNumber } from './numbers.js';

/** Values by row: a tensor, or nested arrays. What goes in comes out in the same form. */
export type Rows = tf.Tensor | readonly (readonly number[])[];

export interface ShardTableArgs<T extends Rows = Rows> {
  readonly table: T;
  readonly numSparseCores: number;
}

export interface UnshuffleArgs<T extends Rows = Rows> {
  /** The rows of a stack, shard after shard. */
  readonly t: T;
  readonly numSparseCores: number;
  /** First row of the table on each shard. */
  readonly offsetInShard: number;
  /** Its rows on each shard. */
  readonly sizeInShard: number;
  readonly shardRotation: number;
}

export interface MapIndicesArgs {
  readonly numSparseCores: number;
  readonly offsetInShard: number;
  readonly shardRotation: number;
  readonly rows: readonly number[] | Int32Array | tf.Tensor;
}

function rowsOf(value: Rows, argument: string): number {
  if (value instanceof tf.Tensor) {
    if (value.rank === 0) throw new ValueError(argument, 'a tensor of rows', value);
    checkLive(value as tf.Tensor, argument);
    return value.shape[0]!;
  }
  if (Array.isArray(value)) return value.length;
  throw new ArgumentTypeError(argument, 'a tensor or nested arrays', value);
}

function taken<T extends Rows>(value: T, order: Int32Array): T {
  if (value instanceof tf.Tensor) return tf.tidy(() => tf.gather(value, tf.tensor1d(order, 'int32'))) as T;
  const rows = value as readonly (readonly number[])[];
  return Array.from(order, (row) => [...rows[row]!]) as unknown as T;
}

/** Rows of one shard, of `rows` in all. */
function perShard(rows: number, cores: number, argument: string): number {
  if (rows % cores === 0) return rows / cores;
  const expected = `a number of rows that is a multiple of the number of SparseCores, ${cores}`;
  throw new ValueError(argument, expected, described(`${rows} rows`));
}

/**
 * Returns the rows of a table shard after shard: row r goes to shard r mod numSparseCores. A tensor gives a new tensor,
 * nested arrays give nested arrays.
 * Source: shard_table of TensorFlow's tpu_embedding_v3_utils.
 *
 * @param args - The table and the number of SparseCores; see `ShardTableArgs`.
 * @returns The rows in their new order, in the form of the table.
 * @throws ValueError where the rows are not a multiple of the cores.
 *
 * @example
 * emb.tpu.shardTable({table: [[0], [1], [2], [3]], numSparseCores: 2}); // [[0], [2], [1], [3]]
 */
export function shardTable<T extends Rows>(args: ShardTableArgs<T>): T {
  const { table, numSparseCores } = readOptions<ShardTableArgs<T>>(args, ['table', 'numSparseCores'], 'args');
  const cores = wholeNumber(numSparseCores, 'numSparseCores', 1);
  const rows = rowsOf(table as T, 'table');
  const size = perShard(rows, cores, 'table');
  const order = Int32Array.from({ length: rows }, (_, at) => (at % size) * cores + Math.floor(at / size));
  return taken(table as T, order);
}

/**
 * Returns the padded rows of one table out of the stack that holds it: what `stackTables` says about the table finds
 * them. A tensor gives a new tensor, nested arrays give nested arrays.
 * Source: unshuffle_from_sc_to_cpu of TensorFlow's tpu_embedding_v3_utils.
 *
 * @param args - The stack and the layout of the table; see `UnshuffleArgs`.
 * @returns The rows, in the form of the stack.
 * @throws ValueError where the stack's rows are not a multiple of the cores, and where the table does not lie in a
 * shard.
 *
 * @example
 * const t = [[0], [2], [1], [3]];
 * emb.tpu.unshuffle({t, numSparseCores: 2, offsetInShard: 0, sizeInShard: 2, shardRotation: 0}); // [[0], [1], [2], [3]]
 */
export function unshuffle<T extends Rows>(args: UnshuffleArgs<T>): T {
  const fields = ['t', 'numSparseCores', 'offsetInShard', 'sizeInShard', 'shardRotation'] as const;
  const given = readOptions<UnshuffleArgs<T>>(args, fields, 'args');
  const cores = wholeNumber(given.numSparseCores, 'numSparseCores', 1);
  const inShard = perShard(rowsOf(given.t as T, 't'), cores, 't');
  const offset = wholeNumber(given.offsetInShard, 'offsetInShard', 0, inShard);
  const size = wholeNumber(given.sizeInShard, 'sizeInShard', 0, inShard - offset);
  const rotation = wholeNumber(given.shardRotation, 'shardRotation');
  const order = Int32Array.from({ length: size * cores }, (_, row) => {
    const shard = ((row % cores) + rotation) % cores;
    return shard * inShard + offset + Math.floor(row / cores);
  });
  return taken(given.t as T, order);
}

/**
 * Returns for each row of a table on which shard it lies, and at which row of the shard.
 * Source: map_indices_in_shard of TensorFlow's tpu_embedding_v3_utils.
 *
 * @param args - The rows and how they are partitioned; see `MapIndicesArgs`.
 * @returns Two arrays with an entry for each row.
 * @throws TypeError and ValueError for rows that are no whole numbers >= 0.
 *
 * @example
 * emb.tpu.mapIndicesInShard({numSparseCores: 8, offsetInShard: 5, shardRotation: 4, rows: [7]});
 * // {shardIndex: Int32Array [3], positionInShard: Int32Array [5]}
 */
export function mapIndicesInShard(args: MapIndicesArgs): { shardIndex: Int32Array; positionInShard: Int32Array } {
  const fields = ['numSparseCores', 'offsetInShard', 'shardRotation', 'rows'] as const;
  const given = readOptions<MapIndicesArgs>(args, fields, 'args');
  const cores = wholeNumber(given.numSparseCores, 'numSparseCores', 1);
  const offset = wholeNumber(given.offsetInShard, 'offsetInShard');
  const rotation = wholeNumber(given.shardRotation, 'shardRotation');
  const rows = readInt32(given.rows, 'rows');
  const wrong = rows.find((row) => row < 0);
  if (wrong !== undefined) throw new ValueError('rows', 'whole numbers >= 0', wrong);
  return {
    shardIndex: rows.map((row) => (row + rotation) % cores),
    positionInShard: rows.map((row) => offset + Math.floor(row / cores)),
  };
}

/**
 * Returns the part of `tensor` that has the shape `shape`, from its start on every axis; a tensor that is smaller than
 * that on some axis comes back whole. A tensor gives a new tensor, nested arrays give nested arrays.
 * Source: remove_padding_from_sc of TensorFlow's tpu_embedding_v3_utils.
 *
 * @param tensor - A tensor, or nested arrays.
 * @param shape - The shape that is kept.
 * @returns The part, in the form of `tensor`.
 * @throws ValueError for another number of axes.
 *
 * @example
 * emb.tpu.removePadding([[1, 2, 0], [0, 0, 0]], [1, 2]); // [[1, 2]]
 */
export function removePadding<T extends Rows>(tensor: T, shape: readonly [rows: number, columns: number]): T {
  if (!Array.isArray(shape)) throw new ArgumentTypeError('shape', 'a list of lengths', shape);
  const wanted = (shape as readonly number[]).map((length, axis) => wholeNumber(length, `shape[${axis}]`));
  const rows = rowsOf(tensor, 'tensor');
  const stored =
    tensor instanceof tf.Tensor ? tensor.shape : [rows, (tensor as readonly (readonly number[])[])[0]?.length ?? 0];
  if (stored.length !== wanted.length) {
    throw new ValueError('shape', `${stored.length} lengths, one for each axis`, shape);
  }
  const isLarger = stored.every((length, axis) => length >= wanted[axis]!);
  if (tensor instanceof tf.Tensor) {
    return (
      isLarger
        ? tf.slice(
            tensor,
            wanted.map(() => 0),
            wanted,
          )
        : tensor.clone()
    ) as T;
  }
  const nested = tensor as readonly (readonly number[])[];
  const [most, width] = isLarger ? wanted : [];
  return nested.slice(0, most).map((row) => row.slice(0, width)) as unknown as T;
}
