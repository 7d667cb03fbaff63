/** Which rows train, which choose the epoch, and which are scored. */
import { expectedAuc } from '../metrics.js';
import { makeClickLog } from './click_log.js';
import { pickRows, readCsv, type TextTable } from './csv.js';
import { findLabel, type LabelColumn } from './labels.js';
import { InputError } from '../input_error.mjs';
import type { Options } from '../options.mjs';
import { Random } from './random.js';

export interface Datasets {
  readonly fit: TextTable;
  /** A tenth of the training rows. */
  readonly heldOut: TextTable;
  readonly test: TextTable;
  readonly label: LabelColumn;
  /** The AUC on the test rows that no model can be expected to exceed, where it is known. */
  readonly bestAuc: number | null;
}

const CLICK_LOG_ROWS = 60_000;
const LEAST_ROWS = 10;

export function readDatasets(options: Options): Datasets {
  const random = new Random(options.seed);
  if (options.data === null) return clickLogDatasets(options.seed, random);
  const all = readCsv(options.data);
  const label = findLabel(all, options.label, options.positive);
  if (options.test !== null) {
    return { ...holdOut(all, random), test: readTest(options.test, all), label, bestAuc: null };
  }
  const { train, test } = splitTest(all, random);
  return { ...holdOut(train, random), test: pickRows(all, test), label, bestAuc: null };
}

function clickLogDatasets(seed: number, random: Random): Datasets {
  const { table, truth } = makeClickLog(CLICK_LOG_ROWS, seed);
  const { train, test } = splitTest(table, random);
  const testTruth = Float64Array.from(test, (row) => truth[row]!);
  const bestAuc = expectedAuc(testTruth, testTruth);
  return { ...holdOut(train, random), test: pickRows(table, test), label: findLabel(table, 'click', 'yes'), bestAuc };
}

/** The test file may hold its columns in any order, and more of them. */
function readTest(path: string, train: TextTable): TextTable {
  const test = readCsv(path);
  const missing = train.columns.filter((column) => !test.columns.includes(column));
  if (missing.length > 0) throw new InputError(`${path} lacks columns of the training file: ${missing.join(', ')}`);
  return test;
}

/** A fifth of the rows for the test. */
function splitTest(table: TextTable, random: Random): { train: TextTable; test: Int32Array } {
  const order = random.permutation(table.rows.length);
  const count = Math.max(1, Math.floor(order.length / 5));
  return { train: pickRows(table, order.subarray(count)), test: order.subarray(0, count) };
}

function holdOut(train: TextTable, random: Random): { fit: TextTable; heldOut: TextTable } {
  const count = train.rows.length;
  if (count < LEAST_ROWS) throw new InputError(`expected at least ${LEAST_ROWS} rows to train on, found ${count}`);
  const order = random.permutation(count);
  const held = Math.max(1, Math.floor(count / 10));
  return { fit: pickRows(train, order.subarray(held)), heldOut: pickRows(train, order.subarray(0, held)) };
}
