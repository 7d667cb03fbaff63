/**
 * Trains a model on devices that fail at random moments, in a process of its own.
 *   node --import tsx tools/attack/programs/device_faults_program.ts <seed>
 * After each fault new devices go on from the last save. Every number that comes out on the way must be that of a
 * training without faults. Prints a JSON line with what fell.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Worker } from 'node:worker_threads';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { running } from '../../../src/backends/emulator/register.js';
import { HOSTS, loadHost, type HostName } from '../../../test/backends/emulator/describe_emulator.js';
import { makeModel } from '../../../test/browser/distributed_model.js';
import { Random } from '../../../test/helpers/random.js';

const STEPS = 8;
const BATCH = 16;
const FAULTS = 3;
const DEVICES = 4;
/** Patience of the emulator with a device that gets no processor time, and then some. */
const MOST_SECONDS = 90;
/** What stock models leave of a step that fails. */
const MOST_LOSSES = 2;
const TEXT = /^`device \d`: expected a device that does its work, received .*Tables on the devices are lost/;

type Given = ReturnType<typeof makeModel>;
type Numbers = readonly number[];

const random = new Random(Number(process.argv[2] ?? 1));
const fallen: string[] = [];
const workers = new Set<Worker>();
process.on('worker', (worker) => {
  workers.add(worker);
  worker.once('exit', () => workers.delete(worker));
});

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A model in training, and the examples. */
class Training {
  constructor(
    readonly model: tf.LayersModel,
    private readonly given: Given,
    public step: number,
  ) {}

  async train(): Promise<void> {
    const { x, y } = this.given;
    const from = (this.step * BATCH) % x[0]!.shape[0];
    const inputs = x.map((ids) => ids.slice(from, BATCH));
    const labels = y.slice(from, BATCH);
    try {
      await this.model.trainOnBatch(inputs, labels);
      this.step++;
    } finally {
      tf.dispose([inputs, labels]);
    }
  }

  predict(): Numbers {
    const predictions = this.model.predict(this.given.x) as tf.Tensor;
    try {
      return Array.from(predictions.dataSync());
    } finally {
      predictions.dispose();
    }
  }

  async save(): Promise<tf.io.ModelArtifacts> {
    let saved: tf.io.ModelArtifacts | null = null;
    const handler = tf.io.withSaveHandler((artifacts) => {
      saved = structuredClone(artifacts);
      return Promise.resolve({ modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' } });
    });
    await this.model.save(handler, { includeOptimizer: true });
    return saved!;
  }

  dispose(): void {
    if (this.model !== this.given.model) {
      this.model.optimizer.dispose();
      this.model.dispose();
    }
    this.given.dispose();
  }
}

async function start(host: HostName): Promise<void> {
  emb.configureTpuEmulator({ chips: DEVICES, coresPerChip: 1, host, devices: 'worker' });
  if (!(await tf.setBackend('tpu-emulator'))) throw new Error('the emulator does not start');
}

async function stop(host: HostName): Promise<void> {
  tf.removeBackend('tpu-emulator');
  await tf.setBackend(host);
  for (let turn = 0; turn < 200 && workers.size > 0; turn++) await wait(50);
  if (workers.size > 0) fallen.push(`${workers.size} workers outlive their emulator`);
}

/** A fault on its way: it comes with the commands of some device, before or after them, or by the clock. */
class Fault {
  readonly device = random.whole(0, DEVICES);
  readonly name = random.pick(['terminate', 'terminate', 'kernelError', 'kernelError', 'outOfMemory', 'hang'] as const);
  readonly moment: string;
  isThere = false;

  constructor() {
    if (random.chance(0.4)) {
      const after = random.whole(0, 120);
      this.moment = `after ${after} ms`;
      setTimeout(() => this.inject(), after).unref();
      return;
    }
    const [to, isBefore] = [random.whole(0, DEVICES), random.chance(0.5)];
    let left = random.whole(0, 20);
    this.moment = `${isBefore ? 'before' : 'after'} command list ${left} to device ${to}`;
    const device = running()!.machine.set.devices[to]!;
    const post = device.post.bind(device);
    device.post = (commands) => {
      const isDue = left-- === 0;
      if (isDue && isBefore) this.inject();
      post(commands);
      if (isDue && !isBefore) this.inject();
    };
  }

  inject(): void {
    if (this.isThere || running() === null) return;
    this.isThere = true;
    emb.tpuEmulator().injectFault(this.device, this.name);
  }

  toString(): string {
    return `${this.name} of device ${this.device} ${this.moment}`;
  }
}

/** Runs a piece of a training; tells whether a fault ended it. */
async function survives(work: () => unknown, fault: Fault | null): Promise<boolean> {
  const from = performance.now();
  try {
    await work();
    return true;
  } catch (error) {
    const { name, message, stack } = error as Error;
    if (fault?.isThere !== true) fallen.push(`without a fault: ${stack}`);
    else if (name !== 'RuntimeError' || !TEXT.test(message)) fallen.push(`${fault}: ${stack}`);
    return false;
  } finally {
    const seconds = (performance.now() - from) / 1000;
    if (seconds > MOST_SECONDS) fallen.push(`${fault}: a call took ${seconds.toFixed(0)} s`);
  }
}

/** Compares what came out with what must come out. */
function check(numbers: Numbers, expected: Numbers, what: string): void {
  if (!isDeepStrictEqual(numbers, expected)) fallen.push(`wrong numbers ${what}: ${numbers.slice(0, 3).join()}, …`);
}

/** A training without faults: predictions before each step and after the last. */
async function reference(host: HostName): Promise<Numbers[]> {
  await start(host);
  const given = makeModel(tf, emb);
  const training = new Training(given.model, given, 0);
  const found = [training.predict()];
  while (training.step < STEPS) {
    await training.train();
    found.push(training.predict());
  }
  training.dispose();
  await stop(host);
  return found;
}

interface Saved {
  readonly step: number;
  readonly artifacts: tf.io.ModelArtifacts;
}

/** Goes on from a save until the end or a fault; returns the last save. */
async function attempt(
  host: HostName,
  expected: readonly Numbers[],
  saved: Saved | null,
  isLast: boolean,
): Promise<Saved | null> {
  await start(host);
  const given = makeModel(tf, emb);
  const loaded = saved === null ? given.model : await tf.loadLayersModel(tf.io.fromMemory(saved.artifacts));
  const training = new Training(loaded, given, saved?.step ?? 0);
  check(training.predict(), expected[training.step]!, `from a save at step ${training.step}`);
  const fault = isLast ? null : new Fault();
  const predict = (): void => check(training.predict(), expected[training.step]!, `at step ${training.step}, ${fault}`);
  let last = saved;
  const save = async (): Promise<void> => {
    const { step } = training;
    last = { step, artifacts: await training.save() };
  };
  let isAlive = true;
  while (isAlive && training.step < STEPS) {
    isAlive = await survives(random.pick([() => training.train(), () => training.train(), predict, save]), fault);
  }
  // A fault that came late, or has yet to come, is noticed by what is next.
  for (let turn = 0; fault !== null && isAlive; turn++) {
    if (turn === 200) {
      fallen.push(`${fault}: nobody noticed`);
      break;
    }
    fault.inject();
    isAlive = await survives(predict, fault);
    await wait(10);
  }
  if (isAlive) check(training.predict(), expected[STEPS]!, 'at the end');
  // After a fault there are no numbers any more.
  else if (await survives(() => training.predict(), fault)) fallen.push(`${fault}: a prediction after it`);
  training.dispose();
  await stop(host);
  return last;
}

const present: HostName[] = [];
for (const host of HOSTS) if ((await loadHost(host)) === null) present.push(host);
const host = random.pick(present);
await tf.setBackend(host);
const expected = await reference(host);
let saved: Saved | null = null;
for (let round = 0; round <= FAULTS; round++) {
  const before = tf.memory().numTensors;
  saved = await attempt(host, expected, saved, round === FAULTS);
  const left = tf.memory().numTensors - before;
  if (left > (round === FAULTS ? 0 : MOST_LOSSES)) fallen.push(`${left} tensors are left by a training`);
}
console.log(JSON.stringify({ fallen: fallen.map((what) => `on ${host}: ${what}`) }));
// Whatever still runs is something that fell, and was told.
process.exit(0);
