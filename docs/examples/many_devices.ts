/** Tables that are partitioned over the virtual devices of the TPU emulator; the same layer runs on any backend. */
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

emb.configureTpuEmulator({ chips: 4, coresPerChip: 1, hbmBytesPerChip: 1e6 });
await emb.ready();
await tf.setBackend('tpu-emulator');

const layer = emb.layers.distributedEmbedding({
  embeddings: [
    { name: 'users', inputDim: 2000, outputDim: 16, combiner: 'sum' },
    { name: 'items', inputDim: 500, outputDim: 16, combiner: 'mean' },
    { name: 'cities', inputDim: 40, outputDim: 16, combiner: 'sum' },
  ],
  strategy: 'memory_balanced',
  columnSliceThreshold: 10_000,
});
const inputs = [1, 10, 1].map((length) => tf.input({ shape: [length], dtype: 'int32' }));
const pooled = tf.layers.concatenate().apply(layer.apply(inputs) as tf.SymbolicTensor[]);
const model = tf.model({ inputs, outputs: tf.layers.dense({ units: 1 }).apply(pooled) as tf.SymbolicTensor });
model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });

const x = [2000, 500, 40].map((rows, i) => tf.randomUniform([32, [1, 10, 1][i]!], 0, rows, 'int32', i + 1));
await model.fit(x, tf.zeros([32, 1]), { epochs: 2, verbose: 0 });
console.log(String(layer.plan)); // which rows and columns of which table lie on which device
const { devices } = emb.tpuEmulator().counters();
console.log(`${devices.length} devices, ids looked up: ${devices.map(({ ids }) => ids).join(', ')}`);
model.dispose();
tf.removeBackend('tpu-emulator');
