/** Data that `adapt` learns from: all at once, or batch by batch from an iterable. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { checkWhole, isAbsent } from '../arguments.js';
import { isNumberArray, readCells, type CellData, type Cells } from './cells.js';

/** Data in one piece, or batches that come without waiting. */
export type SyncBatches = CellData | Iterable<CellData>;

/** Batches that come with time: an async generator, or a data set of `tf.data`. */
export type AsyncBatches = AsyncIterable<CellData> | { iterator(): Promise<unknown> };

export interface AdaptOptions {
  /** How many batches are read; null: all. Needed where the batches never end. */
  steps?: number | null;
}

export interface Learner<R> {
  /** Takes a batch; `isWhole`: all the data at once. */
  take(cells: Cells, isWhole: boolean): void;
  end(): R;
}

interface TensorIterator {
  next(): Promise<{ done?: boolean; value: unknown }>;
}

function isAsync(data: unknown): data is AsyncIterable<unknown> {
  return isObject(data) && typeof (data as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function';
}

function isDataset(data: unknown): data is { iterator(): Promise<TensorIterator> } {
  return isObject(data) && typeof (data as { iterator?: unknown }).iterator === 'function';
}

function isObject(data: unknown): data is object {
  return typeof data === 'object' && data !== null;
}

/** An iterable of batches, which no array, tensor or column is. */
function isIterable(data: unknown): data is Iterable<unknown> {
  if (!isObject(data) || Array.isArray(data) || isNumberArray(data) || data instanceof tf.Tensor) return false;
  return typeof (data as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function';
}

function readBatch(batch: unknown, at: number): Cells {
  const isNamed = isRecord(batch) && ('xs' in batch || 'features' in batch);
  if (isNamed) {
    const received = described(`an object with ${Object.keys(batch).join(', ')}`);
    const note = 'Write dataset.map(({xs}) => xs), or adapt a Pipeline, which takes columns by name.';
    throw new ArgumentTypeError(`data[${at}]`, 'a batch of one feature', received, note);
  }
  return readCells(batch, `data[${at}]`);
}

async function* batchesOf(data: unknown): AsyncGenerator<unknown> {
  if (isAsync(data)) {
    yield* data;
    return;
  }
  const iterator = await (data as { iterator(): Promise<TensorIterator> }).iterator();
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return;
    try {
      yield value;
    } finally {
      // A data set makes its tensors for its reader.
      tf.dispose(value as tf.TensorContainer);
    }
  }
}

/** Hands each batch of an iterable over; a promise where they come with time. `end`: what is returned. */
export function eachBatch<R>(
  batches: unknown,
  options: AdaptOptions | undefined,
  take: (batch: unknown, at: number) => void,
  end: () => R,
): R | Promise<R> {
  const steps = isAbsent(options?.steps) ? Infinity : checkWhole(options.steps, 'steps', 1);
  let taken = 0;
  if (isAsync(batches) || (isDataset(batches) && !isIterable(batches))) {
    return (async (): Promise<R> => {
      for await (const batch of batchesOf(batches)) {
        take(batch, taken);
        if (++taken === steps) break;
      }
      return end();
    })();
  }
  for (const batch of batches as Iterable<unknown>) {
    take(batch, taken);
    if (++taken === steps) break;
  }
  return end();
}

/** Hands the data over, all at once or batch by batch; a promise where they come with time. */
export function learn<R>(data: unknown, options: AdaptOptions | undefined, learner: Learner<R>): R | Promise<R> {
  if (isAsync(data) || isDataset(data) || isIterable(data)) {
    return eachBatch(
      data,
      options,
      (batch, at) => learner.take(readBatch(batch, at), false),
      () => learner.end(),
    );
  }
  learner.take(readCells(data), true);
  return learner.end();
}
