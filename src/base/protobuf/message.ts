/**
 * Messages of Protocol Buffers described by tables of their fields; the bytes are written and read by
 * @bufbuild/protobuf. No code is generated, at build time or at run time, so pages that forbid `eval` can export too.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { ValueError, described } from '../errors.js';

type Scalar = 'string' | 'bytes' | 'bool' | 'int32' | 'uint32' | 'int64' | 'sint64' | 'float' | 'double' | 'fixed32';

/** A message is named by a function, because messages may hold each other. */
type Kind = Scalar | (() => object);

export interface Field {
  readonly number: number;
  readonly kind: Kind;
  readonly label: 'single' | 'repeated' | 'map';
  /** Of the keys of a map. */
  readonly key: 'string' | 'uint32';
}

/** A field that holds one value. */
export function one(number: number, kind: Kind): Field {
  return { number, kind, label: 'single', key: 'string' };
}

/** A field that holds a list. */
export function many(number: number, kind: Kind): Field {
  return { number, kind, label: 'repeated', key: 'string' };
}

/** A field that holds an object of values by key. */
export function map(number: number, kind: Kind, key: 'string' | 'uint32' = 'string'): Field {
  return { number, kind, label: 'map', key };
}

const WIRE_TYPES: Readonly<Record<Scalar, WireType>> = {
  string: WireType.LengthDelimited,
  bytes: WireType.LengthDelimited,
  bool: WireType.Varint,
  int32: WireType.Varint,
  uint32: WireType.Varint,
  int64: WireType.Varint,
  sint64: WireType.Varint,
  float: WireType.Bit32,
  double: WireType.Bit64,
  fixed32: WireType.Bit32,
};

/** How deep messages may lie in each other, and how many there may be, in bytes from elsewhere. */
const DEEPEST = 100;
const MOST = 4_000_000;

/** What is left of the allowance while bytes are read. */
interface Budget {
  left: number;
}

function isPacked(kind: Kind): kind is Scalar {
  return typeof kind === 'string' && kind !== 'string' && kind !== 'bytes';
}

function writeScalar(writer: BinaryWriter, kind: Scalar, value: unknown): void {
  (writer[kind] as (value: unknown) => void).call(writer, value);
}

function readScalar(reader: BinaryReader, kind: Scalar): unknown {
  if (kind !== 'int64' && kind !== 'sint64') return reader[kind]();
  const value = Number(reader[kind]());
  if (Number.isSafeInteger(value)) return value;
  throw new ValueError('bytes', 'whole numbers up to 2^53', described(`${value}`));
}

export class Message<T extends object> {
  readonly #byNumber: ReadonlyMap<number, readonly [name: string, field: Field]>;

  constructor(readonly fields: Readonly<Record<keyof T & string, Field>>) {
    const entries = Object.entries(fields) as [string, Field][];
    this.#byNumber = new Map(entries.map(([name, field]) => [field.number, [name, field]]));
  }

  /** Every field that is set is written, so that it counts as set where that makes a difference. */
  encode(value: T): Uint8Array {
    const writer = new BinaryWriter();
    this.#write(writer, value as Record<string, unknown>);
    return writer.finish();
  }

  #write(writer: BinaryWriter, value: Record<string, unknown>): void {
    for (const [name, field] of Object.entries(this.fields) as [string, Field][]) {
      const given = value[name];
      if (given === undefined) continue;
      if (field.label === 'single') this.#writeOne(writer, field.number, field.kind, given);
      else if (field.label === 'map') this.#writeMap(writer, field, given as Record<string, unknown>);
      else this.#writeList(writer, field, given as readonly unknown[]);
    }
  }

  #writeOne(writer: BinaryWriter, number: number, kind: Kind, value: unknown): void {
    if (typeof kind === 'string') return writeScalar(writer.tag(number, WIRE_TYPES[kind]), kind, value);
    writer.tag(number, WireType.LengthDelimited).fork();
    tableOf(kind).#write(writer, value as Record<string, unknown>);
    writer.join();
  }

  #writeList(writer: BinaryWriter, { number, kind }: Field, values: readonly unknown[]): void {
    if (!isPacked(kind)) {
      for (const value of values) this.#writeOne(writer, number, kind, value);
    } else if (values.length > 0) {
      writer.tag(number, WireType.LengthDelimited).fork();
      for (const value of values) writeScalar(writer, kind, value);
      writer.join();
    }
  }

  /** Keys in order, so that equal messages are equal bytes. */
  #writeMap(writer: BinaryWriter, { number, kind, key }: Field, values: Record<string, unknown>): void {
    for (const name of Object.keys(values).sort()) {
      writer.tag(number, WireType.LengthDelimited).fork();
      this.#writeOne(writer, 1, key, key === 'string' ? name : Number(name));
      this.#writeOne(writer, 2, kind, values[name]);
      writer.join();
    }
  }

  /** Fields that are not in the table are passed over. Throws ValueError for bytes that are no such message. */
  decode(bytes: Uint8Array): T {
    try {
      return this.#read(new BinaryReader(bytes), bytes.length, 0, { left: MOST });
    } catch (error) {
      if (error instanceof ValueError) throw error;
      throw new ValueError(
        'bytes',
        'a message of Protocol Buffers',
        described('other bytes'),
        (error as Error).message,
      );
    }
  }

  #read(reader: BinaryReader, end: number, depth: number, budget: Budget): T {
    if (depth > DEEPEST) {
      throw new ValueError('bytes', `messages at most ${DEEPEST} deep in each other`, described('more'));
    }
    const value: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    while (reader.pos < end) {
      const [number, type] = reader.tag();
      const [name, field] = this.#byNumber.get(number) ?? [];
      if (name === undefined) reader.skip(type, number);
      else this.#readField(reader, value, name, field!, type, depth, budget);
    }
    if (reader.pos === end) return value as T;
    throw new ValueError('bytes', 'fields that end with their message', described('longer ones'));
  }

  #readField(
    reader: BinaryReader,
    value: Record<string, unknown>,
    name: string,
    field: Field,
    type: WireType,
    depth: number,
    budget: Budget,
  ): void {
    const { kind, label } = field;
    const isList = label === 'repeated' && isPacked(kind) && type === WireType.LengthDelimited;
    const wanted = isList || typeof kind !== 'string' || label === 'map' ? WireType.LengthDelimited : WIRE_TYPES[kind];
    if (type !== wanted) throw new ValueError('bytes', `wire type ${wanted} of ${name}`, described(`${type}`));
    if (isList) {
      const list = (value[name] ??= []) as unknown[];
      const end = endOf(reader);
      while (reader.pos < end) list.push(this.#readOne(reader, kind, depth, budget));
    } else if (label === 'map') {
      const [key, entry] = this.#readEntry(reader, field, depth, budget);
      ((value[name] ??= Object.create(null)) as Record<string, unknown>)[key] = entry;
    } else if (label === 'repeated') {
      ((value[name] ??= []) as unknown[]).push(this.#readOne(reader, kind, depth, budget));
    } else {
      // Other readers join messages that are there twice, and would see another one than is checked here.
      if (type === WireType.LengthDelimited && kind !== 'string' && name in value) {
        throw new ValueError('bytes', `one ${name} in a message`, described('two'));
      }
      value[name] = this.#readOne(reader, kind, depth, budget);
    }
  }

  #readOne(reader: BinaryReader, kind: Kind, depth: number, budget: Budget): unknown {
    if (--budget.left < 0) throw new ValueError('bytes', `at most ${MOST} values`, described('more'));
    if (typeof kind === 'string') return readScalar(reader, kind);
    return tableOf(kind).#read(reader, endOf(reader), depth + 1, budget);
  }

  #readEntry(reader: BinaryReader, { kind, key }: Field, depth: number, budget: Budget): [string, unknown] {
    const entry = new Message<{ key?: unknown; value?: unknown }>({ key: one(1, key), value: one(2, kind) });
    const { key: name, value } = entry.#read(reader, endOf(reader), depth + 1, budget);
    return [String(name ?? (key === 'string' ? '' : 0)), value ?? (typeof kind === 'string' ? undefined : {})];
  }
}

function tableOf(kind: () => object): Message<Record<string, unknown>> {
  return kind() as Message<Record<string, unknown>>;
}

/** Where the message whose length comes next ends. */
function endOf(reader: BinaryReader): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end <= reader.len) return end;
  throw new ValueError('bytes', 'a message that is whole', described('one that was cut off'));
}
