/** The types of what layers on tables take and give. */
import type * as tf from '@tensorflow/tfjs';
import type { DenseIds, RaggedIds, SparseInput, WeightsInput } from '../../ids/parse_ids.js';
import type { RaggedTensor } from '../../ids/ragged_tensor.js';
import type { Combiner } from '../../base/types.js';

/** What concrete ids give: with a combiner a tensor; without one, ragged ids stay ragged. */
export type LookedUp<C extends Combiner | null, Ids> = C extends Combiner
  ? tf.Tensor
  : Ids extends RaggedIds
    ? RaggedTensor
    : Ids extends DenseIds | SparseInput
      ? tf.Tensor
      : tf.Tensor | RaggedTensor;

/** Ids in a list, with weights or without. */
export type WithWeights<Ids> = readonly [ids: Ids, weights?: WeightsInput | null];
