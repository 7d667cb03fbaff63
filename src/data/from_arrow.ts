/** Data sets of Arrow tables, and of files and streams in the IPC formats of Arrow, a record batch at a time. */
import type * as arrow from 'apache-arrow';
import { RuntimeError, ValueError, described } from '../base/errors.js';
import { importUnbundled, loadPackage } from '../base/platform.js';
import { readOptions } from '../base/options.js';
import {
  DECLARATION_FIELDS,
  checkFound,
  readDeclaration,
  type ColumnType,
  type Declaration,
  type DeclarationArgs,
} from './column_spec.js';
import { noteOnBytes } from '../io/byte_source.js';
import { checkSource, findFiles, unpackedPieces, type DataFile, type DataSource } from './data_file.js';
import { Dataset } from './dataset.js';
import type { RawChunk, RawColumn } from './raw_column.js';

/** Those of `Type` in apache-arrow that are read here. */
const TYPE = { int: 2, float: 3, utf8: 5, bool: 6, date: 8, timestamp: 10, list: 12, dictionary: -1 } as const;
const MORE = { fixedSizeList: 16, largeUtf8: 20 } as const;

/** A table of apache-arrow, whichever copy of the package made it. */
export interface ArrowTable {
  readonly numRows: number;
  readonly schema: { readonly fields: readonly { readonly name: string; readonly type: unknown }[] };
  readonly batches: readonly unknown[];
  /**
   * A column, whose class makes others.
   *
   * @param index - Its place.
   * @returns A vector.
   */
  getChildAt(index: number): unknown;
}

type Field = arrow.Field;
type VectorOf = (data: Data) => arrow.Vector;
type Data = arrow.Data;

function isTable(value: unknown): value is ArrowTable {
  const { schema, batches } = (value ?? {}) as Partial<ArrowTable>;
  return Array.isArray(batches) && Array.isArray(schema?.fields);
}

/** Tables of a page that bundles apache-arrow are handed over as they are. */
const NOTE = 'Install it: npm install apache-arrow. In a bundled page give a table: fromArrow(tableFromIPC(bytes)).';
const library = (): Promise<typeof arrow> =>
  loadPackage('apache-arrow', 'source', () => importUnbundled('apache-arrow') as Promise<typeof arrow>, NOTE);

const isOf = (type: arrow.DataType, ...ids: readonly number[]): boolean => ids.includes(type.typeId);

/** What columns of a type are read as, where nothing else is said; null: they are not read. */
function typeOf(type: arrow.DataType): ColumnType | null {
  const of: Partial<Record<number, ColumnType>> = {
    [TYPE.int]: 'int',
    [TYPE.bool]: 'int',
    [TYPE.float]: 'float',
    [TYPE.utf8]: 'string',
    [MORE.largeUtf8]: 'string',
    [TYPE.date]: 'date',
    [TYPE.timestamp]: 'date',
  };
  if (isOf(type, TYPE.dictionary)) return typeOf((type as arrow.Dictionary).dictionary);
  if (!isOf(type, TYPE.list, MORE.fixedSizeList)) return of[type.typeId] ?? null;
  const { children } = type as arrow.List;
  const item = typeOf(children[0]!.type as arrow.DataType);
  if (item !== 'int' && item !== 'float' && item !== 'string') return null;
  return isOf(type, TYPE.list)
    ? { list: item }
    : { list: item, length: (type as unknown as arrow.FixedSizeList).listSize };
}

/** Values from `start` to before `end`: a view of numbers where none is missing. */
function valuesOf(data: Data, start: number, end: number, vectorOf: VectorOf): ArrayLike<unknown> {
  const type = data.type as arrow.DataType;
  const { values } = data as { values: unknown };
  const isHalf = values instanceof Uint16Array && isOf(type, TYPE.float);
  if (data.nullCount === 0 && ArrayBuffer.isView(values) && isOf(type, TYPE.int, TYPE.float) && !isHalf) {
    return (values as Int32Array).subarray(start, end);
  }
  const vector = vectorOf(data);
  const all = new Array<unknown>(end - start);
  for (let i = start; i < end; i++) all[i - start] = vector.get(i) as unknown;
  return all;
}

function columnOf(field: Field, data: Data, path: string, vectorOf: VectorOf): RawColumn {
  const type = field.type as arrow.DataType;
  if (typeOf(type) === null) {
    throw new ValueError(path, 'a column of numbers, texts, dates or lists of them', described(String(type)));
  }
  const { length, children } = data;
  if (!isOf(type, TYPE.list, MORE.fixedSizeList)) {
    return { values: valuesOf(data, 0, length, vectorOf), rowSplits: null, isText: false };
  }
  const { listSize } = type as arrow.FixedSizeList;
  const startOf = (row: number): number => (isOf(type, TYPE.list) ? data.valueOffsets[row]! : row * listSize);
  const child = children[0] as Data;
  const rowSplits = new Int32Array(length + 1);
  const [first, last] = [startOf(0), startOf(length)];
  const values = valuesOf(child, first, last, vectorOf);
  if (data.nullCount === 0) {
    for (let row = 1; row <= length; row++) rowSplits[row] = startOf(row) - first;
    return { values, rowSplits, isText: false };
  }
  // A list that is missing may have values all the same.
  const kept: unknown[] = [];
  for (let row = 0; row < length; row++) {
    if (data.getValid(row)) for (let at = startOf(row); at < startOf(row + 1); at++) kept.push(values[at - first]);
    rowSplits[row + 1] = kept.length;
  }
  return { values: kept, rowSplits, isText: false };
}

/** A record batch as a chunk. */
function chunkOf(
  batch: arrow.RecordBatch,
  { columns }: Declaration,
  at: { first: number; where: string },
  vectorOf: VectorOf,
): RawChunk {
  const { fields } = batch.schema;
  const places = new Map(fields.map(({ name }, i) => [String(name), i]));
  const read = new Map<string, RawColumn>();
  for (const { source, name } of columns) {
    const path = `columns.${name}`;
    checkFound(source, path, places, at.where);
    const place = places.get(source)!;
    read.set(source, columnOf(fields[place]!, batch.data.children[place] as Data, path, vectorOf));
  }
  return { count: batch.numRows, ...at, columns: read };
}

const MAGIC = 'ARROW1';

/** The stream within a file: all but the eight bytes before it. What comes behind its end is not read. */
async function* streamOf(file: DataFile): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const piece of unpackedPieces(file)) {
    const isFile = isFirst && new TextDecoder('latin1').decode(piece.subarray(0, 6)) === MAGIC;
    isFirst = false;
    yield isFile ? piece.subarray(8) : piece;
  }
}

/** The columns of a file that can be read, with their types. */
export async function arrowColumns(file: DataFile): Promise<Map<string, ColumnType>> {
  const { RecordBatchReader } = await library();
  const reader = await RecordBatchReader.from(streamOf(file));
  await reader.open();
  const types = new Map<string, ColumnType>();
  for (const { name, type } of reader.schema.fields) {
    const found = typeOf(type as arrow.DataType);
    if (found !== null) types.set(String(name), found);
  }
  await reader.cancel();
  return types;
}

async function* rowsOf(file: DataFile, declaration: Declaration): AsyncGenerator<RawChunk> {
  const { RecordBatchReader, makeVector } = await library();
  const vectorOf: VectorOf = (data) => makeVector(data);
  let first = 0;
  try {
    const reader = await RecordBatchReader.from(streamOf(file));
    for await (const batch of reader) {
      yield chunkOf(batch as arrow.RecordBatch, declaration, { first, where: file.name }, vectorOf);
      first += (batch as arrow.RecordBatch).numRows;
    }
  } catch (error) {
    if (error instanceof ValueError || error instanceof RuntimeError) throw error;
    throw new ValueError(
      'source',
      'a file or stream in the IPC format of Arrow',
      described(file.name),
      noteOnBytes(error),
    );
  }
}

/**
 * Returns a data set of an Arrow table, or of files and streams in the IPC formats of Arrow, which are read a record batch
 * at a time. Lists come as ragged rows without an object for each. A table tells its types and its number of rows; for
 * files `columns` has to be given. The package apache-arrow (17 or later) has to be installed.
 *
 * @param source - A table of apache-arrow; a path, which may be a pattern; a URL; a File or Blob; bytes; or an array of
 * these.
 * @param args - Types by name, label and weight; see `DeclarationArgs`.
 * @returns A `Dataset`.
 * @throws TypeError and ValueError for other arguments; while rows are read, ValueError for a file that does not exist, is
 * no Arrow file, lacks a column, or holds a value that does not fit; RuntimeError without apache-arrow. Source:
 * tfio.arrow.ArrowDataset; pyarrow.ipc (pyarrow 26).
 *
 * @example
 * const rows = emb.data.fromArrow('clicks.arrow', {columns: {visits: 'ids'}, label: 'click'});
 */
export function fromArrow(
  source: ArrowTable | DataSource | readonly DataSource[],
  args: DeclarationArgs = {},
): Dataset {
  const given = readOptions<DeclarationArgs>(args, DECLARATION_FIELDS, 'args');
  if (!isTable(source)) {
    checkSource(source);
    const declaration = readDeclaration(given, null);
    const open = async function* (): AsyncGenerator<RawChunk> {
      for (const found of await findFiles(source)) yield* rowsOf(await found.open(), declaration);
    };
    return new Dataset({ source: { size: null, open }, declaration, naValues: new Set() });
  }
  const types = new Map<string, ColumnType>();
  for (const { name, type } of source.schema.fields) {
    const found = typeOf(type as arrow.DataType);
    // Others can be left out; naming one is an error while rows are read.
    if (found !== null || given.columns !== undefined) types.set(name, found ?? 'float');
  }
  const declaration = readDeclaration(given, types);
  const open = async function* (): AsyncGenerator<RawChunk> {
    // The package that made the table makes its vectors; there may be another copy of it.
    const { constructor: Vector } = (source.getChildAt(0) ?? {}) as { constructor: unknown };
    const vectorOf: VectorOf = (data) => new (Vector as typeof arrow.Vector)([data]);
    let first = 0;
    for (const batch of source.batches as readonly arrow.RecordBatch[]) {
      yield chunkOf(batch, declaration, { first, where: 'the table' }, vectorOf);
      first += batch.numRows;
    }
  };
  return new Dataset({ source: { size: source.numRows, open }, declaration, naValues: new Set() });
}
