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
import { arrowSource } from './arrow_source.js';
import { TEXT, textsOf } from './arrow_texts.js';
import { teachCodecs } from './arrow_codecs.js';
import { checkSource, findFiles, type DataFile, type DataSource } from './data_file.js';
import { Dataset } from './dataset.js';
import type { RawChunk, RawColumn } from './raw_column.js';

/** Those of `Type` in apache-arrow that are read here. */
const TYPE = { int: 2, float: 3, bool: 6, date: 8, timestamp: 10, list: 12, dictionary: -1 } as const;
const MORE = { fixedSizeList: 16, largeList: 21 } as const;

const LISTS = [TYPE.list, MORE.fixedSizeList, MORE.largeList] as const;

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
/** From a row to before another one. */
type Range = readonly [start: number, end: number];
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
    [TEXT.utf8]: 'string',
    [TEXT.largeUtf8]: 'string',
    [TEXT.utf8View]: 'string',
    [TYPE.date]: 'date',
    [TYPE.timestamp]: 'date',
  };
  if (isOf(type, TYPE.dictionary)) return typeOf((type as arrow.Dictionary).dictionary);
  if (!isOf(type, ...LISTS)) return of[type.typeId] ?? null;
  const { children } = type as arrow.List;
  const item = typeOf(children[0]!.type as arrow.DataType);
  if (item !== 'int' && item !== 'float' && item !== 'string') return null;
  if (!isOf(type, MORE.fixedSizeList)) return { list: item };
  return { list: item, length: (type as unknown as arrow.FixedSizeList).listSize };
}

const valuesAt =
  (vector: arrow.Vector) =>
  (row: number): unknown =>
    vector.get(row);

/** The values of a range: a view of numbers where none is missing. */
function valuesOf(data: Data, [start, end]: Range, path: string, vectorOf: VectorOf): ArrayLike<unknown> {
  const type = data.type as arrow.DataType;
  const { values } = data as { values: unknown };
  const isHalf = values instanceof Uint16Array && isOf(type, TYPE.float);
  if (data.nullCount === 0 && ArrayBuffer.isView(values) && isOf(type, TYPE.int, TYPE.float) && !isHalf) {
    return (values as Int32Array).subarray(start, end);
  }
  const all = new Array<unknown>(end - start);
  const valueAt = textsOf(data, path) ?? valuesAt(vectorOf(data));
  for (let i = start; i < end; i++) all[i - start] = valueAt(i);
  return all;
}

function columnOf(field: Field, data: Data, path: string, vectorOf: VectorOf): RawColumn {
  const type = field.type as arrow.DataType;
  if (typeOf(type) === null) {
    throw new ValueError(path, 'a column of numbers, texts, dates or lists of them', described(String(type)));
  }
  const { length, children } = data;
  if (!isOf(type, ...LISTS)) {
    return { values: valuesOf(data, [0, length], path, vectorOf), rowSplits: null, isText: false };
  }
  const { listSize } = type as arrow.FixedSizeList;
  const isFixed = isOf(type, MORE.fixedSizeList);
  // Those of large lists are of 64 bits.
  const startOf = (row: number): number => (isFixed ? row * listSize : Number(data.valueOffsets[row]!));
  const child = children[0] as Data;
  const rowSplits = new Int32Array(length + 1);
  const [first, last] = [startOf(0), startOf(length)];
  const values = valuesOf(child, [first, last], path, vectorOf);
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

/** A reader of a file or stream, opened. */
async function opened(file: DataFile): Promise<{ reader: arrow.AsyncRecordBatchStreamReader; isFile: boolean }> {
  const arrowLibrary = await library();
  await teachCodecs(arrowLibrary);
  const source = await arrowSource(file, arrowLibrary);
  const { RecordBatchReader } = arrowLibrary;
  const from = RecordBatchReader.from as (source: unknown) => Promise<arrow.AsyncRecordBatchStreamReader>;
  const reader = await from(source.isFile ? source.handle : source.messages);
  await reader.open();
  return { reader, isFile: source.isFile };
}

/** All record batches: of a file those of its footer, each by its number, as apache-arrow passes over what is none. */
async function* batchesOf(file: DataFile): AsyncGenerator<arrow.RecordBatch> {
  const { reader, isFile } = await opened(file);
  if (!isFile) {
    yield* reader as AsyncIterable<arrow.RecordBatch>;
    return;
  }
  const { numRecordBatches: count } = reader as unknown as { numRecordBatches: number };
  for (let i = 0; i < count; i++) {
    const batch = await (reader as unknown as arrow.AsyncRecordBatchFileReader).readRecordBatch(i);
    if (batch !== null) yield batch as arrow.RecordBatch;
    else
      throw new ValueError('source', `${count} record batches, as the footer tells`, described(`${i} in ${file.name}`));
  }
}

function unreadable(file: DataFile, error: unknown): Error {
  if (error instanceof ValueError || error instanceof RuntimeError) return error;
  const expected = 'a file or stream in the IPC format of Arrow';
  return new ValueError('source', expected, described(file.name), noteOnBytes(error));
}

/** The columns of a file that can be read, with their types. */
export async function arrowColumns(file: DataFile): Promise<Map<string, ColumnType>> {
  try {
    const { reader } = await opened(file);
    const types = new Map<string, ColumnType>();
    for (const { name, type } of reader.schema.fields) {
      const found = typeOf(type as arrow.DataType);
      if (found !== null) types.set(String(name), found);
    }
    await reader.cancel();
    return types;
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function* rowsOf(file: DataFile, declaration: Declaration): AsyncGenerator<RawChunk> {
  let first = 0;
  try {
    const { makeVector } = await library();
    const vectorOf: VectorOf = (data) => makeVector(data);
    for await (const batch of batchesOf(file)) {
      yield chunkOf(batch, declaration, { first, where: file.name }, vectorOf);
      first += batch.numRows;
    }
  } catch (error) {
    throw unreadable(file, error);
  }
}

/**
 * Returns a data set of an Arrow table, or of files and streams in the IPC formats of Arrow, which are read a record batch
 * at a time. Lists come as ragged rows without an object for each. A table tells its types and its number of rows; for
 * files `columns` has to be given. Bodies packed by LZ4 and zstd are unpacked. A file without its whole footer,
 * and a stream without the mark that ends it, are refused. The package apache-arrow has to be installed, 21 or later for
 * files.
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
