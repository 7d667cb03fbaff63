/** A model loaded from its `model.json` and the files that this names. */
import { constants } from 'node:buffer';
import { realpath } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { describe } from '../../base/errors.js';
import { readKerasRules } from '../../tfjs/models/keras_rules.js';
import { openInside, openRegular, type FolderFile } from './folder_file.js';
import { modelError, readGroups, readModelJson, type WeightGroup } from './model_json.js';
import { readError } from '../system_errors.js';
import { bytesTaken, leastBytes } from './weight_specs.js';
import type { StoredArray, StoredModel } from './stored_model.js';

type Entry = tf.io.WeightsManifestEntry & { readonly group?: string };

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

/** Fills `into` from a place in a file, which is as long as it was when it was measured. */
function readPart(path: string, name: string, size: number, at: number, into: Uint8Array): Promise<void> {
  return withWeights(path, name, async (file) => {
    if (file.size === size) return file.read(at, into);
    throw modelError(path, `${size} bytes in ${name}`, `which was written meanwhile: it holds ${file.size}`);
  });
}

async function readGroup(path: string, group: MeasuredGroup, bytes: Uint8Array): Promise<void> {
  let at = 0;
  for (const [i, name] of group.paths.entries()) {
    const into = bytes.subarray(at, (at += group.sizes[i]!));
    await readPart(path, name, into.length, 0, into);
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

/** Runs `use` on the text of a `model.json`, and again where another process saves meanwhile. */
async function withText<T>(path: string, use: (text: string) => Promise<T>): Promise<T> {
  let text = await readText(path);
  for (;;) {
    try {
      return await use(text);
    } catch (error) {
      // Another process may have saved meanwhile, and removed the weights that this text names.
      const now = await readText(path).catch(() => text);
      if (now === text) throw error;
      text = now;
    }
  }
}

/**
 * Loads the model of a `model.json`.
 *
 * @throws ValueError, which names the file, where it is not one that tfjs writes, where weights are missing, are not as
 * long as it says or lie outside its folder, and where they are larger than the memory; RuntimeError where the system refuses.
 */
export async function loadModel(path: string): Promise<tf.io.ModelArtifacts> {
  return withText(path, (text) => assemble(path, text));
}

/** Values are read in pieces of so many bytes. */
const PIECE_BYTES = 2 ** 20;

/** Fills `into` with the bytes that lie at a position of the files of a group, one after the other. */
async function readAt(
  path: string,
  { paths, sizes }: MeasuredGroup,
  position: number,
  into: Uint8Array,
): Promise<void> {
  let [start, done] = [0, 0];
  for (const [i, name] of paths.entries()) {
    const size = sizes[i]!;
    const at = position + done - start;
    start += size;
    if (at >= size) continue;
    const part = into.subarray(done, done + size - at);
    if (part.length === 0) return;
    await readPart(path, name, size, at, part);
    done += part.length;
  }
}

/** Bytes of a group in pieces, which use the same memory. */
async function* piecesAt(path: string, group: MeasuredGroup, first: number, bytes: number): AsyncGenerator<Uint8Array> {
  const room = new Uint8Array(Math.min(bytes, PIECE_BYTES));
  for (let done = 0; done < bytes; done += room.length) {
    const piece = room.subarray(0, bytes - done);
    await readAt(path, group, first + done, piece);
    yield piece;
  }
}

/** The weights of a group: plain numbers are read when they are asked for; the bytes of strings and of others, whole. */
async function arraysIn(path: string, group: MeasuredGroup, entries: readonly Entry[]): Promise<StoredArray[]> {
  let from = 0;
  const arrays: StoredArray[] = [];
  for (const [i, entry] of entries.entries()) {
    const [first, spec] = [from, group.specs[i]!];
    const { name, dtype, shape, quantization } = entry;
    const isPlain = spec.valueBytes !== null && quantization === undefined && dtype !== 'complex64';
    if (isPlain) {
      const bytes = leastBytes(spec);
      from += bytes;
      arrays.push({ name, dtype, shape, pieces: () => piecesAt(path, group, first, bytes) });
      continue;
    }
    // How long strings are is known from themselves.
    const bytes = new Uint8Array(spec.valueBytes === null ? group.bytes - first : leastBytes(spec));
    await readAt(path, group, first, bytes);
    const taken = bytesTaken([spec], new DataView(bytes.buffer));
    if (taken > bytes.length) throw modelError(path, 'weights as long as their strings', `whose ${name} is not`);
    from += taken;
    const tensor = (): tf.Tensor => tf.io.decodeWeights(bytes.slice(0, taken).buffer, [entry])[name]!;
    arrays.push({ name, dtype, shape, pieces: null, read: () => Promise.resolve(tensor()) });
  }
  if (from !== group.bytes) {
    throw modelError(path, 'weights as long as their strings', `whose ${group.paths.join(', ')} is not`);
  }
  return arrays;
}

/** A model whose `model.json` says that `save` of tfjs wrote it, so that its weights are those of its layers by name. */
function isSaved({ format, generatedBy, weightsManifest }: tf.io.ModelJSON): boolean {
  const isByLayers = typeof generatedBy === 'string' && generatedBy.startsWith('TensorFlow.js tfjs-layers ');
  return format === 'layers-model' && isByLayers && weightsManifest !== undefined;
}

/**
 * Opens the model of a `model.json`, whose weights are read as they are asked for; null for one that `save` did not write.
 * Errors are those of `loadModel`.
 */
export async function openModel(path: string): Promise<StoredModel | null> {
  return withText(path, async (text) => {
    const json = readModelJson(path, text);
    if (!isSaved(json)) return null;
    const { modelTopology, trainingConfig, userDefinedMetadata, weightsManifest } = json;
    const groups = await measure(path, readGroups(path, weightsManifest));
    checkSizes(path, groups);
    const arrays: (StoredArray & { readonly group: string | undefined })[] = [];
    for (const [i, group] of groups.entries()) {
      const entries = weightsManifest[i]!.weights as Entry[];
      const found = await arraysIn(path, group, entries);
      arrays.push(...found.map((array, k) => ({ ...array, group: entries[k]!.group })));
    }
    return {
      artifacts: {
        modelTopology,
        ...(trainingConfig && { trainingConfig }),
        ...(userDefinedMetadata && { userDefinedMetadata: userDefinedMetadata as Record<string, object> }),
      },
      kerasRules: readKerasRules((json as { kerasRules?: unknown }).kerasRules),
      weights: arrays.filter(({ group }) => group !== 'optimizer'),
      state: arrays.filter(({ group }) => group === 'optimizer'),
      refuse: (found, note) => modelError(path, 'weights that fit the model', found, note),
    };
  });
}
