/**
 * Trains a model that is generated from a seed, on `cpu` with native kernels, and prints the hash of all that it learned:
 * `training_program ADDON SEED`. Bundled first, so that a Node of another processor runs it.
 */
import * as tf from '@tensorflow/tfjs';
import { createHash } from 'node:crypto';
import { addKernelSet, backendInfo } from '../../src/backends/registry.js';
import { loadNative } from '../../src/backends/native/register.js';
import * as emb from '../../src/index_node.js';
import { Random } from '../helpers/random.js';

const [path = '', seed = ''] = process.argv.slice(2);
addKernelSet(loadNative(path));
await tf.setBackend('cpu');
const random = new Random(Number(seed));
const hash = createHash('sha256');
const OPTIMIZERS = [
  () => emb.train.sgd({ learningRate: 0.1 }),
  () => emb.train.adagrad({ learningRate: 0.1 }),
  () => emb.train.adam({ learningRate: 0.01 }),
  () => emb.train.ftrl({ learningRate: 0.1 }),
  () => emb.train.rmsprop({ learningRate: 0.01 }),
];
for (const optimizer of OPTIMIZERS) {
  const inputDim = random.whole(20, 200);
  const model = tf.sequential();
  model.add(
    emb.layers.embedding({
      ...{ inputDim, outputDim: random.whole(1, 40), inputLength: 5, combiner: 'sqrtn' },
      embeddingsInitializer: tf.initializers.randomUniform({ minval: -1, maxval: 1, seed: 3 }),
    }),
  );
  model.add(
    tf.layers.dense({ units: 3, kernelInitializer: tf.initializers.randomUniform({ minval: -1, maxval: 1, seed: 5 }) }),
  );
  model.compile({ optimizer: optimizer(), loss: 'meanSquaredError' });
  const ids = tf.tensor2d(
    Int32Array.from({ length: 5 * 64 }, () => random.whole(0, inputDim)),
    [64, 5],
    'int32',
  );
  const labels = tf.tensor2d(random.floats(3 * 64), [64, 3]);
  for (let step = 0; step < 10; step++) await model.trainOnBatch(ids, labels);
  for (const weight of model.getWeights())
    hash.update(new Uint8Array((weight.dataSync() as Float32Array).slice().buffer));
}
const { implementation, instructionSet } = backendInfo().kernels['EmbeddingBag']!;
console.log(JSON.stringify({ hash: hash.digest('hex'), implementation, instructionSet }));
