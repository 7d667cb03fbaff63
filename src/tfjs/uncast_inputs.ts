/**
 * Ids that a model is fed reach the layer as they are, so that it can refuse what is no id.
 *
 * tfjs casts what it feeds to the dtype of the input, and a cast to int32 cuts fractions off without a word. It casts
 * nothing where an input has no dtype. So an int32 input that an embedding layer reads has none while a model feeds
 * it, and int32 at any other time.
 */
import * as tf from '@tensorflow/tfjs';
import { addFedRows } from './fed_rows.js';
import { feeding, isFeeding } from './feeding.js';
import { asOwn } from './engine/own_functions.js';
import { isModelInput } from './symbolic_ids.js';
import { freeing, freeingStep, keepingResults } from './training/failed_fits.js';
import { wholeInputs } from './whole_inputs.js';

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Methods = Record<string | symbol, unknown>;

const MARK = Symbol.for('tfjs-embeddings.feeding');

function replace(holder: Methods, name: string, make: (method: Method) => Method): void {
  const method = holder[name];
  if (typeof method !== 'function') throw new Error(`This version of TensorFlow.js has no ${name} on its models.`);
  Object.defineProperty(holder, name, { configurable: true, writable: true, value: make(method as Method) });
}

/** Everything through which tfjs feeds a model: predict, apply, execute, evaluate and fit. */
export function markFeeding(): void {
  const models = tf.LayersModel.prototype as unknown as Methods;
  if (Object.hasOwn(models, MARK)) return;
  Object.defineProperty(models, MARK, { value: true });
  replace(Object.getPrototypeOf(models) as Methods, 'call', feeding);
  replace(models, 'predictLoop', (method) => wholeInputs(addFedRows(feeding(method), 0) as Method, 0));
  replace(models, 'testLoop', (method) => keepingResults(addFedRows(method, 1) as Method) as Method);
  replace(models, 'fitLoop', (method) => freeing(addFedRows(method, 1) as Method, false) as Method);
  replace(models, 'fitDataset', (method) => freeing(method, true) as Method);
  replace(models, 'standardizeUserDataXY', (method) => wholeInputs(method, 0));
  replace(models, 'execute', feeding);
  replace(
    models,
    'makeTrainFunction',
    (method) =>
      function (this: unknown) {
        const step = wholeInputs(feeding(method.call(this) as Method), 0, this);
        return freeingStep(this as object, step as never) as Method;
      },
  );
  replace(
    models,
    'makeTestFunction',
    (method) =>
      function (this: unknown) {
        method.call(this);
        const model = this as { testFunction: Method };
        model.testFunction = wholeInputs(feeding(model.testFunction), 0, this);
      },
  );
}

/** Lets an int32 input of a model pass on what it is fed. */
export function feedAsIs(input: tf.SymbolicTensor): void {
  markFeeding();
  if (input.dtype !== 'int32' || !isModelInput(input)) return;
  Object.defineProperty(input, 'dtype', {
    configurable: true,
    enumerable: true,
    get: asOwn(() => (isFeeding() ? null : 'int32')),
  });
}
