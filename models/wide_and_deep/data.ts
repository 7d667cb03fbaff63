/** Rows of text, from CSV or parquet files or made up: which of them train, which choose the epoch, and which are scored. */
import * as emb from 'tfjs-embeddings/node';
import { makeClickLog } from '../click_log.js';
import { InputError } from '../input_error.mjs';
import { expectedAuc } from '../metrics.js';
import { Random } from '../random.js';
import type { Options } from './options.mjs';

/** Columns have different names, and each row a string for each of them. */
export type TextTable = Readonly<{ columns: readonly string[]; rows: readonly (readonly string[])[] }>;
/** The column to predict: two values, one of them positive. */
export type LabelColumn = Readonly<{ name: string; positive: string; negative: string }>;

const CLICK_LOG_ROWS = 60_000;
const LEAST_ROWS = 10;

/** Rows to fit, a tenth of them held out, and rows to test, where no model can be expected to exceed `bestAuc`. */
export async function readDatasets({ data, test, label, positive, seed, separator }: Options) {
  const random = new Random(seed);
  const { table, truth } =
    data === null ? makeClickLog(CLICK_LOG_ROWS, seed) : { table: await readTable(data, separator), truth: null };
  const column = data === null ? findLabel(table, 'click', 'yes') : findLabel(table, label, positive);
  const [scored, others] = test === null ? random.split(table.rows.length, 5) : [[], table.rows.keys()];
  const train = pickRows(table, others);
  const found = train.rows.length;
  if (found < LEAST_ROWS) throw new InputError(`expected at least ${LEAST_ROWS} rows to train on, found ${found}`);
  const [held, fit] = random.split(found, 10);
  const best = truth && Float64Array.from(scored, (row) => truth[row]!);
  return {
    fit: pickRows(train, fit),
    heldOut: pickRows(train, held),
    test: test === null ? pickRows(table, scored) : await readTest(test, table, separator),
    label: column,
    bestAuc: best && expectedAuc(best, best),
  };
}

/** A value of a file as the text of a cell; `separator` parts those of a list. */
function textOf(value: unknown, separator: string): string {
  return (typeof value === 'object' ? Array.from(value as ArrayLike<unknown>).join(separator) : String(value)).trim();
}

/** The first row of a CSV file, which names its columns. */
async function headerOf(path: string): Promise<string[]> {
  const places = Object.keys(await emb.data.columnsOf(path, { header: false }));
  const columns = Object.fromEntries(places.map((place) => [place, { type: 'string', missing: '' } as const]));
  for await (const { features } of emb.data.fromCsv(path, { header: false, columns })) {
    return places.map((place) => textOf(features[place], ''));
  }
  return [];
}

/** Throws for two columns of one name, of which neither would be read. */
async function checkNames(path: string): Promise<void> {
  // Whatever else is wrong with the file, reading its rows tells.
  const names = await headerOf(path).catch((): string[] => []);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw new InputError(`${path}: expected columns of different names, found two named ${twice}`);
}

/** Reads a CSV file with a header line, or a parquet file. Throws InputError, with the row, for anything that is none. */
export async function readTable(path: string, separator: string): Promise<TextTable> {
  try {
    if (!path.endsWith('.parquet')) await checkNames(path);
    const types = Object.entries(await emb.data.columnsOf(path));
    const columns = types.map(([name]) => name);
    if (columns.length < 2) throw new InputError(`${path}: expected a label and at least one more column`);
    const isParquet = path.endsWith('.parquet');
    // Cells of text stay as they are, numbers too: what columns are is learned from all rows.
    const read = types.map(([name, type]): [string, emb.data.ColumnArgs] => {
      if (!isParquet || type === 'string') return [name, { type: 'string', missing: '' }];
      return [name, { type, missing: 'mask' }];
    });
    const source = isParquet ? emb.data.fromParquet : emb.data.fromCsv;
    const rows: string[][] = [];
    for await (const { features } of source(path, { columns: Object.fromEntries(read) })) {
      const cellOf = (name: string) => (features[`${name}_mask`] === 0 ? '' : textOf(features[name], separator));
      rows.push(columns.map(cellOf));
    }
    if (rows.length === 0) throw new InputError(`${path} has a header but no rows`);
    return { columns, rows };
  } catch (error) {
    throw error instanceof emb.ValueError ? new InputError(error.message) : error;
  }
}

/** The test file may hold its columns in any order, and more of them. */
async function readTest(path: string, train: TextTable, separator: string): Promise<TextTable> {
  const test = await readTable(path, separator);
  const missing = train.columns.filter((column) => !test.columns.includes(column));
  if (missing.length > 0) throw new InputError(`${path} lacks columns of the training file: ${missing.join(', ')}`);
  return test;
}

function pickRows({ columns, rows }: TextTable, indices: Iterable<number>): TextTable {
  return { columns, rows: Array.from(indices, (i) => rows[i]!) };
}

/** All cells of one column. Throws InputError where there is no such column. */
export function cellsOf({ columns, rows }: TextTable, column: string): string[] {
  const index = columns.indexOf(column);
  if (index < 0) throw new InputError(`no column "${column}"; there are: ${columns.join(', ')}`);
  return rows.map((row) => row[index]!);
}

/** The label of a training table: the last column and its last value in sort order, unless named. */
function findLabel(table: TextTable, given: string | null, positive: string | null): LabelColumn {
  const name = given ?? table.columns.at(-1)!;
  const values = [...new Set(cellsOf(table, name))].sort();
  if (values.length !== 2) {
    const some = values.slice(0, 5).map((value) => `"${value}"`);
    const shown = `${values.length} (${some.join(', ')}${values.length > 5 ? ', …' : ''})`;
    throw new InputError(`the label column "${name}" must hold exactly two values, but holds ${shown}`);
  }
  const chosen = positive ?? values[1]!;
  if (values.includes(chosen)) return { name, positive: chosen, negative: values.find((value) => value !== chosen)! };
  throw new InputError(`--positive "${chosen}" is no value of "${name}"; there are: ${values.join(', ')}`);
}

/** 1 for each positive row, 0 for each other one. Throws InputError for a value that training did not have. */
export function labelsOf(table: TextTable, { name, positive, negative }: LabelColumn): Float32Array {
  return Float32Array.from(cellsOf(table, name), (cell, row) => {
    if (cell === positive || cell === negative) return cell === positive ? 1 : 0;
    throw new InputError(
      `the label "${name}" of row ${row + 1} must be "${negative}" or "${positive}", but is "${cell}"`,
    );
  });
}
