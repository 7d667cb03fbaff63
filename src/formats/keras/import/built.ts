/** What has been built of a file: layers and models, beside the JSON that they come from. */
import type * as tf from '@tensorflow/tfjs';
import type { KerasNames } from '../../../tfjs/models/keras_names.js';
import type { StringInputs } from './string_inputs.js';
import type { LayerJson } from './topology.js';

export interface BuiltLayer {
  readonly kind: 'layer';
  readonly json: LayerJson;
  readonly layer: tf.layers.Layer;
  /** The table of places of a TokenAndPositionEmbedding. */
  readonly places?: BuiltLayer;
}

export interface BuiltModel {
  readonly kind: 'model';
  readonly json: LayerJson;
  readonly model: tf.LayersModel;
  /** Layers and models in the order of the file, without inputs. */
  readonly parts: readonly Built[];
  /** By input: whether calls within take its mask away, which later calls would see. */
  readonly takesMasks: readonly boolean[];
  /** Keys of the inputs in their order, where they are an object; else null. */
  readonly inputKeys: readonly string[] | null;
  /** What Keras calls inputs, outputs and layers; absent where that is what they are called here. */
  readonly names?: KerasNames;
  /** What has to become of strings before the model; absent where it takes none. */
  readonly strings?: StringInputs;
}

export type Built = BuiltLayer | BuiltModel;

/** All layers within, nested ones too. */
export function layersOf(built: Built): BuiltLayer[] {
  if (built.kind === 'model') return built.parts.flatMap(layersOf);
  return built.places === undefined ? [built] : [built, built.places];
}
