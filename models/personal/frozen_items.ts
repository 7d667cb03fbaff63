/** Items that are trained no more: their rows in int8, and what folding in needs to know of all of them. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

/** How rows of users are solved for. */
export interface FoldInSettings {
  readonly regularization: number;
  readonly unobservedWeight: number;
}

/** A model of one layer, the items. Its metadata say how to fold in, and hold V^T V, which never changes again. */
export function freeze(items: tf.Tensor2D, settings: FoldInSettings): tf.LayersModel {
  const [inputDim, outputDim] = items.shape;
  const trained = tf.sequential();
  const args = { name: 'items', inputDim, outputDim, inputLength: 1, weights: [items] };
  trained.add(emb.layers.embedding(args) as unknown as tf.layers.Layer);
  const frozen = emb.quantize(trained, { dtype: 'int8' });
  // Of the rows as they are now, not as they were.
  const rounded = emb.quantize(frozen, { dtype: 'float32' });
  const gram = tf.tidy(() => {
    const rows = rounded.getWeights()[0] as tf.Tensor2D;
    return Array.from(tf.matMul(rows, rows, true).dataSync());
  });
  frozen.setUserDefinedMetadata({ foldIn: { ...settings, gram } });
  trained.dispose();
  rounded.dispose();
  return frozen;
}

/** The table of a frozen model. */
export const itemsOf = (frozen: tf.LayersModel): tf.layers.Layer => frozen.getLayer('items');

/** Files of a model as a page fetches them. */
export async function modelFiles(model: tf.LayersModel): Promise<[string, Uint8Array][]> {
  const files: [string, Uint8Array][] = [];
  await model.save(
    tf.io.withSaveHandler((artifacts) => {
      const { weightData, weightSpecs, ...rest } = artifacts;
      const json = { ...rest, weightsManifest: [{ paths: ['weights.bin'], weights: weightSpecs }] };
      const weights = tf.io.CompositeArrayBuffer.join(weightData as ArrayBuffer | ArrayBuffer[]);
      files.push(['items/model.json', new TextEncoder().encode(JSON.stringify(json))]);
      files.push(['items/weights.bin', new Uint8Array(weights)]);
      return Promise.resolve({ modelArtifactsInfo: tf.io.getModelArtifactsInfoForJSON(artifacts) });
    }),
  );
  return files;
}
