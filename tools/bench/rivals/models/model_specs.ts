/** The models that are trained side by side, as data that programs in every language read. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../../../test/helpers/random.js';
import { idDrawer } from '../bags/bag_cases.js';
import { drawTriples, readPairs } from './pair_files.js';

export type ModelKind =
  'wide_and_deep' | 'dlrm' | 'matrix_factorization' | 'two_towers' | 'tables' | 'text' | 'next_item' | 'ragged';

export interface ModelSpec {
  readonly name: string;
  /** What is built. */
  readonly kind: ModelKind;
  readonly tables: readonly { readonly rows: number; readonly dim: number }[];
  /** Each with the rows that its ids name and its ids per sample; of ragged rows the most. */
  readonly inputs: readonly { readonly rows: number; readonly hot: number }[];
  /** Numbers per sample beside the ids. */
  readonly numbers: number;
  readonly batch: number;
  /** Batches of an epoch. */
  readonly batches: number;
  readonly optimizer: 'sgd' | 'adam' | 'adagrad';
  readonly learningRate: number;
  /** Adam steps every row of a table, also those without ids in the batch. */
  readonly everyRow: boolean;
  readonly dropout: number;
  /** Of Adam and Adagrad. */
  readonly epsilon: number;
  /** Of next items: how many there are, and whether a label is the number of one, not a vector with a 1. */
  readonly classes?: number;
  readonly isSparse?: boolean;
  /** The mean over the words of a text is a layer of its own, not the combiner of the lookup. */
  readonly hasPoolingLayer?: boolean;
  readonly ids: 'uniform' | 'zipf';
  /** A file of pairs of users and items, from which the ids of two towers are taken instead. */
  readonly pairs?: string;
}

const ADULT_ROWS = [64, 10, 102, 18, 18, 9, 17, 8, 7, 4, 64, 64, 64, 43];
/** Ids per sample of the 26 inputs of MLPerf's DLRM-DCNv2. */
const MLPERF_HOTNESS = [3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1];
const DLRM_DIM = 32;
const DLRM_ROWS = 100_000;

const COMMON = { numbers: 0, everyRow: false, dropout: 0, epsilon: 1e-7, ids: 'uniform' } as const;

function dlrm(name: string, hotness: readonly number[], rest: Partial<ModelSpec>, dim = DLRM_DIM): ModelSpec {
  return {
    ...COMMON,
    name,
    kind: 'dlrm',
    tables: hotness.map(() => ({ rows: DLRM_ROWS, dim })),
    inputs: hotness.map((hot) => ({ rows: DLRM_ROWS, hot })),
    numbers: 13,
    batch: 2048,
    batches: 3,
    optimizer: 'sgd',
    learningRate: 0.01,
    ...rest,
  };
}

const ONE_ID = MLPERF_HOTNESS.map(() => 1);

function wideAndDeep(name: string, batch: number, batches: number): ModelSpec {
  return {
    ...COMMON,
    name,
    kind: 'wide_and_deep',
    tables: ADULT_ROWS.flatMap((rows) => [
      { rows, dim: 8 },
      { rows, dim: 1 },
    ]),
    inputs: ADULT_ROWS.map((rows) => ({ rows, hot: 1 })),
    batch,
    batches,
    optimizer: 'adam',
    learningRate: 0.008,
    everyRow: true,
    dropout: 0.2,
  };
}

/** Users and items as ML-1M has them. */
function factorization(name: string, dim: number, batch: number, rest: Partial<ModelSpec>): ModelSpec {
  return {
    ...COMMON,
    name,
    kind: 'matrix_factorization',
    tables: [
      { rows: 6040, dim },
      { rows: 3706, dim },
      { rows: 6040, dim: 1 },
      { rows: 3706, dim: 1 },
    ],
    inputs: [
      { rows: 6040, hot: 1 },
      { rows: 3706, hot: 1 },
    ],
    batch,
    // A million ratings, as ML-1M has.
    batches: Math.floor(1e6 / batch),
    optimizer: 'sgd',
    learningRate: 0.05,
    ...rest,
  };
}

/** Rows of 1 to 1,000 ids, 10 on average. */
const RAGGED: ModelSpec = {
  ...COMMON,
  name: 'ragged rows of 10 ids, two tables of 1,000,000 x 32, Adagrad',
  kind: 'ragged',
  tables: [1, 2].map(() => ({ rows: 1_000_000, dim: 32 })),
  inputs: [1, 2].map(() => ({ rows: 1_000_000, hot: 1000 })),
  batch: 4096,
  batches: 8,
  optimizer: 'adagrad',
  learningRate: 0.05,
};

export const MODELS: readonly ModelSpec[] = [
  wideAndDeep('wide and deep, Adam', 512, 57),
  dlrm('DLRM, one id, SGD', ONE_ID, {}),
  dlrm('DLRM, one id, Adam on rows of the batch', ONE_ID, { optimizer: 'adam', learningRate: 0.001 }),
  dlrm('DLRM, one id, Adam on every row', ONE_ID, { optimizer: 'adam', learningRate: 0.001, everyRow: true }),
  dlrm("DLRM, MLPerf's 214 ids, SGD", MLPERF_HOTNESS, { ids: 'zipf', batches: 2 }),
  factorization('matrix factorization, SGD', 16, 9 * 1024, {}),
  {
    ...COMMON,
    name: 'two towers, BPR, Adam',
    kind: 'two_towers',
    tables: [
      { rows: 29_858, dim: 64 },
      { rows: 40_981, dim: 64 },
    ],
    inputs: [
      { rows: 29_858, hot: 1 },
      { rows: 40_981, hot: 1 },
      { rows: 40_981, hot: 1 },
    ],
    batch: 2048,
    batches: 10,
    optimizer: 'adam',
    learningRate: 0.001,
    ids: 'zipf',
  },
  RAGGED,
];

/** A text of 200 words out of 20,000, and what it is about: yes or no. */
function text(name: string, rest: Partial<ModelSpec>): ModelSpec {
  return {
    ...COMMON,
    name,
    kind: 'text',
    tables: [{ rows: 20_000, dim: 64 }],
    inputs: [{ rows: 20_000, hot: 200 }],
    batch: 128,
    batches: 40,
    optimizer: 'adam',
    learningRate: 0.001,
    everyRow: true,
    ...rest,
  };
}

/** The next of 10,000 items after the last 20. */
function nextItem(name: string, rest: Partial<ModelSpec>): ModelSpec {
  return {
    ...COMMON,
    name,
    kind: 'next_item',
    tables: [{ rows: 10_000, dim: 64 }],
    inputs: [{ rows: 10_000, hot: 20 }],
    classes: 10_000,
    batch: 256,
    batches: 8,
    optimizer: 'adam',
    learningRate: 0.001,
    everyRow: true,
    ...rest,
  };
}

/** Further sizes and models, with `--full`. */
export const MORE_MODELS: readonly ModelSpec[] = [
  wideAndDeep('wide and deep, Adam, batch 256', 256, 114),
  wideAndDeep('wide and deep, Adam, batch 8192', 8192, 8),
  dlrm('DLRM, one id, SGD, dim 16, batch 512', ONE_ID, { batch: 512, batches: 12 }, 16),
  dlrm(
    'DLRM, one id, Adam on rows of the batch, dim 16, batch 512',
    ONE_ID,
    { batch: 512, batches: 12, optimizer: 'adam', learningRate: 0.001 },
    16,
  ),
  factorization('matrix factorization, SGD, batch 1024', 16, 1024, { batches: 200 }),
  factorization('matrix factorization, Adagrad, dim 128', 128, 9 * 1024, { batches: 30, optimizer: 'adagrad' }),
  text('text, mean as combiner, Adam on every row', {}),
  text('text, mean as combiner, Adam on rows of the batch', { everyRow: false }),
  text('text, mean as a layer, Adam on every row', { hasPoolingLayer: true }),
  text('text, mean as a layer, Adam on rows of the batch', { hasPoolingLayer: true, everyRow: false }),
  nextItem('next item, vectors of labels, Adam', {}),
  nextItem('next item, numbers of labels, Adam', { isSparse: true }),
];

/** BPR on somebody's pairs: two towers of dim 64 on batches of users, items that they chose, and others. */
export function modelOfPairs(pairs: string): ModelSpec {
  const { userCount, itemCount } = readPairs(pairs);
  return {
    ...MODELS.find(({ kind }) => kind === 'two_towers')!,
    name: `BPR on pairs, ${userCount} users, ${itemCount} items, Adam`,
    tables: [userCount, itemCount].map((rows) => ({ rows, dim: 64 })),
    inputs: [userCount, itemCount, itemCount].map((rows) => ({ rows, hot: 1 })),
    batches: 60,
    pairs,
  };
}

/** Tables and next to nothing above them, for virtual devices: 26 of 100,000 x 64, 10 ids each, batch 4096. */
export const TABLES_ALONE: ModelSpec = {
  ...COMMON,
  name: '26 tables of dim 64, 10 ids, batch 4096, SGD',
  kind: 'tables',
  tables: ONE_ID.map(() => ({ rows: 100_000, dim: 64 })),
  inputs: ONE_ID.map(() => ({ rows: 100_000, hot: 10 })),
  batch: 4096,
  batches: 2,
  optimizer: 'sgd',
  learningRate: 0.01,
};

/** The same model with few batches and nothing left to chance, for comparing losses. */
export const checkOf = (spec: ModelSpec): ModelSpec => ({
  ...spec,
  tables: spec.tables.map(({ rows, dim }) => ({ rows: Math.min(rows, 500), dim })),
  inputs: spec.inputs.map(({ rows, hot }) => ({ rows: Math.min(rows, 500), hot: Math.min(hot, 5) })),
  ...(spec.classes === undefined ? {} : { classes: Math.min(spec.classes, 500) }),
  batch: 64,
  batches: 5,
  learningRate: spec.learningRate * 2,
  dropout: 0,
  // So small that it does not show: Keras adds it at another place.
  epsilon: 1e-12,
});

/** Kernel and bias of dense layers one after the other. */
const chain = (...sizes: number[]): number[][] => sizes.slice(1).flatMap((size, i) => [[sizes[i]!, size], [size]]);

/** Shapes of all weights: tables first, then kernels and biases from the inputs on. */
export function weightShapes({ kind, tables, classes }: ModelSpec): number[][] {
  const ofTables = tables.map(({ rows, dim }) => [rows, dim]);
  if (kind === 'wide_and_deep') return [...ofTables, ...chain((tables.length / 2) * tables[0]!.dim, 32, 1)];
  if (kind === 'ragged') return [...ofTables, ...chain(tables.length * tables[0]!.dim, 64, 1)];
  if (kind === 'tables') return [...ofTables, ...chain(tables.length * tables[0]!.dim, 1)];
  if (kind === 'text') return [...ofTables, ...chain(tables[0]!.dim, 64, 1)];
  if (kind === 'next_item') return [...ofTables, ...chain(tables[0]!.dim, classes!)];
  if (kind !== 'dlrm') return ofTables;
  const [count, dim] = [tables.length + 1, tables[0]!.dim];
  return [...ofTables, ...chain(13, 512, 256, dim), ...chain(dim + (count * (count - 1)) / 2, 512, 256, 1)];
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Splits of rows whose lengths follow a power law, as those of the baskets and histories of users do. */
function raggedSplits(rows: number, longest: number, random: Random): Int32Array {
  const sums: number[] = [];
  for (let length = 1; length <= longest; length++) sums.push((sums.at(-1) ?? 0) + length ** -1.75);
  const splits = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) {
    const drawn = random.next() * sums.at(-1)!;
    splits[row + 1] = splits[row]! + 1 + sums.findIndex((sum) => sum > drawn);
  }
  return splits;
}

/** The ids of each input. */
function idsOf({ inputs, batch, batches, ids, pairs }: ModelSpec, random: Random): Int32Array[] {
  const samples = batch * batches;
  if (pairs === undefined) {
    return inputs.map(({ rows, hot }) => Int32Array.from({ length: samples * hot }, idDrawer(ids, rows, random)));
  }
  // Smaller tables, as checks have them, take the ids modulo their rows.
  return drawTriples(readPairs(pairs), samples, random).map((of, i) => of.map((id) => id % inputs[i]!.rows));
}

/** Writes spec, weights and data of a model. */
export function writeModel(folder: string, spec: ModelSpec): void {
  const random = new Random(17);
  const samples = spec.batch * spec.batches;
  writeFileSync(join(folder, 'spec.json'), JSON.stringify(spec));
  const weights = weightShapes(spec).map((shape) => {
    const scale = shape.length === 1 ? 0.1 : Math.sqrt(3 / Math.min(...shape, 1024));
    return random.floats(sizeOf(shape), -scale / 4, scale / 4);
  });
  writeFileSync(join(folder, 'weights.f32'), Buffer.concat(weights.map((part) => new Uint8Array(part.buffer))));
  if (spec.kind === 'ragged') {
    spec.inputs.forEach(({ rows, hot }, i) => {
      const splits = raggedSplits(samples, hot, random);
      writeFileSync(join(folder, `splits_${i}.i32`), splits);
      const draw = idDrawer(spec.ids, rows, random);
      writeFileSync(join(folder, `ids_${i}.i32`), Int32Array.from({ length: splits[samples]! }, draw));
    });
  } else idsOf(spec, random).forEach((ids, i) => writeFileSync(join(folder, `ids_${i}.i32`), ids));
  writeFileSync(join(folder, 'numbers.f32'), random.floats(samples * spec.numbers));
  writeFileSync(
    join(folder, 'labels.f32'),
    Float32Array.from({ length: samples }, () => {
      if (spec.classes !== undefined) return random.whole(0, spec.classes);
      return Number(spec.kind === 'two_towers' || random.chance(0.4));
    }),
  );
}
