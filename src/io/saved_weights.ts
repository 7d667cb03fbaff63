/** A model on its way into a folder, without the two copies of all weights that tfjs makes for other handlers. */
import * as tf from '@tensorflow/tfjs';
import type { NamedTensor } from '../base/types.js';
import type { ModelParts } from './model_folder.js';

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
  if (withState) artifacts.trainingConfig = inside.getTrainingConfig();
  return { artifacts, pieces };
}
