/** Calls of a loaded model, which takes inputs, targets and losses by the names that Keras has for them too. */
import * as tf from '@tensorflow/tfjs';
import { isRecord } from '../../base/options.js';
import { asOwn } from '../engine/own_functions.js';
import { isInputsByName, namedValues, type ModelInputs } from '../training/ragged_values.js';

/** A model that takes its inputs by name too. */
export type NamedInputsModel = tf.LayersModel & {
  predict(x: ModelInputs, args?: Parameters<tf.LayersModel['predict']>[1]): tf.Tensor | tf.Tensor[];
  predictOnBatch(x: ModelInputs): tf.Tensor | tf.Tensor[];
};

type Read = (value: unknown) => unknown;
type Call = (...args: unknown[]) => unknown;

/** An object under the keys of Keras as a list in the order of the outputs; anything else as it is. */
function byOutput(keys: readonly string[] | null): Read {
  return (value) => {
    if (keys === null || !isRecord(value) || (value as unknown) instanceof tf.Tensor) return value;
    const given = Object.keys(value);
    return given.length > 0 && given.every((key) => keys.includes(key)) ? keys.map((key) => value[key]) : value;
  };
}

/**
 * Makes a model take inputs under the names that Keras has for them, `inputs`, and targets, losses and metrics under those
 * of its outputs, `outputs`; null: they have no others than here.
 */
export function takeInputsByName(
  model: tf.LayersModel,
  inputs: readonly string[] | null,
  outputs: readonly string[] | null = null,
): NamedInputsModel {
  const read: Read = (x) => {
    const names = model.inputNames;
    if (!isInputsByName(x, [...names, ...(inputs ?? [])])) return x;
    const values = namedValues(x, names, 'x', inputs ?? names);
    return Object.fromEntries(names.map((name, i) => [name, values[i]]));
  };
  const target = byOutput(outputs);
  const compiled: Read = (args) => {
    if (!isRecord(args)) return args;
    const { loss, metrics } = args;
    const perOutput = target(metrics);
    const byName = Array.isArray(perOutput) && !Array.isArray(metrics);
    return {
      ...args,
      loss: target(loss),
      metrics: byName ? Object.fromEntries(model.outputNames.map((name, i) => [name, perOutput[i] ?? []])) : metrics,
    };
  };
  const readers: Readonly<Record<string, readonly Read[]>> = {
    ...(inputs === null
      ? {}
      : {
          predict: [read],
          predictOnBatch: [read],
          fit: [read, target],
          evaluate: [read, target],
          trainOnBatch: [read, target],
        }),
    ...(outputs === null
      ? {}
      : { compile: [compiled], fit: [read, target], evaluate: [read, target], trainOnBatch: [read, target] }),
  };
  for (const [name, reads] of Object.entries(readers)) {
    // Mends of this model come first; it becomes one of ours by another prototype, which may come later.
    const before = Object.getOwnPropertyDescriptor(model, name)?.value as unknown;
    const stock = (): unknown => before ?? Object.getPrototypeOf(model)[name];
    const value = asOwn((...args: unknown[]) =>
      (stock() as Call).apply(
        model,
        args.map((each, i) => reads[i]?.(each) ?? each),
      ),
    );
    Object.defineProperty(model, name, { configurable: true, writable: true, value });
  }
  return model as NamedInputsModel;
}
