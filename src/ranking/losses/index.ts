/** Losses of ranking and retrieval, for `compile` and as functions. */
import { nameFunctions } from '../../tfjs/training/named_functions.js';
import {
  listMLE,
  listSoftmax,
  pairwiseHinge,
  pairwiseLogistic,
  pairwiseMeanSquared,
  pairwiseSoftZeroOne,
  sigmoidCrossEntropyFromLogits,
} from './lists.js';
import type { Loss } from './loss.js';
import { bpr, cosineContrastive, inBatchSoftmax, sampledSoftmax } from './sampled.js';

const NAMED: Readonly<Record<string, () => Loss>> = {
  bpr,
  sampledSoftmax,
  inBatchSoftmax,
  cosineContrastive,
  pairwiseLogistic,
  pairwiseHinge,
  pairwiseMeanSquared,
  pairwiseSoftZeroOne,
  listSoftmax,
  listMLE,
  // What files of models make of that name.
  listMle: listMLE,
  sigmoidCrossEntropyFromLogits,
};

/** Has `compile` take these losses by name, with their default options. */
export function nameLosses(): void {
  nameFunctions('loss', (name) => (Object.hasOwn(NAMED, name) ? NAMED[name]!() : null));
}

export {
  bpr,
  cosineContrastive,
  inBatchSoftmax,
  sampledSoftmax,
  type CosineContrastiveArgs,
  type SampledLossArgs,
  type SampledSoftmaxArgs,
} from './sampled.js';
export {
  listMLE,
  listSoftmax,
  pairwiseHinge,
  pairwiseLogistic,
  pairwiseMeanSquared,
  pairwiseSoftZeroOne,
  sigmoidCrossEntropyFromLogits,
  type ListLossArgs,
} from './lists.js';
export type { Loss, MaskedLabels, Targets } from './loss.js';
