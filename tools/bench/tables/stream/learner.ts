/** Learns the stream day by day with one table of items, and tells how well each day was foreseen. */
import * as tf from '@tensorflow/tfjs';
import type { OpenTableArgs } from '../../../../src/node.js';
import { expectedAuc } from '../../../../models/metrics.js';
import type { Day } from './events.js';

/** Columns of a row. */
export const DIM = 16;
const BATCH = 256;

/** Bytes of a row with its slot of Adagrad, and of the index for a row of an open table. */
const ROW_BYTES = 2 * 4 * DIM;
const INDEX_BYTES = 22;

/** The items' table: rows of their hashes, or rows of keys. */
export type Kind =
  { readonly rows: number } | { readonly open: Pick<OpenTableArgs, 'capacity' | 'admit' | 'evict' | 'unknown'> };

/** Rows that so many bytes hold. */
export const hashedRows = (bytes: number): number => Math.floor(bytes / ROW_BYTES);
export const openRows = (bytes: number): number => Math.floor(bytes / (ROW_BYTES + INDEX_BYTES));
export const openBytes = (rows: number): number => rows * (ROW_BYTES + INDEX_BYTES);

/** A key of an item: whatever its number, bits of it are spread. */
function keysOf(items: Int32Array): BigInt64Array {
  const words = new Int32Array(2 * items.length);
  items.forEach((item, i) => {
    words[2 * i] = Math.imul(item + 1, 0x9e3779b1);
    words[2 * i + 1] = Math.imul(item + 1, 0x85ebca6b);
  });
  return new BigInt64Array(words.buffer);
}

function hashOf(item: number): number {
  let hash = Math.imul(item + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** A part of a day: items as the table takes them. */
interface Part {
  readonly items: BigInt64Array | Int32Array;
  readonly users: Int32Array;
  readonly labels: Float32Array;
}

/** The AUC of each day by the table as the days before left it, expected over the labels of that day. */
export async function foreseen(days: readonly Day[], users: number, kind: Kind): Promise<number[]> {
  const emb = await import('../../../../src/node.js');
  const table =
    'open' in kind
      ? emb.openTable({ ...kind.open, outputDim: DIM, seed: 3 })
      : tf.variable(tf.randomUniform<tf.Rank.R2>([kind.rows, DIM], -0.05, 0.05, 'float32', 3));
  const people = tf.variable(tf.randomUniform<tf.Rank.R2>([users, DIM], -0.5, 0.5, 'float32', 4));
  const liked = tf.variable(tf.randomUniform<tf.Rank.R2>([DIM, 1], -0.5, 0.5, 'float32', 5));
  const bias = tf.variable(tf.scalar(0));
  const logits = (items: BigInt64Array | tf.Tensor1D, of: tf.Tensor1D): tf.Tensor1D => {
    const rows = emb.embeddingLookup(table as never, items as never) as tf.Tensor2D;
    const likes = (emb.embeddingLookup(people, of) as tf.Tensor2D).mul(rows).sum<tf.Tensor1D>(1);
    return likes.add(rows.matMul(liked).flatten()).add(bias);
  };
  const optimizer = emb.train.adagrad({ learningRate: 0.2 });
  const step = emb.capture((items: BigInt64Array | tf.Tensor1D, of: tf.Tensor1D, labels: tf.Tensor1D): void => {
    // The sum over the batch: what a row learns does not depend on how many others are in it.
    optimizer.minimize(() => {
      return tf.losses.sigmoidCrossEntropy<tf.Tensor1D, tf.Scalar>(labels, logits(items, of)).mul(BATCH);
    });
  });
  const scores = emb.capture((items: BigInt64Array | tf.Tensor1D, of: tf.Tensor1D) => logits(items, of));
  const partsOf = ({ items, users: of, labels }: Day): Part[] => {
    const asked = 'open' in kind ? keysOf(items) : items.map((item) => hashOf(item) % kind.rows);
    return Array.from({ length: Math.floor(items.length / BATCH) }, (_, part) => {
      const [from, to] = [part * BATCH, (part + 1) * BATCH];
      return { items: asked.subarray(from, to), users: of.subarray(from, to), labels: labels.subarray(from, to) };
    });
  };
  const given = (items: Part['items']): BigInt64Array | tf.Tensor1D => {
    // A column of its own: what is captured is given a whole one.
    return items instanceof BigInt64Array ? items.slice() : tf.tensor1d(items, 'int32');
  };
  const aucs = days.map((day) => {
    const parts = partsOf(day);
    const told = new Float32Array(parts.length * BATCH);
    parts.forEach(({ items, users: of }, part) => {
      tf.tidy(() => told.set(scores(given(items), tf.tensor1d(of, 'int32')).dataSync(), part * BATCH));
    });
    for (const { items, users: of, labels } of parts) {
      tf.tidy(() => step(given(items), tf.tensor1d(of, 'int32'), tf.tensor1d(labels)));
    }
    return expectedAuc(day.truth.subarray(0, told.length), told);
  });
  for (const each of [step, scores]) each.dispose();
  optimizer.dispose();
  table.dispose();
  tf.dispose([people, liked, bias]);
  return aucs;
}
