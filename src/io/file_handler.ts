/**
 * `file://` in Node: models are saved whole or not at all, and loaded from their folder alone. Node entry only.
 */
import * as tf from '@tensorflow/tfjs';
import { takeOverFileScheme } from '../tfjs/file_scheme.js';
import { fromFile, nameFilesOfWeights } from '../tfjs/loaded_weights.js';
import { freeCount } from '../tfjs/stock_optimizer_state.js';
import { loadModel, loadWeights } from './model_file.js';
import { partsOf, saveModel, type ModelParts } from './model_folder.js';
import type { NamedTensor } from '../base/types.js';

/** What tfjs keeps to itself. */
interface Savable {
  getNamedWeights(config?: tf.io.SaveConfig): NamedTensor[];
  getTrainingConfig(): tf.io.TrainingConfig;
}

/** Strings as tfjs stores them: each after its length. */
function joinStrings(strings: readonly Uint8Array[]): Uint8Array {
  const pieces = strings.flatMap((bytes) => [new Uint8Array(Uint32Array.of(bytes.length).buffer), bytes]);
  return new Uint8Array(tf.io.concatenateArrayBuffers(pieces.map((piece) => piece.slice().buffer)));
}

async function bytesOf(tensor: tf.Tensor): Promise<Uint8Array> {
  if (tensor.dtype === 'string') return joinStrings((await tensor.bytes()) as Uint8Array[]);
  const { buffer, byteOffset, byteLength } = await tensor.data();
  return new Uint8Array(buffer, byteOffset, byteLength);
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
    ...(metadata === undefined || metadata === null ? {} : { userDefinedMetadata: metadata }),
  };
}

/** A model as its `save` gives it to a handler, all weights read at one moment. */
export async function partsOfModel(model: tf.LayersModel, config?: tf.io.SaveConfig): Promise<ModelParts> {
  const { optimizer } = model;
  const withState = config?.includeOptimizer === true && optimizer !== undefined && optimizer !== null;
  const inside = model as unknown as Savable;
  const state = withState ? ((await optimizer.getWeights()) as NamedTensor[]) : [];
  const weights = inside.getNamedWeights(config);
  const artifacts = artifactsOf(model);
  const pieces = await Promise.all([...weights, ...state].map(({ tensor }) => bytesOf(tensor)));
  artifacts.weightSpecs = [
    ...weights.map(specOf),
    ...state.map((each): tf.io.WeightsManifestEntry => ({ ...specOf(each), group: 'optimizer' })),
  ];
  freeCount(state);
  if (withState) artifacts.trainingConfig = inside.getTrainingConfig();
  return { artifacts, pieces };
}

/**
 * Makes `model.save('file://folder')` and `tf.loadLayersModel('file://folder/model.json')` those of this package; once
 * per copy of tfjs.
 */
export function registerFileHandler(): void {
  const isFirst = takeOverFileScheme({
    loadWeights,
    load: async (path) => fromFile(path, await loadModel(path)),
    saveArtifacts: (folder, artifacts) => saveModel(folder, partsOf(artifacts)),
    saveModel: async (folder, model, config) => saveModel(folder, await partsOfModel(model, config)),
  });
  if (isFirst) nameFilesOfWeights();
}
