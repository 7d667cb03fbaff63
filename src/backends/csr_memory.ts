/** The features of a stack in the arrays that the C core takes, and room for what it writes. */
import { COMBINERS } from '../base/types.js';
import { IdOutOfRange } from './kernel_set.js';
import { CsrIdOutOfRange } from './csr_id_out_of_range.js';
import { roundedWords, takeMemory, type CsrMemory } from './csr_memory_pool.js';
import { mostCsrSlots, roundUp, type CsrFeature, type CsrParts, type CsrRequest } from './sparse_core.js';

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
