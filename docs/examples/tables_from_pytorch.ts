/** Tables from a safetensors file, as PyTorch users save them, and out again for NumPy. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

const folder = mkdtempSync(join(tmpdir(), 'tables-'));
const [checkpoint, archive] = ['model.safetensors', 'tables.npz'].map((name) => join(folder, name)) as [string, string];

// What safetensors.torch.save_file(model.state_dict(), 'model.safetensors') writes.
await emb.weights.writeSafetensors(checkpoint, {
  'user_emb.weight': tf.fill([10, 4], 0.5),
  'head.weight': tf.ones([1, 4]),
});

const model = tf.sequential({
  layers: [
    emb.layers.embedding({ inputDim: 10, outputDim: 4, inputLength: 3, combiner: 'sum', name: 'users' }),
    tf.layers.dense({ units: 1, name: 'head' }),
  ],
});
console.log(await emb.weights.load(model, checkpoint, { names: { 'user_emb.weight': 'users/embeddings' } }));

// PyTorch keeps the weights of a Linear transposed.
const { 'head.weight': kernel } = await emb.weights.readSafetensors(checkpoint);
model.getLayer('head').setWeights([kernel!.transpose(), tf.zeros([1])]);
(model.predict(tf.tensor2d([[1, 2, 3]], [1, 3], 'int32')) as tf.Tensor).print();

await emb.weights.writeNpz(archive, { users: model.getLayer('users').getWeights()[0]! });
const { users } = await emb.weights.readNpz(archive);
console.log(users!.shape);
rmSync(folder, { recursive: true });
