/** Generated batches for comparing implementations: many shapes, repeats, empty bags, weights, ids outside the table. */
import { NEUTRAL_HYPER, packHyper, type Hyper } from '../../src/rules/hyper.js';
import { floatTable, type BagOptions, type HostBags, type HostTable } from '../../src/backends/kernel_set.js';
import { WEIGHING } from '../../src/base/types.js';
import { SLOT_NAMES, slotShapes, type UpdateName } from '../../src/rules/rules.js';
import { Random } from './random.js';

export interface BagCase {
  readonly name: string;
  readonly table: HostTable<Float32Array>;
  readonly bags: HostBags;
  readonly options: BagOptions;
  readonly gradient: Float32Array; // of the pooled rows, [batch * dim]
}

export const DIMS: readonly number[] = [1, 3, 4, 8, 16, 17, 32, 64, 257];
const ROWS: readonly number[] = [1, 2, 7, 50, 400, 3000];
const BATCHES: readonly number[] = [0, 1, 2, 9, 33];
const LARGE = 30_000;
const STRAYS: readonly number[] = [-1, -2147483648, 2147483647];

function rowSplits(random: Random, batch: number): Int32Array {
  const splits = new Int32Array(batch + 1);
  for (let bag = 0; bag < batch; bag++) {
    const isEnd = bag === 0 || bag === batch - 1;
    const isEmpty = random.chance(isEnd ? 0.5 : 0.15);
    splits[bag + 1] = splits[bag]! + (isEmpty ? 0 : random.pick([1, 2, 3, 5, 13]));
  }
  return splits;
}

/**
 * Weights of one bag: positive, positive with zeros, of both signs, all zero, or two that cancel exactly.
 * Sums near 0 that are not 0 are left out: there the quotient magnifies rounding without bound.
 */
function weightsOfBag(random: Random, length: number): Float32Array {
  switch (random.whole(0, 8)) {
    case 0:
      return new Float32Array(length);
    case 1:
      return Float32Array.from({ length }, (_, i) => (length % 2 === 1 ? 1 : i % 2 === 0 ? 1.5 : -1.5));
    case 2:
      return Float32Array.from({ length }, () => (random.chance(0.4) ? 0 : 0.5));
    case 3: {
      // The first weight outweighs the negative ones, so that the sum stays away from 0.
      const weights = random.floats(length, -0.5, 0.5);
      if (length > 0) weights[0] = length;
      return weights;
    }
    default:
      return random.floats(length, 0.05, 2);
  }
}

/** The case of a seed. */
export function bagCase(seed: number): BagCase {
  const random = new Random(seed);
  const dim = DIMS[seed % DIMS.length]!;
  // Large tables are slow in the reference, so few seeds have both many rows and wide ones.
  const rows = random.pick(seed % 40 === 0 ? ROWS : ROWS.filter((each) => each * dim <= LARGE));
  const splits = rowSplits(random, random.pick(BATCHES));
  const batch = splits.length - 1;
  const nnz = splits[batch]!;
  const options: BagOptions = {
    combiner: random.pick(WEIGHING),
    outOfRange: random.chance(0.3) ? 'zero' : 'error',
    maxNorm: random.chance(0.3) ? Math.fround(0.5 * Math.sqrt(dim / 3)) : 0,
  };
  const crowd = random.chance(0.4) ? Math.min(rows, 3) : rows;
  const values = Int32Array.from({ length: nnz }, () => {
    if (options.outOfRange === 'zero' && random.chance(0.2)) return random.pick([...STRAYS, rows]);
    return random.chance(0.1) ? rows - 1 : random.whole(0, crowd);
  });
  let weights: Float32Array | null = null;
  if (random.chance(0.6)) {
    weights = new Float32Array(nnz);
    for (let b = 0; b < batch; b++) weights.set(weightsOfBag(random, splits[b + 1]! - splits[b]!), splits[b]);
  }
  const { combiner, outOfRange, maxNorm } = options;
  const kind = `${combiner} ${outOfRange}${maxNorm > 0 ? ' maxNorm' : ''}${weights === null ? '' : ' weights'}`;
  return {
    name: `seed ${seed}: [${rows}, ${dim}], ${batch} bags, ${nnz} ids, ${kind}`,
    table: floatTable(random.floats(rows * dim), rows, dim),
    bags: { values, rowSplits: splits, weights },
    options,
    gradient: random.floats(batch * dim),
  };
}

/** Cases of consecutive seeds. */
export function bagCases(count: number, firstSeed = 1): BagCase[] {
  return Array.from({ length: count }, (_, i) => bagCase(firstSeed + i));
}

/** The case with numbers that are none, or not finite, in a tenth of the gradient and, if there are any, of the weights. */
export function withoutNumbers(example: BagCase, seed: number): BagCase {
  const random = new Random(seed + 104_729);
  const spoilt = (numbers: Float32Array): Float32Array =>
    numbers.map((value) => (random.chance(0.1) ? random.pick([NaN, Infinity, -Infinity]) : value));
  const { bags, gradient } = example;
  const weights = bags.weights === null ? null : spoilt(bags.weights);
  return { ...example, bags: { ...bags, weights }, gradient: spoilt(gradient) };
}

/** A table of its own, so that a step does not reach the case. */
export function copyTable(table: HostTable<Float32Array>): HostTable<Float32Array> {
  return { ...table, data: table.data.slice() };
}

/** Whether a slot counts the steps of rows. */
export function isCount(optimizer: UpdateName, slot: number): boolean {
  return SLOT_NAMES[optimizer][slot] === 'steps';
}

/** Slots that have seen a few steps: away from 0, where quotients would magnify rounding. */
export function usedSlots(optimizer: UpdateName, { rows, dim }: HostTable, seed: number): Float32Array[] {
  const random = new Random(seed + 7919);
  return slotShapes(optimizer, [rows, dim]).map(([, columns = 1], slot) => {
    const drawn = random.floats(rows * columns, 0.1, 1);
    return isCount(optimizer, slot) ? drawn.map((each) => Math.floor(each * 40)) : drawn;
  });
}

const USUAL: Readonly<Record<UpdateName, readonly Partial<Hyper>[]>> = {
  sgd: [{ learningRate: 0.1 }],
  momentum: [
    { learningRate: 0.1, momentum: 0.9 },
    { learningRate: 0.1, momentum: 0.5, useNesterov: 1 },
    { learningRate: 0.1, momentum: 0.9, lazy: 0 },
  ],
  // A large epsilon tells whether it is added inside the root or outside.
  adagrad: [{ learningRate: 0.1, epsilon: 1e-7 }, { learningRate: 0.1 }, { learningRate: 0.1, epsilon: 0.5 }],
  rowWiseAdagrad: [
    { learningRate: 0.1, epsilon: 1e-7 },
    { learningRate: 0.1, epsilon: 0.5 },
  ],
  adagradMomentum: [
    { learningRate: 0.1, momentum: 0.9, beta2: 1, epsilon: 1e-7 },
    { learningRate: 0.1, momentum: 0.9, beta2: 0.9, exponent: 3, epsilon: 0.3, useNesterov: 1 },
    { learningRate: 0.1, momentum: 0.9, beta2: 0.9, epsilon: 1e-3, lazy: 0 },
  ],
  adam: [
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-7, correction1: 0.19, correction2: 0.02 },
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0.5, correction1: 0.19, correction2: 0.02 },
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0.3, sumInsideSqrt: 1 },
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-7, lazy: 0 },
  ],
  amsgrad: [
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0.01, correction1: 0.19, correction2: 0.02 },
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0.3, sumInsideSqrt: 1, lazy: 0 },
  ],
  adamByRow: [
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-7 },
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0.3, sumInsideSqrt: 1 },
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-7, lazy: 0 },
  ],
  adamWByRow: [
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0.01 },
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0.3, lazy: 0 },
  ],
  amsgradByRow: [
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0.01 },
    { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 0.3, sumInsideSqrt: 1, lazy: 0 },
  ],
  rmsprop: [
    { learningRate: 0.1, beta2: 0.9, epsilon: 1e-7 },
    { learningRate: 0.1, beta2: 0.6, epsilon: 0.5, lazy: 0 },
  ],
  rmspropMomentum: [
    { learningRate: 0.1, beta2: 0.9, momentum: 0.9, epsilon: 0.01 },
    { learningRate: 0.1, beta2: 0.6, momentum: 0.5, epsilon: 0.5, lazy: 0 },
  ],
  // The slots of a case are no means of the same gradients, so that the variance would be 0 or less for a small epsilon.
  rmspropCentered: [
    { learningRate: 0.1, beta2: 0.9, epsilon: 0.5 },
    { learningRate: 0.1, beta2: 0.6, epsilon: 0.9, lazy: 0 },
  ],
  rmspropCenteredMomentum: [
    { learningRate: 0.1, beta2: 0.9, momentum: 0.9, epsilon: 0.5 },
    { learningRate: 0.1, beta2: 0.6, momentum: 0.5, epsilon: 0.9, lazy: 0 },
  ],
  ftrl: [
    { learningRate: 0.1 },
    { learningRate: 0.1, l1: 0.05, l2: 0.02, beta: 0.5 },
    { learningRate: 0.1, l1: 0.05, l2: 0.02, multiplyLinearByLearningRate: 1, learningRatePower: -0.7 },
  ],
};

const EXTRAS: readonly Partial<Hyper>[] = [
  {},
  { clipNorm: 0.3 },
  { clipGradientMin: -0.2, clipGradientMax: 0.1 },
  { weightDecay: 0.05, clipWeightMin: -0.6, clipWeightMax: 0.6 },
  { constraint: 1 },
  { constraint: 2, constraintMin: 0.3, constraintMax: 0.8, constraintRate: 0.7, clipNorm: 5, weightDecay: 0.01 },
];

/** Hyper-parameters of a seed: usual ones of the optimizer with one of the optional steps, or with `extra` instead. */
export function hyperCase(optimizer: UpdateName, seed: number, extra?: Partial<Hyper>): Hyper {
  const usual = USUAL[optimizer];
  return {
    ...NEUTRAL_HYPER,
    ...usual[seed % usual.length],
    ...(extra ?? EXTRAS[Math.floor(seed / usual.length) % EXTRAS.length]),
  };
}

/** Hyper-parameters of a seed none of which is at its default: an optimizer must use its own, and only those. */
export function drawnHyper(seed: number): Hyper {
  const random = new Random(seed + 15_485_863);
  const between = (low: number, high: number): number => Math.fround(low + random.next() * (high - low));
  const flag = (): number => random.whole(0, 2);
  return {
    learningRate: between(0.05, 0.5),
    epsilon: between(0.1, 1),
    momentum: between(0.1, 0.95),
    useNesterov: flag(),
    exponent: between(1.5, 4),
    beta1: between(0.3, 0.95),
    beta2: between(0.5, 0.99),
    correction1: between(0.1, 0.9),
    correction2: between(0.1, 0.9),
    sumInsideSqrt: flag(),
    lazy: flag(),
    learningRatePower: between(-0.9, -0.2),
    l1: between(0.01, 0.2),
    l2: between(0.01, 0.2),
    beta: between(0.05, 1),
    multiplyLinearByLearningRate: flag(),
    clipGradientMin: between(-0.5, -0.05),
    clipGradientMax: between(0.05, 0.5),
    clipNorm: between(0.1, 2),
    clipWeightMin: between(-0.9, -0.2),
    clipWeightMax: between(0.2, 0.9),
    weightDecay: between(0.01, 0.2),
    idleDecay: between(0.01, 0.2),
    constraint: random.whole(0, 3),
    constraintMin: between(0.2, 0.6),
    constraintMax: between(0.6, 1.2),
    constraintRate: between(0.2, 0.9),
    roundingKey0: random.whole(0, 65536),
    roundingKey1: random.whole(0, 65536),
    roundingKey2: random.whole(0, 65536),
    roundingKey3: random.whole(0, 65536),
  };
}

export function packedHyperCase(optimizer: UpdateName, seed: number): Float32Array {
  return packHyper(hyperCase(optimizer, seed));
}
