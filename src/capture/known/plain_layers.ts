/** Which layers compute the same in every step by their classes, and why others do not. */
import * as tf from '@tensorflow/tfjs';
import { IntegerLookupLayer } from '../../layers/integer_lookup_layer.js';
import { CategoryEncoding } from '../../layers/preprocessing/category_encoding.js';
import { DiscretizationLayer } from '../../layers/preprocessing/discretization_layer.js';
import { HashingLayer } from '../../layers/preprocessing/hashing_layer.js';
import { VocabularyLayer } from '../../layers/preprocessing/vocabulary_layer.js';
import { isLayer, isModel } from './plain_classes.js';

/** Ours that no graph repeats: what they give is computed in JavaScript. */
const READING: ReadonlySet<unknown> = new Set([
  IntegerLookupLayer,
  CategoryEncoding,
  DiscretizationLayer,
  HashingLayer,
  VocabularyLayer,
]);
/** By its name: it comes with an entry of its own. */
const OF_TPU = 'TfjsEmbeddings>TPUEmbedding';

/** Why layers of a class that is neither of tfjs nor among those that are captured are not. */
function whyNotClass({ constructor }: tf.layers.Layer): string {
  if (READING.has(constructor)) return 'reads its input in JavaScript';
  const { classNameMap } = tf.serialization.SerializationMap.getMap();
  if (classNameMap[OF_TPU]?.[0] === (constructor as unknown))
    return 'looks up and steps tables of its own, which are no variables of the step';
  return `is of the class ${constructor.name}, which is not one of tfjs or of this package`;
}

/** Why a layer may do something else in another step, whatever its fields are; null: it does not. */
export function whyNotLayer(layer: tf.layers.Layer): string | null {
  if (!isLayer(layer)) return `layer ${layer.name} ${whyNotClass(layer)}`;
  const { stateful } = layer as unknown as { stateful?: boolean };
  return stateful === true && !isModel(layer) ? `layer ${layer.name} keeps a state from batch to batch` : null;
}
