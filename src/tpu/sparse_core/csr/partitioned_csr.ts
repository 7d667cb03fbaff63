/** The ids of a batch for one stack, as SparseCores take them. */
import { giveMemory, type CsrMemory } from '../../../backends/sparse_core.js';
import { brand } from '../../../base/per_process.js';

export interface PartitionedCsrFields {
  /** Of each core and shard, in rows of a multiple of 8: the place behind the last id of each bucket. */
  readonly rowPointers: Int32Array;
  /** Samples within those of the core, bucket after bucket; 2147483647 fills a bucket up to a multiple of 8. */
  readonly sortedSampleIds: Int32Array;
  /** Rows within the shard. */
  readonly sortedTokenIds: Int32Array;
  /** Factors of the rows. */
  readonly sortedGains: Float32Array;
  /** Samples of the stack: those of all its features. */
  readonly sampleCount: number;
  readonly numMinibatchesPerPhysicalSparseCore: number;
  /** How many of the pointers and ids are in use; arrays end there. */
  readonly rowPointersUnpaddedSize: number;
  readonly idsUnpaddedSize: number;
  /** Slots that a chip has: its row pointers, and its ids. */
  readonly rowPointersFullSize: number;
  readonly idsFullSize: number;
  /** Ids that did not fit the buffers of their chips. */
  readonly droppedIds: number;
}

/**
 * What `preprocessFeatures` and `enqueue` of TPUEmbeddingV2 make of a batch, and what lookups and updates read on the
 * cores. The bucket of core c and shard s ends at rowPointers[c * P + s], P being the shards rounded up to 8; it begins
 * where the bucket before it ends, rounded up to 8.
 */
export class PartitionedCsrFormatTensor implements PartitionedCsrFields {
  static {
    brand(this, 'PartitionedCsrFormatTensor');
  }
  declare readonly rowPointers: Int32Array;
  declare readonly sortedSampleIds: Int32Array;
  declare readonly sortedTokenIds: Int32Array;
  declare readonly sortedGains: Float32Array;
  declare readonly sampleCount: number;
  declare readonly numMinibatchesPerPhysicalSparseCore: number;
  declare readonly rowPointersUnpaddedSize: number;
  declare readonly idsUnpaddedSize: number;
  declare readonly rowPointersFullSize: number;
  declare readonly idsFullSize: number;
  declare readonly droppedIds: number;

  /** What slots lie in; null where it is not worth keeping. */
  #memory: CsrMemory | null = null;
  #holders = 0;
  #isDisposed = false;

  /** @param fields - The arrays of the partitions and their sizes; see `PartitionedCsrFields`. */
  constructor(fields: PartitionedCsrFields) {
    Object.assign(this, fields);
  }

  /** @internal The same, of arrays whose memory may be used again. */
  static inMemory(fields: PartitionedCsrFields, memory: CsrMemory | null): PartitionedCsrFormatTensor {
    const csr = new PartitionedCsrFormatTensor(fields);
    csr.#memory = memory;
    return csr;
  }

  /** Whether `dispose` was called. */
  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /**
   * Gives the memory of the slots back, for the batches that follow: fresh memory takes longer to get than the ids take
   * to be sorted. The arrays are empty afterwards. Without this call the garbage collector frees the memory.
   * A second call does nothing.
   */
  dispose(): void {
    this.#isDisposed = true;
    this.#giveBack();
  }

  /** @internal Keeps the arrays for a waiting step, also when disposed meanwhile; the result lets go of them, once. */
  hold(): () => void {
    this.#holders++;
    return () => {
      this.#holders--;
      if (this.#isDisposed) this.#giveBack();
    };
  }

  #giveBack(): void {
    if (this.#memory === null || this.#holders > 0) return;
    giveMemory(this.#memory);
    this.#memory = null;
  }
}
