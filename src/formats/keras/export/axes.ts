/** Axes along which TensorFlow.js computes otherwise than it is told. */
import type * as tf from '@tensorflow/tfjs';
import { layerError } from '../layer_error.js';
import { namedLayer } from './layer_json.js';

/** Throws where Keras, which takes the axis as it is told, would give something else. */
export function checkAxis(layer: tf.layers.Layer): void {
  const { axis } = layer as unknown as { axis: unknown };
  const { rank } = layer.inboundNodes[0]!.inputTensors[0]!;
  const className = layer.getClassName();
  if (className === 'BatchNormalization' || className === 'Softmax') {
    if (axis === -1 || axis === rank - 1) return;
    const expected = `${rank - 1} or -1: TensorFlow.js works along the last axis alone`;
    throw layerError(namedLayer(layer), 'axis', expected, axis);
  }
  if (className === 'Concatenate' && typeof axis === 'number' && axis < -1) {
    const expected = `${axis + rank}: TensorFlow.js takes any negative axis for the last one`;
    throw layerError(namedLayer(layer), 'axis', expected, axis);
  }
}
