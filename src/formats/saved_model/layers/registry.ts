/** Which layers can be exported, by the names of their classes. */
import type { Emitter } from './layer_call.js';
import { ATTENTION_LAYERS } from './attention.js';
import { OPERATION_LAYERS } from './operations.js';
import { DENSE_LAYERS } from './dense.js';
import { EMBEDDING_LAYERS } from './embeddings.js';
import { INTERACTION_LAYERS } from './interactions.js';
import { MERGE_LAYERS } from './merge.js';
import { NORMALIZATION_LAYERS } from './normalization.js';
import { CONVOLUTION_LAYERS } from './convolution.js';
import { POOLING_LAYERS } from './pooling.js';
import { PREPROCESSING_LAYERS } from './preprocessing.js';
import { RECURRENT_LAYERS } from './recurrent.js';
import { WRAPPER_LAYERS } from './wrappers.js';
import { IMAGE_LAYERS } from './images.js';
import { SHAPE_LAYERS } from './shapes.js';
import { TPU_LAYERS } from './tpu_embedding.js';

const EMITTERS: Readonly<Record<string, Emitter>> = {
  ...DENSE_LAYERS,
  ...SHAPE_LAYERS,
  ...IMAGE_LAYERS,
  ...WRAPPER_LAYERS,
  ...RECURRENT_LAYERS,
  ...POOLING_LAYERS,
  ...CONVOLUTION_LAYERS,
  ...MERGE_LAYERS,
  ...NORMALIZATION_LAYERS,
  ...EMBEDDING_LAYERS,
  ...INTERACTION_LAYERS,
  ...PREPROCESSING_LAYERS,
  ...TPU_LAYERS,
  ...ATTENTION_LAYERS,
  ...OPERATION_LAYERS,
};

/** What writes the ops of layers of a class; null for a class that is not known. */
export function emitterOf(className: string): Emitter | null {
  return Object.hasOwn(EMITTERS, className) ? EMITTERS[className]! : null;
}
