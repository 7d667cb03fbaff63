/**
 * A model saved in a folder: all of it, or what was there before.
 *
 * Weights go into files of a new name. `model.json`, which names them, is written last, under another name, and renamed
 * once everything is on disk. So whenever a process is killed, a disk is full or the power fails, `model.json` is the old
 * one or the new one, and the weights that it names are there.
 */
import { randomBytes } from 'node:crypto';
import { lstat, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { makeFolders } from '../made_folders.js';
import { MODEL_JSON, draftName, removeLeftovers, weightsName } from './model_leftovers.js';
import { WeightFiles, writing } from './weight_files.js';

/** A model on its way into a folder: artifacts without weight data, and the data in pieces. */
export interface ModelParts {
  readonly artifacts: tf.io.ModelArtifacts;
  readonly pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Frees what the pieces are read from. */
  dispose?(): void;
}

/** What a handler of tfjs is given, its weight data as it is. */
export function partsOf(artifacts: tf.io.ModelArtifacts): ModelParts {
  const { weightData, ...rest } = artifacts;
  const buffers = Array.isArray(weightData) ? weightData : weightData === undefined ? [] : [weightData];
  return { artifacts: rest, pieces: buffers.map((buffer) => new Uint8Array(buffer)) };
}

/** Has the names in a folder on disk, where the system can do that for folders. `named`: in errors. */
export async function syncFolder(folder: string, named = folder): Promise<void> {
  if (process.platform === 'win32') return;
  await writing(named, async () => {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EINVAL') throw error;
    } finally {
      await handle.close();
    }
  });
}

/** Renaming would fail too, but only after all weights were written. */
async function checkTarget(path: string): Promise<void> {
  const target = await lstat(path).catch(() => null);
  if (target?.isDirectory() !== true) return;
  throw new ValueError('path', `a folder whose ${MODEL_JSON} is a file`, described(`${path}, which is a folder`));
}

/** Fails where the draft is gone: a process that removed it took the weights for leftovers too. */
async function fillDraft(draft: string, text: string): Promise<void> {
  await writing(draft, async () => {
    const file = await open(draft, 'r+');
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  });
}

function modelJson(artifacts: tf.io.ModelArtifacts, paths: string[]): string {
  const { weightSpecs, ...rest } = artifacts;
  return JSON.stringify({ ...rest, weightsManifest: [{ paths, weights: weightSpecs ?? [] }] });
}

/** What cannot be removed now is removed by a later save; whether this one is done does not hang on it. */
async function tidy(folder: string, draft: string, weights: WeightFiles, isDone: boolean): Promise<void> {
  try {
    // Where it is done, no file is open and the draft has its final name.
    await weights.abandon();
    await rm(draft, { force: true });
    await removeLeftovers(folder, isDone);
  } catch {
    return;
  }
}

/**
 * Saves a model in a folder, which is made where it is missing. `fileBytes`: how many bytes of weights go into one file.
 *
 * @throws RuntimeError, which names the file, where the system refuses; what was saved there before is then untouched.
 */
export async function saveModel(folder: string, parts: ModelParts, fileBytes?: number): Promise<tf.io.SaveResult> {
  try {
    return await saveParts(folder, parts, fileBytes);
  } finally {
    parts.dispose?.();
  }
}

async function saveParts(
  folder: string,
  { artifacts, pieces }: ModelParts,
  fileBytes: number | undefined,
): Promise<tf.io.SaveResult> {
  if (artifacts.modelTopology instanceof ArrayBuffer) {
    throw new ArgumentTypeError('modelTopology', 'a topology in JSON', artifacts.modelTopology);
  }
  const removeFolders = await makeFolders(folder);
  const target = join(folder, MODEL_JSON);
  await checkTarget(target);
  const id = randomBytes(8).toString('hex');
  const draft = join(folder, draftName(id));
  const weights = new WeightFiles(folder, (number) => weightsName(id, number), fileBytes);
  let isDone = false;
  try {
    await writing(draft, () => writeFile(draft, '', { flag: 'wx' }));
    for await (const piece of pieces) await weights.write(piece);
    await weights.end();
    await fillDraft(draft, modelJson(artifacts, weights.names));
    // The names of the weights are on disk before the name that leads to them.
    await syncFolder(folder);
    await writing(target, () => rename(draft, target));
    isDone = true;
    await syncFolder(folder);
  } finally {
    await tidy(folder, draft, weights, isDone);
    if (!isDone) await removeFolders();
  }
  const info = tf.io.getModelArtifactsInfoForJSON(artifacts);
  return { modelArtifactsInfo: { ...info, weightDataBytes: weights.bytes } };
}
