/** In which order `fit` takes rows: numbers in JavaScript, which become a tensor batch by batch. */
import * as tf from '@tensorflow/tfjs';

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

  /** Begins with an epoch; one before may have ended early. */
  beginEpoch(): void {
    this.#taken = 0;
    if (this.shuffles) this.#shuffle();
  }

  /** How many rows a batch has: the last one of an epoch has the rest. */
  sizeOf(batch: number): number {
    return Math.min(this.batchSize, this.count - batch * this.batchSize);
  }

  /** The numbers of the rows of the next batch, int32; belongs to the scope of the caller. */
  next(): tf.Tensor1D {
    return this.#rowsOf(this.#taken++);
  }

  /** Those of the batch after it, without taking it; null where an epoch ends, as the next one has another order. */
  afterNext(): tf.Tensor1D | null {
    return this.#taken === this.batches ? null : this.#rowsOf(this.#taken);
  }

  #rowsOf(batch: number): tf.Tensor1D {
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
