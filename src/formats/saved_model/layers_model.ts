/** A SavedModel of this package as a layers model, with the state of its optimizer where that was exported. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, describe, described } from '../../base/errors.js';
import type { StoredArray } from '../../io/models/stored_model.js';
import { loadStoredModel } from '../../layers/loaded_model.js';
import { ASSETS_FILE, type KeptWeight } from './assets.js';
import type { BundleReader } from './bundle/bundle_reader.js';
import { modelOf, readAssets } from './read_assets.js';
import type { SavedModelFolder } from './saved_model_folder.js';

function refuse(folder: { readonly path: string }, found: string, note?: string): ValueError {
  const expected = `a SavedModel of this package in ${ASSETS_FILE}`;
  return new ValueError('directory', expected, described(`${folder.path}, ${found}`), note);
}

/** A value of the bundle under the name of its weight. */
function storedArray(
  folder: SavedModelFolder,
  bundle: BundleReader,
  { name, key, trainable }: KeptWeight,
): StoredArray {
  const stored = bundle.find(key);
  if (stored === null) throw refuse(folder, `whose variables lack ${describe(key)} of ${describe(name)}`);
  return { ...bundle.array(stored), name, isFrozen: trainable === false };
}

export async function loadLayers(folder: SavedModelFolder): Promise<tf.LayersModel> {
  const text = new TextDecoder().decode(await folder.bytes(ASSETS_FILE));
  const assets = readAssets(text, (found, note) => refuse(folder, found, note));
  const bundle = await folder.bundle();
  // A file that was cut is refused though the values that are needed may be left of it.
  await bundle.checkRoom(bundle.keys);
  const stored = (kept: readonly KeptWeight[]): StoredArray[] => kept.map((each) => storedArray(folder, bundle, each));
  return loadStoredModel({
    ...modelOf(assets),
    weights: stored(assets.weights),
    state: stored(assets.optimizer),
    refuse: (found, note) => refuse(folder, found, note),
  });
}
