/** Generated batches for comparing implementations; the same seed gives the same case. */
import { NEUTRAL_HYPER, packHyper, type Hyper } from '../../../src/rules/hyper.js';
import { floatTable, type BagOptions, type HostBags, type HostTable } from '../../../src/backends/kernel_set.js';
import { WEIGHING } from '../../../src/base/types.js';
import { SLOT_NAMES, slotShapes, type UpdateName } from '../../../src/rules/rules.js';

export interface GeneratedCase {
  readonly name: string;
  readonly table: HostTable<Float32Array>;
  readonly bags: HostBags;
  readonly gradient: Float32Array; // [batch * dim]
  readonly options: BagOptions;
}

/** Numbers in [0, 1). */
export function randomNumbers(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const DIMS = [1, 2, 3, 4, 5, 7, 8, 16, 31, 33, 64, 65, 100, 257];
const ROWS = [1, 2, 5, 40, 1000];
const BATCHES = [0, 1, 3, 17, 60];

/** Numbers in [low, low + range). */
function drawn(random: () => number, length: number, low: number, range: number): Float32Array {
  const numbers = new Float32Array(length);
  // Float32Array.from takes four times as long.
  for (let i = 0; i < length; i++) numbers[i] = low + range * random();
  return numbers;
}

function pick<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)]!;
}

/** A case of any kind: empty batches, empty first and last bags, repeated ids, weights, ids out of range, maxNorm. */
export function generatedCase(seed: number): GeneratedCase {
  const random = randomNumbers(seed);
  const floats = (length: number) => drawn(random, length, -1, 2);
  const [rows, dim, batch] = [pick(random, ROWS), pick(random, DIMS), pick(random, BATCHES)];
  const outOfRange = random() < 0.3 ? 'zero' : 'error';
  const lengths = Array.from({ length: batch }, (_, b) =>
    (b === 0 || b === batch - 1) && random() < 0.5 ? 0 : Math.floor(random() * 12),
  );
  const rowSplits = new Int32Array(batch + 1);
  lengths.forEach((length, b) => (rowSplits[b + 1] = rowSplits[b]! + length));
  const nnz = rowSplits[batch]!;
  const crowded = random() < 0.3 ? 3 : rows;
  const values = Int32Array.from({ length: nnz }, () => {
    if (outOfRange === 'zero' && random() < 0.2) return pick(random, [-1, rows, -2147483648, 2147483647]);
    return Math.floor(random() * Math.min(rows, crowded));
  });
  const weights = random() < 0.5 ? Float32Array.from({ length: nnz }, () => (random() < 0.1 ? 0 : 2 * random())) : null;
  const options: BagOptions = { combiner: pick(random, WEIGHING), outOfRange, maxNorm: random() < 0.3 ? 0.5 : 0 };
  return {
    name: `${seed}: ${rows} x ${dim}, ${batch} bags, ${nnz} ids, ${options.combiner}, ${outOfRange}`,
    table: floatTable(floats(rows * dim), rows, dim),
    bags: { values, rowSplits, weights },
    gradient: floats(batch * dim),
    options,
  };
}

/** Hyper-parameters that an optimizer is usually run with. */
export function usualHyper(optimizer: UpdateName): Float32Array {
  const byName: Record<UpdateName, Partial<Hyper>> = {
    sgd: { learningRate: 0.1 },
    momentum: { learningRate: 0.1, momentum: 0.9, useNesterov: 1 },
    adagrad: { learningRate: 0.1, epsilon: 1e-7 },
    rowWiseAdagrad: { learningRate: 0.1, epsilon: 1e-7 },
    adagradMomentum: { learningRate: 0.1, momentum: 0.9, useNesterov: 1, epsilon: 1e-7, exponent: 2, beta2: 1 },
    adam: { learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-7, correction1: 0.1, correction2: 0.001 },
    amsgrad: { learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-7, correction1: 0.1, correction2: 0.001 },
    adamByRow: { learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-7 },
    adamWByRow: { learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-7 },
    amsgradByRow: { learningRate: 0.1, beta1: 0.9, beta2: 0.999, epsilon: 1e-7 },
    rmsprop: { learningRate: 0.1, beta2: 0.9, epsilon: 1e-7 },
    rmspropMomentum: { learningRate: 0.1, beta2: 0.9, momentum: 0.9, epsilon: 1e-7 },
    rmspropCentered: { learningRate: 0.1, beta2: 0.9, epsilon: 0.1 },
    rmspropCenteredMomentum: { learningRate: 0.1, beta2: 0.9, momentum: 0.9, epsilon: 0.1 },
    ftrl: { learningRate: 0.1, learningRatePower: -0.5, l1: 0.01, l2: 0.01, beta: 0.1 },
  };
  return packHyper({ ...NEUTRAL_HYPER, ...byName[optimizer] });
}

/** Slots that have seen a few steps: positive everywhere. */
export function usualSlots(optimizer: UpdateName, { rows, dim }: HostTable, seed: number): Float32Array[] {
  const random = randomNumbers(seed);
  return slotShapes(optimizer, [rows, dim]).map(([, columns = 1], slot) => {
    const values = drawn(random, rows * columns, 0.1, 1);
    return SLOT_NAMES[optimizer][slot] === 'steps' ? values.map((each) => Math.floor(each * 40)) : values;
  });
}

/** A table of its own, so that a step does not reach the case. */
export function copyOf(table: HostTable<Float32Array>): HostTable<Float32Array> {
  return { ...table, data: table.data.slice() };
}

/** Fails unless |actual - expected| <= tolerance (1 + |expected|) everywhere. */
export function expectClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: number,
  what: string,
): void {
  expect(actual.length).withContext(what).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    const [a, e] = [actual[i]!, expected[i]!];
    if (Math.abs(a - e) <= tolerance * (1 + Math.abs(e))) continue;
    fail(`${what}: [${i}] is ${a}, not ${e}`);
    return;
  }
}
