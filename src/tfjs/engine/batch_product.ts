/**
 * Products of batches of matrices that broadcast. On `cpu` and `wasm` the kernels of tfjs go through the smaller batch
 * again and again, whatever its axes, and on every backend the gradients have the shape of the result.
 */
import * as tf from '@tensorflow/tfjs';

/** As `tf.matMul`, of any batches that broadcast. */
export function batchProduct(a: tf.Tensor, b: tf.Tensor, transposeA = false, transposeB = false): tf.Tensor {
  const [ofA, ofB] = [a, b].map(({ shape }) => shape.slice(0, -2)) as [number[], number[]];
  if (String(ofA) === String(ofB)) return tf.matMul(a, b, transposeA, transposeB);
  const batch = tf.broadcast_util.assertAndGetBroadcastShape(ofA, ofB);
  const whole = (x: tf.Tensor): tf.Tensor => tf.broadcastTo(x, [...batch, ...x.shape.slice(-2)]);
  return tf.tidy(() => tf.matMul(whole(a), whole(b), transposeA, transposeB));
}
