/** Files of ONNX: the tensors that they hold, without reading their values. */
import type * as fs from 'node:fs';
import { ValueError, describe, described } from '../../base/errors.js';
import { nodeBuiltin } from '../../base/platform.js';
import {
  EXTERNAL,
  Entry,
  OnnxType,
  Places,
  type EntryMessage,
  type OnnxTypeName,
} from '../../base/protobuf/onnx_messages.js';
import { bytesAt, isFetched, openBytes, pathOf, textOf, type ByteInput, type ByteSource } from '../byte_source.js';
import type { ArrayFile, StoredArray } from './array_file.js';
import { sizeOf } from './array_file.js';
import { ARRAY_TYPES, type ArrayType } from './array_values.js';
import { FieldReader, type Range } from './onnx_fields.js';
import { typedTensor, rawTensor, textTensor, type TypedPart } from './onnx_values.js';

/** What a tensor holds, as arrays of files are read. */
const TYPES: Readonly<Partial<Record<OnnxTypeName, ArrayType>>> = {
  float64: ARRAY_TYPES.F64,
  float32: ARRAY_TYPES.F32,
  float16: ARRAY_TYPES.F16,
  bfloat16: ARRAY_TYPES.BF16,
  int64: ARRAY_TYPES.I64,
  int32: ARRAY_TYPES.I32,
  int16: ARRAY_TYPES.I16,
  int8: ARRAY_TYPES.I8,
  uint64: ARRAY_TYPES.U64,
  uint32: ARRAY_TYPES.U32,
  uint16: ARRAY_TYPES.U16,
  uint8: ARRAY_TYPES.U8,
  bool: ARRAY_TYPES.BOOL,
};

/** Tensors and axes that a file may have, and bytes of a name or of what it says of itself. */
const MOST_TENSORS = 1_000_000;
const MOST_AXES = 64;
const MOST_TEXT = 2 ** 28;

/** An array of a file of ONNX. */
export interface OnnxArray extends StoredArray {
  readonly onnxType: OnnxTypeName;
  /** Where its bytes lie one after the other; null: in fields of numbers. */
  readonly place: { readonly source: ByteSource; readonly at: number; readonly bytes: number } | null;
}

export interface OnnxFile extends ArrayFile {
  readonly arrays: ReadonlyMap<string, OnnxArray>;
  /** What the file says of itself, by name. */
  readonly metadata: ReadonlyMap<string, string>;
}

interface Outline {
  readonly dims: number[];
  readonly external: EntryMessage[];
  /** Values in fields of numbers, by the number of the field. */
  readonly typed: Map<number, TypedPart[]>;
  name: string;
  dataType: number;
  raw: Range | null;
  location: number;
}

const decoder = new TextDecoder();

function textAt(reader: FieldReader, { at, length }: Range): Uint8Array {
  if (length > MOST_TEXT) reader.refuse(`with a text of ${length} bytes`);
  return bytesAt(reader.source, at, length);
}

function readDims(reader: FieldReader, place: Range & { isBytes: boolean; value: bigint }, dims: number[]): void {
  const add = (value: bigint): void => {
    if (dims.length >= MOST_AXES) reader.refuse(`with a tensor of more than ${MOST_AXES} axes`);
    dims.push(Number(BigInt.asIntN(64, value)));
  };
  if (!place.isBytes) return add(place.value);
  const packed = new FieldReader(reader.source, place);
  while (packed.at < packed.end) add(packed.varint());
}

const VALUES: readonly number[] = [
  Places.tensor.floatData,
  Places.tensor.int32Data,
  Places.tensor.stringData,
  Places.tensor.int64Data,
  Places.tensor.doubleData,
  Places.tensor.uint64Data,
];

function readOutline(source: ByteSource, range: Range): Outline {
  const reader = new FieldReader(source, range);
  const outline: Outline = {
    dims: [],
    external: [],
    typed: new Map(),
    name: '',
    dataType: 0,
    raw: null,
    location: 0,
  };
  for (let field = reader.next(); field !== null; field = reader.next()) {
    const { number, isBytes } = field;
    if (number === 1) readDims(reader, field, outline.dims);
    else if (number === 2 && !isBytes) outline.dataType = Number(field.value);
    else if (number === 8 && isBytes) outline.name = decoder.decode(textAt(reader, field));
    else if (number === Places.tensor.rawData && isBytes) outline.raw = field;
    else if (number === 13 && isBytes) outline.external.push(Entry.decode(textAt(reader, field)));
    else if (number === 14 && !isBytes) outline.location = Number(field.value);
    else if (VALUES.includes(number)) outline.typed.set(number, [...(outline.typed.get(number) ?? []), field]);
  }
  return outline;
}

/** Files beside the model that its values lie in, each opened once. */
class Neighbours {
  readonly #open = new Map<string, ByteSource>();

  constructor(
    readonly input: ByteInput,
    readonly source: ByteSource,
  ) {}

  /** The path or URL of a file in the folder of the model, or below. */
  #pathOf(location: string): string {
    const parts = location.split('/');
    const isInside =
      location !== '' && !/[\\:\0]/.test(location) && parts.every((each) => each !== '' && each !== '..');
    if (!isInside) this.#refuse(location, 'a name in the folder of the model');
    const given = this.input instanceof URL ? textOf(this.input) : this.input;
    if (typeof given !== 'string') this.#refuse(location, 'values within, as there is no folder around bytes');
    const text = given as string;
    if (isFetched(text)) return new URL(location, new URL(text, globalThis.location?.href)).href;
    const path = pathOf(text);
    const folder = path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
    this.#checkLink(folder, location);
    return `${folder}${location}`;
  }

  #refuse(location: string, expected: string): never {
    const received = described(`${this.source.name}, whose values lie in ${describe(location)}`);
    throw new ValueError('source', expected, received);
  }

  /** A link must not lead out of the folder. */
  #checkLink(folder: string, location: string): void {
    const files = nodeBuiltin<typeof fs>('node:fs');
    if (files === null) return;
    try {
      const whole = files.realpathSync(folder === '' ? '.' : folder);
      const found = files.realpathSync(`${folder}${location}`);
      if (found.startsWith(`${whole}/`) || found.startsWith(`${whole}\\`)) return;
    } catch {
      // The error of opening it says more.
      return;
    }
    this.#refuse(location, 'a file in the folder of the model');
  }

  async open(location: string): Promise<ByteSource> {
    const known = this.#open.get(location);
    if (known !== undefined) return known;
    const opened = await openBytes(this.#pathOf(location), 'source');
    this.#open.set(location, opened);
    return opened;
  }

  close(): void {
    for (const each of this.#open.values()) each.close();
  }
}

/** Where values lie in a file beside. */
async function externalPlace(
  { external }: Outline,
  bytes: number,
  neighbours: Neighbours,
  refuse: (expected: string, found: string) => never,
): Promise<NonNullable<OnnxArray['place']>> {
  const fields = new Map(external.map(({ key, value }) => [key, value]));
  const numberIn = (key: string, otherwise: number): number => {
    const text = fields.get(key);
    if (text === undefined) return otherwise;
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (Number.isSafeInteger(value)) return value;
    return refuse('places that are whole numbers', `whose ${key} is ${describe(text)}`);
  };
  const at = numberIn('offset', 0);
  const length = numberIn('length', bytes);
  if (length !== bytes) refuse(`${bytes} bytes of values`, `which has ${length}`);
  const source = await neighbours.open(fields.get('location') ?? '');
  if (at + length > source.size) refuse(`${length} bytes at ${at}`, `whose file ${source.name} has ${source.size}`);
  return { source, at, bytes: length };
}

async function arrayOf(source: ByteSource, outline: Outline, neighbours: Neighbours): Promise<OnnxArray> {
  const { name, dims, dataType, raw, typed } = outline;
  const where = `${source.name}, ${describe(name)}`;
  const refuse = (expected: string, found: string): never => {
    throw new ValueError('source', expected, described(`${where}, ${found}`));
  };
  const found = Object.entries(OnnxType).find(([, number]) => number === dataType)?.[0] as OnnxTypeName | undefined;
  const type = found === undefined ? undefined : TYPES[found];
  const size = sizeOf(dims, { name: where });
  const made = (read: OnnxArray['read'], place: OnnxArray['place'] = null): OnnxArray => {
    const kept = type ?? { kind: 'uint', bytes: 1, littleEndian: true, dtype: 'int32' };
    return { name, shape: dims, type: kept, onnxType: found!, place, read };
  };
  if (found === 'string') return made(async () => textTensor(source, where, dims, typed));
  if (type === undefined) {
    return made(async () => refuse('a tensor of numbers, truth values or texts', `of the type of number ${dataType}`));
  }
  const bytes = size * type.bytes;
  if (outline.location === EXTERNAL) {
    const place = await externalPlace(outline, bytes, neighbours, refuse);
    return made(async () => rawTensor(place.source, where, place.at, dims, type), place);
  }
  if (raw === null) return made(async () => typedTensor(source, where, dims, type, typed));
  if (raw.length !== bytes)
    refuse(`${bytes} bytes of values for shape [${dims.join(', ')}]`, `which has ${raw.length}`);
  const place = { source, at: raw.at, bytes };
  return made(async () => rawTensor(source, where, raw.at, dims, type), place);
}

interface ModelOutline {
  readonly graph: Range | null;
  readonly metadata: Map<string, string>;
}

function readModel(source: ByteSource): ModelOutline {
  const reader = new FieldReader(source, { at: 0, length: source.size });
  const metadata = new Map<string, string>();
  let graph: Range | null = null;
  let version = 0n;
  for (let field = reader.next(); field !== null; field = reader.next()) {
    const { number, isBytes } = field;
    if (number === Places.model.irVersion && !isBytes) version = field.value;
    if (number === Places.model.graph && isBytes) {
      if (graph !== null) reader.refuse('with two graphs');
      graph = field;
    }
    if (number === Places.model.metadataProps && isBytes) {
      const { key = '', value = '' } = Entry.decode(textAt(reader, field));
      metadata.set(key, value);
    }
  }
  if (version < 1n || graph === null) reader.refuse('which has no version or no graph');
  return { graph, metadata };
}

/** The tensors of a file of ONNX, those in a file beside it too; `wanted`: which of them, default all. Throws ValueError where it is none, or damaged. */
export async function openOnnx(input: ByteInput, wanted: (name: string) => boolean = () => true): Promise<OnnxFile> {
  const source = await openBytes(input);
  const neighbours = new Neighbours(input, source);
  const close = (): void => {
    neighbours.close();
    source.close();
  };
  try {
    const { graph, metadata } = readModel(source);
    const reader = new FieldReader(source, graph!);
    const arrays = new Map<string, OnnxArray>();
    for (let field = reader.next(); field !== null; field = reader.next()) {
      if (field.number !== Places.graph.initializer || !field.isBytes) continue;
      const outline = readOutline(source, field);
      if (!wanted(outline.name)) continue;
      const array = await arrayOf(source, outline, neighbours);
      if (arrays.has(array.name)) reader.refuse(`with two tensors ${describe(array.name)}`);
      if (arrays.size === MOST_TENSORS) reader.refuse(`with more than ${MOST_TENSORS} tensors`);
      arrays.set(array.name, array);
    }
    return { name: source.name, arrays, metadata, close };
  } catch (error) {
    close();
    throw error;
  }
}
