/**
 * Ids in the form that SparseCores take: for each core of a chip one bucket per shard of the stacked table, in
 * compressed sparse rows. Plain data; kernels make it from features and devices read it.
 */
import type { CsrMemory } from './csr_memory_pool.js';
import type { Combiner } from '../base/types.js';

/** Buckets begin at multiples of this many slots, and so do the row pointers of a core. */
export const CSR_ALIGNMENT = 8;
/** What fills the slots behind a bucket. As a float32 it is 2147483648. */
export const CSR_PADDING = 2147483647;

/** Ids of one feature and where its table lies in the stack. */
export interface CsrFeature {
  readonly values: Int32Array; // [nnz]
  readonly rowSplits: Int32Array; // [samples + 1]
  readonly weights: Float32Array | null; // [nnz]
  readonly combiner: Combiner;
  /** Ids are below this number. */
  readonly rows: number;
  /** Rows of the stack before the table, over all shards. */
  readonly columnOffset: number;
  /** Row r of the table lies on shard (r + rotation + columnOffset) mod shards. */
  readonly rotation: number;
  /** Samples of the stack before those of the feature: a multiple of the cores, as is the number of its samples. */
  readonly sampleOffset: number;
}

/** One stack on the cores of one chip. */
export interface CsrRequest {
  readonly features: readonly CsrFeature[];
  readonly cores: number;
  /** A power of two. */
  readonly shards: number;
  /** Of all features. */
  readonly samples: number;
  /** Slots for ids: a multiple of 8. What does not fit is dropped. */
  readonly capacity: number;
  /** true: an id that repeats in its sample has a slot for each time. By default the repetitions become one. */
  readonly keepsRepeats?: boolean;
}

/** Up to the last slot in use. */
export interface CsrParts {
  /** [cores, shards rounded up to 8]: where each bucket ends. */
  readonly rowPointers: Int32Array;
  /** Samples of the bucket's core, from 0 on. */
  readonly sampleIds: Int32Array;
  /** Rows of the bucket's shard. */
  readonly tokenIds: Int32Array;
  readonly gains: Float32Array;
  /** [cores, shards]: ids of each bucket, the dropped ones too. */
  readonly idCounts: Int32Array;
  /** [cores, shards]: different ids of each bucket. */
  readonly uniqueIdCounts: Int32Array;
  /** What slots lie in; absent where it is not worth keeping for other results. */
  readonly memory?: CsrMemory;
}

/** Makes the CSR of a stack in which repeated ids become one. Throws CsrIdOutOfRange. */
export type PartitionCsr = (request: CsrRequest) => CsrParts;

export function roundUp(count: number, unit = CSR_ALIGNMENT): number {
  return Math.ceil(count / unit) * unit;
}

/** Slots that are always enough for so many ids. */
export function mostCsrSlots({ features, cores, shards, capacity }: CsrRequest): number {
  const ids = features.reduce((sum, { values }) => sum + values.length, 0);
  return Math.min(capacity, roundUp(ids + (CSR_ALIGNMENT - 1) * cores * shards));
}

/** The CSR of a stack on all cores, in any typed arrays of the right lengths. */
export interface HostCsr {
  readonly rowPointers: Int32Array;
  readonly sampleIds: Int32Array;
  readonly tokenIds: Int32Array;
  readonly gains: Float32Array;
  readonly cores: number;
  readonly shards: number;
  /** Of each core. */
  readonly samples: number;
}

/** Ids of each bucket, and how many runs of equal ones: [cores, shards] each. */
export interface CsrCounts {
  readonly ids: Int32Array;
  readonly runs: Int32Array;
}

/**
 * Counts the ids of each bucket; null where the CSR is none: pointers that fall or leave the arrays, samples that the
 * core does not have, rows that the shard does not have.
 */
export function countCsr(csr: HostCsr, rowsPerShard: number): CsrCounts | null {
  const { rowPointers, sampleIds, tokenIds, gains, cores, shards, samples } = csr;
  const pointersPerCore = roundUp(shards);
  if (rowPointers.length !== cores * pointersPerCore) return null;
  if (sampleIds.length !== tokenIds.length || gains.length !== tokenIds.length) return null;
  const counts = { ids: new Int32Array(cores * shards), runs: new Int32Array(cores * shards) };
  let before = 0;
  for (let place = 0; place < rowPointers.length; place++) {
    const [start, end] = [roundUp(before), rowPointers[place]!];
    const shard = place % pointersPerCore;
    if (end < before || end > tokenIds.length) return null;
    before = end;
    if (shard >= shards) continue;
    const bucket = Math.floor(place / pointersPerCore) * shards + shard;
    let runs = 0;
    for (let i = start; i < end; i++) {
      const [token, sample] = [tokenIds[i]!, sampleIds[i]!];
      if (token < 0 || token >= rowsPerShard || sample < 0 || sample >= samples) return null;
      if (i === start || token !== tokenIds[i - 1]) runs++;
    }
    counts.ids[bucket] = Math.max(0, end - start);
    counts.runs[bucket] = runs;
  }
  return counts;
}
