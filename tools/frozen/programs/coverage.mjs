/**
 * Files, functions and calls of the package that a step takes, by precise coverage of V8: `node --import tsx
 * coverage.mjs` prints `{flow: {files, functions, calls}}`. From src, so that files can be told apart; each flow runs
 * some times before it is counted, until what can be captured is.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageAt } from './package.mjs';

const SOURCES = new URL('../../../src/', import.meta.url).href;
const KERAS_FILE = fileURLToPath(new URL('../../../test/goldens/keras_files/k3_sequential.keras', import.meta.url));
const WARM_UP = 6;

const { tf, emb } = await packageAt(undefined, { source: true, backends: ['tensorflow'] });
const session = new Session();
session.connect();
await session.post('Profiler.enable');

async function counted(run) {
  for (let i = 0; i < WARM_UP; i++) await run();
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await run();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const found = { files: 0, functions: 0, calls: 0 };
  for (const { url, functions } of result) {
    if (!url.startsWith(SOURCES)) continue;
    const counts = functions.map(({ ranges }) => ranges[0].count).filter((count) => count > 0);
    found.files += counts.length > 0 ? 1 : 0;
    found.functions += counts.length;
    found.calls += counts.reduce((sum, count) => sum + count, 0);
  }
  return found;
}

const ids = tf.tensor2d(
  Array.from({ length: 32 }, (_, i) => i % 19),
  [8, 4],
  'int32',
);
const labels = tf.zeros([8, 1]);

function plainModel() {
  const model = tf.sequential({
    layers: [
      emb.layers.embedding({ inputDim: 19, outputDim: 8, combiner: 'mean', inputShape: [4], name: 'items' }),
      tf.layers.dense({ units: 1, name: 'head' }),
    ],
  });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  return model;
}

function distributedModel() {
  const layer = emb.layers.distributedEmbedding({
    embeddings: ['users', 'items'].map((name) => ({ name, inputDim: 19, outputDim: 8, combiner: 'mean' })),
  });
  const inputs = ['users', 'items'].map((name) => tf.input({ shape: [4], dtype: 'int32', name: `${name}_ids` }));
  const joined = tf.layers.concatenate().apply(layer.apply(inputs));
  const model = tf.model({ inputs, outputs: tf.layers.dense({ units: 1 }).apply(joined) });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  return model;
}

function tpuStep() {
  const table = new emb.tpu.TableConfig({ vocabularySize: 19, dim: 8, combiner: 'mean', name: 'video' });
  const featureConfig = { watched: new emb.tpu.FeatureConfig({ table, name: 'watched' }) };
  const embedding = new emb.tpu.TPUEmbedding({ featureConfig, optimizer: new emb.tpu.Adagrad({ learningRate: 0.1 }) });
  const rows = [[0], [1, 2], [], [3, 4, 5], [6], [7], [8, 9], [1]];
  return () =>
    tf.tidy(() => {
      embedding.enqueue({ watched: emb.RaggedTensor.fromRows(rows) });
      const { watched } = embedding.dequeue();
      embedding.applyGradients({ watched: tf.onesLike(watched) });
    });
}

const flows = {};
const trained = (model, inputs) => () => model.trainOnBatch(inputs, labels);

await tf.setBackend('tensorflow');
flows['captured step on tensorflow'] = await counted(trained(plainModel(), ids));

await tf.setBackend('cpu');
const model = plainModel();
flows['op by op on cpu'] = await counted(trained(model, ids));
flows['loadKerasModel'] = await counted(async () => (await emb.loadKerasModel(KERAS_FILE)).dispose());
const folder = mkdtempSync(join(tmpdir(), 'frozen-'));
flows['savedModel.export'] = await counted(() =>
  emb.savedModel.export(model, join(folder, 'served'), { overwrite: true }),
);
rmSync(folder, { recursive: true });

emb.configureTpuEmulator({ chips: 2, coresPerChip: 1, devices: 'inline', host: 'cpu' });
await tf.setBackend('tpu-emulator');
flows['DistributedEmbedding, 2 devices'] = await counted(trained(distributedModel(), [ids, ids]));
flows['TPUEmbedding step'] = await counted(tpuStep());

process.stdout.write(JSON.stringify(flows), () => process.exit(0));
