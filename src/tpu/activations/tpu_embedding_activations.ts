/** The hook by which gradients of dequeued activations are found. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError } from '../../base/errors.js';
import { checkLive } from '../../base/live_tensor.js';
import { readOptions } from '../../base/options.js';
import { wholeNumber } from '../config/fields.js';
import { TPU_EMBEDDING_ACTIVATIONS, registerActivations, type Attributes } from './activations_kernel.js';

export interface TPUEmbeddingActivationsOptions {
  /** The table from which the activations came; 0 or more. */
  tableId: number;
  /** Which of the lookups of that table they are; 0 or more. */
  lookupId: number;
}

function floatTensor(value: unknown, argument: string): tf.Tensor {
  const isTensor = value instanceof tf.Tensor;
  if (!isTensor || value.dtype !== 'float32') throw new ArgumentTypeError(argument, 'a float32 tensor', value);
  checkLive(value as tf.Tensor, argument);
  return value as tf.Tensor;
}

/**
 * Returns the activations as they are, in a way that lets an optimizer find their gradient.
 *
 * `embeddingVariable`: a trainable variable that stands for the table, of any shape; `slicedActivations`: float32 of any
 * shape. Going backwards, the gradient of the result is put into the collection of the table, at the place of the lookup
 * (`createGradientCollection`, `gradientCollection`), and both inputs get zeros: no optimizer changes the variable. Runs on
 * every backend, on `tensorflow` as its op TPUEmbeddingActivations.
 * Source: TPUEmbeddingActivations and its gradient (TensorFlow 2.21).
 *
 * @param embeddingVariable - The variable that makes the optimizer ask for a gradient; it gets zeros.
 * @param slicedActivations - The activations of one lookup.
 * @param options - The numbers of the table and of the lookup.
 * @returns The activations, of the same shape and values.
 * @throws TypeError for other types; ValueError for ids below 0 or not whole. Its gradient throws RuntimeError for a
 * table without a collection, a lookup outside it and a second gradient of one lookup.
 *
 * @example
 * const variable = tf.variable(tf.zeros([1]));
 * emb.tpu.createGradientCollection(0, 1);
 * tf.variableGrads(() => emb.tpu.tpuEmbeddingActivations(variable, tf.ones([2, 3]), {tableId: 0, lookupId: 0}).sum());
 * emb.tpu.gradientCollection(0)[0].print(); // [[1, 1, 1], [1, 1, 1]]
 */
export function tpuEmbeddingActivations(
  embeddingVariable: tf.Tensor | tf.Variable,
  slicedActivations: tf.Tensor,
  options: TPUEmbeddingActivationsOptions,
): tf.Tensor {
  const { tableId, lookupId } = readOptions<TPUEmbeddingActivationsOptions>(options, ['tableId', 'lookupId']);
  const inputs = {
    embeddingVariable: floatTensor(embeddingVariable, 'embeddingVariable'),
    slicedActivations: floatTensor(slicedActivations, 'slicedActivations'),
  };
  const attributes: Attributes = {
    tableId: wholeNumber(tableId, 'tableId', 0),
    lookupId: wholeNumber(lookupId, 'lookupId', 0),
    shapes: { embeddingVariable: inputs.embeddingVariable.shape, slicedActivations: inputs.slicedActivations.shape },
  };
  registerActivations(tf.getBackend());
  return tf.engine().runKernel(TPU_EMBEDDING_ACTIVATIONS, inputs, attributes as never) as unknown as tf.Tensor;
}
