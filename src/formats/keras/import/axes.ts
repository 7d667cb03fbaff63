/** Axes that mean something only once the rank of the input is known. */
import type * as tf from '@tensorflow/tfjs';
import { Operation } from '../../../layers/operations/operation.js';
import { layerError } from '../layer_error.js';
import type { BuiltLayer } from './built.js';

/** TensorFlow.js takes others and computes along the last axis, or fails when it predicts. */
const ALONG_LAST = ['BatchNormalization', 'Softmax'];

/**
 * Makes a layer work along the axis that its file tells, given its first input. TensorFlow.js takes any negative axis of a
 * Concatenate for the last one.
 */
export function settleAxis({ json, layer }: BuiltLayer, { shape }: tf.SymbolicTensor): void {
  const { className } = json;
  const holder = layer as unknown as { axis: unknown };
  if (className === 'Concatenate') {
    const { axis } = holder;
    if (typeof axis === 'number' && axis < -1) holder.axis = axis + shape.length;
  } else if (ALONG_LAST.includes(className) && !(layer instanceof Operation)) {
    const { axis } = holder;
    if (axis === -1 || axis === shape.length - 1) return;
    throw layerError(json, 'axis', `${shape.length - 1} or -1: TensorFlow.js works along the last axis alone`, axis);
  }
}
