/**
 * The rows of the batches of `fit`, in an order of our own. The loop of tfjs shuffles and converts a list of a number
 * for each row; it is given one number for each batch instead, and what it tells of batches is put right: its list of
 * callbacks learns how many rows there are.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../../base/per_process.js';
import { beginCut } from './batch_numbers.js';
import { sumInJavaScript } from './epoch_means.js';

const MARK = Symbol.for('tfjs-embeddings.rowOrder');

export class RowOrder {
  readonly batches: number;
  readonly #rows: Int32Array;
  /** Batches that were taken from this epoch. */
  #taken = 0;

  constructor(
    readonly count: number,
    readonly batchSize: number,
    private readonly shuffles: boolean,
  ) {
    this.batches = Math.ceil(count / batchSize);
    this.#rows = new Int32Array(count);
    // Ten times as fast as Int32Array.from.
    for (let row = 0; row < count; row++) this.#rows[row] = row;
  }

  /** How many rows a batch has: the last one of an epoch has the rest. */
  sizeOf(batch: number): number {
    return Math.min(this.batchSize, this.count - batch * this.batchSize);
  }

  /** The numbers of the rows of the next batch, int32; belongs to the scope of the caller. */
  next(): tf.Tensor1D {
    const batch = this.#taken % this.batches;
    if (batch === 0 && this.shuffles) this.#shuffle();
    this.#taken += 1;
    const first = batch * this.batchSize;
    return tf.tensor1d(this.#rows.slice(first, first + this.sizeOf(batch)), 'int32');
  }

  /** In the order in which tf.util.shuffle would put them, which goes on from that of the epoch before. */
  #shuffle(): void {
    const rows = this.#rows;
    for (let left = rows.length; left > 0; left--) {
      const drawn = (Math.random() * left) | 0;
      const row = rows[left - 1]!;
      rows[left - 1] = rows[drawn]!;
      rows[drawn] = row;
    }
  }
}

/** The methods of a list of callbacks that tell of rows. */
interface Callbacks {
  readonly callbacks: readonly object[];
  setParams(params: Record<string, unknown>): void;
  onBatchBegin(batch: number, logs?: Record<string, unknown>): Promise<void>;
  onBatchEnd(batch: number, logs?: Record<string, unknown>): Promise<void>;
}

/** The order of the loop that is about to make its list of callbacks. */
const starting = (): { order: RowOrder | null } => perProcess('starting loop', () => ({ order: null }));

function patchCallbacks(): void {
  const { prototype } = tf.CallbackList as unknown as { prototype: Callbacks & Record<symbol, true> };
  if (Object.hasOwn(prototype, MARK)) return;
  Object.defineProperty(prototype, MARK, { value: true });
  const { setParams, onBatchBegin, onBatchEnd } = prototype;
  prototype.setParams = function (this: Callbacks, params): void {
    const { order } = starting();
    if (order === null) {
      setParams.call(this, params);
      return;
    }
    starting().order = null;
    setParams.call(this, { ...params, samples: order.count, batchSize: order.batchSize });
    sumInJavaScript(this.callbacks);
    this.onBatchBegin = async function (batch, logs) {
      await onBatchBegin.call(this, batch, logs);
      beginCut();
    };
    this.onBatchEnd = function (batch, logs) {
      return onBatchEnd.call(this, batch, Object.assign(logs ?? {}, { size: order.sizeOf(batch) }));
    };
  };
}

/** Starts a loop of tfjs over one number for each batch of `order`, and has its callbacks told of rows. */
export function withRowOrder<T>(order: RowOrder, startLoop: () => T): T {
  patchCallbacks();
  starting().order = order;
  try {
    // The list is made before the loop first waits.
    return startLoop();
  } finally {
    starting().order = null;
  }
}
