/** What has been built of a file: layers and models, beside the JSON that they come from. */
import type * as tf from '@tensorflow/tfjs';
import type { LayerJson } from './topology.js';

export interface BuiltLayer {
  readonly kind: 'layer';
  readonly json: LayerJson;
  readonly layer: tf.layers.Layer;
}

export interface BuiltModel {
  readonly kind: 'model';
  readonly json: LayerJson;
  readonly model: tf.LayersModel;
  /** Layers and models in the order of the file, without inputs. */
  readonly parts: readonly Built[];
  /** Keys of the inputs in their order, where they are an object; else null. */
  readonly inputKeys: readonly string[] | null;
}

export type Built = BuiltLayer | BuiltModel;

/** All layers within, nested ones too. */
export function layersOf(built: Built): BuiltLayer[] {
  return built.kind === 'layer' ? [built] : built.parts.flatMap(layersOf);
}
