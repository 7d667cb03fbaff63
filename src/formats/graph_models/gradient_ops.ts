/**
 * Ops that Python's gradients write for elementwise functions and for loops; graphs with gradients of lookups and of
 * TensorArrays hold them. tfjs-converter, made for inference, has none.
 */
import * as tf from '@tensorflow/tfjs';
import { graphOp, type GraphOp } from './graph_op.js';

type Gradient = (known: tf.Tensor, gradient: tf.Tensor) => tf.Tensor;

/** By op: the gradient of the input, from the forward op's output `y` and the gradient of that. */
const OF_OUTPUTS: Readonly<Record<string, Gradient>> = {
  SqrtGrad: (y, dy) => tf.div(tf.mul(dy, 0.5), y),
  RsqrtGrad: (y, dy) => tf.mul(tf.mul(dy, -0.5), tf.mul(y, tf.square(y))),
  TanhGrad: (y, dy) => tf.mul(dy, tf.sub(1, tf.square(y))),
  SigmoidGrad: (y, dy) => tf.mul(dy, tf.mul(y, tf.sub(1, y))),
  ReciprocalGrad: (y, dy) => tf.neg(tf.mul(dy, tf.square(y))),
  InvGrad: (y, dy) => tf.neg(tf.mul(dy, tf.square(y))),
};

/** By op: the gradient of the input, from the input itself, or the output where the op's definition says so. */
const OF_FEATURES: Readonly<Record<string, readonly [called: string, run: Gradient]>> = {
  ReluGrad: ['features', (x, dy) => tf.where(tf.greater(x, 0), dy, tf.zerosLike(dy))],
  EluGrad: ['outputs', (y, dy) => tf.where(tf.less(y, 0), tf.mul(dy, tf.add(y, 1)), dy)],
  SoftplusGrad: ['features', (x, dy) => tf.mul(dy, tf.sigmoid(x))],
};

export const GRADIENT_OPS: readonly GraphOp[] = [
  ...Object.entries(OF_OUTPUTS).map(([name, run]) =>
    graphOp(`${name}(y: T, dy: T) -> z: T`, ([y, dy]) => tf.tidy(() => run(y!, dy!))),
  ),
  ...Object.entries(OF_FEATURES).map(([name, [called, run]]) =>
    graphOp(`${name}(gradients: T, ${called}: T) -> backprops: T`, ([dy, x]) => tf.tidy(() => run(x!, dy!))),
  ),
  // Makes loops of gradients wait for one another; what comes after it waits anyway.
  graphOp('ControlTrigger() -> ', () => tf.scalar(0)),
];
