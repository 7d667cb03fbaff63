/** A table as the planner sees it: its size, its combiner, and what tells whether it may share a weight. */
import { ArgumentTypeError, ValueError, described } from '../base/errors.js';
import { readOptions } from '../base/options.js';
import { COMBINERS, INT32_MAX, type Combiner } from '../base/types.js';

/** What a table to be placed is described by. */
export interface PlanTableArgs {
  name?: string;
  /** Rows. */
  inputDim: number;
  /** Columns. */
  outputDim: number;
  combiner?: Combiner | null;
  /** Tables share one weight only where these four are equal: plain data compares by content, all else by identity. */
  initializer?: unknown;
  optimizer?: unknown;
  regularizer?: unknown;
  constraint?: unknown;
  /** A quantity couples the columns of a row (row-wise Adagrad, maxNorm, a constraint along axis 1): never cut a row. */
  rowCoupled?: boolean;
}

/** A table that was read and checked. */
export interface PlanTable {
  readonly name: string | null;
  readonly rows: number;
  readonly columns: number;
  readonly size: number;
  readonly combiner: Combiner | null;
  readonly rowCoupled: boolean;
  /** Tables with the same key may share a weight. */
  readonly joinKey: string;
}

const FIELDS = [
  'name',
  'inputDim',
  'outputDim',
  'combiner',
  'initializer',
  'optimizer',
  'regularizer',
  'constraint',
  'rowCoupled',
] as const;

function dimension(value: unknown, argument: string): number {
  const expected = `a whole number from 1 to ${INT32_MAX}`;
  if (typeof value !== 'number') throw new ArgumentTypeError(argument, expected, value);
  if (!Number.isInteger(value) || value < 1 || value > INT32_MAX) throw new ValueError(argument, expected, value);
  return value;
}

function combinerOf(value: unknown, argument: string): Combiner | null {
  if (value === undefined || value === null) return null;
  const expected = `one of ${COMBINERS.join(', ')} or null`;
  if (typeof value !== 'string') throw new ArgumentTypeError(argument, expected, value);
  if (!(COMBINERS as readonly string[]).includes(value)) throw new ValueError(argument, expected, value);
  return value as Combiner;
}

/** Text that is equal for equal plain data, and for the same object otherwise. */
function contentKey(value: unknown, identities: Map<unknown, number>): string {
  if (value === undefined || value === null) return 'none';
  if (Array.isArray(value)) return `[${value.map((item) => contentKey(item, identities)).join(',')}]`;
  if (typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${contentKey(item, identities)}`).join(',')}}`;
  }
  if (typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol') {
    if (!identities.has(value)) identities.set(value, identities.size);
    return `#${identities.get(value)}`;
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function readTable(value: unknown, argument: string, identities: Map<unknown, number>): PlanTable {
  const table = readOptions<PlanTableArgs>(value, FIELDS, argument);
  const { name, rowCoupled } = table;
  if (name !== undefined && name !== null && typeof name !== 'string') {
    throw new ArgumentTypeError(`${argument}.name`, 'a string', name);
  }
  if (rowCoupled !== undefined && typeof rowCoupled !== 'boolean') {
    throw new ArgumentTypeError(`${argument}.rowCoupled`, 'true or false', rowCoupled);
  }
  const rows = dimension(table.inputDim, `${argument}.inputDim`);
  const columns = dimension(table.outputDim, `${argument}.outputDim`);
  const size = rows * columns;
  if (!Number.isSafeInteger(size)) throw new ValueError(argument, 'at most 2^53 - 1 elements', described(`${size}`));
  const combiner = combinerOf(table.combiner, `${argument}.combiner`);
  const parts = [table.initializer, table.optimizer, table.regularizer, table.constraint];
  const coupled = rowCoupled === true;
  const joinKey = [combiner, coupled, ...parts.map((part) => contentKey(part, identities))].join('|');
  return { name: name ?? null, rows, columns, size, combiner, rowCoupled: coupled, joinKey };
}

/** Reads a list of tables; names must differ. */
export function readTables(value: unknown, argument = 'tables'): PlanTable[] {
  const expected = 'a list of {inputDim, outputDim, combiner, …}';
  if (!Array.isArray(value)) throw new ArgumentTypeError(argument, expected, value);
  if (value.length === 0) throw new ValueError(argument, 'at least one table', described('none'));
  const identities = new Map<unknown, number>();
  const tables = Array.from(value as unknown[], (item, table) => readTable(item, `${argument}[${table}]`, identities));
  const seen = new Map<string, number>();
  tables.forEach(({ name }, table) => {
    if (name === null) return;
    const before = seen.get(name);
    if (before !== undefined) {
      const received = described(`${JSON.stringify(name)} at ${before} and at ${table}`);
      throw new ValueError(`${argument}[${table}].name`, 'a name of its own', received);
    }
    seen.set(name, table);
  });
  return tables;
}
