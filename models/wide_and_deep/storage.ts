/** Models in folders: the files of tfjs (`model.json`, `weights.bin`), on every backend. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';

const TOPOLOGY = 'model.json';
const WEIGHTS = 'weights.bin';

/** Writes the model and its metadata; the folder is made where it is missing. */
export async function saveModel(model: tf.LayersModel, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const handler = tf.io.withSaveHandler((artifacts) => {
    const { weightData, weightSpecs, ...rest } = artifacts;
    writeFileSync(join(folder, WEIGHTS), new Uint8Array(tf.io.CompositeArrayBuffer.join(weightData)));
    const manifest = { ...rest, weightsManifest: [{ paths: [WEIGHTS], weights: weightSpecs }] };
    writeFileSync(join(folder, TOPOLOGY), JSON.stringify(manifest));
    const modelArtifactsInfo = { dateSaved: new Date(), modelTopologyType: 'JSON' } as const;
    return Promise.resolve({ modelArtifactsInfo });
  });
  await model.save(handler);
}

/** Reads what `saveModel` wrote, metadata included. */
export async function loadModel(folder: string): Promise<tf.LayersModel> {
  const load = (): Promise<tf.io.ModelArtifacts> => {
    const { weightsManifest, ...rest } = JSON.parse(readFileSync(join(folder, TOPOLOGY), 'utf8')) as tf.io.ModelJSON;
    const bytes = readFileSync(join(folder, WEIGHTS));
    const weightData = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
    return Promise.resolve({ ...rest, weightSpecs: weightsManifest.flatMap(({ weights }) => weights), weightData });
  };
  return tf.loadLayersModel({ load });
}
