/** `file://` for models in Node where tfjs-node, which brings one of its own, is not loaded. Node entry only. */
import * as tf from '@tensorflow/tfjs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ValueError, described } from '../errors.js';

const SCHEME = 'file://';
const TOPOLOGY = 'model.json';
const WEIGHTS = 'weights.bin';

/** tfjs-node writes `file://./folder` too, which is no valid URL. */
function pathOf(url: string): string {
  const rest = url.slice(SCHEME.length);
  return rest.startsWith('/') ? fileURLToPath(url) : rest;
}

/** Writes a file whole or not at all: a killed process or a full disk leaves the old one. */
async function writeWhole(path: string, content: Uint8Array | string): Promise<void> {
  const partial = `${path}.${process.pid}.part`;
  try {
    const file = await open(partial, 'w');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function save(folder: string, artifacts: tf.io.ModelArtifacts): Promise<tf.io.SaveResult> {
  const { weightData, weightSpecs, ...rest } = artifacts;
  await mkdir(folder, { recursive: true });
  const weights = new Uint8Array(tf.io.CompositeArrayBuffer.join(weightData));
  await writeWhole(join(folder, WEIGHTS), weights);
  const weightsManifest = [{ paths: [WEIGHTS], weights: weightSpecs ?? [] }];
  await writeWhole(join(folder, TOPOLOGY), JSON.stringify({ ...rest, weightsManifest }));
  return {
    modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON', weightDataBytes: weights.byteLength },
  };
}

async function load(path: string): Promise<tf.io.ModelArtifacts> {
  const text = await readFile(path, 'utf8');
  const { weightsManifest, ...rest } = JSON.parse(text) as tf.io.ModelJSON;
  if (!Array.isArray(weightsManifest)) {
    throw new ValueError('path', `a ${TOPOLOGY} with a weightsManifest`, described(basename(path)));
  }
  const files = weightsManifest.flatMap(({ paths }) => paths.map((name) => readFile(join(dirname(path), name))));
  const joined = Buffer.concat(await Promise.all(files));
  const weightData = joined.buffer.slice(joined.byteOffset, joined.byteOffset + joined.byteLength) as ArrayBuffer;
  const weightSpecs = weightsManifest.flatMap(({ weights }) => weights);
  return { ...rest, weightSpecs, weightData } as tf.io.ModelArtifacts;
}

/** Handlers step aside once tfjs-node is there: two of them for one URL are an error in tfjs. */
function isOurs(url: string | string[]): url is string {
  return typeof url === 'string' && url.startsWith(SCHEME) && !tf.findBackendFactory('tensorflow');
}

/**
 * Makes `model.save('file://folder')` and `tf.loadLayersModel('file://folder/model.json')` work without tfjs-node.
 * Files and their names are those of tfjs-node.
 */
export function registerFileHandler(): void {
  tf.io.registerSaveRouter((url) =>
    isOurs(url) ? { save: (artifacts) => save(pathOf(url), artifacts) } : (null as unknown as tf.io.IOHandler),
  );
  tf.io.registerLoadRouter((url) =>
    isOurs(url) ? { load: () => load(pathOf(url)) } : (null as unknown as tf.io.IOHandler),
  );
}
