/** What every reference kernel asks about a batch of bags: divisors, scales of rows under maxNorm. */
import { bagDivisor } from '../../ids/bag_divisor.js';
import type { BagOptions, HostBags, HostTable } from '../kernel_set.js';

/** Whether an id names a row of the table. */
export function inRange(id: number, rows: number): boolean {
  return id >= 0 && id < rows;
}

/** The weight of the occurrence at a position; 1 without weights. */
export function weightAt(bags: HostBags, position: number): number {
  return bags.weights === null ? 1 : bags.weights[position]!;
}

/** Positions of bag b in `values`: [first, end). */
export function bagRange(bags: HostBags, b: number): { first: number; end: number } {
  return { first: bags.rowSplits[b]!, end: bags.rowSplits[b + 1]! };
}

/** What the weighted sum of a bag is divided by. */
export function divisor({ rowSplits, weights }: HostBags, b: number, { combiner }: BagOptions): number {
  return bagDivisor(weights, rowSplits[b]!, rowSplits[b + 1]!, combiner);
}

/** a / b, and 0 where b is 0: an empty bag gives zeros, never NaN. */
export function divideNoNan(a: number, b: number): number {
  return b === 0 ? 0 : a / b;
}

/** L2 norm of a row. */
export function rowNorm(table: HostTable<Float32Array>, id: number): number {
  let squares = 0;
  for (let c = 0; c < table.dim; c++) squares += table.data[id * table.dim + c]! ** 2;
  return Math.sqrt(squares);
}

/** What a row is multiplied by before it is weighted: less than 1 only for a row longer than maxNorm. */
export function rowScale(table: HostTable<Float32Array>, id: number, options: BagOptions): number {
  if (!(options.maxNorm > 0)) return 1;
  const norm = rowNorm(table, id);
  return norm > options.maxNorm ? options.maxNorm / norm : 1;
}
