/**
 * The synthetic model "tiny" on one virtual device and on two, whose kernels have one thread each: what a step takes in
 * lookup, exchange and update, and as a whole. Rounds alternate, and devices are compared within a round, since a
 * machine is not equally fast all the time.
 *   node --import tsx tools/bench/devices.ts [--bytes 4e9] [--batch 8192] [--devices 1,2] [--rounds 5] [--warm-ups 50]
 *     [--steps 30] [--host tensorflow]
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
    rounds: { type: 'string', default: '5' },
    // Steps until the engine has compiled what a step of training runs, and slots and memory that stays are made.
    'warm-ups': { type: 'string', default: '50' },
    steps: { type: 'string', default: '30' },
    host: { type: 'string', default: 'tensorflow' },
  },
});
const bytes = Number(given.bytes);
const batch = Number(given.batch);
const rounds = Number(given.rounds);
const warmUps = Number(given['warm-ups']);
const steps = Number(given.steps);
const counts = given.devices.split(',').map(Number);

/** Milliseconds of each step in a round. */
interface Steps {
  readonly lookup: number[];
  readonly update: number[];
  readonly embeddings: number[];
  readonly whole: number[];
}

interface Round extends Steps {
  readonly otherCpu: number;
}

const config = CONFIGS['tiny']!;
const tables = tablesOf(config, bytes, 1);

async function measure(devices: number): Promise<Round> {
  const { host } = given;
  emb.configureTpuEmulator({ chips: devices, coresPerChip: 1, threadsPerDevice: 1, host });
  await tf.setBackend('tpu-emulator');
  const { inputs, labels } = makeBatch(tables, config.numerical, batch, 1);
  const { model } = buildModel(config, tables, 'cost_balanced', batch);
  const optimizer = emb.train.adagrad({ learningRate: 0.01 });
  model.compile({ optimizer, loss: 'binaryCrossentropy' });
  for (let step = 0; step < warmUps; step++) await model.trainOnBatch(inputs, labels);
  const taken: Steps = { lookup: [], update: [], embeddings: [], whole: [] };
  const { otherCpu } = await time(
    async () => {
      const { seconds: before } = emb.tpuEmulator().counters();
      const start = performance.now();
      await model.trainOnBatch(inputs, labels);
      taken.whole.push(performance.now() - start);
      const { seconds } = emb.tpuEmulator().counters();
      const lookup = 1000 * (seconds.lookUp - before.lookUp);
      const update = 1000 * (seconds.update - before.update);
      taken.lookup.push(lookup);
      taken.update.push(update);
      taken.embeddings.push(lookup + update);
    },
    steps,
    0,
  );
  tf.dispose([inputs, labels]);
  model.dispose();
  optimizer.dispose();
  await tf.setBackend('cpu');
  tf.removeBackend('tpu-emulator');
  return { ...taken, otherCpu };
}

await emb.ready();
/** By number of devices, then by round. */
const found = counts.map((): Round[] => []);
for (let round = 0; round < rounds; round++) {
  for (const [i, devices] of counts.entries()) {
    if (process.stderr.isTTY) process.stderr.write(`round ${round + 1} of ${rounds}, ${devices} devices ...\n`);
    found[i]!.push(await measure(devices));
  }
}

const all = (of: readonly Steps[], part: keyof Steps): number[] => of.flatMap((round) => round[part]);
/** In each round, how many times faster than the first number of devices. */
const timesFaster = (of: readonly Steps[], part: keyof Steps): number[] =>
  of.map((round, i) => median(found[0]![i]![part]) / median(round[part]));

counts.forEach((devices, i) => {
  const of = found[i]!;
  const byRound = timesFaster(of, 'embeddings');
  printLine({
    case: `tiny ${bytes} bytes b${batch} ${given.host}, ${devices} devices of one thread`,
    msLookup: median(all(of, 'lookup')),
    msUpdate: median(all(of, 'update')),
    msEmbeddings: median(all(of, 'embeddings')),
    msEmbeddingsMin: Math.min(...all(of, 'embeddings')),
    msWholeStep: median(all(of, 'whole')),
    otherCpu: median(of.map(({ otherCpu }) => otherCpu)),
    embeddingsTimesFaster: median(byRound),
    embeddingsTimesFasterByRound: byRound,
    wholeStepTimesFaster: median(timesFaster(of, 'whole')),
  });
});
