/** Tables as functions of ranking read them: whatever holds them, where they lie, a few rows at a time elsewhere. */
import * as tf from '@tensorflow/tfjs';
import { newFloats, type HostTable } from '../backends/kernel_set.js';
import { offers } from '../backends/model_kernels.js';
import { floatRows, rowsIn, type RankingKernels } from '../backends/ranking.js';
import { kernelSet, storeInUse } from '../backends/registry.js';
import { readRows as readTableRows } from '../backends/stores/table_rows.js';
import type { Table } from '../backends/table.js';
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { rowBlocks } from '../base/row_blocks.js';
import { checkLookupTable } from '../lookup/arguments.js';
import { EmbeddingTable } from '../tables/embedding_table.js';
import { isOpenTable } from '../tables/keys/is_open_table.js';
import { referenceKernels } from './reference.js';

/** A table: a tensor or variable [rows, dim], its weight, a table of layers, or a layer that holds one table. */
export type RankedTable = tf.Tensor | tf.LayerVariable | EmbeddingTable | { getWeights(): tf.Tensor[] };

const TABLE = 'a rank-2 float32 tensor or variable [rows, dim], or a layer or table that holds one';

/** What ranks as a table, whose rows may be packed. */
export function readRankedTable(value: unknown, argument = 'table'): Table {
  const table = rankedTable(value, argument);
  if (table.elsewhere === undefined) return table;
  const received = described(`disk table ${table.elsewhere.name}`);
  throw new ValueError(argument, 'a table in memory', received, 'Give the rows that its `export` gives.');
}

function rankedTable(value: unknown, argument: string): Table {
  // Functions that take one as their table have rows of keys alone.
  if (argument !== 'table' && isOpenTable(value)) {
    const expected = 'a table whose ids are row numbers: rows of keys come and go';
    const received = described(`open table ${value.name}`);
    throw new ValueError(argument, expected, received, 'Give the rows that its `export` gives.');
  }
  if (value instanceof EmbeddingTable) return checkLookupTable(value.variable, argument);
  if (value instanceof tf.Tensor || value === null || typeof value !== 'object') {
    return checkLookupTable(value, argument);
  }
  const holder = value as { read?(): tf.Tensor; getWeights?(): tf.Tensor[]; weights?: tf.LayerVariable[] };
  if (typeof holder.getWeights === 'function' && Array.isArray(holder.weights)) {
    if (holder.weights.length !== 1) throw new ValueError(argument, 'a layer with one table', value);
    return checkLookupTable(holder.weights[0]!.read(), argument);
  }
  if (typeof holder.read !== 'function') throw new ArgumentTypeError(argument, TABLE, value);
  return checkLookupTable(holder.read(), argument);
}

/** What ranks on typed arrays now. */
export function kernelsInUse(): RankingKernels {
  const set = kernelSet();
  return offers(set, 'topK') ? (set as typeof set & RankingKernels) : referenceKernels;
}

type Visit = (rows: HostTable, firstRow: number, kernels: RankingKernels) => void;

/** Shows all rows: at once where they lie, else block after block, so that no copy of a large table lies in memory. */
export function visitRows(table: Table, visit: Visit): void {
  const { tensor } = table;
  const inPlace = storeInUse().view(tensor);
  if (inPlace !== null) return visit(inPlace.rows, 0, inPlace.kernels ?? kernelsInUse());
  for (const { firstRow, rows } of rowBlocks({ rows: table.rows, columns: tensor.shape[1] })) {
    visit(rowsIn(table, readTableRows(tensor, firstRow, rows)), firstRow, kernelsInUse());
  }
}

/** A copy of all rows as float32, row-major. */
export function floatsOf(table: Table): Float32Array {
  const all = newFloats('table', 'a copy of the rows', table.shape);
  visitRows(table, (block, firstRow) => all.set(floatRows(block, 0, block.rows), firstRow * table.dim));
  return all;
}

/** Rows of a matrix, row-major. */
export interface Rows {
  readonly numbers: Float32Array;
  readonly count: number;
  readonly dim: number;
}

/** Rows of a table, or of nested arrays, as float32: a copy. */
export function readRows(given: unknown, argument: string): Rows {
  const expected = 'a table, or nested arrays of numbers [rows, dim]';
  if (given === undefined || given === null) throw new ArgumentTypeError(argument, expected, given);
  if (!Array.isArray(given)) {
    const table = readRankedTable(given, argument);
    return { numbers: floatsOf(table), count: table.rows, dim: table.dim };
  }
  const lists = given as unknown[];
  const dim = Array.isArray(lists[0]) ? lists[0].length : 0;
  const isEven = dim > 0 && lists.every((row) => Array.isArray(row) && row.length === dim);
  const numbers = lists.flat();
  if (!isEven || !numbers.every((x) => typeof x === 'number')) throw new ArgumentTypeError(argument, expected, given);
  return { numbers: Float32Array.from(numbers), count: lists.length, dim };
}
