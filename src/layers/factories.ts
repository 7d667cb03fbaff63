/** Functions that make layers: the namespace `layers`. All arguments go on, so that those by position are told. */
import type * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import type { Combiner } from '../base/types.js';
import { AdditiveAttention, Attention, type AdditiveAttentionArgs, type AttentionArgs } from './attention/attention.js';
import { MultiHeadAttention, type MultiHeadAttentionArgs } from './attention/multi_head_attention.js';
import { CategoryEncoding } from '../preprocessing/category_encoding.js';
import { Discretization } from '../preprocessing/discretization.js';
import { Hashing } from '../preprocessing/hashing.js';
import { IntegerLookup } from '../preprocessing/integer_lookup.js';
import { Normalization } from '../preprocessing/normalization.js';
import type { PreprocessingObject } from '../preprocessing/pipeline/column_steps.js';
import { CategoryEncoding as CategoryEncodingLayer } from './preprocessing/category_encoding.js';
import { DiscretizationLayer } from './preprocessing/discretization_layer.js';
import { HashingLayer } from './preprocessing/hashing_layer.js';
import { Normalization as NormalizationLayer } from './preprocessing/normalization.js';
import { VocabularyLayer } from './preprocessing/vocabulary_layer.js';
import type {
  DistributedEmbeddingArgs,
  DistributedItem,
  EmbeddingsForm,
  FeaturesForm,
  DistributedPlacementArgs,
} from './distributed_embedding/arguments.js';
import { DistributedEmbedding } from './distributed_embedding/layer.js';
import type {
  AnyStructure,
  CombinersOf,
  CombinersOfItems,
  InputsOf,
  KnownFields,
  NestedFeatures,
} from './distributed_embedding/feature_types.js';
import { IntegerLookupLayer, type IntegerLookupLayerArgs } from './integer_lookup_layer.js';
import { Operation, type OperationArgs } from './operations/operation.js';
import { GlobalAveragePooling1D, type GlobalAveragePooling1DArgs } from './pooling/global_average_pooling1d.js';
import { CandidateScores, type CandidateScoresArgs } from './candidate_scores.js';
import { UnitNormalization, type UnitNormalizationArgs } from './unit_normalization.js';

export { concatOneHotEmbedding, dotInteraction, embedding, featureCross, raggedEmbedding } from './table_factories.js';

/**
 * Returns a `DistributedEmbedding` layer; arguments, shapes and errors as there.
 *
 * @param args - The tables or features, and how they are placed; see `DistributedEmbedding`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.distributedEmbedding({embeddings: [{inputDim: 1000, outputDim: 8}, {inputDim: 50, outputDim: 8}]});
 */
export function distributedEmbedding<F extends NestedFeatures, D extends boolean = true>(
  args: DistributedPlacementArgs<D> & FeaturesForm<F> & { output: 'concat' },
): DistributedEmbedding<Combiner, InputsOf<D, CombinersOf<F>>>;
export function distributedEmbedding<Items extends readonly DistributedItem[] | [], D extends boolean = true>(
  args: DistributedPlacementArgs<D> & EmbeddingsForm<Items & KnownFields<Items>> & { output: 'concat' },
): DistributedEmbedding<Combiner, AnyStructure>;
export function distributedEmbedding<C extends Combiner | null = null, D extends boolean = true>(
  args: DistributedPlacementArgs<D> &
    EmbeddingsForm<readonly DistributedItem<C>[]> & { inputTableMap: readonly number[] },
): DistributedEmbedding<C[], InputsOf<D, C[]>>;
export function distributedEmbedding<Items extends readonly DistributedItem[] | [], D extends boolean = true>(
  args: DistributedPlacementArgs<D> & EmbeddingsForm<Items & KnownFields<Items>>,
): DistributedEmbedding<CombinersOfItems<Items>, InputsOf<D, CombinersOfItems<Items>>>;
export function distributedEmbedding<F extends NestedFeatures, D extends boolean = true>(
  args: DistributedPlacementArgs<D> & FeaturesForm<F>,
): DistributedEmbedding<CombinersOf<F>, InputsOf<D, CombinersOf<F>>>;
export function distributedEmbedding(args: DistributedEmbeddingArgs): DistributedEmbedding;
export function distributedEmbedding(...given: [DistributedEmbeddingArgs]): DistributedEmbedding {
  return new DistributedEmbedding(...given);
}

/**
 * Returns an `IntegerLookupLayer`; arguments, shapes and errors as there.
 *
 * @param args - The size of the vocabulary; see `IntegerLookupLayer`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.integerLookup({maxTokens: 100000});
 */
export function integerLookup(args: IntegerLookupLayerArgs): IntegerLookupLayer;
export function integerLookup(...given: [IntegerLookupLayerArgs]): IntegerLookupLayer {
  return new IntegerLookupLayer(...given);
}

/**
 * Returns a `MultiHeadAttention` layer; arguments, shapes and errors as there.
 *
 * @param args - The number of heads and their sizes; see `MultiHeadAttention`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.multiHeadAttention({numHeads: 2, keyDim: 16});
 */
export function multiHeadAttention(args: MultiHeadAttentionArgs): MultiHeadAttention;
export function multiHeadAttention(...given: [MultiHeadAttentionArgs]): MultiHeadAttention {
  return new MultiHeadAttention(...given);
}

/**
 * Returns an `Attention` layer; arguments, shapes and errors as there.
 *
 * @param args - How scores are made; see `Attention`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.attention({useScale: true});
 */
export function attention(args?: AttentionArgs): Attention;
export function attention(...given: [AttentionArgs?]): Attention {
  return new Attention(...given);
}

/**
 * Returns an `AdditiveAttention` layer; arguments, shapes and errors as there.
 *
 * @param args - Whether scores are scaled; see `AdditiveAttention`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.additiveAttention();
 */
export function additiveAttention(args?: AdditiveAttentionArgs): AdditiveAttention;
export function additiveAttention(...given: [AdditiveAttentionArgs?]): AdditiveAttention {
  return new AdditiveAttention(...given);
}

/**
 * Returns a `GlobalAveragePooling1D` layer; arguments, shapes and errors as there.
 *
 * @param args - Where the steps are; see `GlobalAveragePooling1D`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.globalAveragePooling1d();
 */
export function globalAveragePooling1d(args?: GlobalAveragePooling1DArgs): GlobalAveragePooling1D;
export function globalAveragePooling1d(...given: [GlobalAveragePooling1DArgs?]): GlobalAveragePooling1D {
  return new GlobalAveragePooling1D(...given);
}

/**
 * Returns a `UnitNormalization` layer; arguments, shapes and errors as there.
 *
 * @param args - The axes of a vector; see `UnitNormalization`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.unitNormalization();
 */
export function unitNormalization(args?: UnitNormalizationArgs): UnitNormalization;
export function unitNormalization(...given: [UnitNormalizationArgs?]): UnitNormalization {
  return new UnitNormalization(...given);
}

/**
 * Returns a `CandidateScores` layer; arguments, shapes and errors as there.
 *
 * @param args - Which items a user is compared with; see `CandidateScores`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.candidateScores({ candidates: 'negatives' });
 */
export function candidateScores(args?: CandidateScoresArgs): CandidateScores;
export function candidateScores(...given: [CandidateScoresArgs?]): CandidateScores {
  return new CandidateScores(...given);
}

/**
 * Returns an `Operation` layer; arguments, shapes and errors as there.
 *
 * @param args - The operation and what it is called with; see `Operation`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.operation({operation: 'Multiply', operands: [{tensor: 0}, 2]});
 */
export function operation(args: OperationArgs): Operation;
export function operation(...given: [OperationArgs]): Operation {
  return new Operation(...given);
}

/**
 * Returns a layer that does within a model what an object of `emb.preprocessing` does before it, as it is now: for an
 * IntegerLookup, a Hashing (of whole numbers), a Discretization, a CategoryEncoding or a Normalization. It takes padded
 * inputs and ragged ones, `emb.input({shape: [null], ragged: true})`.
 *
 * @param object - What the layer does; it must have its vocabulary, boundaries or moments.
 * @returns A new layer.
 * @throws TypeError for other objects, those of strings among them: strings do not enter a layers model.
 *
 * @example
 * const visits = emb.input({shape: [null], ragged: true});
 * const ids = emb.layers.preprocessing(new emb.preprocessing.Hashing({numBins: 100})).apply(visits);
 * emb.layers.embedding({inputDim: 100, outputDim: 8, combiner: 'mean'}).apply(ids);
 */
export function preprocessing(object: PreprocessingObject): tf.layers.Layer {
  const learned = (value: unknown): void => {
    if (value !== null) return;
    throw new RuntimeError('object', 'one that has adapted, or was given what it needs', described('nothing learned'));
  };
  if (object instanceof IntegerLookup) {
    const { maxTokens, numOovIndices, maskToken, oovToken, vocabulary, padToMaxTokens, ...others } = object.getConfig();
    learned(vocabulary);
    const { outputMode, invert, oovMethod } = others;
    if (invert || oovMethod !== 'floormod') {
      const received = described(`invert ${String(invert)}, oovMethod ${oovMethod}`);
      throw new ValueError('object', 'no invert and oovMethod floormod', received);
    }
    const places = { outputMode, padToMaxTokens, idfWeights: others.idfWeights };
    return new VocabularyLayer({ maxTokens, numOovIndices, maskToken, oovToken, vocabulary: vocabulary!, ...places });
  }
  if (object instanceof Hashing) {
    const { numBins, maskValue, salt, outputMode } = object.getConfig();
    return new HashingLayer({ numBins, maskValue, salt, outputMode });
  }
  if (object instanceof Discretization) {
    const { binBoundaries, outputMode } = object.getConfig();
    learned(binBoundaries);
    return new DiscretizationLayer({ binBoundaries: binBoundaries!, outputMode });
  }
  if (object instanceof CategoryEncoding) {
    const { numTokens, outputMode } = object.getConfig();
    return new CategoryEncodingLayer({ numTokens, outputMode });
  }
  if (object instanceof Normalization) {
    const { axis, mean, variance, invert } = object.getConfig();
    learned(mean);
    return new NormalizationLayer({ axis, mean, variance, invert });
  }
  const expected = 'an IntegerLookup, Hashing, Discretization, CategoryEncoding or Normalization';
  const note = 'Strings do not enter a layers model: apply the object before it, or keep it in a Pipeline.';
  throw new ArgumentTypeError('object', expected, object, note);
}
