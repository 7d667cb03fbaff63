/** The features of a stack in the arrays that the C core takes, and room for what it writes. */
import { COMBINERS } from '../types.js';
import { IdOutOfRange } from './kernel_set.js';
import { CsrIdOutOfRange } from './csr_id_out_of_range.js';
import { mostCsrSlots, roundUp, type CsrFeature, type CsrParts, type CsrRequest } from './sparse_core.js';

/** Ids of all features, one after another. */
export interface PackedCsr {
  readonly values: Int32Array;
  /** Of each feature, from where the one before it ends. */
  readonly rowSplits: Int32Array;
  readonly weights: Float32Array | null;
  /** `te_csr_feature` of custom-ops/kernels/embedding.h, six numbers for each. */
  readonly features: Int32Array;
}

function numbersOf({ rowSplits, combiner, rows, columnOffset, rotation, sampleOffset }: CsrFeature): number[] {
  return [rowSplits.length - 1, COMBINERS.indexOf(combiner), rows, columnOffset, rotation, sampleOffset];
}

/** A single feature is taken as it is; several are copied behind one another. */
export function packCsr({ features }: CsrRequest): PackedCsr {
  const numbers = Int32Array.from(features.flatMap(numbersOf));
  if (features.length === 1) {
    const [{ values, rowSplits, weights }] = features as [CsrFeature];
    return { values, rowSplits, weights, features: numbers };
  }
  const values = new Int32Array(features.reduce((sum, feature) => sum + feature.values.length, 0));
  const rowSplits = new Int32Array(features.reduce((sum, feature) => sum + feature.rowSplits.length, 0));
  const isWeighted = features.some((feature) => feature.weights !== null);
  const weights = isWeighted ? new Float32Array(values.length).fill(1) : null;
  let [id, split] = [0, 0];
  for (const feature of features) {
    values.set(feature.values, id);
    if (feature.weights !== null) weights!.set(feature.weights, id);
    for (const end of feature.rowSplits) rowSplits[split++] = id + end;
    id += feature.values.length;
  }
  return { values, rowSplits, weights, features: numbers };
}

export function csrRoom(request: CsrRequest): CsrParts {
  const { cores, shards } = request;
  const slots = mostCsrSlots(request);
  return {
    rowPointers: new Int32Array(cores * roundUp(shards)),
    sampleIds: new Int32Array(slots),
    tokenIds: new Int32Array(slots),
    gains: new Float32Array(slots),
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
