/** The safetensors format of Hugging Face: a header in JSON, then values one after the other. */
import { ValueError, described, describe } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { bytesAt, type ByteSource } from '../byte_source.js';
import { arrayAt, sizeOf, type ArrayFile, type StoredArray } from './array_file.js';
import { ARRAY_TYPES, type ArrayType } from './array_values.js';

/** Bytes of the number before the header. */
const LENGTH_BYTES = 8;
/** As in the reference implementation. */
const LONGEST_HEADER = 100_000_000;

const TYPES: ReadonlyMap<string, ArrayType> = new Map<string, ArrayType>(Object.entries(ARRAY_TYPES));

function refuse(source: ByteSource, expected: string, received: string): never {
  throw new ValueError('source', expected, described(`${source.name}, ${received}`));
}

function readHeader(source: ByteSource): { header: Record<string, unknown>; start: number } {
  const expected = 'a safetensors file';
  if (source.size < LENGTH_BYTES) refuse(source, expected, `which holds ${source.size} bytes`);
  const length = new DataView(bytesAt(source, 0, LENGTH_BYTES).buffer).getBigUint64(0, true);
  if (length > BigInt(Math.min(LONGEST_HEADER, source.size - LENGTH_BYTES))) {
    refuse(source, expected, `whose header says that it takes ${length} bytes of ${source.size}`);
  }
  const text = new TextDecoder().decode(bytesAt(source, LENGTH_BYTES, Number(length)));
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (error) {
    throw new ValueError(
      'source',
      expected,
      described(`${source.name}, whose header is no JSON`),
      (error as Error).message,
    );
  }
  if (!isRecord(header)) refuse(source, expected, `whose header is ${describe(header)}`);
  return { header: header as Record<string, unknown>, start: LENGTH_BYTES + Number(length) };
}

interface Entry {
  readonly shape: number[];
  readonly type: ArrayType;
  readonly first: number;
  readonly end: number;
}

function readEntry(source: ByteSource, name: string, value: unknown, bytes: number): Entry {
  const quoted = describe(name);
  const { dtype, shape, data_offsets: offsets } = isRecord(value) ? value : {};
  const known = typeof dtype === 'string' ? TYPES.get(dtype) : undefined;
  if (known === undefined)
    refuse(source, `one of ${[...TYPES.keys()].join(', ')}`, `whose ${quoted} is of ${describe(dtype)}`);
  if (!Array.isArray(shape)) refuse(source, 'arrays with a shape', `whose ${quoted} has ${describe(shape)}`);
  const [first, end] = Array.isArray(offsets) ? (offsets as unknown[]) : [];
  const size = sizeOf(shape as number[], { name: `${source.name}, ${quoted}` }) * known!.bytes;
  const isPlaced = Number.isSafeInteger(first) && (first as number) >= 0 && end === (first as number) + size;
  if (!isPlaced || (end as number) > bytes) {
    refuse(source, `${size} bytes of values within ${bytes}`, `whose ${quoted} lies at ${describe(offsets)}`);
  }
  return { shape: shape as number[], type: known!, first: first as number, end: end as number };
}

/** An array to be written. */
export interface ArrayForm {
  readonly name: string;
  /** As the format calls it. */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Of all its values. */
  readonly bytes: number;
}

/** What a file begins with; the values follow, one array after the other. */
export function safetensorsStart(
  arrays: readonly ArrayForm[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  let at = 0;
  const header: Record<string, object> = Object.keys(metadata).length === 0 ? {} : { __metadata__: metadata };
  for (const { name, dtype, shape, bytes } of arrays) {
    header[name] = { dtype, shape, data_offsets: [at, (at += bytes)] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  // Values begin at a multiple of 8 bytes.
  const room = Math.ceil(text.length / 8) * 8;
  const start = new Uint8Array(LENGTH_BYTES + room).fill(0x20);
  new DataView(start.buffer).setBigUint64(0, BigInt(room), true);
  start.set(text, LENGTH_BYTES);
  return start;
}

/** Where an array lies in its file. */
export interface PlacedArray {
  readonly shape: readonly number[];
  readonly type: ArrayType;
  /** Its first byte. */
  readonly at: number;
}

/** What a safetensors file says of itself. Throws ValueError where arrays overlap, leave gaps or lie outside. */
export function readSafetensorsStart(source: ByteSource): {
  readonly arrays: ReadonlyMap<string, PlacedArray>;
  readonly metadata: unknown;
} {
  const { header, start } = readHeader(source);
  const bytes = source.size - start;
  const entries = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, value]) => ({ name, ...readEntry(source, name, value, bytes) }));
  let at = 0;
  for (const { name, first, end } of [...entries].sort((a, b) => a.first - b.first || a.end - b.end)) {
    if (first !== at)
      refuse(source, 'values one after the other', `whose ${describe(name)} begins at ${first}, not at ${at}`);
    at = end;
  }
  if (at !== bytes) refuse(source, `${at} bytes of values`, `which holds ${bytes}`);
  const arrays = entries.map(({ name, shape, type: stored, first }) => {
    return [name, { shape, type: stored, at: start + first }] as const;
  });
  return { arrays: new Map(arrays), metadata: header['__metadata__'] };
}

/** The arrays of a safetensors file by name. */
export function openSafetensors(source: ByteSource): ArrayFile {
  const arrays = new Map<string, StoredArray>();
  for (const [name, array] of readSafetensorsStart(source).arrays) {
    arrays.set(name, arrayAt(source, source.name, { name, ...array }));
  }
  return { name: source.name, arrays, close: () => source.close() };
}
