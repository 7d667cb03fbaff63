/** A SavedModel of this package as a layers model, with the state of its optimizer where that was exported. */
import * as tf from '@tensorflow/tfjs';
import { tableOf } from '../../backends/table.js';
import { currentBackend } from '../../backends/registry.js';
import { ValueError, describe, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { perProcess } from '../../base/per_process.js';
import type { NamedTensor } from '../../base/types.js';
import { ASSETS_FILE, ASSETS_FORMAT, isAsWritten, type KeptWeight, type LayersModelAssets } from './assets.js';
import type { BundleReader, StoredTensor } from './bundle/bundle_reader.js';
import { readRows, readState, readTensor } from './bundle/stored_values.js';
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

interface Loadable {
  loadWeights(weights: tf.NamedTensorMap, strict?: boolean): void;
}

/** Whether tfjs is putting no weights into a model, which get them afterwards one by one. */
const state = (): { isWaiting: boolean; isPatched: boolean } => {
  return perProcess('weights that come later', () => ({ isWaiting: false, isPatched: false }));
};

/** tfjs makes a model with zeros, which cost no memory, only where it is given weights; it is given none. */
function waitForWeights(): void {
  const shared = state();
  if (shared.isPatched) return;
  shared.isPatched = true;
  const models = Object.getPrototypeOf(tf.LayersModel.prototype) as Loadable;
  const { loadWeights } = models;
  models.loadWeights = function (this: Loadable, weights, strict): void {
    if (state().isWaiting) state().isWaiting = false;
    else loadWeights.call(this, weights, strict);
  };
}

async function buildLayers(folder: SavedModelFolder, assets: LayersModelAssets): Promise<tf.LayersModel> {
  const { modelTopology, trainingConfig, userDefinedMetadata } = assets;
  waitForWeights();
  const artifacts: tf.io.ModelArtifacts = {
    modelTopology,
    weightData: new ArrayBuffer(0),
    ...(trainingConfig === undefined ? {} : { trainingConfig }),
    ...(userDefinedMetadata === undefined
      ? {}
      : { userDefinedMetadata: userDefinedMetadata as Record<string, object> }),
  };
  // tfjs asks for them right before it loads the weights, and nothing runs in between.
  Object.defineProperty(artifacts, 'weightSpecs', {
    enumerable: true,
    get() {
      state().isWaiting = true;
      queueMicrotask(() => (state().isWaiting = false));
      return [];
    },
  });
  try {
    return await tf.loadLayersModel({ load: async () => artifacts });
  } catch (error) {
    throw refuse(folder, 'where layers cannot be made', (error as Error).message);
  }
}

function storedAs(folder: SavedModelFolder, bundle: BundleReader, { name, key }: KeptWeight): StoredTensor {
  const stored = bundle.find(key);
  if (stored === null) throw refuse(folder, `whose variables lack ${describe(key)} of ${describe(name)}`);
  return stored;
}

async function fillWeights(
  folder: SavedModelFolder,
  bundle: BundleReader,
  model: tf.LayersModel,
  kept: readonly KeptWeight[],
): Promise<void> {
  // Layers of one name in several models have weights of one name: those come in the order of the model.
  const byName = new Map<string, KeptWeight[]>();
  for (const each of kept) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  const weights = [...new Map(model.weights.map((weight) => [weight.id, weight])).values()];
  const plan = weights.map((weight) => {
    const entry = byName.get(weight.originalName)?.shift();
    if (entry === undefined) throw refuse(folder, `which has no ${describe(weight.originalName)}`);
    const stored = storedAs(folder, bundle, entry);
    // Rows of float16 are stored as the float32 numbers that they stand for.
    const table = tableOf(weight.read());
    const [shape, dtype] = table.isPlain ? [weight.shape as number[], weight.dtype] : [table.shape, 'float32'];
    const isFrozen = entry.trainable === false;
    if (stored.dtype === dtype && tf.util.arraysEqual([...stored.shape], shape)) return { weight, stored, isFrozen };
    const found = `whose ${entry.name} is ${stored.dtype} of shape [${stored.shape.join(', ')}]`;
    throw refuse(folder, `${found}, where the layer has ${dtype} of shape [${shape.join(', ')}]`);
  });
  const trained = new Set(model.trainableWeights.map(({ id }) => id));
  for (const { weight, stored, isFrozen } of plan) {
    // Models and layers in both directions that were frozen train when tfjs has made them again.
    if (isFrozen && trained.has(weight.id)) weight.trainable = false;
    const variable = weight.read() as tf.Variable;
    const isTable = variable.dtype === 'float32' && variable.rank === 2;
    const write = isTable ? currentBackend().tables.rewrite(variable) : null;
    if (write !== null) {
      await readRows(bundle, stored, write);
      continue;
    }
    const value = await readTensor(bundle, stored);
    weight.write(value);
    value.dispose();
  }
}

async function fillOptimizer(
  folder: SavedModelFolder,
  bundle: BundleReader,
  model: tf.LayersModel,
  kept: readonly KeptWeight[],
): Promise<void> {
  const { optimizer } = model as { optimizer?: tf.Optimizer | null };
  if (optimizer === undefined || optimizer === null || kept.length === 0) return;
  const read: NamedTensor[] = [];
  try {
    for (const each of kept) {
      read.push({ name: each.name, tensor: await readState(bundle, storedAs(folder, bundle, each)) });
    }
    await optimizer.setWeights(read as never);
  } finally {
    tf.dispose(read.map(({ tensor }) => tensor));
  }
}

export async function loadLayers(folder: SavedModelFolder): Promise<tf.LayersModel> {
  const text = new TextDecoder().decode(await folder.bytes(ASSETS_FILE));
  const assets = readAssets(folder, text);
  const bundle = await folder.bundle();
  // A file that was cut is refused though the values that are needed may be left of it.
  await bundle.checkRoom(bundle.keys);
  const model = await buildLayers(folder, assets);
  try {
    await fillWeights(folder, bundle, model, assets.weights);
    await fillOptimizer(folder, bundle, model, assets.optimizer);
    return model;
  } catch (error) {
    (model as { optimizer?: tf.Optimizer | null }).optimizer?.dispose();
    model.dispose();
    throw error;
  }
}
