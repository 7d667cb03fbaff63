/**
 * Trains, saves, loads and asks a small model on `cpu`, as a function in a cloud does, and writes the files that Node has
 * loaded to standard output, as JSON. Run by `info --bundle` in a process of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';

const files = new Set();
const { port1, port2 } = new MessageChannel();
port1.on('message', (url) => url.startsWith('file:') && files.add(fileURLToPath(url)));
register('./loaded_files.mjs', import.meta.url, { data: { port: port2 }, transferList: [port2] });

// Addons are opened by no loader.
const { dlopen } = process;
process.dlopen = (module, path, ...flags) => {
  dlopen.call(process, module, path, ...flags);
  files.add(path);
};

const tf = await import('@tensorflow/tfjs');
const emb = await import('tfjs-embeddings/node');
await emb.ready();
await tf.setBackend('cpu');
const model = tf.sequential();
model.add(emb.layers.embedding({ inputDim: 100, outputDim: 8, combiner: 'mean', inputLength: 4 }));
model.add(tf.layers.dense({ units: 1, activation: 'sigmoid' }));
model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'binaryCrossentropy' });
const [ids, labels] = [tf.zeros([8, 4], 'int32'), tf.ones([8, 1])];
await model.fit(ids, labels, { epochs: 1, verbose: 0 });
const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-'));
try {
  await model.save(`file://${folder}`);
  const again = await tf.loadLayersModel(`file://${join(folder, 'model.json')}`);
  again.predict(ids).dataSync();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const { implementation } = emb.backendInfo().kernels.EmbeddingBag;

// What messages are on their way come first.
await new Promise((done) => setTimeout(done, 50));
port1.close();
for (const path of Object.keys(createRequire(import.meta.url).cache)) files.add(path);
process.stdout.write(`${JSON.stringify({ implementation, files: [...files] })}\n`);
process.exit(0);
