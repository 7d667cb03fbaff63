/** Layouts that users give with their tables, computed before: by `stackTables`, or read from `embeddingLayouts`. */
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord, readOptions } from '../../base/options.js';
import { readConfig } from '../config/fields.js';
import { rowsInShard, type Cores, type SparseCoreLayout } from './layouts.js';
import { textOf, wholeNumber } from './numbers.js';
import type { NamedTable } from '../tables/read_tables.js';

const FIELDS = [
  'tableName',
  'stackedTableName',
  'numSparseCores',
  'numPartitions',
  'totalRowsPerSparseCoreShard',
  'sparseCoreShardRowOffset',
  'sparseCoreShardRotation',
  'unshardedShape',
  'unshardedPaddedShape',
] as const;

const MOST_ROWS = 2 ** 31 - 1;

function shapeOf(value: unknown, argument: string): readonly [rows: number, columns: number] {
  if (!Array.isArray(value)) throw new ArgumentTypeError(argument, '[rows, columns]', value);
  if (value.length !== 2) throw new ValueError(argument, '[rows, columns]', value);
  const [rows, columns] = value as unknown[];
  return [wholeNumber(rows, `${argument}[0]`, 1, MOST_ROWS), wholeNumber(columns, `${argument}[1]`, 1, MOST_ROWS)];
}

function mustBe(value: unknown, expected: unknown, argument: string, what: string): void {
  if (String(value) !== String(expected)) throw new ValueError(argument, `${String(expected)}, ${what}`, value);
}

/**
 * The layout that a table was given, for these cores. ValueError where it is that of another table or of other cores, or
 * has no room for the table.
 */
function readLayout({ name, config }: NamedTable, { chips, coresPerChip }: Cores): SparseCoreLayout {
  const at = `layout of ${name}`;
  if (!isRecord(config.layout)) throw new ArgumentTypeError(at, 'a layout of a table', config.layout);
  const given = readOptions<SparseCoreLayout>(readConfig(config.layout, at), FIELDS, at);
  const shards = chips * coresPerChip;
  const field = (of: (typeof FIELDS)[number], least = 0, most = MOST_ROWS): number => {
    return wholeNumber(given[of], `${at}.${of}`, least, most);
  };
  const layout: SparseCoreLayout = {
    tableName: textOf(given.tableName, `${at}.tableName`),
    stackedTableName: textOf(given.stackedTableName, `${at}.stackedTableName`),
    numSparseCores: field('numSparseCores'),
    numPartitions: field('numPartitions'),
    totalRowsPerSparseCoreShard: field('totalRowsPerSparseCoreShard', 1, Math.floor(MOST_ROWS / shards)),
    sparseCoreShardRowOffset: field('sparseCoreShardRowOffset'),
    sparseCoreShardRotation: field('sparseCoreShardRotation', 0, shards - 1),
    unshardedShape: shapeOf(given.unshardedShape, `${at}.unshardedShape`),
    unshardedPaddedShape: shapeOf(given.unshardedPaddedShape, `${at}.unshardedPaddedShape`),
  };
  mustBe(layout.tableName, name, `${at}.tableName`, 'the table that has it');
  mustBe(layout.numSparseCores, shards, `${at}.numSparseCores`, 'the SparseCores there are');
  mustBe(layout.numPartitions, chips, `${at}.numPartitions`, 'the chips there are');
  mustBe(layout.unshardedShape, [config.vocabularySize, config.dim], `${at}.unshardedShape`, 'the shape of the table');
  const [rows, columns] = layout.unshardedPaddedShape;
  if (rows < config.vocabularySize || rows % shards !== 0 || columns < config.dim) {
    const expected = `at least [${config.vocabularySize}, ${config.dim}], rows a multiple of ${shards}`;
    throw new ValueError(`${at}.unshardedPaddedShape`, expected, layout.unshardedPaddedShape);
  }
  if (layout.sparseCoreShardRowOffset + rowsInShard(layout) > layout.totalRowsPerSparseCoreShard) {
    const expected = `${layout.sparseCoreShardRowOffset + rowsInShard(layout)} rows at least, for the table to fit`;
    throw new ValueError(`${at}.totalRowsPerSparseCoreShard`, expected, layout.totalRowsPerSparseCoreShard);
  }
  return layout;
}

/** Tables of one stack agree about it, and no two of them lie on the same rows. */
function checkStack(layouts: readonly SparseCoreLayout[], groupOf: (table: string) => string): void {
  const sorted = [...layouts].sort((a, b) => a.sparseCoreShardRowOffset - b.sparseCoreShardRowOffset);
  sorted.forEach((layout, i) => {
    const before = sorted[i - 1];
    if (before === undefined) return;
    const [at, stack] = [`layout of ${layout.tableName}`, `as ${before.tableName} in ${layout.stackedTableName} has`];
    const [mine, others] = [layout.unshardedPaddedShape[1], before.unshardedPaddedShape[1]];
    mustBe(mine, others, `${at}.unshardedPaddedShape[1]`, stack);
    const field = 'totalRowsPerSparseCoreShard';
    mustBe(layout[field], before[field], `${at}.${field}`, stack);
    if (groupOf(layout.tableName) !== groupOf(before.tableName)) {
      const expected = 'a stack of tables with one optimizer and quantization';
      throw new ValueError(`${at}.stackedTableName`, expected, described(`that of ${before.tableName}`));
    }
    const end = before.sparseCoreShardRowOffset + rowsInShard(before);
    if (layout.sparseCoreShardRowOffset < end) {
      const expected = `rows behind those of ${before.tableName}, from ${end} on`;
      throw new ValueError(`${at}.sparseCoreShardRowOffset`, expected, layout.sparseCoreShardRowOffset);
    }
  });
}

/** The layouts of the tables that were given one, which fit together and fit these cores. */
export function givenLayouts(
  tables: readonly NamedTable[],
  cores: Cores,
  groupOf: (table: string) => string,
): SparseCoreLayout[] {
  const layouts = tables.filter(({ config }) => config.layout !== null).map((table) => readLayout(table, cores));
  for (const name of new Set(layouts.map(({ stackedTableName }) => stackedTableName))) {
    checkStack(
      layouts.filter(({ stackedTableName }) => stackedTableName === name),
      groupOf,
    );
  }
  return layouts;
}
