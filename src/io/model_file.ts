/** A model loaded from its `model.json` and the files that this names. */
import { constants } from 'node:buffer';
import { realpath } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { describe } from '../base/errors.js';
import { openInside, openRegular, type FolderFile } from './folder_file.js';
import { modelError, readGroups, readModelJson, type WeightGroup } from './model_json.js';
import { readError } from './system_errors.js';
import { bytesTaken, leastBytes } from './weight_specs.js';

/** A group whose files were found. */
interface MeasuredGroup extends WeightGroup {
  readonly sizes: readonly number[];
  readonly bytes: number;
}

function memoryBytes(): number {
  const limit = process.constrainedMemory?.() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

async function readText(path: string): Promise<string> {
  try {
    const file = await openRegular(await realpath(path), path);
    try {
      const most = constants.MAX_STRING_LENGTH;
      if (file.size > most) throw modelError(path, `at most ${most} bytes`, `which holds ${file.size}`);
      const bytes = Buffer.alloc(file.size);
      await file.read(0, bytes);
      return bytes.toString('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    throw readError(error, path, 'path');
  }
}

/** Runs `use` on a file of weights. Files are opened one at a time, because there may be more than a process may open. */
async function withWeights<T>(path: string, name: string, use: (file: FolderFile) => Promise<T>): Promise<T> {
  const refuse = (what: string): Error =>
    modelError(path, 'weights in the folder of the model', `which names ${describe(name)}, ${what}`);
  try {
    const file = await openInside(dirname(path), name, refuse);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw readError(error, `${path}, which names ${describe(name)}`, 'path');
  }
}

async function measure(path: string, groups: readonly WeightGroup[]): Promise<MeasuredGroup[]> {
  const seen = new Set<string>();
  const measured: MeasuredGroup[] = [];
  for (const group of groups) {
    const sizes: number[] = [];
    for (const name of group.paths) {
      const { size, identity } = await withWeights(path, name, async (file) => file);
      if (seen.has(identity))
        throw modelError(path, 'each file of weights once', `which names ${describe(name)} twice`);
      seen.add(identity);
      sizes.push(size);
    }
    measured.push({ ...group, sizes, bytes: sizes.reduce((sum, size) => sum + size, 0) });
  }
  return measured;
}

/** Sizes are compared before there is memory for them; those of strings are known only from the bytes. */
function checkSizes(path: string, groups: readonly MeasuredGroup[]): void {
  for (const { paths, specs, bytes } of groups) {
    const least = specs.reduce((sum, spec) => sum + leastBytes(spec), 0);
    const isExact = specs.every(({ valueBytes }) => valueBytes !== null);
    if (bytes === least || (!isExact && bytes > least)) continue;
    const wanted = isExact ? `${least} bytes of weights` : `at least ${least} bytes of weights`;
    throw modelError(path, wanted, `whose ${paths.join(', ')} holds ${bytes}`);
  }
  const total = groups.reduce((sum, { bytes }) => sum + bytes, 0);
  const most = memoryBytes();
  if (total > most)
    throw modelError(path, `weights that fit into ${most} bytes of memory`, `whose weights take ${total}`);
}

async function readGroup(path: string, group: MeasuredGroup, bytes: Uint8Array): Promise<void> {
  let at = 0;
  for (const [i, name] of group.paths.entries()) {
    const into = bytes.subarray(at, (at += group.sizes[i]!));
    await withWeights(path, name, async (file) => {
      if (file.size === into.length) return file.read(0, into);
      throw modelError(path, `${into.length} bytes in ${name}`, `which was written meanwhile: it holds ${file.size}`);
    });
  }
  const taken = bytesTaken(group.specs, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (taken === bytes.length) return;
  throw modelError(path, 'weights as long as their strings', `whose ${group.paths.join(', ')} is not`);
}

async function readWeights(path: string, groups: readonly WeightGroup[]): Promise<ArrayBuffer> {
  const measured = await measure(path, groups);
  checkSizes(path, measured);
  const weights = new ArrayBuffer(measured.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const group of measured) {
    await readGroup(path, group, new Uint8Array(weights, at, group.bytes));
    at += group.bytes;
  }
  return weights;
}

/** The weights that a manifest names, read from the folder of the file at `path` that holds it. */
export async function loadWeights(
  path: string,
  manifest: tf.io.WeightsManifestConfig,
): Promise<[tf.io.WeightsManifestEntry[], ArrayBuffer]> {
  const weights = await readWeights(path, readGroups(path, manifest));
  return [manifest.flatMap((group) => group.weights), weights];
}

async function assemble(path: string, text: string): Promise<tf.io.ModelArtifacts> {
  const json = readModelJson(path, text);
  return tf.io.getModelArtifactsForJSON(json, (manifest) => loadWeights(path, manifest));
}

/**
 * Loads the model of a `model.json`.
 *
 * @throws ValueError, which names the file, where it is not one that tfjs writes, where weights are missing, are not as
 * long as it says or lie outside its folder, and where they are larger than the memory; RuntimeError where the system refuses.
 */
export async function loadModel(path: string): Promise<tf.io.ModelArtifacts> {
  let text = await readText(path);
  for (;;) {
    try {
      return await assemble(path, text);
    } catch (error) {
      // Another process may have saved meanwhile, and removed the weights that this text names.
      const now = await readText(path).catch(() => text);
      if (now === text) throw error;
      text = now;
    }
  }
}
