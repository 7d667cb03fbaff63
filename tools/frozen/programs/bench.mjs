/** One side of the bench: `bench.mjs CHECKOUT`, told by messages what to open, run and close. */
import { drawFor, packageAt } from './package.mjs';

const SAMPLE_MS = 150;
const found = await packageAt(process.argv[2], { backends: ['tensorflow', 'wasm'] });
const { tf, emb } = found;

const [BATCH, ROWS, DIM, FEATURES] = [256, 20_000, 16, 6];

function inputsOf(count, width) {
  const random = drawFor('bench');
  return Array.from({ length: count }, () => tf.tensor2d(random.ids(BATCH * width, ROWS), [BATCH, width], 'int32'));
}

const labels = () => tf.tensor2d(drawFor('labels').ids(BATCH, 2), [BATCH, 1], 'int32').cast('float32');

/** Embeddings beside a wide part of one column each, and three dense layers. */
function wideAndDeep() {
  const inputs = Array.from({ length: FEATURES }, (_, i) => tf.input({ shape: [4], dtype: 'int32', name: `x${i}` }));
  const pooled = (outputDim, kind) =>
    inputs.map((input, i) =>
      emb.layers.embedding({ inputDim: ROWS, outputDim, combiner: 'mean', name: `${kind}_${i}` }).apply(input),
    );
  let deep = tf.layers.concatenate().apply(pooled(DIM, 'deep'));
  for (const units of [64, 32]) deep = tf.layers.dense({ units, activation: 'relu' }).apply(deep);
  const all = tf.layers.concatenate().apply([deep, ...pooled(1, 'wide')]);
  const outputs = tf.layers.dense({ units: 1, activation: 'sigmoid' }).apply(all);
  const model = tf.model({ inputs, outputs });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.05 }), loss: 'binaryCrossentropy' });
  return model;
}

function trained(model, x, y) {
  return async () => {
    const loss = await model.trainOnBatch(x, y);
    if (!Number.isFinite(loss)) throw new Error(`the loss is ${loss}`);
  };
}

const wideStep = () => trained(wideAndDeep(), inputsOf(FEATURES, 4), labels());

function plainStep() {
  const layers = [
    emb.layers.embedding({ inputDim: ROWS, outputDim: DIM, combiner: 'sum', inputShape: [10] }),
    tf.layers.dense({ units: 1 }),
  ];
  const model = tf.sequential({ layers });
  model.compile({ optimizer: emb.train.adam({ learningRate: 0.01 }), loss: 'meanSquaredError' });
  return trained(model, inputsOf(1, 10)[0], labels());
}

function fitted() {
  const model = wideAndDeep();
  const [x, y] = [inputsOf(FEATURES, 4), labels()];
  return () => model.fit(x, y, { batchSize: 64, epochs: 1, shuffle: false, verbose: 0 });
}

function distributedStep() {
  const embeddings = Array.from({ length: FEATURES }, (_, i) => {
    return { name: `t${i}`, inputDim: ROWS, outputDim: DIM, combiner: 'mean' };
  });
  const inputs = embeddings.map(({ name }) => tf.input({ shape: [4], dtype: 'int32', name: `${name}_ids` }));
  const joined = tf.layers.concatenate().apply(emb.layers.distributedEmbedding({ embeddings }).apply(inputs));
  const model = tf.model({ inputs, outputs: tf.layers.dense({ units: 1 }).apply(joined) });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.05 }), loss: 'meanSquaredError' });
  return trained(model, inputsOf(FEATURES, 4), labels());
}

/** Kernels alone: a lookup, and a step of the rows. */
function kernels(isStep) {
  const random = drawFor('kernels');
  const table = tf.variable(tf.tensor2d(random.floats(ROWS * DIM), [ROWS, DIM]));
  const ids = tf.tensor2d(random.ids(BATCH * 10, ROWS), [BATCH, 10], 'int32');
  if (!isStep) {
    return () => tf.tidy(() => void emb.embeddingLookup(table, ids, { combiner: 'sum' }).dataSync());
  }
  const optimizer = emb.train.adagrad({ learningRate: 0.05 });
  const loss = () => tf.sum(emb.embeddingLookup(table, ids, { combiner: 'sum' }));
  return () => tf.tidy(() => void optimizer.minimize(loss, true).dataSync());
}

const BENCHES = {
  'fit of wide and deep, tensorflow, captured': ['tensorflow', true, fitted],
  'step of wide and deep, tensorflow, captured': ['tensorflow', true, wideStep],
  'step of wide and deep, tensorflow, op by op': ['tensorflow', false, wideStep],
  'step of one table, tensorflow, captured': ['tensorflow', true, plainStep],
  'step of wide and deep, cpu': ['cpu', false, wideStep],
  'step of one table, cpu': ['cpu', false, plainStep],
  'step of wide and deep, wasm': ['wasm', false, wideStep],
  'step of one table, wasm': ['wasm', false, plainStep],
  'lookup alone, tensorflow': ['tensorflow', false, () => kernels(false)],
  'lookup alone, cpu': ['cpu', false, () => kernels(false)],
  'lookup alone, wasm': ['wasm', false, () => kernels(false)],
  'step of the rows alone, tensorflow': ['tensorflow', false, () => kernels(true)],
  'step of the rows alone, cpu': ['cpu', false, () => kernels(true)],
  'step of the rows alone, wasm': ['wasm', false, () => kernels(true)],
  'step of 6 tables, 2 devices': ['tpu-emulator', false, distributedStep],
};

let [step, times] = [null, 1];

async function timed(count) {
  const [start, used] = [performance.now(), process.cpuUsage()];
  for (let i = 0; i < count; i++) await step();
  const { user, system } = process.cpuUsage(used);
  return { ms: (performance.now() - start) / count, processorMs: (user + system) / 1000 / count };
}

/** Starts a bench, and finds how many steps take as long as a sample should. */
async function open(name) {
  const [backend, isCaptured, make] = BENCHES[name];
  if (backend === 'tpu-emulator')
    emb.configureTpuEmulator({ chips: 2, coresPerChip: 1, devices: 'inline', host: 'cpu' });
  await tf.setBackend(backend);
  emb.setCapture(isCaptured);
  tf.engine().startScope();
  step = make();
  await timed(5);
  times = Math.max(1, Math.round(SAMPLE_MS / (await timed(3)).ms));
  await timed(times);
}

async function answer({ list, open: opened, run, close }) {
  if (list) return { names: Object.keys(BENCHES) };
  if (opened !== undefined) {
    await open(opened);
    return {};
  }
  if (run !== undefined) return timed(times);
  if (close !== undefined) {
    step = null;
    tf.engine().endScope();
  }
  return {};
}

process.on('message', (request) => {
  answer(request).then(
    (result) => process.send(result),
    (error) => process.send({ error: `${error.stack}` }),
  );
});
