/** Trains a synthetic recommender model on virtual devices and says what it costs. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as emb from 'tfjs-embeddings/node';
import { endServers, startBackend } from '../backend.js';
import { devicesInUse, reportDevices } from '../device_report.js';
import { InputError } from '../input_error.mjs';
import { makeBatch, type Batch } from './batches.js';
import { CONFIGS, tablesOf } from './configs.js';
import { buildModel } from './model.js';
import type { Options } from './options.mjs';

const SLOTS: Readonly<Record<Options['optimizer'], number>> = { sgd: 0, adagrad: 1, adam: 2 };

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of this thread: its heap, and what lies outside it. */
function ownMemory(): number {
  // Twice: what finalizers let go is collected by the second.
  collect();
  collect();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!;

export function run(options: Options): Promise<void> {
  return runJob(options).finally(endServers);
}

async function runJob(options: Options): Promise<void> {
  const config = CONFIGS[options.model];
  const tables = tablesOf(config, options.bytes, SLOTS[options.optimizer]);
  await startBackend(options.backend, options);
  const batches: Batch[] = [];
  for (let i = 0; i < options.batches; i++) {
    progress(`making batch ${i + 1} of ${options.batches}`);
    batches.push(makeBatch(tables, config.numerical, options.batch, i + 1));
  }
  const before = ownMemory();
  const { model, embeddings } = buildModel(config, tables, options.strategy, options.batch);
  const optimizer = emb.train[options.optimizer]({ learningRate: 0.01 });
  model.compile({ optimizer, loss: 'binaryCrossentropy' });
  const [summary, ...pieces] = String(embeddings.plan).split('\n');
  say(`plan: ${summary}`);
  if (options.plan) pieces.forEach(say);

  const milliseconds: { step: number; embeddings: number }[] = [];
  let loss = NaN;
  for (let step = 0; step < options.steps; step++) {
    const { inputs, labels } = batches[step % batches.length]!;
    const seconds = embeddingSeconds();
    const from = performance.now();
    loss = (await model.trainOnBatch(inputs, labels)) as number;
    const took = { step: performance.now() - from, embeddings: 1000 * (embeddingSeconds() - seconds) };
    progress(`step ${step + 1} of ${options.steps}: ${took.step.toFixed(0)} ms, loss ${loss.toFixed(4)}`);
    milliseconds.push(took);
  }
  // The first steps build tables and slots.
  const timed = milliseconds.slice(Math.min(2, milliseconds.length - 1));
  const result = {
    model: options.model,
    devices: options.devices,
    strategy: options.strategy,
    optimizer: options.optimizer,
    threadsPerDevice: options.threads,
    batch: options.batch,
    steps: options.steps,
    loss,
    tableBytes: tables.tables.reduce((sum, { inputDim, outputDim }) => sum + 4 * inputDim * outputDim, 0),
    msPerStep: median(timed.map(({ step }) => step)),
    msLookupExchangeUpdate: median(timed.map(({ embeddings: each }) => each)),
    mainThreadGrowth: ownMemory() - before,
    bytesOfOneBatchsRows: rowBytes(tables, options.batch),
    backend: emb.backendInfo(),
  };
  const { lines, failure } = reportDevices(options.report);
  lines.forEach(say);
  say(JSON.stringify(result));
  if (failure !== null) throw new InputError(failure);
}

function embeddingSeconds(): number {
  const { lookUp, update } = devicesInUse().counters().seconds;
  return lookUp + update;
}

/** Bytes of the rows that one batch looks up. */
function rowBytes({ tables, inputTableMap, hotness }: ReturnType<typeof tablesOf>, batch: number): number {
  return inputTableMap.reduce((sum, table, i) => sum + 4 * batch * hotness[i]! * tables[table]!.outputDim, 0);
}
