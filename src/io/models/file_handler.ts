/**
 * `file://` in Node: models are saved whole or not at all, and loaded from their folder alone. Node entry only.
 */
import * as tf from '@tensorflow/tfjs';
import { takeOverFileScheme } from '../../tfjs/file_scheme.js';
import { fromFile, nameFilesOfWeights } from '../../tfjs/loaded_weights.js';
import { freeCount } from '../../tfjs/stock_optimizer_state.js';
import { loadModel, loadWeights, openModel } from './model_file.js';
import { partsOf, saveModel, type ModelParts } from './model_folder.js';
import type { NamedTensor } from '../../base/types.js';
import { kerasRulesField } from '../../tfjs/models/keras_rules.js';
import { keptValues } from '../../tfjs/kept_values.js';
import { piecesOf } from './tensor_pieces.js';

/** What tfjs keeps to itself. */
interface Savable {
  getNamedWeights(config?: tf.io.SaveConfig): NamedTensor[];
  getTrainingConfig(): tf.io.TrainingConfig;
}

function specOf({ name, tensor }: NamedTensor): tf.io.WeightsManifestEntry {
  return { name, shape: tensor.shape, dtype: tensor.dtype as tf.io.WeightsManifestEntry['dtype'] };
}

/** Everything but the weights, as `save` of tfjs makes it. */
function artifactsOf(model: tf.LayersModel): tf.io.ModelArtifacts {
  const metadata = model.getUserDefinedMetadata();
  return {
    modelTopology: model.toJSON(null, false) as object,
    format: 'layers-model',
    generatedBy: `TensorFlow.js tfjs-layers v${tf.version_layers}`,
    convertedBy: null,
    ...kerasRulesField(model),
    ...(metadata === undefined || metadata === null ? {} : { userDefinedMetadata: metadata }),
  };
}

/** The bytes of tensors, one after the other, each of which is freed once it was read. */
async function* piecesOfAll(snapshots: tf.Tensor[]): AsyncGenerator<Uint8Array> {
  for (const snapshot of snapshots) {
    yield* piecesOf(snapshot);
    snapshot.dispose();
  }
}

/** A model as its `save` gives it to a handler, with all weights as they are at this moment. */
export async function partsOfModel(model: tf.LayersModel, config?: tf.io.SaveConfig): Promise<ModelParts> {
  const { optimizer } = model;
  const withState = config?.includeOptimizer === true && optimizer !== undefined && optimizer !== null;
  const inside = model as unknown as Savable;
  const state = withState ? ((await optimizer.getWeights()) as NamedTensor[]) : [];
  const weights = inside.getNamedWeights(config);
  const artifacts = artifactsOf(model);
  artifacts.weightSpecs = [
    ...weights.map(specOf),
    ...state.map((each): tf.io.WeightsManifestEntry => ({ ...specOf(each), group: 'optimizer' })),
  ];
  if (withState) artifacts.trainingConfig = inside.getTrainingConfig();
  const snapshots = [...weights, ...state].map(({ tensor }) => keptValues(tensor));
  freeCount(state);
  return { artifacts, pieces: piecesOfAll(snapshots), dispose: () => tf.dispose(snapshots) };
}

/**
 * Makes `model.save('file://folder')` and `tf.loadLayersModel('file://folder/model.json')` those of this package; once
 * per copy of tfjs.
 */
export function registerFileHandler(): void {
  const isFirst = takeOverFileScheme({
    loadWeights,
    open: openModel,
    load: async (path) => fromFile(path, await loadModel(path)),
    saveArtifacts: (folder, artifacts) => saveModel(folder, partsOf(artifacts)),
    saveModel: async (folder, model, config) => saveModel(folder, await partsOfModel(model, config)),
  });
  if (isFirst) nameFilesOfWeights();
}
