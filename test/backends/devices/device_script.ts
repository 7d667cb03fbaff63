/** A short run on a device, with every kind of command. */
import { NEUTRAL_HYPER, packHyper } from '../../../src/rules/hyper.js';
import type { Command, Device, ExchangeMemory, PlainBagsAt } from '../../../src/backends/devices/device.js';
import { Random } from '../../helpers/random.js';

const [ROWS, DIM, BATCH, IDS] = [50, 6, 40, 300];
const WORDS = 20_000;

/** Where things lie in the exchange memory; every device has a part of its own. */
function places(from: number): { values: number; splits: number; weights: number; gradient: number; out: number } {
  const values = from;
  const splits = values + IDS;
  const weights = splits + BATCH + 1;
  const gradient = weights + IDS;
  return { values, splits, weights, gradient, out: gradient + BATCH * DIM };
}

/** Writes ids, weights and gradients for device `number`. */
export function writeInputs(exchange: ExchangeMemory, number: number, devices: number): void {
  exchange.reserve(WORDS * devices);
  const random = new Random(7 + number);
  const { floats, ints } = exchange;
  const { values, splits, weights, gradient } = places(WORDS * number);
  for (let i = 0; i < IDS; i++) ints[values + i] = random.whole(0, ROWS);
  for (let bag = 0; bag <= BATCH; bag++) ints[splits + bag] = Math.floor((IDS * bag) / BATCH);
  floats.set(random.floats(IDS), weights);
  floats.set(random.floats(BATCH * DIM), gradient);
}

/** Commands that fill the output of device `number` with tables, pooled rows and gradients. */
export function commands(number: number): Command[] {
  const { values, splits, weights, gradient, out } = places(WORDS * number);
  const bags: PlainBagsAt = {
    ...{ values, nnz: IDS, rowSplits: splits, length: 0, batch: BATCH, weights },
    ...{ firstBag: 3, bags: BATCH - 5 },
  };
  const part = { firstRow: 0, rowStep: 1, rows: ROWS, firstColumn: 0, columns: DIM };
  const table = { buffer: 1, rows: ROWS, dim: DIM };
  const options = { combiner: 'mean', outOfRange: 'error', maxNorm: 0 } as const;
  const rows = { at: gradient, stride: DIM, sharedKey: null };
  const hyper = [...packHyper({ ...NEUTRAL_HYPER, learningRate: 0.1, epsilon: 1e-7 })];
  const step = { op: 'step', optimizer: 'adagrad', table, slots: [2], hyper, order: null } as const;
  const entry = { gradient: rows, bags, options, ofRows: false };
  return [
    { op: 'allocate', buffer: 1, part, fill: { kind: 'uniform', min: -1, max: 1, seed: number } },
    { op: 'allocate', buffer: 2, part, fill: { kind: 'constant', value: 0.1 } },
    { ...step, entries: [entry] },
    { op: 'copy', buffer: 3, from: 1 },
    { ...step, entries: [entry, { ...entry, options: { ...options, combiner: 'sum' } }] },
    {
      ...{ op: 'lookUp', table, bags, options, quantization: null },
      ...{ pooled: { at: out, stride: DIM + 2, sharedKey: null }, distinct: out + 5000 },
    },
    { op: 'weightsGradient', table, bags, options, gradient: rows, out: out + 1000 },
    { op: 'rowGradients', table, entries: [entry], room: IDS, out: out + 2000 },
    { op: 'read', table, firstRow: 0, rows: ROWS, where: { at: out + 6000, stride: DIM } },
    { op: 'read', table: { ...table, buffer: 2 }, firstRow: 5, rows: 9, where: { at: out + 7000, stride: DIM } },
    { op: 'read', table: { ...table, buffer: 3 }, firstRow: 0, rows: ROWS, where: { at: out + 8000, stride: DIM } },
    { op: 'free', buffer: 3 },
  ];
}

/** The part of the exchange memory of device `number`, bit by bit. */
export function outcome(exchange: ExchangeMemory, number: number): Int32Array {
  return exchange.ints.slice(WORDS * number, WORDS * (number + 1));
}

/** Runs the commands on all devices at once and returns what each wrote. */
export function runAll(devices: readonly Device[], exchange: ExchangeMemory): Int32Array[] {
  devices.forEach((_, number) => writeInputs(exchange, number, devices.length));
  devices.forEach((device, number) => device.post(commands(number)));
  for (const device of devices) device.finish();
  return devices.map((_, number) => outcome(exchange, number));
}

/** The error that a function throws. */
export function thrown(run: () => void): Error | null {
  try {
    run();
    return null;
  } catch (error) {
    return error as Error;
  }
}
