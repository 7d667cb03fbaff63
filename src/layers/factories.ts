/** Functions that make layers: the namespace `layers`. */
import { Embedding, type EmbeddingArgs } from './embedding.js';
import { RaggedEmbedding, type RaggedEmbeddingArgs } from './ragged_embedding.js';

/**
 * Returns an `Embedding` layer; arguments, shapes and errors as there.
 *
 * @example
 * emb.layers.embedding({inputDim: 1000, outputDim: 8, combiner: 'sum'});
 */
export function embedding(args: EmbeddingArgs): Embedding {
  return new Embedding(args);
}

/**
 * Returns a `RaggedEmbedding` layer; arguments, shapes and errors as there.
 *
 * @example
 * emb.layers.raggedEmbedding({inputDim: 1000, outputDim: 8, combiner: 'mean'});
 */
export function raggedEmbedding(args: RaggedEmbeddingArgs): RaggedEmbedding {
  return new RaggedEmbedding(args);
}
