/**
 * The synthetic model "tiny" on one virtual device and on two, whose kernels have one thread each: what a step takes in
 * lookup, exchange and update, and as a whole. Rounds alternate, since a machine is not equally fast all the time.
 *   node --import tsx test/bench/devices.ts [--bytes 4e9] [--batch 8192] [--devices 1,2] [--rounds 4] [--steps 12]
 *     [--host tensorflow]
 */
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';
import '@tensorflow/tfjs-node';
import { parseArgs } from 'node:util';
import * as emb from 'tfjs-embeddings/node';
import { makeBatch } from '../../models/synthetic/batches.js';
import { CONFIGS, tablesOf } from '../../models/synthetic/configs.js';
import { buildModel } from '../../models/synthetic/model.js';
import { median, printLine, time } from './stopwatch.js';

const { values: given } = parseArgs({
  options: {
    bytes: { type: 'string', default: '4e9' },
    batch: { type: 'string', default: '8192' },
    devices: { type: 'string', default: '1,2' },
    rounds: { type: 'string', default: '4' },
    steps: { type: 'string', default: '12' },
    host: { type: 'string', default: 'tensorflow' },
  },
});
const [bytes, batch, rounds, steps] = [given.bytes, given.batch, given.rounds, given.steps].map(Number) as [
  number,
  number,
  number,
  number,
];
const counts = given.devices.split(',').map(Number);
/** The first steps make slots, and memory that stays. */
const WARM_UPS = 4;

/** Milliseconds of each step. */
interface Steps {
  readonly lookup: number[];
  readonly update: number[];
  readonly embeddings: number[];
  readonly whole: number[];
  readonly otherCpu: number[];
}

const config = CONFIGS['tiny']!;
const tables = tablesOf(config, bytes, 1);

async function measure(devices: number, into: Steps): Promise<void> {
  const { host } = given;
  emb.configureTpuEmulator({ chips: devices, coresPerChip: 1, threadsPerDevice: 1, host });
  await tf.setBackend('tpu-emulator');
  const { inputs, labels } = makeBatch(tables, config.numerical, batch, 1);
  const { model } = buildModel(config, tables, 'cost_balanced', batch);
  const optimizer = emb.train.adagrad({ learningRate: 0.01 });
  model.compile({ optimizer, loss: 'binaryCrossentropy' });
  const { otherCpu } = await time(
    async (step) => {
      const { seconds: before } = emb.tpuEmulator().counters();
      const start = performance.now();
      await model.trainOnBatch(inputs, labels);
      const whole = performance.now() - start;
      const { seconds } = emb.tpuEmulator().counters();
      const lookup = 1000 * (seconds.lookUp - before.lookUp);
      const update = 1000 * (seconds.update - before.update);
      if (step < WARM_UPS) return;
      into.lookup.push(lookup);
      into.update.push(update);
      into.embeddings.push(lookup + update);
      into.whole.push(whole);
    },
    steps + WARM_UPS,
    0,
  );
  into.otherCpu.push(otherCpu);
  tf.dispose([inputs, labels]);
  model.dispose();
  optimizer.dispose();
  await tf.setBackend('cpu');
  tf.removeBackend('tpu-emulator');
}

await emb.ready();
const found = counts.map((): Steps => ({ lookup: [], update: [], embeddings: [], whole: [], otherCpu: [] }));
for (let round = 0; round < rounds; round++)
  for (const [i, devices] of counts.entries()) await measure(devices, found[i]!);
const medians = found.map(({ lookup, update, embeddings, whole, otherCpu }) => ({
  msLookup: median(lookup),
  msUpdate: median(update),
  msEmbeddings: median(embeddings),
  msEmbeddingsMin: Math.min(...embeddings),
  msWholeStep: median(whole),
  otherCpu: median(otherCpu),
}));
counts.forEach((devices, i) => {
  const { msEmbeddings, msWholeStep } = medians[i]!;
  printLine({
    case: `tiny ${bytes} bytes b${batch} ${given.host}, ${devices} devices of one thread`,
    ...medians[i]!,
    embeddingsTimesFaster: medians[0]!.msEmbeddings / msEmbeddings,
    wholeStepTimesFaster: medians[0]!.msWholeStep / msWholeStep,
  });
});
