/** Models in folders without tfjs-node; in a process of its own, because other specs load tfjs-node. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = `
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
await tf.setBackend('cpu');
const url = 'file://' + process.env.FOLDER;
const model = tf.sequential({layers: [emb.layers.embedding({inputDim: 9, outputDim: 3, combiner: 'sum', inputShape: [2]})]});
model.compile({optimizer: emb.train.adagrad({learningRate: 0.1}), loss: 'meanSquaredError'});
const x = tf.tensor2d([[1, 2], [3, 4]], [2, 2], 'int32');
await model.fit(x, tf.ones([2, 3]), {epochs: 2, verbose: 0});
await model.save(url, {includeOptimizer: true});
await model.save(url, {includeOptimizer: true});
const again = await tf.loadLayersModel(url + '/model.json');
const equal = String(model.predict(x).dataSync()) === String(again.predict(x).dataSync());
const losses = await Promise.all([model, again].map((m) => m.trainOnBatch(x, tf.ones([2, 3]))));
const missing = await tf.loadLayersModel(url + '/none.json').catch((error) => error.code);
console.log(JSON.stringify({equal, sameLoss: losses[0] === losses[1], missing}));
`;

describe('file:// without tfjs-node', () => {
  it('saves and loads models with their optimizers, whole', () => {
    const folder = mkdtempSync(join(tmpdir(), 'file-handler-'));
    try {
      const { stdout, stderr } = spawnSync(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '--eval', PROGRAM],
        { encoding: 'utf8', env: { ...process.env, FOLDER: folder }, cwd: process.cwd() },
      );
      const last = stdout.trim().split('\n').at(-1) ?? '';
      expect(last)
        .withContext(stderr)
        .toBe(JSON.stringify({ equal: true, sameLoss: true, missing: 'ENOENT' }));
      expect(readdirSync(folder).sort()).toEqual(['model.json', 'weights.bin']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 60_000);
});
