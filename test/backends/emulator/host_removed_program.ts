/**
 * Removes the backend on which dense ops run, at a moment of a training, and says what becomes of what follows. A
 * process of its own: tfjs does not get such a backend back. Arguments: host, moment. Prints JSON.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { loadHost, type HostName } from './describe_emulator.js';

/** Tells what a piece of a program throws. */
async function outcome(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'nothing';
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

async function start(host: HostName): Promise<void> {
  emb.configureTpuEmulator({ chips: 2, coresPerChip: 1, host });
  if (!(await tf.setBackend('tpu-emulator'))) throw new Error('the emulator does not start');
}

/** A model whose numbers depend on nothing but its steps. */
function buildModel(): tf.LayersModel {
  const layer = emb.layers.embedding({
    inputDim: 9,
    outputDim: 4,
    combiner: 'sum',
    inputShape: [2],
    embeddingsInitializer: 'ones',
  });
  const model = tf.sequential({ layers: [layer, tf.layers.dense({ units: 1, kernelInitializer: 'ones' })] });
  model.compile({ optimizer: emb.train.adagrad({ learningRate: 0.1 }), loss: 'meanSquaredError' });
  return model;
}

function batch(): { x: tf.Tensor2D; y: tf.Tensor2D } {
  return { x: tf.tensor2d([[1, 2], [3, 4]], [2, 2], 'int32'), y: tf.tensor2d([[1], [2]]) }; // prettier-ignore
}

/** What a model predicts after two steps. */
async function numbers(): Promise<number[]> {
  const model = buildModel();
  const { x, y } = batch();
  for (let step = 0; step < 2; step++) await model.trainOnBatch(x, y);
  return Array.from((model.predict(x) as tf.Tensor).dataSync());
}

const [host, moment] = process.argv.slice(2) as [HostName, 'in a step' | 'in fit'];
const missing = await loadHost(host);
if (missing !== null) {
  console.log(JSON.stringify({ missing }));
  process.exit(0);
}
await start(host);
const model = buildModel();
const { x, y } = batch();
await model.trainOnBatch(x, y);
const kept = tf.tensor1d([1, 2]);
const remove = (): void => tf.removeBackend(host);
const first = await outcome(async () => {
  if (moment === 'in a step') {
    emb.train.sgd({ learningRate: 0.1 }).minimize(() => {
      const pooled = model.apply(x) as tf.Tensor;
      remove();
      return pooled.square().sum();
    });
  } else
    await model.fit(x, y, {
      epochs: 3,
      verbose: 0,
      callbacks: { onEpochEnd: (epoch) => void (epoch === 0 && remove()) },
    });
});
const later = {
  predict: await outcome(() => model.predict(x)),
  evaluate: await outcome(() => model.evaluate(x, y)),
  op: await outcome(() => kept.square()),
  write: await outcome(() => tf.tensor1d([3])),
  readSync: await outcome(() => kept.dataSync()),
  read: await outcome(() => kept.data()),
  weights: await outcome(() => model.getWeights()[0]!.dataSync()),
  save: await outcome(() => model.save(tf.io.withSaveHandler(() => Promise.resolve({} as tf.io.SaveResult)))),
};
const dispose = await outcome(() => {
  tf.dispose([kept, x, y]);
  model.dispose();
});
// Another host goes on.
tf.removeBackend('tpu-emulator');
const other: HostName = host === 'cpu' ? 'wasm' : 'cpu';
const absent = await loadHost(other);
let again: number[] | null = null;
if (absent === null) {
  await start(other);
  again = await numbers();
  await tf.setBackend(other);
}
const expected = absent === null ? await numbers() : null;
console.log(JSON.stringify({ first, later, dispose, again, expected }));
