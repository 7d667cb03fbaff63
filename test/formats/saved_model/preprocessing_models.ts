/** Models of layers that prepare features, with inputs. */
import * as tf from '@tensorflow/tfjs';
import { CategoryEncoding } from '../../../src/layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../../src/layers/preprocessing/discretization_layer.js';
import { HashingLayer } from '../../../src/layers/preprocessing/hashing_layer.js';
import { Normalization } from '../../../src/layers/preprocessing/normalization.js';
import { VocabularyLayer } from '../../../src/layers/preprocessing/vocabulary_layer.js';

export interface PreparedModel {
  readonly model: tf.LayersModel;
  readonly inputs: tf.Tensor[];
}

function alone(layer: tf.layers.Layer, rows: number[][], dtype: 'float32' | 'int32' = 'int32'): PreparedModel {
  const input = tf.input({ shape: [rows[0]!.length], dtype });
  const model = tf.model({ inputs: input, outputs: layer.apply(input) as tf.SymbolicTensor });
  return { model, inputs: [tf.tensor2d(rows, undefined, dtype)] };
}

const WHOLE = [
  [3, -7, 2_000_000_000],
  [12, 0, 5],
];
const REAL = [
  [-1.5, 0, 0.25],
  [2, 1e9, NaN],
];
const IDS = [
  [3, 1, 3],
  [0, 4, 9],
];
const BOUNDARIES = [-1, 0, 0.25, 2];

/** Moments for each place of the last axis. */
function normalization(args: object): PreparedModel {
  return alone(
    new Normalization(args),
    [
      [1, -2, 3],
      [0.5, 8, -1],
    ],
    'float32',
  );
}

export const PREPROCESSING_MODELS: readonly (readonly [string, () => PreparedModel])[] = [
  ...['int', 'oneHot', 'multiHot', 'count'].map((outputMode) => {
    const make = () => alone(new DiscretizationLayer({ binBoundaries: BOUNDARIES, outputMode }), REAL, 'float32');
    return [`Discretization, ${outputMode}`, make] as const;
  }),
  ['Discretization of whole numbers', () => alone(new DiscretizationLayer({ binBoundaries: [0, 4, 12] }), WHOLE)],
  ...['oneHot', 'multiHot', 'count'].map((outputMode) => {
    return [
      `CategoryEncoding of Keras, ${outputMode}`,
      () => alone(new CategoryEncoding({ numTokens: 5, outputMode }), IDS),
    ] as const;
  }),
  [
    'CategoryEncoding of Keras, one id',
    () => alone(new CategoryEncoding({ numTokens: 5, outputMode: 'oneHot' }), [[3], [7]]),
  ],
  ['Hashing', () => alone(new HashingLayer({ numBins: 7 }), WHOLE)],
  ['Hashing, salted', () => alone(new HashingLayer({ numBins: 1000, salt: [133, -5] }), WHOLE)],
  ['Hashing, masked', () => alone(new HashingLayer({ numBins: 7, maskValue: 12 }), WHOLE)],
  ['Hashing, masked, into one bin', () => alone(new HashingLayer({ numBins: 1, maskValue: 12 }), WHOLE)],
  ['Hashing, masked, into two bins', () => alone(new HashingLayer({ numBins: 2, maskValue: 12 }), WHOLE)],
  ['Hashing, masked by a word', () => alone(new HashingLayer({ numBins: 7, maskValue: 'none' }), WHOLE)],
  ['VocabularyLookup', () => alone(new VocabularyLayer({ vocabulary: [12, 5, -7] }), WHOLE)],
  [
    'VocabularyLookup, rows for others and a mask',
    () => alone(new VocabularyLayer({ vocabulary: [12, 5, 2 ** 40], numOovIndices: 3, maskToken: 0 }), WHOLE),
  ],
  ...['oneHot', 'multiHot', 'count'].map((outputMode) => {
    const make = () => alone(new VocabularyLayer({ vocabulary: [12, 5, -7], numOovIndices: 2, outputMode }), WHOLE);
    return [`VocabularyLookup, ${outputMode}`, make] as const;
  }),
  [
    'VocabularyLookup, one of each, places for more',
    () => {
      const args = { vocabulary: [12, 5], maxTokens: 6, padToMaxTokens: true, outputMode: 'oneHot' };
      return alone(new VocabularyLayer(args), [[12], [3], [5]]);
    },
  ],
  ['Normalization by weights', () => normalization({})],
  ['Normalization by weights of one for all', () => normalization({ axis: null })],
  ['Normalization by numbers', () => normalization({ mean: [1, 2, 3], variance: [4, 0, 0.25] })],
  ['Normalization by numbers, turned round', () => normalization({ mean: 1, variance: 4, axis: null, invert: true })],
];
