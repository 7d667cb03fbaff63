/** The plain, slow, obviously right implementation that the others are compared with. */
import {
  checkIds,
  type KernelSet,
  newFloats,
  type BagOptions,
  type HostBags,
  type HostTable,
  floatTable,
  type RowGradients,
} from '../kernel_set.js';
import { mergeUses } from '../united_uses.js';
import { bagRange, divideNoNan, divisor, inRange, rowScale, weightAt } from './bags.js';
import { sparseApply } from './sparse_apply.js';
import { group } from './group.js';

/** Writes out [nnz]. */
function embeddingBagWeightsGrad(
  table: HostTable<Float32Array>,
  gradient: Float32Array,
  bags: HostBags,
  options: BagOptions,
  out: Float32Array,
): void {
  checkIds(bags.values, table.rows, options);
  for (let b = 0; b + 1 < bags.rowSplits.length; b++) {
    const { first, end } = bagRange(bags, b);
    // dots[i] = looked-up row i . gradient of the bag
    const dots: number[] = [];
    for (let i = first; i < end; i++) dots.push(dot(table, bags.values[i]!, gradient, b, options));
    const divideBy = divisor(bags, b, options);
    // What the bag's own divisor takes back when a weight grows, per unit of its derivative.
    const total = dots.reduce((sum, value, i) => sum + weightAt(bags, first + i) * value, 0);
    dots.forEach((value, i) => {
      out[first + i] = weightGradient(value, weightAt(bags, first + i), total, divideBy, options);
    });
  }
}

function weightGradient(value: number, weight: number, total: number, divideBy: number, options: BagOptions): number {
  switch (options.combiner) {
    case 'sum':
      return value;
    case 'mean':
      return divideNoNan(value - divideNoNan(total, divideBy), divideBy);
    default:
      return divideNoNan(value, divideBy) - divideNoNan(weight * total, divideBy ** 3);
  }
}

function dot(
  table: HostTable<Float32Array>,
  id: number,
  gradient: Float32Array,
  b: number,
  options: BagOptions,
): number {
  if (!inRange(id, table.rows)) return 0;
  let sum = 0;
  for (let c = 0; c < table.dim; c++) sum += table.data[id * table.dim + c]! * gradient[b * table.dim + c]!;
  return sum * rowScale(table, id, options);
}

const OUTSIDE = -1;

/** A table with one row per id of the batch, and ids that are their places; those outside the table stay outside. */
function unpacked(
  { codec, data, rows, dim }: HostTable,
  bags: HostBags,
  options: BagOptions,
): [table: HostTable<Float32Array>, bags: HostBags, options: BagOptions] {
  checkIds(bags.values, rows, options);
  const { values } = bags;
  const all = newFloats('values', 'looked-up rows', [values.length, dim]);
  const perRow = codec.words(dim);
  const places = values.map((id, i) => {
    if (!inRange(id, rows)) return OUTSIDE;
    all.set(codec.unpack(data.subarray(id * perRow, (id + 1) * perRow), dim), i * dim);
    return i;
  });
  return [floatTable(all, values.length, dim), { ...bags, values: places }, { ...options, outOfRange: 'zero' }];
}

function embeddingBagGrad(
  gradient: Float32Array,
  bags: HostBags,
  table: HostTable<Float32Array>,
  options: BagOptions,
): RowGradients {
  const groups = group(gradient, bags, table, options);
  const rowGradients = newFloats('gradient', 'row gradients', [groups.length, table.dim]);
  groups.forEach((entry, u) => rowGradients.set(entry.gradient, u * table.dim));
  return { uniqueIds: Int32Array.from(groups, ({ id }) => id), rowGradients };
}

/** Writes pooled [batch * dim]. */
function embeddingBag(table: HostTable<Float32Array>, bags: HostBags, options: BagOptions, pooled: Float32Array): void {
  checkIds(bags.values, table.rows, options);
  for (let b = 0; b + 1 < bags.rowSplits.length; b++) {
    pooled.set(pooledRow(table, bags, b, options), b * table.dim);
  }
}

/** One pooled row, in double. */
function pooledRow(table: HostTable<Float32Array>, bags: HostBags, b: number, options: BagOptions): number[] {
  const { first, end } = bagRange(bags, b);
  const sums = new Array<number>(table.dim).fill(0);
  for (let i = first; i < end; i++) {
    const id = bags.values[i]!;
    if (!inRange(id, table.rows)) continue;
    const factor = weightAt(bags, i) * rowScale(table, id, options);
    for (let c = 0; c < table.dim; c++) sums[c]! += factor * table.data[id * table.dim + c]!;
  }
  const divideBy = divisor(bags, b, options);
  return sums.map((sum) => divideNoNan(sum, divideBy));
}

/** Kernels in TypeScript that sum in double; one thread, nothing to install. */
export const referenceKernels: KernelSet = {
  name: 'reference',
  info: () => ({ implementation: 'reference', instructionSet: 'javascript', threads: 1 }),
  setThreads: () => undefined,
  allocate: (length) => newFloats('table', 'values', [length]),
  lookUp(lookups) {
    for (const { table, bags, options, pooled } of lookups) embeddingBag(...unpacked(table, bags, options), pooled);
  },
  rowGradients: embeddingBagGrad,
  weightsGradient(table, gradient, bags, options, out) {
    const [floats, ids, how] = unpacked(table, bags, options);
    embeddingBagWeightsGrad(floats, gradient, ids, how, out);
  },
  step(optimizer, steps) {
    if (steps.length > 1) for (const { table, bags, options } of steps) checkIds(bags.values, table.rows, options);
    for (const each of steps) {
      const { table, slots, gradient, bags, options, hyper } = mergeUses(referenceKernels, each);
      sparseApply(optimizer, table, slots, gradient, bags, options, hyper);
    }
  },
};
