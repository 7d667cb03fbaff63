/**
 * `fit` and `fitDataset` with a callback that knows where an earlier training stood: it is asked before the loop begins,
 * as the loop of tfjs has its first epoch by then. Data sets are read up to where they were, so that what comes next is
 * what would have come.
 */
import * as tf from '@tensorflow/tfjs';
import { isRecord } from '../../base/options.js';

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
const MARK = Symbol.for('tfjs-embeddings.resumedFits');

/** A callback that is asked; null: training begins as it is called. */
export interface ResumingCallback {
  [RESUMES](model: tf.LayersModel, kind: LoopKind): Promise<TrainingPosition | null>;
}

/** The name of the method of `ResumingCallback`. */
export const resumes: typeof RESUMES = RESUMES;

interface FitArgs {
  readonly callbacks?: unknown;
  readonly batchesPerEpoch?: number;
  readonly initialEpoch?: number;
}
interface Methods {
  fit(this: tf.LayersModel, x: unknown, y: unknown, args?: FitArgs): Promise<unknown>;
  fitDataset(this: tf.LayersModel, dataset: unknown, args: FitArgs): Promise<unknown>;
}

interface Iterator {
  next(): Promise<{ done: boolean; value: unknown }>;
}
interface Dataset {
  readonly size: unknown;
  iterator(): Promise<Iterator>;
  ready?(): Promise<unknown>;
}

async function positionOf(
  model: tf.LayersModel,
  args: FitArgs | undefined,
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

/** Frees tensors, however deep they lie in an element. */
function free(value: unknown): void {
  if (value === null || typeof value !== 'object') return;
  if (typeof (value as { dispose?: unknown }).dispose === 'function') (value as tf.Tensor).dispose();
  else if (!ArrayBuffer.isView(value)) Object.values(value).forEach(free);
}

/** Reads some elements, or all of them. */
async function pass(iterator: Iterator, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { done, value } = await iterator.next();
    if (done) return;
    free(value);
  }
}

/** A data set whose first reading begins where an earlier training stood. */
function goingOn(dataset: Dataset, position: TrainingPosition, batchesPerEpoch: number | null): Dataset {
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
  const ready = typeof dataset.ready === 'function' ? { ready: () => dataset.ready!() } : {};
  return { iterator, size: dataset.size, ...ready };
}

const sequentials = new WeakMap<tf.LayersModel, tf.LayersModel>();

/** The sequential model around a model that trains, as tfjs tells callbacks of the one within; else the model itself. */
export function wholeModel(model: tf.LayersModel): tf.LayersModel {
  return sequentials.get(model) ?? model;
}

function noteSequentials(): void {
  const methods = tf.Sequential.prototype as unknown as Methods & { readonly model?: tf.LayersModel };
  const { fit, fitDataset } = methods;
  const note = (whole: tf.LayersModel): void => {
    const { model } = whole as unknown as { readonly model?: tf.LayersModel };
    if (model !== undefined) sequentials.set(model, whole);
  };
  Object.defineProperty(methods, 'fit', {
    configurable: true,
    writable: true,
    value: function (this: tf.LayersModel, x: unknown, y: unknown, args?: FitArgs): Promise<unknown> {
      note(this);
      return fit.call(this, x, y, args);
    },
  });
  Object.defineProperty(methods, 'fitDataset', {
    configurable: true,
    writable: true,
    value: function (this: tf.LayersModel, dataset: unknown, args: FitArgs): Promise<unknown> {
      note(this);
      return fitDataset.call(this, dataset, args);
    },
  });
}

/** Has all models ask such callbacks; may be called again. */
export function resumeFits(): void {
  const methods = tf.LayersModel.prototype as unknown as Methods & Record<symbol, true>;
  if (Object.hasOwn(methods, MARK)) return;
  Object.defineProperty(methods, MARK, { value: true });
  noteSequentials();
  const { fit, fitDataset } = methods;
  const replace = <K extends keyof Methods>(name: K, method: Methods[K]): void => {
    Object.defineProperty(methods, name, { configurable: true, writable: true, value: method });
  };
  replace('fit', async function (x, y, args) {
    const position = await positionOf(this, args, false);
    return fit.call(this, x, y, position === null ? args : { ...args, initialEpoch: position.epoch });
  });
  replace('fitDataset', async function (dataset, args) {
    const position = await positionOf(this, args, true);
    if (position === null || !isRecord(dataset)) return fitDataset.call(this, dataset, args);
    const rest = goingOn(dataset as unknown as Dataset, position, args.batchesPerEpoch ?? null);
    return fitDataset.call(this, rest, { ...args, initialEpoch: position.epoch });
  });
}
