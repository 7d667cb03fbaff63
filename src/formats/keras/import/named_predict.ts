/** `predict` of a loaded model, which takes inputs by name too. */
import type * as tf from '@tensorflow/tfjs';
import { closestName } from '../../../base/closest_name.js';
import { ValueError, described } from '../../../base/errors.js';
import { asOwn } from '../../../tfjs/engine/own_functions.js';
import { isInputsByName, type ModelInputs } from '../../../tfjs/training/ragged_values.js';

/** A model that takes its inputs by name too. */
export type NamedInputsModel = tf.LayersModel & {
  predict(x: ModelInputs, args?: Parameters<tf.LayersModel['predict']>[1]): tf.Tensor | tf.Tensor[];
  predictOnBatch(x: ModelInputs): tf.Tensor | tf.Tensor[];
};

/** The inputs under the names of the model; `aliases` are other names for the same inputs. */
function underNames(
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
  aliases: readonly string[],
): Record<string, unknown> {
  const known = [...new Set([...names, ...aliases])];
  const expected = `an object with the inputs ${names.join(', ')}`;
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const meant = closestName(key, known);
    const note = meant === undefined ? undefined : `Did you mean ${meant}?`;
    throw new ValueError(`x.${key}`, expected, described('an input of another name'), note);
  }
  const entries = names.map((name, i) => {
    const key = Object.hasOwn(given, name) ? name : aliases[i];
    const value = key !== undefined && Object.hasOwn(given, key) ? given[key] : undefined;
    if (value === undefined) throw new ValueError(`x.${name}`, expected, described('no such key'));
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}

/** Makes `predict` and `predictOnBatch` of this model take inputs under the names that Keras has for them, `keys`, too. */
export function takeInputsByName(model: tf.LayersModel, keys: readonly string[] | null): NamedInputsModel {
  const names = model.inputNames;
  const read = (x: unknown): ModelInputs =>
    (isInputsByName(x, [...names, ...(keys ?? [])]) ? underNames(x, names, keys ?? names) : x) as ModelInputs;
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
