/** Parts of models that begin with layers which prepare features. */
import type * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { CategoryEncoding } from '../../../../src/layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../../../src/layers/preprocessing/discretization_layer.js';
import { HashingLayer } from '../../../../src/layers/preprocessing/hashing_layer.js';
import { Normalization } from '../../../../src/layers/preprocessing/normalization.js';
import { VocabularyLayer } from '../../../../src/layers/preprocessing/vocabulary_layer.js';
import { stock, type Draft, type Symbolic } from './draft.js';

const VECTORS = ['oneHot', 'multiHot', 'count'];
const WIDTH = 3;

/** A vector of one size for each row, of ids below a number. */
function lookedUp(draft: Draft, ids: Symbolic, below: number): Symbolic {
  const layer = emb.layers.embedding({ inputDim: below, outputDim: draft.r.whole(1, 5), combiner: 'mean' });
  return draft.apply(layer as tf.layers.Layer, ids);
}

type Make = (draft: Draft) => Symbolic;

const discretized: Make = (draft) => {
  const input = draft.input(draft.floats(WIDTH));
  const outputMode = draft.r.pick(['int', ...VECTORS.slice(1)]);
  const layer = new DiscretizationLayer({ binBoundaries: [-1, 0, 0.5], outputMode }) as tf.layers.Layer;
  const result = draft.apply(layer, input);
  return outputMode === 'int' ? lookedUp(draft, result, 4) : result;
};

const hashed: Make = (draft) => {
  const { r } = draft;
  const args = {
    numBins: 7,
    ...(r.chance(0.5) ? { salt: r.pick([133, [133, 5]]) } : {}),
    ...(r.chance(0.5) ? { maskValue: 2 } : {}),
  };
  const input = draft.input(draft.ids(1_000_000, WIDTH));
  return lookedUp(draft, draft.apply(new HashingLayer(args as never) as tf.layers.Layer, input), 7);
};

const known: Make = (draft) => {
  const { r } = draft;
  const outputMode = r.pick(['int', ...VECTORS.slice(1)]);
  const numOovIndices = r.whole(1, 4);
  const args = { vocabulary: [2, 0, 17, 5], numOovIndices, outputMode };
  const input = draft.input(draft.ids(20, WIDTH));
  const result = draft.apply(new VocabularyLayer(args) as tf.layers.Layer, input);
  return outputMode === 'int' ? lookedUp(draft, result, 4 + numOovIndices) : result;
};

const categories: Make = (draft) => {
  const input = draft.input(draft.ids(5, WIDTH));
  const outputMode = draft.r.pick(VECTORS.slice(1));
  if (!draft.beyondKeras(0.5)) {
    return draft.apply(new CategoryEncoding({ numTokens: 5, outputMode }) as tf.layers.Layer, input);
  }
  // tfjs writes the shape of the result over that of its input.
  const same = draft.apply(stock['reshape']!({ targetShape: [WIDTH] }), input);
  return draft.apply(stock['categoryEncoding']!({ numTokens: 5, outputMode }), same);
};

const normalized: Make = (draft) => {
  const { r } = draft;
  const input = draft.input(draft.floats(WIDTH));
  const args = r.pick([
    {},
    { axis: null },
    { mean: [1, 2, 3], variance: [4, 0.5, 0.25] },
    { mean: 1, variance: 4, axis: null, invert: true },
  ]);
  return draft.apply(new Normalization(args) as tf.layers.Layer, input);
};

const learned: Make = (draft) => {
  const layer = emb.layers.integerLookup({ maxTokens: 6 });
  layer.apply([7, 2, 12]);
  layer.trainable = false;
  const input = draft.input(draft.ids(15, WIDTH));
  return lookedUp(draft, draft.apply(layer as tf.layers.Layer, input), 7);
};

/** A vector of prepared features. */
export function prepared(draft: Draft): Symbolic {
  const all = [discretized, hashed, known, categories, normalized];
  return draft.r.pick(draft.forKeras ? all : [...all, learned])(draft);
}
