/** Makes models with these layers load, and, on request only, stock embedding layers load as these. */
import * as tf from '@tensorflow/tfjs';
import { Embedding } from './embedding.js';
import { openScopeInLoads } from './load_scope.js';
import { RaggedEmbedding } from './ragged_embedding.js';

type ClassMap = Record<string, [unknown, unknown] | undefined>;

function classNameMap(): ClassMap {
  return tf.serialization.SerializationMap.getMap().classNameMap as unknown as ClassMap;
}

/** Registers the layers under their own names, which no stock layer has. */
export function registerLayers(): void {
  tf.serialization.registerClass(Embedding as never);
  tf.serialization.registerClass(RaggedEmbedding as never);
  openScopeInLoads();
}

/**
 * Names that tfjs asks for when a file names an embedding layer of Keras, NVIDIA distributed-embeddings or Keras RS.
 * tfjs turns snake case into camel case in class names too, hence the last one.
 */
const KERAS_NAMES = ['Embedding', 'EmbedReduce', 'Custom>Embedding', 'kerasRs>EmbedReduce'];

/**
 * Makes `tf.loadLayersModel` build `Embedding` where a file names the embedding layer of Keras, of NVIDIA's
 * distributed-embeddings or of Keras RS (EmbedReduce). Combiners are then kept, which the stock layer drops, and the
 * model trains by rows. Returns a function that puts things back as they were. Without this call, importing the package
 * changes nothing about how stock models load. `tf.layers.embedding` stays the stock layer in any case.
 *
 * @example
 * const undo = emb.useForKerasEmbedding();
 * const model = await tf.loadLayersModel('file://exported/model.json');
 * undo();
 */
export function useForKerasEmbedding(): () => void {
  const map = classNameMap();
  const before = KERAS_NAMES.map((name) => [name, map[name]] as const);
  const ours = map[Embedding.className];
  for (const name of KERAS_NAMES) map[name] = ours;
  return () => {
    for (const [name, entry] of before) {
      if (entry === undefined) delete map[name];
      else map[name] = entry;
    }
  };
}
