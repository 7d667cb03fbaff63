/** Which classes compute the same in every step, all that they depend on being in their fields. */
import * as tf from '@tensorflow/tfjs';
import { AdditiveAttention, Attention } from '../../layers/attention/attention.js';
import { MultiHeadAttention } from '../../layers/attention/multi_head_attention.js';
import { ConcatOneHotEmbedding } from '../../layers/embedding/concat_one_hot_embedding.js';
import { Embedding } from '../../layers/embedding/embedding.js';
import { RaggedEmbedding } from '../../layers/embedding/ragged_embedding.js';
import { DistributedEmbedding } from '../../layers/distributed_embedding/layer.js';
import { DotInteraction } from '../../layers/feature_interaction/dot_interaction.js';
import { FeatureCross } from '../../layers/feature_interaction/feature_cross.js';
import { GlobalAveragePooling1D } from '../../layers/pooling/global_average_pooling1d.js';
import { CandidateScores } from '../../layers/candidate_scores.js';
import { UnitNormalization } from '../../layers/unit_normalization.js';
import { WithMask } from '../../layers/merge/with_mask.js';
import { KerasHardSigmoid } from '../../layers/keras_hard_sigmoid.js';
import { Operation } from '../../layers/operations/operation.js';
import { Normalization } from '../../layers/preprocessing/normalization.js';
import { GRU, GRUCell } from '../../layers/recurrent/gru.js';
import { EmbeddingTable } from '../../tables/embedding_table.js';
import { OpenTable } from '../../tables/keys/open_table.js';
import { SPARSE_OPTIMIZERS } from '../../optimizers/train.js';
import { takeClasses, takeNamed, type Class } from './known_classes.js';
import { isStock } from './stock.js';

const OPTIMIZERS: ReadonlySet<unknown> = new Set(Object.values(SPARSE_OPTIMIZERS));
const LAYERS: ReadonlySet<unknown> = new Set([
  Embedding,
  RaggedEmbedding,
  DistributedEmbedding,
  ConcatOneHotEmbedding,
  DotInteraction,
  FeatureCross,
  Normalization,
  GRU,
  GRUCell,
  MultiHeadAttention,
  Attention,
  AdditiveAttention,
  GlobalAveragePooling1D,
  UnitNormalization,
  CandidateScores,
  Operation,
  WithMask,
]);
/** What layers are made of. */
const PARTS: ReadonlySet<unknown> = new Set([
  ...[
    KerasHardSigmoid,
    EmbeddingTable,
    OpenTable,
    tf.LayerVariable,
    tf.Variable,
    tf.Tensor,
    tf.SymbolicTensor,
    tf.InputSpec,
  ],
]);

/** Snapshots all these classes; to be called before user code can replace their methods. */
export function snapshotKnownClasses(): void {
  takeNamed();
  takeClasses([tf.LayersModel, tf.Sequential, ...LAYERS, ...OPTIMIZERS, ...PARTS] as Class[]);
}

/** Whether it is the class of an optimizer of `emb.train`, exactly. */
export function isOptimizer({ constructor }: object): boolean {
  return OPTIMIZERS.has(constructor);
}

/** Whether it is the class of a model that holds others: one of tfjs, or as files of Keras name it. */
export function isModel({ constructor }: object): boolean {
  const { classNameMap } = tf.serialization.SerializationMap.getMap();
  return [tf.LayersModel, tf.Sequential, classNameMap['Functional']?.[0]].includes(constructor as never);
}

/** Whether layers of this class are captured. */
export function isLayer(layer: object): boolean {
  return LAYERS.has(layer.constructor) || isStock(layer) || isModel(layer);
}

/** Whether objects of this prototype do the same in every step while their fields are the same. */
export function isPlainClass(prototype: object): boolean {
  return isLayer(prototype) || PARTS.has(prototype.constructor) || isOptimizer(prototype);
}
