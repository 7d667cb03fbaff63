/** Generated uses of `DistributedEmbedding`: tables, features, ids of every form, a machine and a way to train. */
import type * as emb from 'tfjs-embeddings';
import { OPTIMIZER_NAMES, type OptimizerName } from '../../../src/rules/rules.js';
import { Random } from '../../helpers/random.js';
import type { EmulatedMachine } from '../../helpers/tpu_emulator.js';

export type StockName = 'tf.sgd' | 'tf.adagrad' | 'tf.adam';

/** Which optimizer, with what. */
export interface OptimizerCase {
  readonly name: OptimizerName | StockName;
  readonly config: emb.SparseOptimizerConfig;
  /** How a `TableConfig` is told: as an object, by its name, or in a config of Keras. */
  readonly given: 'object' | 'name' | 'keras';
}

export interface TableCase {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly combiner: emb.Combiner | null; // of features that name the table in a TableConfig
  readonly initializer: number; // one of a list
  readonly optimizer: OptimizerCase | null;
  readonly constraint: 'nonNeg' | 'maxNorm' | null;
  readonly isRegularized: boolean;
  readonly isFrozen: boolean;
  readonly isShared: boolean;
  /** The table itself is in the loss as well as what was looked up in it. */
  readonly isTied: boolean;
}

/** How a table is looked up in the list form. */
export interface ItemCase {
  readonly table: number;
  readonly combiner: emb.Combiner | null;
  readonly maskZero: boolean;
  readonly maxNorm: number | null;
  readonly outOfRange: 'error' | 'zero';
  readonly ragged: boolean;
}

export const ID_FORMS = [
  'vector',
  'dense',
  'float',
  'array',
  'cube',
  'ragged',
  'nested',
  'uneven',
  'pair',
  'tensorPair',
  'sparse',
] as const;
export type IdForm = (typeof ID_FORMS)[number];

/** Ids of one call: bags of the innermost axis. */
export interface BatchCase {
  readonly bags: readonly (readonly number[])[];
  /** Like `bags`; null: none. */
  readonly weights: readonly (readonly number[])[] | null;
}

export interface InputCase {
  readonly item: number;
  readonly form: IdForm;
  /** Samples of each bag, outermost, for `cube` (bags of a sample) and `nested` (splits). */
  readonly inner: number;
  readonly hasFlatWeights: boolean;
  readonly isInLoss: boolean;
  /** One per step, and one for the lookup before. */
  readonly batches: readonly BatchCase[];
}

export type Structure = 'list' | 'single' | 'record' | 'deep';

export interface DistributedCase {
  readonly seed: number;
  /** Whether features are `FeatureConfig`s, rather than inputs of a list of tables. */
  readonly isConfig: boolean;
  readonly structure: Structure;
  readonly tables: readonly TableCase[];
  readonly items: readonly ItemCase[];
  readonly hasMap: boolean;
  readonly inputs: readonly InputCase[];
  readonly wishes: emb.DistributedPlacementArgs;
  readonly optimizer: OptimizerCase;
  readonly machine: EmulatedMachine;
  readonly devices: number;
  readonly steps: number;
}

const WIDTHS: readonly number[] = [1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 64];
const STRAYS: readonly number[] = [-1, -2147483648, 2147483647];
export const INITIALIZERS = 7;
/** Its time grows with the square of the table. */
const ORTHOGONAL = 5;
const MOST_ORTHOGONAL = 300;
const STRATEGIES: readonly emb.StrategyName[] = ['basic', 'memory_balanced', 'memory_optimized', 'cost_balanced'];
const KERAS: readonly OptimizerName[] = ['sgd', 'adagrad', 'adam', 'adamW', 'rmsprop', 'ftrl'];

/** Far enough from 0 that quotients do not magnify rounding without bound: copies sum in another order. */
const DAMPED = 0.1;

function optimizerConfig(random: Random, name: OptimizerName, isPlain: boolean): emb.SparseOptimizerConfig {
  const own: Record<OptimizerName, () => emb.SparseOptimizerConfig> = {
    sgd: () => ({
      momentum: random.pick([0, 0, 0.9]),
      nesterov: random.chance(0.5),
      lazy: random.chance(0.7),
    }),
    adagrad: () => ({ initialAccumulatorValue: random.pick([0.1, 0.5]) }),
    rowWiseAdagrad: () => ({ initialAccumulatorValue: 0.3 }),
    adagradMomentum: () => ({
      momentum: 0.9,
      beta2: random.pick([1, 0.9]),
      exponent: random.pick([2, 3]),
      useNesterov: random.chance(0.5),
      epsilon: DAMPED,
      initialAccumulatorValue: 0.1,
      lazy: random.chance(0.7),
    }),
    adam: () => ({
      epsilon: DAMPED,
      sumInsideSqrt: random.chance(0.3),
      amsgrad: random.chance(0.3),
      lazy: random.chance(0.7),
    }),
    adamW: () => ({ epsilon: DAMPED, weightDecay: 0.1, amsgrad: random.chance(0.3), lazy: random.chance(0.7) }),
    rmsprop: () => ({
      epsilon: DAMPED,
      momentum: random.pick([0, 0.5]),
      centered: random.chance(0.5),
      lazy: random.chance(0.7),
    }),
    ftrl: () => ({ l1: random.pick([0, 0.01]), l2: random.pick([0, 0.02]), beta: random.pick([0, 0.5]) }),
  };
  const config: emb.SparseOptimizerConfig = { learningRate: random.pick([0.1, 0.01]), ...own[name]() };
  if (isPlain) return config;
  if (random.chance(0.15)) config.clipValue = random.pick([0.3, [-0.2, 0.5] as const]);
  if (random.chance(0.1)) config.clipNorm = 0.7;
  if (random.chance(0.1)) Object.assign(config, { clipWeightMin: -0.5, clipWeightMax: 0.6 });
  if (random.chance(0.15)) {
    Object.assign(config, { weightDecay: 0.02, multiplyWeightDecayByLearningRate: random.chance(0.5) });
  }
  return config;
}

function sparseOptimizer(random: Random, isConfig: boolean): OptimizerCase {
  const given = isConfig ? random.pick(['object', 'name', 'keras'] as const) : 'object';
  const name = random.pick(given === 'keras' ? KERAS : OPTIMIZER_NAMES);
  if (given === 'name') return { name, config: {}, given };
  const { learningRate, epsilon, initialAccumulatorValue } = optimizerConfig(random, name, true);
  if (given === 'keras') {
    const start = name === 'adagrad' || name === 'ftrl' ? { initialAccumulatorValue } : {};
    return { name, config: { learningRate, ...(name === 'adam' ? { epsilon } : start) }, given };
  }
  return { name, config: optimizerConfig(random, name, false), given };
}

function tableCase(random: Random, number: number, isConfig: boolean, isStock: boolean): TableCase {
  const columns = random.chance(0.3) ? random.whole(1, 65) : random.pick(WIDTHS);
  const rows = random.chance(0.3) ? random.whole(1, 8) : random.whole(1, random.pick([20, 60, 501]));
  const isPlain = isConfig || isStock;
  const initializer = random.whole(0, INITIALIZERS);
  return {
    name: `t${number}`,
    rows,
    columns,
    combiner: random.pick(['sum', 'mean', 'sqrtn', null]),
    initializer: initializer === ORTHOGONAL && rows * columns > MOST_ORTHOGONAL ? 0 : initializer,
    optimizer: !isStock && random.chance(0.5) ? sparseOptimizer(random, isConfig) : null,
    constraint: isPlain ? null : random.pick([null, null, null, null, 'nonNeg', 'maxNorm']),
    isRegularized: !isPlain && random.chance(0.1),
    isShared: !isConfig && random.chance(0.4),
    isFrozen: !isConfig && random.chance(0.15),
    // Stock optimizers number the variables of a step, so that each must have a gradient in all of them.
    isTied: isStock || random.chance(0.1),
  };
}

function itemCase(random: Random, table: number, combiner: emb.Combiner | null): ItemCase {
  return {
    table,
    combiner,
    maskZero: random.chance(0.15),
    maxNorm: random.chance(0.12) ? 0.1 : null,
    outOfRange: random.chance(0.2) ? 'zero' : 'error',
    ragged: random.chance(0.25),
  };
}

/** Weights of one bag whose sums stay away from 0, but where they are 0. */
function weightsOf(random: Random, length: number): number[] {
  const kind = random.whole(0, 8);
  if (kind === 0) return new Array<number>(length).fill(0);
  if (kind === 1) return Array.from({ length }, () => (random.chance(0.4) ? 0 : 0.5));
  if (kind === 2) return Array.from(random.floats(length, -0.5, 0.5), (weight, i) => (i === 0 ? length : weight));
  return Array.from(random.floats(length, 0.05, 2));
}

/** Whether negative ids of a dense batch are absent. */
const skipsNegative = (item: ItemCase, isConfig: boolean): boolean => isConfig || item.ragged;
export const isDense = (form: IdForm): boolean => ['vector', 'dense', 'float', 'array', 'cube'].includes(form);

interface Drawn {
  readonly item: ItemCase;
  readonly rows: number;
  readonly isConfig: boolean;
  readonly form: IdForm;
  readonly inner: number;
}

function drawId(random: Random, { item, rows, isConfig, form }: Drawn, crowd: number): number {
  if (isDense(form) && skipsNegative(item, isConfig) && random.chance(0.1))
    return form === 'float' ? -1 : random.pick([-1, -7]);
  if (!isConfig && item.outOfRange === 'zero' && random.chance(0.1)) {
    return form === 'float' ? rows : random.pick([...STRAYS, rows]);
  }
  if (random.chance(0.1)) return random.chance(0.5) ? rows - 1 : 0;
  return random.whole(0, crowd);
}

function batchCase(random: Random, drawn: Drawn, batch: number, isWeighted: boolean): BatchCase {
  const { form, inner, rows } = drawn;
  const bags = form === 'cube' || form === 'nested' ? batch * inner : batch;
  const valence = form === 'vector' ? 1 : random.pick(form === 'array' ? [1, 2, 5] : [0, 1, 2, 2, 3, 5, 9]);
  const crowd = random.chance(0.4) ? Math.min(rows, 3) : rows;
  const lengths = Array.from({ length: bags }, () => {
    if (isDense(form)) return valence;
    return random.chance(0.2) ? 0 : random.pick([1, 2, 3, 5, 12]);
  });
  const ids = lengths.map((length) => Array.from({ length }, () => drawId(random, drawn, crowd)));
  return { bags: ids, weights: isWeighted ? lengths.map((length) => weightsOf(random, length)) : null };
}

function formsOf(item: ItemCase, isConfig: boolean): readonly IdForm[] {
  const isPooled = item.combiner !== null;
  return ID_FORMS.filter((form) => {
    if (form === 'vector') return isConfig || (!isPooled && !item.ragged);
    if (form === 'sparse') return isPooled;
    return true;
  });
}

function thresholds(random: Random, tables: readonly TableCase[]): emb.DistributedPlacementArgs {
  const sizes = tables.map(({ rows, columns }) => rows * columns);
  const cut = (probability: number): number | null => {
    if (!random.chance(probability)) return null;
    return Math.max(1, Math.floor(random.pick(sizes) * random.pick([0.1, 0.3, 1, 1.5])));
  };
  return {
    strategy: random.pick(STRATEGIES),
    columnSliceThreshold: cut(0.5),
    rowSliceThreshold: cut(0.4),
    dataParallelThreshold: cut(0.5),
    rowSharding: random.pick(['range', 'modulo']),
    deviceMemory: random.chance(0.1) ? random.pick([0, 4 * random.pick(sizes)]) : null,
    dpInput: !random.chance(0.2),
  };
}

/** The case of a seed. */
export function distributedCase(seed: number): DistributedCase {
  const random = new Random(seed);
  const isConfig = random.chance(0.35);
  const isStock = random.chance(0.1);
  const tables = Array.from({ length: random.whole(1, 9) }, (_, i) => tableCase(random, i, isConfig, isStock));
  const combiners = ['sum', 'mean', 'sqrtn', null] as const;
  const items = tables.map(({ combiner }, table) => itemCase(random, table, combiner));
  tables.forEach(({ isShared }, table) => {
    if (isShared && random.chance(0.5)) items.push(itemCase(random, table, random.pick(combiners)));
  });
  const hasMap = isConfig || random.chance(0.5);
  const count = hasMap ? random.whole(1, 10) : items.length;
  const used = Array.from({ length: count }, (_, i) => (hasMap ? random.whole(0, items.length) : i));
  const steps = random.pick([2, 3]);
  const batches = Array.from({ length: steps + 1 }, () => (random.chance(0.05) ? 0 : random.whole(1, 34)));
  const inputs = used.map((place): InputCase => {
    const item = items[place]!;
    const form = random.pick(formsOf(item, isConfig));
    const inner = form === 'cube' ? random.whole(1, 4) : form === 'nested' ? 2 : 1;
    const isWeighted = item.combiner !== null && random.chance(0.4);
    const drawn = { item, rows: tables[item.table]!.rows, isConfig, form, inner };
    return {
      item: place,
      form,
      inner,
      hasFlatWeights: random.chance(0.3),
      isInLoss: random.chance(0.85),
      batches: batches.map((batch) => batchCase(random, drawn, batch, isWeighted)),
    };
  });
  const chips = random.chance(0.5) ? random.whole(1, 5) : random.whole(5, 17);
  const coresPerChip = chips <= 8 && random.chance(0.3) ? 2 : 1;
  const structures: readonly Structure[] = count === 1 ? ['single', 'record'] : ['record', 'list'];
  const deep: readonly Structure[] = count > 2 ? ['deep'] : [];
  return {
    seed,
    isConfig,
    structure: isConfig ? random.pick([...structures, ...deep]) : 'list',
    tables,
    items,
    hasMap,
    inputs,
    wishes: {
      ...thresholds(random, tables),
      seed: random.chance(0.8) ? random.whole(0, 1000) : 7,
      ...(random.chance(0.3) ? { hotness: used.map(() => random.whole(1, 9)), batchSize: random.whole(1, 512) } : {}),
    },
    optimizer: isStock
      ? { name: random.pick(['tf.sgd', 'tf.adagrad', 'tf.adam']), config: {}, given: 'object' }
      : sparseOptimizer(random, false),
    machine: { chips, coresPerChip },
    devices: chips * coresPerChip,
    steps,
  };
}
