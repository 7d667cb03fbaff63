/** Rows for users that were not trained, from the rows of their items. */
import * as tf from '@tensorflow/tfjs';
import { newFloats, type HostBags } from '../backends/kernel_set.js';
import { rowsIn, type FoldInJob } from '../backends/ranking.js';
import { floatRows } from '../backends/ranking.js';
import { storeInUse } from '../backends/registry.js';
import type { Table } from '../backends/table.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { rowBlocks } from '../base/row_blocks.js';
import { checkMatrix } from '../lookup/arguments.js';
import { strayPosition } from '../ids/id_out_of_range.js';
import { parseIds, type IdsInput, type WeightsInput } from '../ids/parse_ids.js';
import { isOpenTable } from '../tables/keys/is_open_table.js';
import type { OpenTable } from '../tables/keys/open_table.js';
import type { KeysInput } from '../tfjs/models/key_inputs.js';
import { rowsOfKeys, visitUsedRows, withoutUnknown } from './open_fold_in.js';
import { kernelsInUse, readRankedTable, visitRows, type RankedTable } from './ranked_table.js';
import { asOwnRun } from '../tfjs/engine/own_runs.js';

export interface FoldInArgs {
  /**
   * The rows that each user knows, in any form of ids: rows of ids for a batch, a vector for one user. Of an open table
   * keys; those without a row count for nothing.
   */
  ids: IdsInput | KeysInput;
  /** How much each of them counts, in the form of `ids`; at least 0. Default: 1. */
  weights?: WeightsInput | undefined;
  /** Added to the diagonal; above 0. */
  regularization: number;
  /** How much every row of the table counts as one that should give 0. Default: 0, none. */
  unobservedWeight?: number | undefined;
  /** V^T V of all rows, float32 [dim, dim], where it is known, as for items that are frozen. Default: computed. */
  gram?: tf.Tensor2D | null | undefined;
}

/**
 * Returns rows of users from the rows of a table that they know, such as items: the `x` with the least
 * sum over known rows v of w (x . v - 1)^2 + unobservedWeight sum over all rows v of (x . v)^2 + regularization |x|^2,
 * which solves (regularization I + unobservedWeight V^T V + sum w v v^T) x = sum w v. With `unobservedWeight` above 0 that
 * is the step of a user in implicit alternating least squares (iALS). Sums and Cholesky's decomposition are in float64,
 * but for V^T V, which is in float32 by blocks, and takes longer than all else where it is not given. A user without rows gets zeros. Nothing is on the tape.
 *
 * Of an open table (`emb.openTable`) the rows that keys have are all rows.
 *
 * @param table - A tensor or variable [rows, dim], a layer that holds one table, or its weight; packed rows too; or an open
 * table.
 * @param args - What is known of the users, and the weights of the terms.
 * @returns float32 [users, dim], or [dim] for the ids of one user; the caller disposes it.
 * @throws TypeError for arguments of another type; ValueError for ids that the table does not have, for weights that are
 * negative or not finite, and for a `regularization` that is not above 0.
 *
 * @example
 * const user = emb.foldIn(items, { ids: [3, 14, 15], regularization: 0.1, unobservedWeight: 0.01 });
 */
export function foldIn(table: RankedTable, args: FoldInArgs): tf.Tensor {
  const fields = ['ids', 'weights', 'regularization', 'unobservedWeight', 'gram'] as const;
  const { ids, weights, regularization, unobservedWeight, gram: given } = readOptions<FoldInArgs>(args, fields, 'args');
  const rowsOf = readRankedTable(table);
  const { dim } = rowsOf;
  const open = isOpenTable(table) ? table : null;
  const numbers = open === null ? (ids as IdsInput) : rowsOfKeys(open, ids);
  const read = readAndFree(numbers, weights, open !== null);
  const { isBatch } = read;
  const bags = open === null ? read.bags : withoutUnknown(read.bags);
  const diagonal = readNumber(regularization, 'regularization', 'a positive number', (x) => x > 0);
  const ofAll = readNumber(unobservedWeight ?? 0, 'unobservedWeight', 'a number of at least 0', (x) => x >= 0);
  const users = bags.rowSplits.length - 1;
  const out = newFloats('ids', 'rows of users', [users, dim]);
  const known = readGram(given, dim, ofAll);
  const gram = ofAll === 0 ? null : (known ?? gramOf(rowsOf, ofAll, open));
  solveFor(rowsOf, { bags, regularization: diagonal, gram, out });
  return isBatch ? tf.tensor2d(out, [users, dim]) : tf.tensor1d(out);
}

/** Runs the kernel where the table lies; elsewhere on the rows that the users know, which are looked up first. */
function solveFor(table: Table, job: Omit<FoldInJob, 'table'>): void {
  const { values } = job.bags;
  const { rows } = table;
  const bad = strayPosition(values, rows);
  if (bad >= 0) {
    throw new ValueError('ids', `ids from 0 to ${rows - 1}`, described(`${values[bad]} at position ${bad}`));
  }
  const inPlace = storeInUse().view(table.tensor);
  if (inPlace !== null) return (inPlace.kernels ?? kernelsInUse()).foldIn({ ...job, table: inPlace.rows });
  const unique = Int32Array.from(new Set(values)).sort();
  const places = new Map(Array.from(unique, (id, place) => [id, place]));
  const numbers = tf.tidy(() => tf.gather(table.tensor, unique).dataSync()) as Float32Array | Int32Array;
  const known = rowsIn(table, numbers);
  kernelsInUse().foldIn({ ...job, table: known, bags: { ...job.bags, values: values.map((id) => places.get(id)!) } });
}

/** The sums that were given, times `weight`; null: none. */
function readGram(value: unknown, dim: number, weight: number): Float32Array | null {
  if (value === undefined || value === null) return null;
  const sums = checkMatrix(value as tf.Tensor, dim, dim, 'gram')
    .dataSync<'float32'>()
    .slice();
  for (let i = 0; i < sums.length; i++) sums[i]! *= weight;
  return sums;
}

/** `weight` V^T V. */
function gramOf(table: Table, weight: number, open: OpenTable | null): Float32Array {
  const { dim } = table;
  const sums = new Float64Array(dim * dim);
  const add = (values: Float32Array, rows: number): void => {
    const products = tf.tidy(() => {
      const v = tf.tensor2d(values, [rows, dim]);
      return asOwnRun(() => tf.matMul(v, v, true)).dataSync();
    });
    products.forEach((product, i) => (sums[i]! += product));
  };
  if (open !== null) visitUsedRows(open, add);
  else {
    visitRows(table, (block) => {
      for (const { firstRow, rows } of rowBlocks({ rows: block.rows, columns: dim })) {
        add(floatRows(block, firstRow, rows).slice(), rows);
      }
    });
  }
  return Float32Array.from(sums, (sum) => weight * sum);
}

function readNumber(value: unknown, argument: string, expected: string, isGood: (x: number) => boolean): number {
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!Number.isFinite(value) || !isGood(value)) throw new ValueError(argument, expected, value);
  return value;
}

/** The same; `isOwn`: ids in a tensor are freed. */
function readAndFree(ids: IdsInput, weights: WeightsInput | undefined, isOwn: boolean): ReturnType<typeof readBags> {
  try {
    return readBags(ids, weights);
  } finally {
    if (isOwn && ids instanceof tf.Tensor) ids.dispose();
  }
}

/** The ids of each user, and what they weigh. */
function readBags(ids: IdsInput, weights: WeightsInput | undefined): { bags: HostBags; isBatch: boolean } {
  if (ids === undefined || ids === null) throw new ArgumentTypeError('ids', 'ids in any form', ids);
  const batch = parseIds(ids, weights);
  const values = batch.values instanceof tf.Tensor ? (batch.values.dataSync() as Int32Array) : batch.values;
  const numbers = batch.weights instanceof tf.Tensor ? (batch.weights.dataSync() as Float32Array) : batch.weights;
  const bad = numbers?.findIndex((weight) => !(weight >= 0 && weight < Infinity)) ?? -1;
  if (bad >= 0) {
    throw new ValueError('weights', 'finite numbers of at least 0', described(`${numbers![bad]} at position ${bad}`));
  }
  const rowSplits = batch.rowSplits ?? Int32Array.of(0, values.length);
  return { bags: { values, rowSplits, weights: numbers }, isBatch: batch.rowSplits !== null };
}
