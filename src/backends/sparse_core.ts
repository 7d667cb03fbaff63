/**
 * Ids in the form that SparseCores take: for each core of a chip one bucket per shard of the stacked table, in
 * compressed sparse rows. Plain data; kernels make it from features and devices read it.
 */
import { type Combiner, COMBINERS } from '../base/types.js';
import { brand } from '../base/per_process.js';
import { IdOutOfRange } from './kernel_set.js';

/** Bytes that are kept at most. */
const MOST_KEPT = 2 ** 28;

/** A run of 4-byte words in a buffer. */
export interface CsrMemory {
  readonly buffer: ArrayBuffer;
  readonly byteOffset: number;
  readonly words: number;
}

const kept: CsrMemory[] = [];

/** Lengths are rounded up, so that batches of about the same size have memory of the same. */
function roundedWords(words: number): number {
  const unit = Math.max(64, 2 ** (Math.floor(Math.log2(Math.max(1, words))) - 4));
  return Math.ceil(words / unit) * unit;
}

/** Memory of exactly so many words, with anything in it; null where none is kept. */
function takeMemory(words: number): CsrMemory | null {
  const place = kept.findIndex((memory) => memory.words === words);
  return place < 0 ? null : kept.splice(place, 1)[0]!;
}

/** Keeps memory for others. Arrays that were made in it are empty from now on. */
export function giveMemory({ buffer, byteOffset, words }: CsrMemory): void {
  kept.push({ buffer: structuredClone(buffer, { transfer: [buffer] }), byteOffset, words });
  let bytes = kept.reduce((sum, memory) => sum + memory.buffer.byteLength, 0);
  // The oldest go: batches of their size no longer come.
  while (bytes > MOST_KEPT) bytes -= kept.shift()!.buffer.byteLength;
}

/** The numbers of a feature, as the C core takes them behind its arrays. */
export function featureNumbers(feature: CsrFeature): number[] {
  const { rowSplits, combiner, rows, columnOffset, rotation, sampleOffset } = feature;
  return [rowSplits.length - 1, COMBINERS.indexOf(combiner), rows, columnOffset, rotation, sampleOffset];
}

/** Results below this take less time in fresh memory. */
const LEAST_KEPT = 2 ** 14;

function memoryFor(words: number, allocate: (length: number) => Float32Array): CsrMemory {
  const rounded = words < LEAST_KEPT ? words : roundedWords(words);
  const known = takeMemory(rounded);
  if (known !== null) return known;
  const { buffer, byteOffset } = allocate(rounded);
  return { buffer: buffer as ArrayBuffer, byteOffset, words: rounded };
}

/** Room for a result; `allocate` gives the memory of its slots where none is left from others. */
export function csrRoom(
  request: CsrRequest,
  allocate: (length: number) => Float32Array = (length) => new Float32Array(length),
): CsrParts {
  const { cores, shards } = request;
  const slots = mostCsrSlots(request);
  const memory = memoryFor(3 * slots, allocate);
  const { buffer, byteOffset } = memory;
  return {
    ...(memory.words < LEAST_KEPT ? {} : { memory }),
    rowPointers: new Int32Array(cores * roundUp(shards)),
    sampleIds: new Int32Array(buffer, byteOffset, slots),
    tokenIds: new Int32Array(buffer, byteOffset + 4 * slots, slots),
    gains: new Float32Array(buffer, byteOffset + 8 * slots, slots),
    idCounts: new Int32Array(cores * shards),
    uniqueIdCounts: new Int32Array(cores * shards),
  };
}

/** The slots in use. */
export function csrParts(room: CsrParts, used: number): CsrParts {
  return {
    ...room,
    sampleIds: room.sampleIds.subarray(0, used),
    tokenIds: room.tokenIds.subarray(0, used),
    gains: room.gains.subarray(0, used),
  };
}

/** The error of a kernel with the feature at fault, whose position counts its own ids. */
export function ofFeature(error: unknown, { features }: CsrRequest): unknown {
  if (!(error instanceof IdOutOfRange)) return error;
  let { position } = error;
  const place = features.findIndex(({ values }) => {
    if (position < values.length) return true;
    position -= values.length;
    return false;
  });
  return new CsrIdOutOfRange(place, error.id, position, features[place]!.rows);
}

/** An id that is no row of its feature's table. */
export class CsrIdOutOfRange extends IdOutOfRange {
  static {
    brand(this, 'CsrIdOutOfRange');
  }
  constructor(
    /** Place of the feature among those of the stack. */
    readonly feature: number,
    id: number,
    position: number,
    rows: number,
  ) {
    super(id, position, rows);
  }
}

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

/** The ids of a batch for one stack. */
export interface StackBatch {
  readonly csr: HostCsr;
  readonly counts: CsrCounts;
  /** How full the buffers for ids are. */
  readonly buffers: { readonly droppedIds: number; readonly slots: number; readonly minibatches: number };
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
