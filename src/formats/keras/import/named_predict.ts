/** Names of Keras for the inputs of a loaded model. */
import type * as tf from '@tensorflow/tfjs';
import { nameInputs, type ModelInputs } from '../../../tfjs/training/ragged_values.js';

/** A model that takes its inputs by name too. */
export type NamedInputsModel = tf.LayersModel & {
  predict(x: ModelInputs, args?: Parameters<tf.LayersModel['predict']>[1]): tf.Tensor | tf.Tensor[];
  predictOnBatch(x: ModelInputs): tf.Tensor | tf.Tensor[];
};

/** Makes `predict` and `predictOnBatch` of this model take inputs under the names that Keras has for them, `keys`, too. */
export function takeInputsByName(model: tf.LayersModel, keys: readonly string[] | null): NamedInputsModel {
  if (keys !== null) nameInputs(model, keys);
  return model as NamedInputsModel;
}
