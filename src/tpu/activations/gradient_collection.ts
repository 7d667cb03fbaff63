/** Where gradients of activations wait, by table and lookup: what the graph collections of TensorFlow are for. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, described } from '../../base/errors.js';
import { perProcess } from '../../base/per_process.js';
import { wholeNumber } from '../config/fields.js';

type Collection = (tf.Tensor | null)[];

const collections = (): Map<number, Collection> => perProcess('tpu gradient collections', () => new Map());

/**
 * Opens the list of gradients of a table, with a place for each of its lookups; returns nothing.
 *
 * `tableId` and `lookups` are whole numbers from 0 on. A list that was open is replaced, and the gradients in it are freed;
 * with 0 lookups the table is in inference.
 * Source: the collections tpu_embedding_gradients_table_<id> of TensorFlow 2.21.
 *
 * @param tableId - The number of the table.
 * @param lookups - How many lookups read it in a step.
 * @throws ValueError for other numbers.
 *
 * @example
 * emb.tpu.createGradientCollection(0, 2);
 * emb.tpu.gradientCollection(0); // [null, null]
 */
export function createGradientCollection(tableId: number, lookups: number): void {
  const id = wholeNumber(tableId, 'tableId', 0);
  const places = wholeNumber(lookups, 'lookups', 0);
  tf.dispose((collections().get(id) ?? []) as tf.Tensor[]);
  collections().set(id, new Array<null>(places).fill(null));
}

/**
 * Returns the gradients of a table: for each lookup a float32 tensor of the shape of its activations, or null where none
 * came. They belong to the list and stay until it is opened anew. An empty list where none was opened.
 *
 * @param tableId - The number of the table.
 * @returns The list, with a place for each lookup.
 * @throws ValueError for a `tableId` that is no whole number from 0 on.
 *
 * @example
 * const [gradient] = emb.tpu.gradientCollection(0);
 */
export function gradientCollection(tableId: number): readonly (tf.Tensor | null)[] {
  return [...(collections().get(wholeNumber(tableId, 'tableId', 0)) ?? [])];
}

/** Keeps a copy of a gradient at its place. Throws RuntimeError where it has none, or one came before. */
export function collectGradient(tableId: number, lookupId: number, gradient: tf.Tensor): void {
  const collection = collections().get(tableId) ?? [];
  const where = `table ${tableId}, lookup ${lookupId}`;
  if (collection.length === 0) {
    const note = 'createGradientCollection opens it for training.';
    throw new RuntimeError('tableId', 'a table with a collection of gradients', described(`${where}: inference`), note);
  }
  if (lookupId >= collection.length) {
    throw new RuntimeError('lookupId', `a lookup in [0, ${collection.length})`, described(where));
  }
  if (collection[lookupId] !== null) {
    const received = described(`duplicate gradients of ${where}`);
    throw new RuntimeError('lookupId', 'one gradient for each lookup of a step', received);
  }
  collection[lookupId] = tf.keep(gradient.clone());
}

/** Closes the list of a table; what was in it is the caller's. */
export function takeCollection(tableId: number): (tf.Tensor | null)[] {
  const collection = collections().get(tableId) ?? [];
  collections().delete(tableId);
  return collection;
}
