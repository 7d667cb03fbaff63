/** What travels beside the graph, so that a SavedModel of this package becomes a layers model again. */
import type * as tf from '@tensorflow/tfjs';
import type { NamedTensor } from '../../base/types.js';
import { crc32c } from '../../io/checksums/crc32c.js';
import { asFloat32 } from '../../tables/storage.js';
import { kerasRulesField, type KerasVersion } from '../../tfjs/models/keras_rules.js';
import { keptValues } from '../../tfjs/kept_values.js';
import type { ModelVariables } from './variables.js';

/** TensorFlow's loader ignores `assets.extra`. */
export const ASSETS_FILE = 'assets.extra/tfjs_embeddings.json';
export const ASSETS_FORMAT = 'tfjs-embeddings';
const VERSION = 1;

/** Which value of the bundle belongs to which weight. */
export interface KeptWeight {
  readonly name: string;
  readonly key: string;
  /** false: it does not train, of a frozen layer or model too; absent in files of earlier versions. */
  readonly trainable?: boolean;
}

export interface LayersModelAssets {
  readonly format: string;
  readonly version: number;
  readonly modelTopology: object;
  /** The Keras whose rules it follows; absent in files of earlier versions. */
  readonly kerasRules?: KerasVersion;
  readonly userDefinedMetadata?: object;
  readonly trainingConfig?: tf.io.TrainingConfig;
  readonly weights: readonly KeptWeight[];
  /** Whether it takes keys of open tables, or their rows; of formats that have both. */
  readonly keys?: string;
  /** CRC-32C of values by their keys, of files that have no checksums of their own. */
  readonly checksums?: Readonly<Record<string, number>>;
  /** State of the optimizer, in its order. */
  readonly optimizer: readonly KeptWeight[];
}

function sumOf(assets: object): number {
  return crc32c(new TextEncoder().encode(JSON.stringify(assets)));
}

/** The file: JSON that ends with its own sum, as the other files of a SavedModel have theirs. */
export function assetsFile(assets: LayersModelAssets): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ ...assets, crc32c: sumOf(assets) }));
}

/** Whether what was read from such a file is what was written. */
export function isAsWritten({ crc32c: sum, ...assets }: Readonly<Record<string, unknown>>): boolean {
  return sum === sumOf(assets);
}

/** A tensor of the optimizer's state, as it was when the export began. */
export interface OptimizerTensor extends KeptWeight {
  readonly snapshot: tf.Tensor;
}

/** The state of the optimizer, copied; empty where there is none. */
export async function optimizerState(model: tf.LayersModel): Promise<OptimizerTensor[]> {
  const { optimizer } = model as { optimizer?: tf.Optimizer | null };
  if (optimizer === undefined || optimizer === null) return [];
  const state = (await optimizer.getWeights()) as NamedTensor[];
  return state.map(({ name, tensor }, i) => {
    return { name, key: `tfjs_embeddings/optimizer/${i}`, snapshot: keptValues(tensor) };
  });
}

export function assetsOf(
  model: tf.LayersModel,
  variables: ModelVariables,
  state: readonly OptimizerTensor[] | null,
): LayersModelAssets {
  const metadata: object | null | undefined = model.getUserDefinedMetadata();
  const { getTrainingConfig } = model as unknown as { getTrainingConfig(): tf.io.TrainingConfig };
  const topology = (): object => model.toJSON(null, false) as object;
  const isCompiled = state !== null && (model as { optimizer?: unknown }).optimizer !== undefined;
  return {
    format: ASSETS_FORMAT,
    version: VERSION,
    // Where training does not go on, tables come back as the float32 numbers that are written.
    ...kerasRulesField(model),
    modelTopology: state === null ? asFloat32(topology) : topology(),
    ...(metadata === undefined || metadata === null ? {} : { userDefinedMetadata: metadata }),
    ...(isCompiled ? { trainingConfig: getTrainingConfig.call(model) } : {}),
    weights: variables.weights,
    optimizer: (state ?? []).map(({ name, key }) => ({ name, key })),
  };
}
