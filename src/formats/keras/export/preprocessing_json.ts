/** Preprocessing layers as Keras 3 writes them. */
import type * as tf from '@tensorflow/tfjs';
import { CategoryEncoding } from '../../../layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../../layers/preprocessing/discretization_layer.js';
import { HashingLayer } from '../../../layers/preprocessing/hashing_layer.js';
import { Normalization } from '../../../layers/preprocessing/normalization.js';
import { VocabularyLayer } from '../../../layers/preprocessing/vocabulary_layer.js';
import { layerError } from '../layer_error.js';
import { keras, namedLayer, type LayerEntry } from './layer_json.js';
import { snakeWord } from './python_config.js';

interface Preprocessing {
  readonly cls: abstract new (...args: never[]) => tf.layers.Layer;
  readonly className: string;
  /** As they are called here. */
  readonly fields: readonly string[];
}

const KINDS: readonly Preprocessing[] = [
  { cls: Normalization, className: 'Normalization', fields: ['axis', 'mean', 'variance', 'invert'] },
  { cls: CategoryEncoding, className: 'CategoryEncoding', fields: ['numTokens', 'outputMode'] },
  { cls: DiscretizationLayer, className: 'Discretization', fields: ['binBoundaries', 'outputMode'] },
  { cls: HashingLayer, className: 'Hashing', fields: ['numBins', 'maskValue', 'salt', 'outputMode'] },
  {
    cls: VocabularyLayer,
    className: 'IntegerLookup',
    fields: [
      'maxTokens',
      'numOovIndices',
      'maskToken',
      'oovToken',
      'vocabulary',
      'idfWeights',
      'outputMode',
      'padToMaxTokens',
    ],
  },
];

/** Null for layers of other kinds. The dtype is left to Keras, which gives ids another than vectors. */
export function preprocessingEntry(layer: tf.layers.Layer): LayerEntry | null {
  const kind = KINDS.find(({ cls }) => layer instanceof cls);
  if (kind === undefined) return null;
  const config = layer.getConfig() as Record<string, unknown>;
  if (kind.className === 'Hashing' && typeof config['maskValue'] === 'string') {
    const expected = 'a number: Hashing of Keras compares whole numbers with numbers alone';
    throw layerError(namedLayer(layer), 'maskValue', expected, config['maskValue']);
  }
  const written: Record<string, unknown> = { name: layer.name };
  for (const field of kind.fields) {
    const value = config[field];
    if (value === undefined) continue;
    written[snakeWord(field)] = field === 'outputMode' ? snakeWord(String(value)) : value;
  }
  return keras(kind.className, written);
}
