/** Makes models with these layers load, and, on request only, stock embedding layers load as these. */
import * as tf from '@tensorflow/tfjs';
import { storeInUse } from '../backends/registry.js';
import { lookAheadWhere } from '../tfjs/training/look_ahead.js';
import { takeRaggedValues } from '../tfjs/training/ragged_values.js';
import { batchUnevenRows } from '../tfjs/training/uneven_batches.js';
import { ConcatOneHotEmbedding } from './embedding/concat_one_hot_embedding.js';
import { DistributedEmbedding } from './distributed_embedding/layer.js';
import { DotInteraction } from './feature_interaction/dot_interaction.js';
import { Embedding } from './embedding/embedding.js';
import { FeatureCross } from './feature_interaction/feature_cross.js';
import { IntegerLookupLayer } from './integer_lookup_layer.js';
import { completeConfigs } from '../tfjs/layers/configs.js';
import { mendMasks } from '../tfjs/layers/masks.js';
import { validatePadding } from '../tfjs/layers/stock_padding.js';
import { takeKerasNames } from '../tfjs/models/keras_names.js';
import { addOnce } from '../tfjs/models/own_models.js';
import { copyFinalState } from '../tfjs/layers/recurrent_states.js';
import { givePipelines } from '../preprocessing/pipeline/attached_pipeline.js';
import { Concatenate } from './merge/concatenate.js';
import { AdditiveAttention, Attention } from './attention/attention.js';
import { MultiHeadAttention } from './attention/multi_head_attention.js';
import { WithMask } from './merge/with_mask.js';
import { Operation } from './operations/operation.js';
import { GlobalAveragePooling1D } from './pooling/global_average_pooling1d.js';
import { CandidateScores } from './candidate_scores.js';
import { UnitNormalization } from './unit_normalization.js';
import { KERAS_LAYERS } from './keras/keras_layers.js';
import { ACTIVATION_CLASSES } from './keras_activations.js';
import { KerasHardSigmoid } from './keras_hard_sigmoid.js';
import { CategoryEncoding } from './preprocessing/category_encoding.js';
import { DiscretizationLayer } from './preprocessing/discretization_layer.js';
import { HashingLayer } from './preprocessing/hashing_layer.js';
import { Normalization } from './preprocessing/normalization.js';
import { VocabularyLayer } from './preprocessing/vocabulary_layer.js';
import { registerTableLayers } from './register_tables.js';
import { InferenceBatchNormalization } from './inference_batch_normalization.js';
import { GRU, GRUCell } from './recurrent/gru.js';

type ClassMap = Record<string, [unknown, unknown] | undefined>;

function classNameMap(): ClassMap {
  return tf.serialization.SerializationMap.getMap().classNameMap as unknown as ClassMap;
}

const LAYERS = [
  DistributedEmbedding,
  IntegerLookupLayer,
  CategoryEncoding,
  DiscretizationLayer,
  HashingLayer,
  Normalization,
  VocabularyLayer,
  GRU,
  GRUCell,
  InferenceBatchNormalization,
  Concatenate,
  WithMask,
  Operation,
  MultiHeadAttention,
  Attention,
  AdditiveAttention,
  GlobalAveragePooling1D,
  UnitNormalization,
  CandidateScores,
] as const;

/** Registers the layers under their own names, which no stock layer has. */
export function registerLayers(): void {
  registerTableLayers();
  lookAheadWhere(() => storeInUse().prefetch !== null);
  for (const layer of LAYERS) tf.serialization.registerClass(layer as never);
  for (const layer of KERAS_LAYERS) tf.serialization.registerClass(layer as never);
  for (const activation of ACTIVATION_CLASSES) tf.serialization.registerClass(activation);
  tf.serialization.registerClass(KerasHardSigmoid);
  addOnce('models with layers', () => {
    for (const add of [takeRaggedValues, batchUnevenRows, mendMasks, copyFinalState, completeConfigs, validatePadding])
      add();
    takeKerasNames();
  });
  givePipelines();
}

/**
 * Names that tfjs asks for when a file names a layer of Keras, NVIDIA distributed-embeddings or Keras RS, and ours.
 * tfjs turns snake case into camel case in class names too, hence `kerasRs`.
 */
const KERAS_NAMES: Readonly<Record<string, string>> = {
  Embedding: Embedding.className,
  EmbedReduce: Embedding.className,
  'Custom>Embedding': Embedding.className,
  'kerasRs>EmbedReduce': Embedding.className,
  'kerasRs>DistributedEmbedding': DistributedEmbedding.className,
  ConcatOneHotEmbedding: ConcatOneHotEmbedding.className,
  'Custom>ConcatOneHotEmbedding': ConcatOneHotEmbedding.className,
  DotInteraction: DotInteraction.className,
  'kerasRs>DotInteraction': DotInteraction.className,
  FeatureCross: FeatureCross.className,
  'kerasRs>FeatureCross': FeatureCross.className,
};

/**
 * Makes `tf.loadLayersModel` build `Embedding` where a file names the embedding layer of Keras, of NVIDIA's
 * distributed-embeddings or of Keras RS (EmbedReduce). Combiners are then kept, which the stock layer drops, and the
 * model trains by rows. The same goes for ConcatOneHotEmbedding of NVIDIA, DotInteraction and FeatureCross of Keras RS,
 * which tfjs does not have. Returns a function that puts things back as they were. Without this call, importing the package
 * changes nothing about how stock models load. `tf.layers.embedding` stays the stock layer in any case.
 *
 * @returns A function that puts things back as they were.
 *
 * @example
 * const undo = emb.useForKerasEmbedding();
 * const model = await tf.loadLayersModel('file://exported/model.json');
 * undo();
 */
export function useForKerasEmbedding(): () => void {
  const map = classNameMap();
  const before = Object.keys(KERAS_NAMES).map((name) => [name, map[name]] as const);
  for (const [name, ours] of Object.entries(KERAS_NAMES)) map[name] = map[ours];
  return () => {
    for (const [name, entry] of before) {
      if (entry === undefined) delete map[name];
      else map[name] = entry;
    }
  };
}
