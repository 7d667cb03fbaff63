/** Functions that make the layers of the entry `tfjs-embeddings/layers`. All arguments go on, so that those by position are told. */
import type { Combiner } from '../base/types.js';
import { ConcatOneHotEmbedding, type ConcatOneHotEmbeddingArgs } from './embedding/concat_one_hot_embedding.js';
import { Embedding } from './embedding/embedding.js';
import { RaggedEmbedding } from './embedding/ragged_embedding.js';
import type { AnyTableLayerArgs } from './embedding/table_layer.js';
import { DotInteraction, type DotInteractionArgs } from './feature_interaction/dot_interaction.js';
import { FeatureCross, type FeatureCrossArgs } from './feature_interaction/feature_cross.js';

/**
 * Returns an `Embedding` layer; arguments, shapes and errors as there.
 *
 * @param args - Sizes, combiner and what else the layer takes; see `Embedding`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.embedding({inputDim: 1000, outputDim: 8, combiner: 'sum'});
 */
export function embedding<C extends Combiner | null = null>(args: AnyTableLayerArgs<C>): Embedding<C>;
export function embedding<C extends Combiner | null>(...given: [AnyTableLayerArgs<C>]): Embedding<C> {
  return new Embedding(...given);
}

/**
 * Returns a `RaggedEmbedding` layer; arguments, shapes and errors as there.
 *
 * @param args - Sizes, combiner and what else the layer takes; see `RaggedEmbedding`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.raggedEmbedding({inputDim: 1000, outputDim: 8, combiner: 'mean'});
 */
export function raggedEmbedding<C extends Combiner | null = null>(args: AnyTableLayerArgs<C>): RaggedEmbedding<C>;
export function raggedEmbedding<C extends Combiner | null>(...given: [AnyTableLayerArgs<C>]): RaggedEmbedding<C> {
  return new RaggedEmbedding(...given);
}

/**
 * Returns a `ConcatOneHotEmbedding` layer; arguments, shapes and errors as there.
 *
 * @param args - The sizes of the features; see `ConcatOneHotEmbedding`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.concatOneHotEmbedding({featureSizes: [3, 5, 7], embeddingWidth: 4});
 */
export function concatOneHotEmbedding(args: ConcatOneHotEmbeddingArgs): ConcatOneHotEmbedding;
export function concatOneHotEmbedding(...given: [ConcatOneHotEmbeddingArgs]): ConcatOneHotEmbedding {
  return new ConcatOneHotEmbedding(...given);
}

/**
 * Returns a `DotInteraction` layer; arguments, shapes and errors as there.
 *
 * @param args - Which products are kept; see `DotInteraction`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.dotInteraction({selfInteraction: true});
 */
export function dotInteraction(args?: DotInteractionArgs): DotInteraction;
export function dotInteraction(...given: [DotInteractionArgs?]): DotInteraction {
  return new DotInteraction(...given);
}

/**
 * Returns a `FeatureCross` layer; arguments, shapes and errors as there.
 *
 * @param args - The projection and the kernels; see `FeatureCross`.
 * @returns A new layer.
 *
 * @example
 * emb.layers.featureCross({projectionDim: 64});
 */
export function featureCross(args?: FeatureCrossArgs): FeatureCross;
export function featureCross(...given: [FeatureCrossArgs?]): FeatureCross {
  return new FeatureCross(...given);
}
