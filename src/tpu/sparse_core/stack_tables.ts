/** Which tables share a stack, and where each lies in it. */
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { readOptions } from '../../base/options.js';
import { roundUp } from '../../backends/sparse_core.js';
import type { SparseCoreLayout } from './layouts.js';
import { shardCount, textOf, wholeNumber } from './numbers.js';

const BYTES = 4;
/** Rows and columns of a table are padded to multiples of this many, rows on every shard. */
const ROW_UNIT = 8;
const DEFAULT_ACTIVATION_BYTES = 2 ** 21;
const DEFAULT_SHARD_BYTES = 2 ** 31;
const MOST_ROWS = 2 ** 31 - 1;

/** A table as the stacker sees it. */
export interface StackableTable {
  readonly name: string;
  readonly vocabularySize: number;
  readonly dim: number;
  /** Only tables of one group share a stack: those with the same optimizer and quantization. */
  readonly group: string;
  /** Samples of a batch that are looked up in it on one chip. */
  readonly samples: number;
}

export interface StackTablesArgs {
  readonly tables: readonly (
    StackableTable | readonly [name: string, vocabularySize: number, dim: number, group: string, samples: number]
  )[];
  /** Chips. */
  readonly numPartitions: number;
  readonly sparseCoresPerPartition: number;
  /** A stack's activations of one core stay below it; 0: no limit. 2097152 by default. */
  readonly activationMemBytesLimit?: number;
  /** A stack's values on one chip stay below it; 0: no limit. 2147483648 by default. */
  readonly variableShardBytesLimit?: number;
  /** Rows of a stack stay below it; 0: no limit. 2147483647 by default. */
  readonly rowLimit?: number;
  /** Most tables of a stack; 0: no limit (default). */
  readonly tableLimit?: number;
  readonly disableTableStacking?: boolean;
}

const FIELDS = [
  'tables',
  'numPartitions',
  'sparseCoresPerPartition',
  'activationMemBytesLimit',
  'variableShardBytesLimit',
  'rowLimit',
  'tableLimit',
  'disableTableStacking',
] as const;
const TABLE_FIELDS = ['name', 'vocabularySize', 'dim', 'group', 'samples'] as const;

interface Member {
  readonly table: StackableTable;
  readonly rows: number;
  readonly columns: number;
}

interface Stack {
  readonly key: string;
  readonly members: Member[];
  rows: number;
  activationBytes: number;
  shardBytes: number;
}

function readTable(given: unknown, argument: string): StackableTable {
  if (Array.isArray(given) && given.length !== TABLE_FIELDS.length) {
    throw new ValueError(argument, `[${TABLE_FIELDS.join(', ')}]`, given);
  }
  const record: unknown = Array.isArray(given)
    ? Object.fromEntries(TABLE_FIELDS.map((field, i) => [field, (given as unknown[])[i]]))
    : given;
  const { name, vocabularySize, dim, group, samples } = readOptions<StackableTable>(record, TABLE_FIELDS, argument);
  if (typeof group !== 'string') throw new ArgumentTypeError(`${argument}.group`, 'a string', group);
  return {
    name: textOf(name, `${argument}.name`),
    vocabularySize: wholeNumber(vocabularySize, `${argument}.vocabularySize`, 1, MOST_ROWS),
    dim: wholeNumber(dim, `${argument}.dim`, 1, MOST_ROWS),
    group,
    samples: wholeNumber(samples, `${argument}.samples`, 0, MOST_ROWS),
  };
}

function limit(value: unknown, argument: string, fallback: number): number {
  const read = value === undefined || value === null ? fallback : wholeNumber(value, argument);
  return read === 0 ? Infinity : read;
}

/**
 * Returns where each table lies, in the order in which tables are given.
 *
 * Rows are padded to a multiple of 8 x cores, columns to one of 8. Tables of one group and one padded width share a
 * stack, in their order, as long as it stays within all limits; the first stack in which a table fits takes it, and a
 * table that fits nowhere starts one. The k-th table of a stack is rotated by k x sparseCoresPerPartition shards, so
 * that the first rows of all tables do not meet on one core. A limit of 0 is none.
 * Source: SparseCoreLayoutStacker of TensorFlow 2.20.
 *
 * @param args - The tables and the cores; see `StackTablesArgs`.
 * @returns A layout for each table.
 * @throws TypeError and ValueError for what is no table; ValueError for two tables of one name and for a number of
 * cores that is no power of two.
 *
 * @example
 * emb.tpu.stackTables({
 *   tables: [['a', 100, 6, 'sgd', 16], ['b', 33, 8, 'sgd', 16]],
 *   numPartitions: 2,
 *   sparseCoresPerPartition: 4,
 * })[1].sparseCoreShardRotation; // 4
 */
export function stackTables(args: StackTablesArgs): SparseCoreLayout[] {
  const given = readOptions<StackTablesArgs>(args, FIELDS, 'args');
  const chips = wholeNumber(given.numPartitions, 'numPartitions', 1);
  const coresPerChip = wholeNumber(given.sparseCoresPerPartition, 'sparseCoresPerPartition', 1);
  const shards = shardCount(chips, coresPerChip, 'numPartitions');
  const limits = {
    activationBytes: limit(given.activationMemBytesLimit, 'activationMemBytesLimit', DEFAULT_ACTIVATION_BYTES),
    shardBytes: limit(given.variableShardBytesLimit, 'variableShardBytesLimit', DEFAULT_SHARD_BYTES),
    rows: limit(given.rowLimit, 'rowLimit', MOST_ROWS),
    tables: given.disableTableStacking === true ? 1 : limit(given.tableLimit, 'tableLimit', 0),
  };
  if (!Array.isArray(given.tables)) throw new ArgumentTypeError('tables', 'a list of tables', given.tables);
  const stacks: Stack[] = [];
  const places = new Map<string, Stack>();
  for (const [i, each] of (given.tables as readonly unknown[]).entries()) {
    const table = readTable(each, `tables[${i}]`);
    if (places.has(table.name)) {
      throw new ValueError('tables', 'tables with names of their own', described(`two of the name ${table.name}`));
    }
    const rows = roundUp(table.vocabularySize, ROW_UNIT * shards);
    if (rows > MOST_ROWS) throw new ValueError(`tables[${i}].vocabularySize`, 'fewer than 2^31 rows', rows);
    const columns = roundUp(table.dim, ROW_UNIT);
    const activationBytes = BYTES * columns * Math.floor(table.samples / coresPerChip);
    const shardBytes = (BYTES * columns * rows) / chips;
    const key = `${columns} ${table.group}`;
    let stack = stacks.find(
      (one) =>
        one.key === key &&
        one.members.length < limits.tables &&
        one.activationBytes + activationBytes < limits.activationBytes &&
        one.shardBytes + shardBytes < limits.shardBytes &&
        one.rows + rows < limits.rows,
    );
    if (stack === undefined) {
      stack = { key, members: [], rows: 0, activationBytes: 0, shardBytes: 0 };
      stacks.push(stack);
    }
    stack.members.push({ table, rows, columns });
    stack.rows += rows;
    stack.activationBytes += activationBytes;
    stack.shardBytes += shardBytes;
    places.set(table.name, stack);
  }
  checkStackNames(stacks);
  return [...places].map(([name, stack]) => layoutOf(name, stack, { chips, coresPerChip, shards }));
}

function nameOf({ members }: Stack): string {
  return members.map(({ table }) => table.name).join('_');
}

/** Stacks are told apart by their names, which tables with `_` in theirs could make equal. */
function checkStackNames(stacks: readonly Stack[]): void {
  const names = stacks.map(nameOf);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  throw new ValueError('tables', 'names that give every stack a name of its own', described(`two stacks ${twice}`));
}

function layoutOf(
  name: string,
  stack: Stack,
  { chips, coresPerChip, shards }: { chips: number; coresPerChip: number; shards: number },
): SparseCoreLayout {
  const { members, rows } = stack;
  const place = members.findIndex(({ table }) => table.name === name);
  const member = members[place]!;
  const before = members.slice(0, place).reduce((sum, { rows: each }) => sum + each, 0);
  return {
    tableName: name,
    stackedTableName: nameOf(stack),
    numSparseCores: shards,
    numPartitions: chips,
    totalRowsPerSparseCoreShard: rows / shards,
    sparseCoreShardRowOffset: before / shards,
    sparseCoreShardRotation: (place * coresPerChip) % shards,
    unshardedShape: [member.table.vocabularySize, member.table.dim],
    unshardedPaddedShape: [member.rows, member.columns],
  };
}
