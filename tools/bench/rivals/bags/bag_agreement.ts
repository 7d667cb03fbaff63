/** Whether a peer computes what the reference does, on small tables with repeated ids. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SLOT_NAMES, type UpdateName } from '../../../../src/rules/rules.js';
import { floatTable, type BagOptions } from '../../../../src/backends/kernel_set.js';
import { codecOf } from '../../../../src/codecs/codecs.js';
import { referenceKernels } from '../../../../src/backends/reference/reference_kernel_set.js';
import { Random } from '../../../../test/helpers/random.js';
import { drawBags, type BagCase } from './bag_cases.js';
import { readOutputs, writeBags, type BagBatches } from './bag_files.js';
import type { Peer } from '../peer.js';
import { PACKED } from '../peers.js';
import { hyperAt, startOf } from './step_settings.js';
import { lookUpInto, stepOne } from '../../../../test/helpers/kernel_calls.js';

const ROWS = 300;
const BATCH = 64;
const STEPS = 3;
const RATE = 0.05;
/** Of sums of 20 products in float32, and three steps with a root each. */
const TOLERANCE = 2e-5;

/** `equal`; `every row`: equal to a step of every row, which the reference calls not lazy; else what is wrong. */
export type Agreement =
  'equal' | 'every row' | { readonly lacks: string } | { readonly fails: string } | { readonly differs: string };

interface Outputs {
  readonly pooled: Float32Array;
  readonly table: Float32Array;
}

function expected(bagCase: BagCase, start: Float32Array, { batches, gradient }: BagBatches, isLazy: boolean): Outputs {
  const { dim, op, combiner } = bagCase;
  const table = floatTable(start.slice(), ROWS, dim);
  const options: BagOptions = { combiner, outOfRange: 'error', maxNorm: 0 };
  const pooled = new Float32Array(BATCH * dim);
  lookUpInto(referenceKernels, table, batches[0]!, options, pooled);
  if (op === 'forward') return { pooled, table: table.data };
  const optimizer = op as UpdateName;
  const length = optimizer === 'rowWiseAdagrad' ? ROWS : ROWS * dim;
  const slots = SLOT_NAMES[optimizer].map((_, i) => new Float32Array(length).fill(startOf(optimizer, i)));
  for (let step = 1; step <= STEPS; step++) {
    const hyper = hyperAt(optimizer, RATE, step, isLazy);
    const bags = batches[(step - 1) % batches.length]!;
    stepOne(referenceKernels, optimizer, table, slots, gradient, bags, options, hyper);
  }
  return { pooled, table: table.data };
}

/** The largest difference, relative to 1 where values are smaller. */
function distance(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return Infinity;
  let most = 0;
  a.forEach((x, i) => {
    const difference = Math.abs(x - b[i]!) / Math.max(1, Math.abs(b[i]!));
    if (!(difference <= most)) most = difference;
  });
  return most;
}

const differs = (actual: Outputs, wanted: Outputs): string | null => {
  const [pooled, table] = [distance(actual.pooled, wanted.pooled), distance(actual.table, wanted.table)];
  if (pooled > TOLERANCE || Number.isNaN(pooled)) return `pooled rows differ by ${pooled.toPrecision(2)}`;
  if (table > TOLERANCE || Number.isNaN(table)) return `the table differs by ${table.toPrecision(2)}`;
  return null;
};

/** What a peer's table holds: fewer bits may be fewer values. */
function kept(peer: string, values: Float32Array, dim: number): Float32Array {
  const storage = PACKED.find((each) => each === peer);
  if (storage === undefined) return values;
  const codec = codecOf(storage);
  const words = new Int32Array(ROWS * codec.words(dim));
  codec.pack(values, dim, words);
  return codec.unpack(words, dim);
}

/** Asks for the case with few rows. */
export async function agreementOf(peer: Peer, measured: BagCase, folder: string): Promise<Agreement> {
  const bagCase = { ...measured, dim: Math.min(measured.dim, 32), hot: measured.hot === 50 ? 10 : measured.hot };
  mkdirSync(folder, { recursive: true });
  const start = new Random(3).floats(ROWS * bagCase.dim);
  const bags = drawBags(bagCase, { rows: ROWS, batch: BATCH, batches: 2 }, 5);
  bags.gradient.forEach((x, i, all) => (all[i] = 100 * x));
  writeBags(folder, bags);
  const table = join(folder, 'table.f32');
  writeFileSync(table, start);
  const optimizer = bagCase.op === 'forward' ? null : bagCase.op;
  const requests = [
    { do: 'open', rows: ROWS, dim: bagCase.dim, table, optimizer, learningRate: RATE },
    { do: 'bags', folder, batch: BATCH, combiner: bagCase.combiner },
    { do: 'outputs', steps: optimizer === null ? 1 : STEPS },
  ];
  try {
    for (const request of requests) {
      const { lacks, error } = await peer.ask(request);
      if (lacks !== undefined) return { lacks };
      if (error !== undefined) return { fails: error };
    }
  } finally {
    if (peer.isAlive) await peer.ask({ do: 'close' });
  }
  const actual = readOutputs(folder);
  const begun = kept(peer.name, start, bagCase.dim);
  const difference = differs(actual, expected(bagCase, begun, bags, true));
  if (difference === null) return 'equal';
  if (bagCase.op === 'adam' && differs(actual, expected(bagCase, begun, bags, false)) === null) return 'every row';
  return { differs: difference };
}
