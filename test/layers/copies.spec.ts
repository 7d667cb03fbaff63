import * as emb from 'tfjs-embeddings';
import { CategoryEncoding } from '../../src/layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../src/layers/preprocessing/discretization_layer.js';
import { HashingLayer } from '../../src/layers/preprocessing/hashing_layer.js';
import { Normalization } from '../../src/layers/preprocessing/normalization.js';
import { VocabularyLayer } from '../../src/layers/preprocessing/vocabulary_layer.js';
import { itKnowsOtherCopies } from '../base/known_copies.js';

describe('layers', () => {
  itKnowsOtherCopies({
    FeatureCross: emb.FeatureCross,
    DotInteraction: emb.DotInteraction,
    Embedding: emb.Embedding,
    RaggedEmbedding: emb.RaggedEmbedding,
    ConcatOneHotEmbedding: emb.ConcatOneHotEmbedding,
    DistributedEmbedding: emb.DistributedEmbedding,
    IntegerLookupLayer: emb.IntegerLookupLayer,
    ...{ VocabularyLayer, HashingLayer, DiscretizationLayer, CategoryEncoding, Normalization },
  });
});
