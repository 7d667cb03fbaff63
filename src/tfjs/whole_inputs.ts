/** Inputs of models that hold another number of values than their shape says: cut into batches, they look right. */
import * as tf from '@tensorflow/tfjs';
import { isRecord } from '../base/options.js';
import { checkWhole, isWhole } from '../base/live_tensor.js';

type Method = (this: unknown, ...args: unknown[]) => unknown;

const OWN_CLASS = /^TfjsEmbeddings>/;

/** Whether a layer of this package is in a model, or in one within it. What other models are fed is up to tfjs. */
function hasOwnLayer(model: tf.LayersModel): boolean {
  return model.layers.some((layer) =>
    layer instanceof tf.LayersModel ? hasOwnLayer(layer) : OWN_CLASS.test(layer.getClassName()),
  );
}

/** A method that feeds a model; `argument`: which of its arguments holds the inputs, `fed`: the model, where not `this`. */
export function wholeInputs(method: Method, argument: number, fed?: unknown): Method {
  return function (this: unknown, ...args: unknown[]): unknown {
    const model = (fed ?? this) as tf.LayersModel;
    // Targets come behind the inputs.
    const given = args[argument];
    const isNamed = isRecord(given) && !(given instanceof tf.Tensor);
    const inputs = (isNamed ? Object.values(given) : [given].flat()).slice(0, model.inputs.length);
    const odd = inputs.findIndex((input) => input instanceof tf.Tensor && !isWhole(input));
    if (odd >= 0 && hasOwnLayer(model)) checkWhole(inputs[odd] as tf.Tensor, inputs.length === 1 ? 'x' : `x[${odd}]`);
    return method.apply(this, args);
  };
}
