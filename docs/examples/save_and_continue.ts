/** A model that is saved with the optimizer's state, loaded, and trained on as if nothing had happened. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

const model = tf.sequential({
  layers: [
    emb.layers.embedding({ inputDim: 50, outputDim: 4, combiner: 'mean', inputShape: [3] }),
    tf.layers.dense({ units: 1 }),
  ],
});
model.compile({ optimizer: emb.train.adam({ learningRate: 0.01 }), loss: 'meanSquaredError' });
const x = tf.randomUniform([64, 3], 0, 50, 'int32', 1);
const y = x.sum(1, true).div(75).toFloat();
const options = { epochs: 2, shuffle: false, verbose: 0 } as const;
await model.fit(x, y, options);

const folder = mkdtempSync(join(tmpdir(), 'model-'));
await model.save(`file://${folder}`, { includeOptimizer: true });
const loaded = await tf.loadLayersModel(`file://${folder}/model.json`);
loaded.compile({ optimizer: (loaded as tf.Sequential).optimizer, loss: 'meanSquaredError' });

const losses = await Promise.all([model, loaded].map(async (each) => (await each.fit(x, y, options)).history['loss']));
console.log(`the next losses are equal: ${String(JSON.stringify(losses[0]) === JSON.stringify(losses[1]))}`);
rmSync(folder, { recursive: true });
