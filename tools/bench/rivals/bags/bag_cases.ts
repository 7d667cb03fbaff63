/** Which cases of bags are measured. */
import type { BagBatches } from './bag_files.js';
import { drawnRank, Random, zipfSums } from '../../../../test/helpers/random.js';

export interface BagCase {
  /** `forward`: lookups alone; else the optimizer of a step. */
  readonly op: string;
  readonly dim: number;
  /** Ids of a bag; `variable`: 0 to 20, 10 in the mean. */
  readonly hot: number | 'variable';
  readonly ids: 'uniform' | 'zipf';
  readonly combiner: 'sum' | 'mean';
  readonly isWeighted: boolean;
  readonly threads: number;
}

/** The exponent of ids that crowd. */
const ZIPF = 1.05;
const MOST_ROWS = 1_000_000;
/** A table takes so much at most, so that peers with slots fit into a usual machine side by side. */
const MOST_BYTES = 512e6;

export const rowsOf = (dim: number): number => Math.min(MOST_ROWS, MOST_BYTES / 4 / dim);
export const meanHotness = ({ hot }: BagCase): number => (hot === 'variable' ? 10 : hot);

const STEPS = ['sgd', 'rowWiseAdagrad', 'adagrad'];
const PLAIN = { ids: 'uniform', combiner: 'sum', isWeighted: false } as const;

function* product(dims: readonly number[], hots: readonly BagCase['hot'][], ops: readonly string[], threads: number) {
  for (const dim of dims) for (const op of ops) for (const hot of hots) yield { ...PLAIN, dim, op, hot, threads };
}

/** The usual choice: a grid where most models are, and each other axis once from its middle. */
export function usualCases(): BagCase[] {
  const middle = { ...PLAIN, dim: 64, hot: 10, threads: 2 } as const;
  return [
    ...product([32, 64, 128], [1, 10, 50, 'variable'], ['forward', ...STEPS], 2),
    ...product([8, 16, 256, 512], [10], ['forward', 'sgd'], 2),
    ...product([32, 64, 128], [10, 50], ['forward', ...STEPS], 1),
    ...[...product([64, 128], [10, 50], ['forward', ...STEPS], 2)].map((each) => ({ ...each, ids: 'zipf' as const })),
    ...['adam', 'adagradMomentum', 'ftrl'].map((op) => ({ ...middle, op })),
    { ...middle, op: 'forward', combiner: 'mean' },
    { ...middle, op: 'forward', isWeighted: true },
    { ...middle, op: 'sgd', isWeighted: true },
  ];
}

/** A sample that takes a minute or two. */
export function quickCases(): BagCase[] {
  return [...product([64], [10], ['forward', 'sgd', 'rowWiseAdagrad', 'adagrad'], 2)];
}

/** Every combination: hours. */
export function allCases(): BagCase[] {
  const all: BagCase[] = [];
  const ops = ['forward', ...STEPS, 'adam', 'adagradMomentum', 'ftrl'];
  for (const threads of [1, 2]) {
    for (const each of product([8, 16, 32, 64, 128, 256, 512], [1, 10, 50, 'variable'], ops, threads)) {
      for (const ids of ['uniform', 'zipf'] as const) {
        all.push({ ...each, ids });
        all.push({ ...each, ids, combiner: 'mean' });
        all.push({ ...each, ids, isWeighted: true });
      }
    }
  }
  return all;
}

/** Ids by a power law, the frequent ones all over the table. */
class Zipf {
  private readonly sums: Float64Array;
  private readonly places: Int32Array;

  constructor(rows: number, random: Random) {
    this.sums = zipfSums(rows, ZIPF);
    this.places = Int32Array.from({ length: rows }, (_, row) => row);
    for (let k = rows - 1; k > 0; k--) {
      const other = random.whole(0, k + 1);
      [this.places[k], this.places[other]] = [this.places[other]!, this.places[k]!];
    }
  }

  draw(random: Random): number {
    return this.places[drawnRank(this.sums, random)]!;
  }
}

let lastZipf: { rows: number; zipf: Zipf } | null = null;

function zipfOf(rows: number): Zipf {
  if (lastZipf?.rows !== rows) lastZipf = { rows, zipf: new Zipf(rows, new Random(rows)) };
  return lastZipf.zipf;
}

/** Draws ids below `rows`. */
export function idDrawer(ids: BagCase['ids'], rows: number, random: Random): () => number {
  return ids === 'zipf' ? () => zipfOf(rows).draw(random) : () => random.whole(0, rows);
}

export interface Size {
  readonly rows: number;
  readonly batch: number;
  readonly batches: number;
}

/** So many batches that they touch 256 MB of rows: a cache must not hold them all. */
export function batchesOf(bagCase: BagCase, batch: number): number {
  const bytes = batch * meanHotness(bagCase) * bagCase.dim * 4;
  return Math.max(8, Math.min(64, Math.ceil(2 ** 28 / bytes)));
}

export function drawBags(bagCase: BagCase, { rows, batch, batches }: Size, seed: number): BagBatches {
  const random = new Random(seed);
  const { hot, ids, isWeighted, dim } = bagCase;
  const draw = idDrawer(ids, rows, random);
  const made = Array.from({ length: batches }, () => {
    const rowSplits = new Int32Array(batch + 1);
    for (let b = 0; b < batch; b++) {
      rowSplits[b + 1] = rowSplits[b]! + (hot === 'variable' ? random.whole(0, 21) : hot);
    }
    const values = Int32Array.from({ length: rowSplits[batch]! }, draw);
    return { values, rowSplits, weights: isWeighted ? random.floats(values.length, 0.5, 1.5) : null };
  });
  return { batches: made, gradient: random.floats(batch * dim, -0.01, 0.01) };
}

export function nameOf({ op, dim, hot, ids, combiner, isWeighted }: BagCase): string {
  const extra = [ids === 'zipf' ? 'zipf' : '', combiner === 'mean' ? 'mean' : '', isWeighted ? 'weighted' : ''];
  return [op, `dim ${dim}`, hot === 'variable' ? '0-20 ids' : `${hot} ids`, ...extra.filter(Boolean)].join(', ');
}
