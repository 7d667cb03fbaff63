/**
 * `fit` and `fitDataset` with a callback that knows where an earlier training stood: it is asked before the loop begins,
 * as the loop of tfjs has its first epoch by then. Data sets are read up to where they were, so that what comes next is
 * what would have come.
 */
import * as tf from '@tensorflow/tfjs';

/** Where training stands. */
export interface TrainingPosition {
  /** The epoch that comes next, or goes on. */
  readonly epoch: number;
  /** Batches of it that are done. */
  readonly batches: number;
  /** How often the data set was read to its end before. */
  readonly readings: number;
}

/** What is known of the loop that is about to begin. */
export interface LoopKind {
  readonly isDataset: boolean;
  readonly batchesPerEpoch: number | null;
}

const RESUMES = Symbol.for('tfjs-embeddings.resumes');

/** A callback that is asked; null: training begins as it is called. */
export interface ResumingCallback {
  [RESUMES](model: tf.LayersModel, kind: LoopKind): Promise<TrainingPosition | null>;
}

/** The name of the method of `ResumingCallback`. */
export const resumes: typeof RESUMES = RESUMES;

export interface ResumedArgs {
  readonly callbacks?: unknown;
  readonly batchesPerEpoch?: number;
  readonly initialEpoch?: number;
}

export interface Iterator {
  next(): Promise<{ done: boolean; value: unknown }>;
}
export interface Dataset {
  readonly size: unknown;
  iterator(): Promise<Iterator>;
  ready?(): Promise<unknown>;
}

/** Where training goes on, as the callbacks of these arguments say; null: it begins as it is called. */
export async function positionOf(
  model: tf.LayersModel,
  args: ResumedArgs | null | undefined,
  isDataset: boolean,
): Promise<TrainingPosition | null> {
  const { callbacks, batchesPerEpoch = null } = args ?? {};
  for (const callback of [callbacks].flat()) {
    const found = (callback as Partial<ResumingCallback> | null | undefined)?.[RESUMES];
    if (typeof found !== 'function') continue;
    const position = await found.call(callback as ResumingCallback, model, { isDataset, batchesPerEpoch });
    if (position !== null) return position;
  }
  return null;
}

/** Reads some elements, or all of them. */
async function pass(iterator: Iterator, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { done, value } = await iterator.next();
    if (done) return;
    tf.dispose(value as tf.TensorContainer);
  }
}

/** A data set whose first reading begins where an earlier training stood. */
export function goingOn(dataset: Dataset, position: TrainingPosition, batchesPerEpoch: number | null): Dataset {
  let isFirst = true;
  // tfjs opens an iterator that it never reads: what counts is the first that is read.
  const iterator = async (): Promise<Iterator> => {
    let inner = await dataset.iterator();
    const skip = async (): Promise<void> => {
      isFirst = false;
      // With a number of batches for an epoch one reading goes through all epochs.
      if (batchesPerEpoch !== null) return pass(inner, position.readings * batchesPerEpoch);
      for (let i = 0; i < position.readings; i++) {
        await pass(inner, Infinity);
        inner = await dataset.iterator();
      }
      await pass(inner, position.batches);
    };
    return {
      next: async () => {
        if (isFirst) await skip();
        return inner.next();
      },
    };
  };
  return { iterator, size: dataset.size };
}

const sequentials = new WeakMap<tf.LayersModel, tf.LayersModel>();

/** The sequential model around a model that trains, as tfjs tells callbacks of the one within; else the model itself. */
export function wholeModel(model: tf.LayersModel): tf.LayersModel {
  return sequentials.get(model) ?? model;
}

/** Notes that a model works within a sequential one. */
export function noteSequential(model: tf.LayersModel, whole: tf.LayersModel): void {
  sequentials.set(model, whole);
}
