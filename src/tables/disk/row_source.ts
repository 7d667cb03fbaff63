/** Where the rows of a table lie: in a safetensors file, one of several that an index names, or an `.npy` file. */
import type * as nodePath from 'node:path';
import { ValueError, described, describe } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { nodeBuiltin, type PositionedFile } from '../../base/platform.js';
import { HOST_IS_LITTLE_ENDIAN } from '../../io/byte_order.js';
import { readNpyLayout } from '../../io/npy.js';
import { openPath } from '../../io/table_file.js';
import { readSafetensorsStart, type PlacedArray } from '../../io/weights/safetensors.js';
import { formatOf, type RowFormat } from './row_format.js';

/** Under which the header of a file that `diskTable.create` made says what it holds. */
export const ROWS_KEY = 'tfjs_embeddings_rows';
const LONGEST_INDEX = 100_000_000;

/** Rows of one length, one after the other. */
export interface RowsAt {
  readonly path: string;
  /** Null: the file holds one array without a name. */
  readonly tensor: string | null;
  readonly format: RowFormat;
  readonly rows: number;
  readonly dim: number;
  /** The first byte of row 0, and bytes of the file when it was looked at. */
  readonly start: number;
  readonly size: number;
  /** What `diskTable.create` wrote about them; null: another program made the file. */
  readonly own: Readonly<Record<string, unknown>> | null;
}

/**
 * Finds the rows of a tensor; null: of the only table in the file.
 *
 * @throws ValueError, which names the file, where there is none of them, and for anything else than rows of numbers that
 * are read here; RuntimeError where the system refuses.
 */
export function findRows(path: string, tensor: string | null): RowsAt {
  if (!HOST_IS_LITTLE_ENDIAN) throw new ValueError('file', 'a machine of little-endian words', described('another'));
  const file = openPath(path, 'file');
  try {
    const [first] = bytesOf(file, 1);
    if (first === 0x93) return npyRows(file, path, tensor);
    if (first === 0x7b) return indexedRows(file, path, tensor);
    return safetensorsRows(file, path, tensor);
  } finally {
    file.close();
  }
}

function bytesOf(file: PositionedFile, count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  return bytes.subarray(0, file.read(0, bytes));
}

function npyRows(file: PositionedFile, path: string, tensor: string | null): RowsAt {
  const refuse = (expected: string, received: string): never => {
    throw new ValueError('file', expected, described(`${path}, ${received}`));
  };
  if (tensor !== null) {
    throw new ValueError('tensor', 'nothing: the array of an .npy file has no name', tensor);
  }
  const { shape, descr, isColumnMajor, start } = readNpyLayout(file, path, 'file');
  const format = { "'<f4'": 'float32', "'<f2'": 'float16' }[descr.replaceAll('"', "'")];
  if (format === undefined) return refuse("values '<f4' or '<f2'", `which holds ${descr.slice(0, 40)}`);
  if (isColumnMajor) return refuse('an array in row-major order (fortran_order False)', 'which is column-major');
  return checked({ path, tensor: null, format: formatOf(format)!, start, size: file.size, own: null }, shape);
}

function checked(of: Omit<RowsAt, 'rows' | 'dim'>, shape: readonly number[], dim?: number): RowsAt {
  const [rows, values] = shape as [number, number];
  const where = `${of.path}${of.tensor === null ? '' : `, ${describe(of.tensor)}`}`;
  if (shape.length !== 2 || !(rows >= 1 && rows < 2 ** 31) || !(values >= 1 && values < 2 ** 27)) {
    const expected = 'a table of shape [rows, columns], with less than 2^31 rows';
    throw new ValueError('file', expected, described(`${where}, of shape [${shape.join(', ')}]`));
  }
  const columns = dim ?? values;
  if (of.format.values(columns) !== values) {
    throw new ValueError('file', `rows of ${of.format.values(columns)} values`, described(`${where}, of ${values}`));
  }
  const needed = of.start + rows * of.format.bytes(columns);
  if (needed > of.size) {
    throw new ValueError('file', `${needed} bytes for ${rows} rows`, described(`${where}, which holds ${of.size}`));
  }
  return { ...of, rows, dim: columns };
}

/** Of a safetensors file, whose errors name its argument as the caller does. */
export function startOfSafetensors(file: PositionedFile, path: string): ReturnType<typeof readSafetensorsStart> {
  try {
    const read: PositionedFile['read'] = (position, into) => file.read(position, into);
    return readSafetensorsStart({ name: path, size: file.size, read, close: () => file.close() });
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw new ValueError('file', error.expected, described(error.received));
  }
}

function isTable({ shape, type }: PlacedArray): boolean {
  return shape.length === 2 && (type.kind === 'float' || type.kind === 'bfloat') && type.bytes <= 4;
}

function safetensorsRows(file: PositionedFile, path: string, tensor: string | null): RowsAt {
  const { arrays, metadata } = startOfSafetensors(file, path);
  const own = ownOf(metadata, path);
  const name = tensor ?? (own === null ? onlyTable(arrays, path) : 'embeddings');
  const array = arrays.get(name);
  if (array === undefined) {
    const names = [...arrays.keys()].slice(0, 20).join(', ');
    throw new ValueError('tensor', `one of ${names}, which ${path} holds`, name);
  }
  const { shape, type, at: start } = array;
  const isInt8 = own !== null && own['dtype'] === 'int8' && name === 'embeddings';
  const kinds: Record<string, string> = { float4: 'float32', float2: 'float16', bfloat2: 'bfloat16' };
  const format = formatOf(isInt8 ? 'int8' : (kinds[`${type.kind}${type.bytes}`] ?? ''));
  if (format === undefined) {
    const received = described(`${describe(name)} of ${path}, of ${type.kind} with ${8 * type.bytes} bits`);
    throw new ValueError('tensor', 'values F32, F16 or BF16, or int8 rows that diskTable.create made', received);
  }
  const dim = isInt8 ? Number(own['outputDim']) : undefined;
  return checked({ path, tensor: name, format, start, size: file.size, own }, shape, dim);
}

/** What our own files say. */
function ownOf(metadata: unknown, path: string): Record<string, unknown> | null {
  const text = isRecord(metadata) ? metadata[ROWS_KEY] : undefined;
  if (text === undefined) return null;
  try {
    const own: unknown = JSON.parse(String(text));
    if (isRecord(own) && own['version'] === 1) return own;
  } catch {
    // As for other versions.
  }
  throw new ValueError('file', 'rows as this version writes them', described(`${path}, whose ${ROWS_KEY} is another`));
}

function onlyTable(arrays: ReadonlyMap<string, PlacedArray>, path: string): string {
  const tables = [...arrays].filter(([, array]) => isTable(array)).map(([name]) => name);
  if (tables.length === 1) return tables[0]!;
  const names = tables.slice(0, 20).map(describe).join(', ');
  const expected = 'the name of a table';
  throw new ValueError(
    'tensor',
    expected,
    described(`none, for ${path}, which holds ${names === '' ? 'none' : names}`),
  );
}

/** Rows in one of several files, which the index lists by tensor. */
function indexedRows(file: PositionedFile, path: string, tensor: string | null): RowsAt {
  const expected = 'an index of safetensors files: {"weight_map": {tensor: file}}';
  if (file.size > LONGEST_INDEX) throw new ValueError('file', expected, described(`${path}, of ${file.size} bytes`));
  let index: unknown;
  try {
    index = JSON.parse(new TextDecoder().decode(bytesOf(file, file.size)));
  } catch (error) {
    throw new ValueError('file', expected, described(`${path}, which is no JSON`), (error as Error).message);
  }
  const map = isRecord(index) ? index['weight_map'] : undefined;
  if (!isRecord(map)) throw new ValueError('file', expected, described(`${path}, without weight_map`));
  const names = Object.keys(map);
  if (tensor === null && names.length !== 1) {
    const some = names.slice(0, 20).map(describe).join(', ');
    throw new ValueError('tensor', 'the name of a table', described(`none, for ${path}, which lists ${some}`));
  }
  const name = tensor ?? names[0]!;
  const shard = Object.hasOwn(map, name) ? map[name] : undefined;
  if (shard === undefined) throw new ValueError('tensor', `one that ${path} lists`, name);
  // What an index names lies beside it.
  if (typeof shard !== 'string' || shard === '' || /[\\/]|^\.+$/.test(shard)) {
    throw new ValueError('file', 'names of files beside the index', described(`${describe(shard)} in ${path}`));
  }
  const { dirname, join } = nodeBuiltin<typeof nodePath>('node:path')!;
  const place = join(dirname(path), shard);
  const opened = openPath(place, 'file');
  try {
    return safetensorsRows(opened, place, name);
  } finally {
    opened.close();
  }
}
