/** Random numbers of layers as ops, which draw others in each step: tfjs draws them in JavaScript, one by one. */
import * as tf from '@tensorflow/tfjs';
import { live } from '../../backends/recordings.js';
import { stepOps } from '../../backends/registry.js';
import { asNodeBackend, withTensor } from '../../backends/tensorflow/node_backend.js';
import { withLazyGradient } from '../../tfjs/lazy_gradient.js';

/** 32 bits of Math.random, as a signed number. */
function word(): number {
  return (Math.random() * 2 ** 32) | 0;
}

/** What an op draws by: another one in each step. */
function seedOfStep(): Int32Array {
  return live(() => Int32Array.of(word(), word()));
}

/** The number that `give` returns in each step. */
export function liveScalar(give: () => number): tf.Scalar {
  return tf.tensor(
    live(() => Float32Array.of(give())),
    [],
    'float32',
  ) as tf.Scalar;
}

/** `tf.tidy` of what may give nothing. */
export function tidied(f: () => tf.Tensor | null): tf.Tensor | null {
  return tf.tidy(f as () => tf.Tensor) as tf.Tensor | null;
}

/** Whether a layer drops anything at this rate; at others it gives what it is given. */
export function isDropping(rate: number): boolean {
  return rate > 0 && rate < 1;
}

/**
 * `x` without a share of its elements, the others scaled up; null where the backend has no such op, or `x` is not of
 * floats. `rate` is asked in each step.
 */
export function droppedByOp(x: tf.Tensor, rate: () => number): tf.Tensor | null {
  const ops = stepOps();
  if (ops === null || x.dtype !== 'float32') return null;
  const share = live(() => {
    const given = rate();
    return Float32Array.of(isDropping(given) ? given : 0);
  });
  const seed = seedOfStep();
  return withLazyGradient(
    { x },
    () => ops.dropout(x, share, seed),
    (dy) => ({ x: () => ops.dropout(dy, share, seed) }),
  );
}

/** Numbers of the normal distribution with mean 0 and deviation 1; null where the backend has no such op. */
export function normalByOp(shape: readonly number[]): tf.Tensor | null {
  if (stepOps() === null) return null;
  const backend = asNodeBackend(tf.backend());
  const { TF_ATTR_TYPE: type, TF_FLOAT, TF_INT32 } = backend.binding;
  const attributes = [
    { name: 'dtype', type, value: TF_FLOAT },
    { name: 'T', type, value: TF_INT32 },
    { name: 'Tseed', type, value: TF_INT32 },
  ];
  const seed = seedOfStep();
  return withTensor(backend, Int32Array.from(shape), [shape.length], (sizes) =>
    withTensor(backend, seed, [seed.length], (drawn) =>
      backend.executeSingleOutput('StatelessRandomNormal', attributes, [sizes, drawn]),
    ),
  );
}
