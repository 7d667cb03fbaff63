/**
 * A process that builds, trains, saves and disposes models over and over, and says after each round what it holds:
 *
 *     node --expose-gc --import tsx test/backends/emulator/rounds_program.ts HOST ROUNDS FORM...
 *
 * FORM: `kept` where one backend serves all rounds or `anew` where each round sets and removes it, and the kind of its
 * devices, as in kept-worker. The last line of standard output is JSON: a RoundsReport for each form.
 */
import * as tf from '@tensorflow/tfjs';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as emb from 'tfjs-embeddings/node';
import { running } from '../../../src/backends/emulator/register.js';
import { makeModel, startDevices } from '../../browser/distributed_model.js';
import { loadHost, type HostName } from './describe_emulator.js';

/** From here on nothing may grow. */
export const WARM_ROUND = 2;
/** Where resident memory is read first: caches are warm then. */
export const FIRST_READING = 50;
/** Readings, of which the lowest counts, and the time before each. */
const [READINGS, READING_MS] = [8, 50];
/** Handles of a backend that was removed may end a little later. */
const PATIENCE_MS = 5000;
/** Between what a round held before its backend was removed, and after. */
const SEPARATOR = '\nthen ';

/** What the rounds of a process held. */
export interface RoundsReport {
  readonly form: string;
  /** After each round from WARM_ROUND on, as texts: equal where nothing is left behind. */
  readonly held: readonly string[];
  /** Bytes a round from FIRST_READING on; null where there were no rounds after it. */
  readonly growth: number | null;
}

const host = process.argv[2] as HostName;
const rounds = Number(process.argv[3]);
const forms = process.argv.slice(4);

function counts(names: readonly string[]): Record<string, number> {
  const count: Record<string, number> = {};
  for (const name of names) count[name] = (count[name] ?? 0) + 1;
  return count;
}

const inFolder = (path: string): number | null => (existsSync(path) ? readdirSync(path).length : null);

function held(): string {
  const found = running();
  return JSON.stringify({
    memory: tf.memory(),
    variables: Object.keys(tf.engine().registeredVariables).length,
    onDevices: found?.tensors.size,
    tables: found?.machine.tables.size,
    plans: found?.devices.plans().length,
    resources: counts(process.getActiveResourcesInfo()),
    threads: inFolder('/proc/self/task'),
    handles: inFolder('/proc/self/fd'),
  });
}

const turn = (milliseconds = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

let patience = PATIENCE_MS;

/** Where the round holds something else than rounds before it, time may help. */
async function heldAtRest(expected: string | undefined): Promise<string> {
  await turn();
  const end = Date.now() + patience;
  while (expected !== undefined && held() !== expected) {
    if (Date.now() >= end) patience = 0; // once is enough
    if (patience === 0) break;
    await turn(20);
  }
  return held();
}

async function start(devices: string): Promise<void> {
  emb.configureTpuEmulator({});
  await startDevices(tf, emb, { host, devices });
  if (running()?.host !== host) throw new Error(`the emulator does not run on ${host}`);
}

async function stop(): Promise<void> {
  const { machine } = running()!;
  await tf.setBackend('cpu');
  tf.removeBackend('tpu-emulator');
  await machine.close();
}

async function round(): Promise<void> {
  const { layer, model, x, y, dispose } = makeModel(tf, emb);
  await model.fit(x, y, { epochs: 1, batchSize: 16, shuffle: false, verbose: 0 });
  tf.dispose(model.predict(x));
  const tables = layer.getTables();
  layer.setTables(tables);
  tf.dispose(tables);
  const handler = tf.io.withSaveHandler((artifacts) => {
    if (artifacts.weightData === undefined) throw new Error('nothing was saved');
    return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' } });
  });
  await model.save(handler, { includeOptimizer: true });
  dispose();
}

/** OwnedTable bytes after all garbage is gone; the engine gives pages back on threads of its own, a little later. */
async function resident(): Promise<number> {
  let least = Infinity;
  for (let time = 0; time < READINGS; time++) {
    gc!();
    await turn(READING_MS);
    least = Math.min(least, process.memoryUsage().rss);
  }
  return least;
}

async function runForm(form: string): Promise<RoundsReport> {
  const [life, devices] = form.split('-') as ['kept' | 'anew', string];
  const all: string[] = [];
  let first: number | null = null;
  if (life === 'kept') await start(devices);
  for (let number = 1; number <= rounds; number++) {
    if (life === 'anew') await start(devices);
    await round();
    const before = JSON.stringify(tf.memory());
    if (life === 'anew') await stop();
    const after = await heldAtRest(all[0]?.split(SEPARATOR)[1]);
    if (number >= WARM_ROUND) all.push(before + SEPARATOR + after);
    if (number === FIRST_READING) first = await resident();
  }
  const growth = first === null || rounds <= FIRST_READING ? null : (await resident()) - first;
  if (life === 'kept') await stop();
  return { form, held: all, growth: growth === null ? null : growth / (rounds - FIRST_READING) };
}

async function main(): Promise<RoundsReport[]> {
  const missing = await loadHost(host);
  if (missing !== null) throw new Error(missing);
  const reports: RoundsReport[] = [];
  for (const form of forms) reports.push(await runForm(form));
  return reports;
}

// The process must then end by itself.
if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await main()));
