/** A SavedModel of this package as a layers model, with the state of its optimizer where that was exported. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, describe, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import type { StoredArray } from '../../io/models/stored_model.js';
import { loadStoredModel } from '../../layers/loaded_model.js';
import { readKerasRules } from '../../tfjs/models/keras_rules.js';
import { ASSETS_FILE, ASSETS_FORMAT, isAsWritten, type KeptWeight, type LayersModelAssets } from './assets.js';
import type { BundleReader } from './bundle/bundle_reader.js';
import type { SavedModelFolder } from './saved_model_folder.js';

function refuse(folder: { readonly path: string }, found: string, note?: string): ValueError {
  const expected = `a SavedModel of this package in ${ASSETS_FILE}`;
  return new ValueError('directory', expected, described(`${folder.path}, ${found}`), note);
}

function isKept(value: unknown): value is KeptWeight {
  return isRecord(value) && typeof value['name'] === 'string' && typeof value['key'] === 'string';
}

function isKeptList(value: unknown): value is KeptWeight[] {
  return Array.isArray(value) && value.every(isKept);
}

function readAssets(folder: { readonly path: string }, text: string): LayersModelAssets {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse(folder, 'where it is no JSON', (error as Error).message);
  }
  if (!isRecord(value) || value['format'] !== ASSETS_FORMAT) throw refuse(folder, 'where it is of another format');
  if (value['version'] !== 1) throw refuse(folder, `where it is of version ${describe(value['version'])}`);
  if (!isAsWritten(value)) throw refuse(folder, 'which was changed since it was written');
  if (!isRecord(value['modelTopology'])) throw refuse(folder, 'where it has no topology');
  if (!isKeptList(value['weights']) || !isKeptList(value['optimizer'])) {
    throw refuse(folder, 'where weights have no names and keys');
  }
  return value as unknown as LayersModelAssets;
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
  const assets = readAssets(folder, text);
  const bundle = await folder.bundle();
  // A file that was cut is refused though the values that are needed may be left of it.
  await bundle.checkRoom(bundle.keys);
  const { modelTopology, trainingConfig, userDefinedMetadata } = assets;
  const stored = (kept: readonly KeptWeight[]): StoredArray[] => kept.map((each) => storedArray(folder, bundle, each));
  return loadStoredModel({
    artifacts: {
      modelTopology,
      ...(trainingConfig === undefined ? {} : { trainingConfig }),
      ...(userDefinedMetadata === undefined
        ? {}
        : { userDefinedMetadata: userDefinedMetadata as Record<string, object> }),
    },
    kerasRules: readKerasRules(assets.kerasRules),
    weights: stored(assets.weights),
    state: stored(assets.optimizer),
    refuse: (found, note) => refuse(folder, found, note),
  });
}
