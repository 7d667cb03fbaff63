/** `predict` of a loaded model, which takes inputs by name too. */
import type * as tf from '@tensorflow/tfjs';
import { asOwn } from '../../../tfjs/engine/own_functions.js';
import { isInputsByName, namedValues, type ModelInputs } from '../../../tfjs/training/ragged_values.js';

/** A model that takes its inputs by name too. */
export type NamedInputsModel = tf.LayersModel & {
  predict(x: ModelInputs, args?: Parameters<tf.LayersModel['predict']>[1]): tf.Tensor | tf.Tensor[];
  predictOnBatch(x: ModelInputs): tf.Tensor | tf.Tensor[];
};

/** Makes `predict` and `predictOnBatch` of this model take inputs under the names that Keras has for them, `keys`, too. */
export function takeInputsByName(model: tf.LayersModel, keys: readonly string[] | null): NamedInputsModel {
  const names = model.inputNames;
  const read = (x: unknown): ModelInputs => {
    if (!isInputsByName(x, [...names, ...(keys ?? [])])) return x as ModelInputs;
    const values = namedValues(x, names, 'x', keys ?? names);
    return Object.fromEntries(names.map((name, i) => [name, values[i]])) as ModelInputs;
  };
  const own = { predict: model.predict.bind(model), predictOnBatch: model.predictOnBatch.bind(model) };
  Object.defineProperties(model, {
    predict: {
      configurable: true,
      writable: true,
      value: asOwn((x: unknown, args?: object) => own.predict(read(x), args)),
    },
    predictOnBatch: { configurable: true, writable: true, value: asOwn((x: unknown) => own.predictOnBatch(read(x))) },
  });
  return model as NamedInputsModel;
}
