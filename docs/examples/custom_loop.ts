/** A training loop by hand: gradients of two batches are added up, clipped together, and applied once. */
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

const table = tf.variable(tf.randomNormal([1000, 8], 0, 0.1, 'float32', 1), true, 'vectors');
const kernel = tf.variable(tf.randomNormal([8, 1], 0, 0.5, 'float32', 2), true, 'kernel');
const optimizer = emb.train.sgd({ learningRate: 0.5 });
const batches = [1, 2].map((seed) => tf.randomUniform([16, 4], 0, 1000, 'int32', seed) as tf.Tensor2D);
const lossOf = (ids: tf.Tensor2D): tf.Scalar => {
  const pooled = emb.embeddingLookup(table, ids, { combiner: 'mean' }) as tf.Tensor2D;
  return tf.losses.meanSquaredError(tf.ones([16, 1]), tf.matMul(pooled, kernel));
};

// The entry of a table holds the rows that the batch touched, and their gradients; all others are tensors.
const [first, second] = batches.map((ids) => optimizer.computeGradients(() => lossOf(ids)).grads);
const rows = (first!['vectors'] as emb.IndexedSlices).add(second!['vectors'] as emb.IndexedSlices);
const sums = { vectors: rows.mul(0.5), kernel: tf.add(first!['kernel'] as tf.Tensor, second!['kernel'] as tf.Tensor) };
const { grads, norm } = emb.train.clipByGlobalNorm(sums, 1);
console.log(`${rows.indices.size} of ${table.shape[0]} rows, norm above 0: ${String(norm.dataSync()[0]! > 0)}`);

const before = lossOf(batches[0]!).dataSync()[0]!;
optimizer.applyGradients(grads);
console.log(`the loss has fallen: ${String(lossOf(batches[0]!).dataSync()[0]! < before)}`);
