/** Data sets of parquet files, of which only the named columns are read, page by page. */
import type * as hyparquet from 'hyparquet';
import type { ColumnDecoder, FileMetaData, ParquetParsers, SchemaElement, SchemaTree } from 'hyparquet/src/types.js';
import { RuntimeError, ValueError, described } from '../base/errors.js';
import { loadPackage } from '../base/platform.js';
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
import { checkedCompressors } from './parquet_codecs.js';
import { checkSource, findFiles, type DataFile, type DataSource } from './data_file.js';
import { Dataset } from './dataset.js';
import { ParquetColumn, type ColumnPlace, type PageReader } from './parquet_column.js';
import type { RawChunk, RawColumn } from './raw_column.js';

/** Rows of a chunk. */
const CHUNK_ROWS = 8192;

interface Library extends PageReader {
  readonly parquetMetadataAsync: typeof hyparquet.parquetMetadataAsync;
  readonly parquetSchema: typeof hyparquet.parquetSchema;
}

let loading: Promise<Library> | null = null;

/** Loads hyparquet and its compressors on first use. */
function library(): Promise<Library> {
  loading ??= loadPackage('hyparquet', 'source', async () => {
    const [main, column, datapage, convert, encoding, { compressors }] = await Promise.all([
      import('hyparquet'),
      import('hyparquet/src/column.js'),
      import('hyparquet/src/datapage.js'),
      import('hyparquet/src/convert.js'),
      import('hyparquet/src/encoding.js'),
      import('hyparquet-compressors'),
    ]);
    const { parquetMetadataAsync, parquetSchema } = main;
    const { parquetHeader, readPage } = column;
    const { decompressPage, readDataPage } = datapage;
    return {
      ...{ parquetMetadataAsync, parquetSchema, parquetHeader, readPage, decompressPage, readDataPage },
      ...{ convert: convert.convert, readRleBitPackedHybrid: encoding.readRleBitPackedHybrid },
      compressors: checkedCompressors(compressors),
    };
  });
  return loading;
}

/** Texts as they are: a mark of the byte order belongs to them, and other bytes than UTF-8 are none. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const hex = (bytes: Uint8Array, start: number, end: number): string =>
  Array.from(bytes.subarray(start, end), (byte) => byte.toString(16).padStart(2, '0')).join('');
/** Dates as milliseconds since 1970: no object for each. */
const PARSERS = {
  timestampFromMilliseconds: Number,
  timestampFromMicroseconds: (micros: bigint) => Number(micros) / 1e3,
  timestampFromNanoseconds: (nanos: bigint) => Number(nanos) / 1e6,
  dateFromDays: (days: number) => days * 86_400_000,
  stringFromBytes: (bytes: Uint8Array) => decoder.decode(bytes),
  // JSON is text here: what it holds is not looked at.
  jsonFromBytes: (bytes: Uint8Array) => decoder.decode(bytes),
  uuidFromBytes: (bytes: Uint8Array) =>
    [hex(bytes, 0, 4), hex(bytes, 4, 6), hex(bytes, 6, 8), hex(bytes, 8, 10), hex(bytes, 10, 16)].join('-'),
} as unknown as ParquetParsers;

/** A parquet file, opened. */
interface OpenFile {
  readonly file: DataFile;
  readonly metadata: FileMetaData;
  readonly columns: ReadonlyMap<string, SchemaTree>;
  readonly rows: number;
}

async function openFile(file: DataFile): Promise<OpenFile> {
  const { parquetMetadataAsync, parquetSchema } = await library();
  const slice = async (start: number, end = file.size): Promise<ArrayBuffer> => {
    const bytes = await file.read(start, end);
    return bytes.slice().buffer;
  };
  try {
    const metadata = await parquetMetadataAsync({ byteLength: file.size, slice }, { parsers: PARSERS });
    checkCounts(metadata, file.name);
    const { children } = parquetSchema(metadata);
    const columns = new Map(children.map((each) => [each.element.name, each]));
    return { file, metadata, columns, rows: Number(metadata.num_rows) };
  } catch (error) {
    throw unreadable(file.name, error);
  }
}

/** What a library, or our own code, stumbles over in a damaged file. */
function unreadable(name: string, error: unknown): Error {
  if (error instanceof ValueError || error instanceof RuntimeError) return error;
  return new ValueError('source', 'a parquet file', described(name), noteOnBytes(error));
}

/** Throws ValueError where a footer contradicts itself: it is damaged then. */
function checkCounts({ schema, row_groups: groups, num_rows: rows }: FileMetaData, name: string): void {
  const damaged = (received: string): ValueError =>
    new ValueError('source', 'a parquet file whose footer is whole', described(`${received} in ${name}`));
  const leaves = schema.filter(({ type }) => type !== undefined).length;
  if (schema.some((each) => typeof (each.name as unknown) !== 'string')) throw damaged('a column without a name');
  let total = 0n;
  for (const { columns, num_rows: count } of groups) {
    if (columns.length !== leaves) throw damaged(`a row group of ${columns.length} columns for ${leaves}`);
    if (typeof count !== 'bigint' || count < 0n) throw damaged('a row group without a number of rows');
    total += count;
  }
  if (total !== rows) throw damaged(`row groups of ${total} rows for ${rows}`);
}

/** An element of the schema with the older names of its type, by which hyparquet converts. */
function namedBoth(element: SchemaElement): SchemaElement {
  const { converted_type: converted, logical_type: logical } = element;
  if (converted !== undefined || logical === undefined) return element;
  if (logical.type === 'DATE') return { ...element, converted_type: 'DATE' };
  if (logical.type === 'JSON') return { ...element, converted_type: 'JSON' };
  if (logical.type !== 'DECIMAL') return element;
  return { ...element, converted_type: 'DECIMAL', scale: logical.scale, precision: logical.precision };
}

/** From the column to the node with its values: itself, or the element of its list. */
function leafPath(tree: SchemaTree, path: string): SchemaTree[] {
  const nodes = [tree];
  while (nodes.at(-1)!.children.length > 0) {
    const { children } = nodes.at(-1)!;
    if (children.length > 1) {
      throw new ValueError(path, 'a column of values or of lists of values', described('a struct or map'));
    }
    nodes.push(children[0]!);
  }
  const lists = nodes.filter(({ element }) => element.repetition_type === 'REPEATED').length;
  if (lists > 1) throw new ValueError(path, 'a column of values or of lists of values', described('lists of lists'));
  return nodes;
}

/** What the values of a leaf are read as. */
function typeOfLeaf({ element }: SchemaTree): 'int' | 'float' | 'string' | 'date' {
  const { type, converted_type: converted, logical_type: logical } = namedBoth(element);
  if (converted === 'DATE' || /^TIMESTAMP/.test(converted ?? logical?.type ?? '') || type === 'INT96') return 'date';
  if (converted === 'DECIMAL' || type === 'FLOAT' || type === 'DOUBLE' || logical?.type === 'FLOAT16') return 'float';
  return type === 'INT32' || type === 'INT64' || type === 'BOOLEAN' ? 'int' : 'string';
}

/** The columns of a file that can be read, with their types. */
export async function parquetColumns(file: DataFile): Promise<Map<string, ColumnType>> {
  const { columns } = await openFile(file);
  const types = new Map<string, ColumnType>();
  for (const [name, tree] of columns) {
    let nodes: SchemaTree[];
    try {
      nodes = leafPath(tree, name);
    } catch {
      continue;
    }
    const item = typeOfLeaf(nodes.at(-1)!);
    const isList = nodes.some(({ element }) => element.repetition_type === 'REPEATED');
    types.set(name, !isList ? item : { list: item === 'date' ? 'string' : item });
  }
  return types;
}

/** Where a column of a row group lies. */
function placeOf(opened: OpenFile, group: number, source: string, path: string, reader: PageReader): ColumnPlace {
  const { metadata, columns } = opened;
  const nodes = leafPath(columns.get(source)!, path);
  const pathInSchema = nodes.map(({ element }) => element.name);
  const found = metadata.row_groups[group]!.columns.find(({ meta_data: each }) => {
    return each !== undefined && each.path_in_schema.join('\n') === pathInSchema.join('\n');
  })?.meta_data;
  if (found === undefined) {
    throw new ValueError(
      'source',
      'a parquet file that can be read',
      described(`${opened.file.name}: no pages of ${source}`),
    );
  }
  const {
    data_page_offset: data,
    dictionary_page_offset: dictionary,
    total_compressed_size: size,
    codec,
    type,
    num_values: values,
  } = found;
  const start = Number(dictionary !== undefined && dictionary > 0n && dictionary < data ? dictionary : data);
  const end = start + Number(size);
  if (!(start >= 0 && end <= opened.file.size)) {
    throw new ValueError(
      'source',
      'a parquet file',
      described(`${opened.file.name}, which ends before ${source} does`),
    );
  }
  const optional = ({ element }: SchemaTree): boolean => element.repetition_type !== 'REQUIRED';
  const list = nodes.findIndex(({ element }) => element.repetition_type === 'REPEATED');
  const schemaPath = [{ children: [], count: 0, path: [], element: { name: 'root' } } as SchemaTree, ...nodes];
  const decoder: ColumnDecoder = {
    ...{ pathInSchema, type, codec, schemaPath, element: namedBoth(nodes.at(-1)!.element), parsers: PARSERS },
    compressors: reader.compressors,
  };
  return {
    ...{ decoder, start, end, values: Number(values) },
    full: nodes.filter(optional).length,
    element: list < 0 ? null : nodes.slice(0, list + 1).filter(optional).length,
  };
}

/** The rows of one file. */
async function* rowsOf(opened: OpenFile, { columns }: Declaration): AsyncGenerator<RawChunk> {
  const reader = await library();
  const { file, metadata, columns: found } = opened;
  for (const { source, name } of columns) checkFound(source, `columns.${name}`, found, file.name);
  const names = new Map(columns.map(({ source, name }) => [source, `columns.${name}`]));
  let first = 0;
  for (let group = 0; group < metadata.row_groups.length; group++) {
    const readers = [...names].map(([source, path]) => {
      try {
        const place = placeOf(opened, group, source, path, reader);
        return [source, new ParquetColumn(reader, file, place, file.name)] as const;
      } catch (error) {
        throw unreadable(file.name, error);
      }
    });
    for (let left = Number(metadata.row_groups[group]!.num_rows); left > 0;) {
      const count = Math.min(left, CHUNK_ROWS);
      const read = await Promise.all(readers.map(async ([source, each]) => [source, await each.read(count)] as const));
      yield { count, first, where: file.name, columns: new Map<string, RawColumn>(read) };
      first += count;
      left -= count;
    }
    // A group without rows may have no pages either.
    if (metadata.row_groups[group]!.num_rows > 0n) for (const [, each] of readers) await each.end();
  }
}

/**
 * Returns a data set of one or more parquet files. Only the named columns are read, page by page, so that memory holds
 * batches; list columns come as ragged rows without an object for each. Integers, floats, decimals, booleans, strings,
 * dates, timestamps, and lists of these are read, with any compression of hyparquet-compressors. The number of rows is
 * known once the data set is read, or after `ready()`.
 *
 * @param source - A path, which may be a pattern such as `days/*.parquet`; a URL, which is read by range requests; a File
 * or Blob; bytes; or an array of these.
 * @param args - Types by name, label and weight; see `DeclarationArgs`. `columns` has to be given.
 * @returns A `Dataset`.
 * @throws TypeError and ValueError for other arguments; while rows are read, ValueError for a file that does not exist, is
 * no parquet file, lacks a column, or holds a value that does not fit. Source: pyarrow.parquet.ParquetFile.iter_batches
 * (pyarrow 22).
 *
 * @example
 * const rows = emb.data.fromParquet('days/*.parquet', {columns: {user: 'int', visits: 'ids'}, label: 'click'});
 */
export function fromParquet(source: DataSource | readonly DataSource[], args: DeclarationArgs): Dataset {
  checkSource(source);
  const declaration = readDeclaration(readOptions<DeclarationArgs>(args, DECLARATION_FIELDS, 'args'), null);
  let size: number | null = null;
  const opened = async (): Promise<OpenFile[]> => {
    const files = await findFiles(source);
    const all = await Promise.all(files.map(async (each) => openFile(await each.open())));
    size = all.reduce((sum, { rows }) => sum + rows, 0);
    return all;
  };
  return new Dataset({
    source: {
      get size() {
        return size;
      },
      // Reading opens the files too.
      ready: async () => void (size ?? (await opened())),
      async *open() {
        for (const file of await opened()) yield* rowsOf(file, declaration);
      },
    },
    declaration,
    naValues: new Set(),
  });
}
