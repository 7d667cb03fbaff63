/** Loads a SavedModel: as layers where it tells of layers that are known here, else as something that runs. Node only. */
import { constants } from 'node:buffer';
import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type * as tf from '@tensorflow/tfjs';
import { setTimeout } from 'node:timers/promises';
import { ArgumentTypeError, RuntimeError, ValueError } from '../../base/errors.js';
import type { RunnableSavedModel } from '../../base/platform.js';
import { folderPath } from '../../io/byte_source.js';
import { readOptions } from '../../base/options.js';
import { ASSETS_FILE } from './assets.js';
import { healFolder, isBeingReplaced } from './folder.js';
import { KERAS_METADATA, loadKerasLayers } from './keras/keras_layers.js';
import { loadLayers } from './layers_model.js';
import type { LoadSavedModelOptions } from './index.js';
import { Replaced, SavedModelFolder } from './saved_model_folder.js';
import { runnable } from './runnable.js';
import { SavedModelOutline, type MetaGraphMessage } from './wire/saved_model_messages.js';

const MODEL_FILE = 'saved_model.pb';
const SERVE = 'serve';
/** How often a SavedModel is read anew that others replace, and how long they are given. */
const MOST_TRIES = 200;
const PAUSE_MS = 5;
/** A graph may hold constants. */
const MOST_GRAPH_BYTES = Math.min(2 ** 31 - 1, constants.MAX_LENGTH);

function readTags(value: unknown): string[] {
  if (value === undefined || value === null) return [SERVE];
  const expected = `a list of tags, such as ['${SERVE}']`;
  const isList = Array.isArray(value) && value.every((tag) => typeof tag === 'string');
  if (!isList) throw new ArgumentTypeError('tags', expected, value);
  return [...(value as string[])];
}

/** The graph that has exactly these tags. */
function graphOf(
  folder: SavedModelFolder,
  graphs: readonly MetaGraphMessage<Uint8Array>[],
  tags: readonly string[],
): MetaGraphMessage<Uint8Array> {
  // As TensorFlow compares them: what is checked is what it runs.
  const same = (some: readonly string[]): string => JSON.stringify([...new Set(some)].sort());
  const [found, second] = graphs.filter(({ info }) => same(info?.tags ?? []) === same(tags));
  if (second !== undefined)
    throw new ValueError('tags', `those of one graph in ${folder.path}`, tags, 'Two have them.');
  if (found !== undefined) return found;
  const all = graphs.map(({ info }) => `[${(info?.tags ?? []).join(', ')}]`).join(', ');
  throw new ValueError('tags', `those of a graph in ${folder.path}: ${all === '' ? 'none' : all}`, tags);
}

async function checkFolder(directory: unknown): Promise<string> {
  if (typeof directory !== 'string') throw new ArgumentTypeError('directory', 'the path of a folder', directory);
  const path = resolve(folderPath(directory, 'directory'));
  await healFolder(path);
  const found = await lstat(path).catch(() => null);
  if (found === null && (await isBeingReplaced(path))) throw new Replaced(path);
  if (found === null) throw new ValueError('directory', 'a folder that exists', directory);
  if (!found.isDirectory() && !found.isSymbolicLink()) throw new ValueError('directory', 'a folder', directory);
  return path;
}

/** Throws Replaced where another SavedModel takes its place meanwhile. */
async function loadOnce(
  directory: unknown,
  tags: string[],
  signature: string | null,
): Promise<tf.LayersModel | RunnableSavedModel> {
  const folder = await SavedModelFolder.open(await checkFolder(directory));
  try {
    const outline = SavedModelOutline.decode(await folder.bytes(MODEL_FILE, MOST_GRAPH_BYTES));
    const graph = graphOf(folder, outline.metaGraphs ?? [], tags);
    if (signature === null && folder.has(ASSETS_FILE)) return await loadLayers(folder);
    if (signature === null && folder.has(KERAS_METADATA)) {
      const model = await loadKerasLayers(folder, graph);
      if (model !== null) return model;
    }
    return await runnable(folder, graph, tags, signature);
  } catch (error) {
    // What does not fit together may be of two.
    if (!(error instanceof Replaced)) await folder.check();
    throw error;
  } finally {
    await folder.close();
  }
}

export async function loadModel(directory: unknown, options: unknown): Promise<tf.LayersModel | RunnableSavedModel> {
  const given = readOptions<LoadSavedModelOptions>(options ?? {}, ['tags', 'signature'], 'options');
  const tags = readTags(given.tags);
  const signature: unknown = given.signature ?? null;
  if (signature !== null && typeof signature !== 'string') {
    throw new ArgumentTypeError('signature', 'the name of a signature', signature);
  }
  for (let tries = 1; ; tries++) {
    try {
      return await loadOnce(directory, tags, signature);
    } catch (error) {
      if (!(error instanceof Replaced)) throw error;
      if (tries === MOST_TRIES) throw new RuntimeError('directory', 'a SavedModel that stays as it is', directory);
      await setTimeout(PAUSE_MS);
    }
  }
}
