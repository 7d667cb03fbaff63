/** A model as one file: a zip archive of `model.json` and `weights.bin`, which any tfjs with this package loads. */
import * as zip from '@zip.js/zip.js';
import * as tf from '@tensorflow/tfjs';

const WEIGHTS = 'weights.bin';

/** Everything that a model is made of, with the optimizer's state. */
export async function artifactsOf(model: tf.LayersModel, includeOptimizer: boolean): Promise<tf.io.ModelArtifacts> {
  let found: tf.io.ModelArtifacts | null = null;
  const handler = tf.io.withSaveHandler((artifacts) => {
    found = artifacts;
    return Promise.resolve({ modelArtifactsInfo: tf.io.getModelArtifactsInfoForJSON(artifacts) });
  });
  await model.save(handler, { includeOptimizer });
  return found!;
}

export const modelOf = (artifacts: tf.io.ModelArtifacts): Promise<tf.LayersModel> =>
  tf.loadLayersModel(tf.io.fromMemory(artifacts));

/** `model.json` names the other file. */
export async function packed(model: tf.LayersModel): Promise<Blob> {
  const { weightData, weightSpecs, ...rest } = await artifactsOf(model, false);
  const json = { ...rest, weightsManifest: [{ paths: [WEIGHTS], weights: weightSpecs }] };
  const writer = new zip.ZipWriter(new zip.BlobWriter('application/zip'), { useWebWorkers: false });
  await writer.add('model.json', new zip.TextReader(JSON.stringify(json)));
  await writer.add(WEIGHTS, new zip.BlobReader(new Blob([weightData].flat() as ArrayBuffer[])));
  return writer.close();
}

/** Throws for files that hold no model. */
export async function unpacked(file: File): Promise<tf.LayersModel> {
  const wrong = `${file.name} holds no model: choose the zip file that was downloaded here.`;
  const reader = new zip.ZipReader(new zip.BlobReader(file), { useWebWorkers: false });
  const entries = await reader.getEntries().catch(() => {
    throw new Error(wrong);
  });
  const entry = (name: string): zip.FileEntry => {
    const found = entries.find(({ filename }) => filename === name);
    if (found === undefined || found.directory) throw new Error(wrong);
    return found;
  };
  const json = JSON.parse(await entry('model.json').getData(new zip.TextWriter())) as tf.io.ModelJSON;
  const weights = await entry(WEIGHTS).getData(new zip.Uint8ArrayWriter());
  await reader.close();
  const artifacts = await tf.io.getModelArtifactsForJSON(json, (manifest) =>
    Promise.resolve([tf.io.getWeightSpecs(manifest), weights.buffer as ArrayBuffer]),
  );
  return modelOf(artifacts);
}
