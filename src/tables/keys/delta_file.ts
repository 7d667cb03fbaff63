/** What changed in an open table in a safetensors file: keys, their rows, and keys that are gone. */
import { ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import type { Checksum } from '../../backends/table_checksum.js';
import type { Storage } from '../../codecs/codec.js';
import { littleEndianBytes } from '../../io/byte_order.js';
import { allBytes, openBytes, positioned, type ByteInput, type ByteSource } from '../../io/byte_source.js';
import { extendCrc32c } from '../../io/checksums/crc32c.js';
import { readArray } from '../../io/weights/array_values.js';
import {
  readSafetensorsStart,
  safetensorsStart,
  type ArrayForm,
  type PlacedArray,
} from '../../io/weights/safetensors.js';
import { toTarget, type FileTarget } from '../../io/weights/write_arrays.js';
import { textsOf, utf8ColumnOf } from '../../preprocessing/columns/utf8_column.js';
import { ENTRY_WORDS } from './key_index.js';
import type { KeyWords } from './steps/key_search.js';
import type { KeyKind } from './read_keys.js';

const KEY = 'tfjs_embeddings_open_delta';
const CRC = `${KEY}_crc32c`;
const VERSION = 1;

/** What the header says. */
export interface DeltaHeader {
  /** Of the table. */
  readonly table: string;
  readonly keys: KeyKind;
  readonly outputDim: number;
  /** What rows are kept in: deltas hold the numbers that they stand for. */
  readonly storage: Storage;
  /** Rows that unknown keys share, and how many each is the sum of; 0: none. */
  readonly shared: number;
  readonly hashes: number;
  /** Which marks it leads from and to, and whose they are. */
  readonly chain: string;
  readonly from: number;
  readonly to: number;
  readonly base: Checksum;
  readonly result: Checksum;
  /** What the table had counted: training steps, keys that got rows, and that lost them. */
  readonly step: number;
  readonly admitted: number;
  readonly evicted: number;
}

export interface OpenDelta extends DeltaHeader {
  /** Of each key that changed: the key, its last step, its count. */
  readonly entries: Int32Array; // [keys, 4]
  readonly rows: Float32Array; // [keys, outputDim]
  readonly removed: KeyWords; // [gone, 2]
  /** Which of the shared rows changed, ascending. */
  readonly places: Int32Array;
  readonly sharedRows: Float32Array; // [places, outputDim]
  /** The text of each key, of tables that keep them. */
  readonly texts: readonly string[] | null;
}

const BYTES = { I32: 4, F32: 4, U8: 1 } as const;

/** The arrays of the file, in their order. */
function arraysOf(delta: OpenDelta): { form: ArrayForm; values: Int32Array | Float32Array | Uint8Array }[] {
  const { outputDim, entries, rows, removed, places, sharedRows, texts } = delta;
  const array = (
    name: string,
    dtype: keyof typeof BYTES,
    values: Int32Array | Float32Array | Uint8Array,
    ...width: number[]
  ): { form: ArrayForm; values: typeof values } => {
    const shape = width.length === 0 ? [values.length] : [values.length / width[0]!, width[0]!];
    return { form: { name, dtype, shape, bytes: values.length * BYTES[dtype] }, values };
  };
  const column = texts === null ? null : utf8ColumnOf(texts);
  return [
    array('entries', 'I32', entries, ENTRY_WORDS),
    array('rows', 'F32', rows, outputDim),
    array('removed', 'I32', removed, 2),
    array('shared', 'I32', places),
    array('shared.rows', 'F32', sharedRows, outputDim),
    ...(column === null ? [] : [array('texts.ends', 'I32', column.offsets), array('texts', 'U8', column.bytes)]),
  ];
}

/** Writes the file, all of it or nothing. Throws RuntimeError where the system refuses. */
export async function writeDeltaFile(file: FileTarget, delta: OpenDelta): Promise<void> {
  const arrays = arraysOf(delta);
  const { entries: _e, rows: _r, removed: _g, places: _p, sharedRows: _s, texts: _t, ...header } = delta;
  const text = JSON.stringify({ version: VERSION, ...header } satisfies DeltaHeader & { version: number });
  const bytes = arrays.map(({ values }) => littleEndianBytes(values));
  const crc = bytes.reduce(extendCrc32c, extendCrc32c(0, new TextEncoder().encode(text)));
  const metadata = { [KEY]: text, [CRC]: String(crc) };
  await toTarget(file, async (write) => {
    await write(
      safetensorsStart(
        arrays.map(({ form }) => form),
        metadata,
      ),
    );
    for (const each of bytes) await write(each);
  });
}

/**
 * Reads such a file.
 *
 * @throws TypeError for another kind of source; ValueError for another file, and for one that is damaged; RuntimeError
 * where it cannot be read.
 */
export async function readDeltaFile(given: ByteInput): Promise<OpenDelta & { readonly name: string }> {
  const source = await openBytes(given);
  try {
    const bytes = allBytes(source);
    const refuse = (received: string): never => {
      const expected = 'a delta that writeDelta of an open table wrote';
      throw new ValueError('source', expected, described(`${source.name}, ${received}`));
    };
    const memory: ByteSource = Object.assign(positioned(bytes), { name: source.name });
    const { arrays, metadata } = readSafetensorsStart(memory);
    const { [KEY]: text, [CRC]: crc } = isRecord(metadata) ? metadata : {};
    if (typeof text !== 'string') return refuse(`whose header has no ${KEY}`);
    const start = Math.min(bytes.length, ...[...arrays.values()].map(({ at }) => at));
    const sum = extendCrc32c(extendCrc32c(0, new TextEncoder().encode(text)), bytes.subarray(start));
    if (String(sum) !== crc) return refuse(`which is damaged: its checksum is ${sum}, not ${String(crc)}`);
    const { version, ...header } = JSON.parse(text) as DeltaHeader & { version: unknown };
    if (version !== VERSION) return refuse(`of version ${String(version)}`);
    const placed = (name: string, dtype: string, width: number | null): PlacedArray & { size: number } => {
      const array = arrays.get(name);
      if (array === undefined) return refuse(`which has no ${name}`);
      const { shape, type } = array;
      const isRight = width === null ? shape.length === 1 : shape.length === 2 && shape[1] === width;
      if (type.dtype !== dtype || !isRight) return refuse(`whose ${name} has another form`);
      return { ...array, size: shape.reduce((size, each) => size * each, 1) };
    };
    const ints = (name: string, width: number | null): Int32Array => {
      const { at, size, type } = placed(name, 'int32', width);
      return readArray(memory, memory.name, at, size, type) as Int32Array;
    };
    const floats = (name: string, count: number): Float32Array => {
      const { at, size, type } = placed(name, 'float32', header.outputDim);
      if (size !== count * header.outputDim) return refuse(`whose ${name} are not ${count}`);
      return readArray(memory, memory.name, at, size, type) as Float32Array;
    };
    const entries = ints('entries', ENTRY_WORDS);
    const places = ints('shared', null);
    const count = entries.length / ENTRY_WORDS;
    let texts: string[] | null = null;
    if (arrays.has('texts')) {
      const { at, size } = placed('texts', 'int32', null);
      texts = textsOf({ bytes: bytes.subarray(at, at + size), offsets: ints('texts.ends', null) });
      if (texts.length !== count) return refuse(`whose texts are not ${count}`);
    }
    return {
      ...header,
      name: source.name,
      entries,
      rows: floats('rows', count),
      removed: ints('removed', 2),
      places,
      sharedRows: floats('shared.rows', places.length),
      texts,
    };
  } finally {
    source.close();
  }
}
