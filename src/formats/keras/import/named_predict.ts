/** `predict` of a loaded model, which takes inputs by name too. */
import * as tf from '@tensorflow/tfjs';
import { closestName } from '../../../base/closest_name.js';
import { ArgumentTypeError, ValueError, described } from '../../../base/errors.js';
import { isRecord } from '../../../base/options.js';
import { asOwn } from '../../../tfjs/engine/own_functions.js';

type Inputs = tf.Tensor | tf.Tensor[];

/** A model that takes its inputs by name too. */
export type NamedInputsModel = tf.LayersModel & {
  predict(x: tf.NamedTensorMap, args?: Parameters<tf.LayersModel['predict']>[1]): tf.Tensor | tf.Tensor[];
  predictOnBatch(x: tf.NamedTensorMap): tf.Tensor | tf.Tensor[];
};

/** The tensors in the order of the names; `aliases` are other names for the same inputs. */
function inOrder(
  given: Readonly<Record<string, unknown>>,
  names: readonly string[],
  aliases: readonly string[],
): Inputs {
  const known = [...new Set([...names, ...aliases])];
  const expected = `an object with the inputs ${names.join(', ')}`;
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const meant = closestName(key, known);
    const note = meant === undefined ? undefined : `Did you mean ${meant}?`;
    throw new ValueError(`x.${key}`, expected, described('an input of another name'), note);
  }
  const list = names.map((name, i) => {
    const key = Object.hasOwn(given, name) ? name : aliases[i];
    const value = key !== undefined && Object.hasOwn(given, key) ? given[key] : undefined;
    if (value === undefined) throw new ValueError(`x.${name}`, expected, described('no such key'));
    if (!(value instanceof tf.Tensor)) throw new ArgumentTypeError(`x.${name}`, 'a tensor', value);
    return value;
  });
  return list.length === 1 ? list[0]! : list;
}

/** Makes `predict` and `predictOnBatch` of this model take an object of tensors by input name. `keys`: as Keras calls them. */
export function takeInputsByName(model: tf.LayersModel, keys: readonly string[] | null): NamedInputsModel {
  const names = model.inputNames;
  const read = (x: unknown): Inputs => {
    const isByName = isRecord(x) && !(x instanceof tf.Tensor);
    return isByName ? inOrder(x, names, keys ?? names) : (x as Inputs);
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
