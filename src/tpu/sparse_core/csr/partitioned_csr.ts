/** The ids of a batch for one stack, as SparseCores take them. */
import { brand } from '../../../brand.js';

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

  /** @param fields - The arrays of the partitions and their sizes; see `PartitionedCsrFields`. */
  constructor(fields: PartitionedCsrFields) {
    Object.assign(this, fields);
  }
}
