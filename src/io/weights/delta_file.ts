/** Changed rows of tables in a safetensors file: arrays with ids and rows, and checksums of the tables in its header. */
import { ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import type { Checksum } from '../../backends/table_checksum.js';
import type { TableDelta } from '../../backends/table_delta.js';
import { littleEndianBytes } from '../byte_order.js';
import { openBytes, pathOf, type ByteSource } from '../byte_source.js';
import { writeWhole } from '../whole_file.js';
import { readArray } from './array_values.js';
import { readSafetensorsStart, safetensorsStart, type ArrayForm, type PlacedArray } from './safetensors.js';

const KEY = 'tfjs_embeddings_delta';
const VERSION = 1;
const BYTES = 4;

/** A table in the header; its part n has the arrays `<name>/<n>.ids` and `<name>/<n>.rows`. */
interface TableHeader {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly base: Checksum;
  readonly result: Checksum;
  /** The first column of each part. */
  readonly parts: readonly number[];
}

/** Writes the file, all of it or nothing. Throws RuntimeError where the system refuses. */
export async function writeDelta(file: string, tables: readonly TableDelta[]): Promise<void> {
  const values = tables.flatMap(({ parts }) => parts.flatMap((part) => [part.ids, part.values]));
  const arrays = tables.flatMap(({ name, parts }) =>
    parts.flatMap(({ ids, values: rows }, n): ArrayForm[] => [
      { name: `${name}/${n}.ids`, dtype: 'I32', shape: [ids.length], bytes: BYTES * ids.length },
      {
        name: `${name}/${n}.rows`,
        dtype: 'F32',
        shape: [ids.length, rows.length / ids.length],
        bytes: BYTES * rows.length,
      },
    ]),
  );
  const headers = tables.map(({ parts, ...table }): TableHeader => {
    return { ...table, parts: parts.map(({ firstColumn }) => firstColumn) };
  });
  const metadata = { [KEY]: JSON.stringify({ version: VERSION, tables: headers }) };
  await writeWhole(pathOf(file), true, async (write) => {
    await write(safetensorsStart(arrays, metadata));
    for (const each of values) await write(littleEndianBytes(each));
  });
}

/** Changed rows of some columns in a file. */
export interface StoredPart {
  readonly firstColumn: number;
  readonly columns: number;
  /** Ascending. */
  readonly ids: Int32Array;
  /** Rows of the ids from place `from` up to `to`. */
  values(from: number, to: number): Float32Array;
}

export interface StoredDelta extends Omit<TableDelta, 'parts'> {
  readonly parts: readonly StoredPart[];
}

/** The tables of a delta, open until it is closed. */
export interface DeltaFile {
  readonly name: string;
  readonly tables: readonly StoredDelta[];
  close(): void;
}

/** Throws ValueError for a file of another form. */
export async function openDelta(given: unknown): Promise<DeltaFile> {
  const source = await openBytes(given);
  try {
    const { arrays, metadata } = readSafetensorsStart(source);
    const tables = headersOf(source, metadata).map((header) => storedDelta(source, header, arrays));
    return { name: source.name, tables, close: () => source.close() };
  } catch (error) {
    source.close();
    throw error;
  }
}

function refuse(source: ByteSource, received: string): never {
  throw new ValueError('source', 'a delta that emb.cluster().deltas wrote', described(`${source.name}, ${received}`));
}

function headersOf(source: ByteSource, metadata: unknown): TableHeader[] {
  const text = isRecord(metadata) ? metadata[KEY] : undefined;
  if (typeof text !== 'string') refuse(source, `whose header has no ${KEY}`);
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    found = null;
  }
  const { version, tables } = isRecord(found) ? found : {};
  if (version !== VERSION || !Array.isArray(tables)) refuse(source, `whose ${KEY} is ${text.slice(0, 60)}`);
  const wrong = tables.findIndex((table) => !isHeader(table));
  if (wrong >= 0) refuse(source, `whose table ${wrong} is ${JSON.stringify(tables[wrong])?.slice(0, 60)}`);
  return tables as TableHeader[];
}

const isWhole = (value: unknown, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;

function isHeader(value: unknown): value is TableHeader {
  if (!isRecord(value)) return false;
  const { name, rows, columns, base, result, parts } = value;
  const isSum = (sum: unknown): boolean =>
    Array.isArray(sum) && sum.length === 2 && sum.every((each) => isWhole(each, 0, 2 ** 32 - 1));
  if (typeof name !== 'string' || !isWhole(rows, 1, 2 ** 31 - 1) || !isWhole(columns, 1, 2 ** 31 - 1)) return false;
  return isSum(base) && isSum(result) && Array.isArray(parts) && parts.every((each) => isWhole(each, 0, 2 ** 31 - 1));
}

function storedDelta(
  source: ByteSource,
  { parts, ...table }: TableHeader,
  arrays: ReadonlyMap<string, PlacedArray>,
): StoredDelta {
  const { name, rows, columns } = table;
  const part = (firstColumn: number, n: number): StoredPart => {
    const [ids, values] = [arrays.get(`${name}/${n}.ids`), arrays.get(`${name}/${n}.rows`)];
    const [count, width] = values?.shape ?? [];
    const isRight =
      ids?.type.dtype === 'int32' &&
      values?.type.dtype === 'float32' &&
      values.type.bytes === BYTES &&
      values.shape.length === 2 &&
      ids.shape.length === 1 &&
      ids.shape[0] === count &&
      firstColumn + width! <= columns;
    if (!isRight) refuse(source, `whose part ${n} of ${name} is not there, or of another form`);
    const numbers = readArray(source, source.name, ids.at, count!, ids.type) as Int32Array;
    const isAscending = numbers.every((id, i) => id > (i === 0 ? -1 : numbers[i - 1]!) && id < rows);
    if (!isAscending) refuse(source, `whose ids of ${name} are not ascending numbers below ${rows}`);
    const read = (from: number, to: number): Float32Array => {
      const at = values.at + BYTES * width! * from;
      return readArray(source, source.name, at, (to - from) * width!, values.type) as Float32Array;
    };
    return { firstColumn, columns: width!, ids: numbers, values: read };
  };
  return { ...table, parts: parts.map(part) };
}
