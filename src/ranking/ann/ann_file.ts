/** An index in a safetensors file. */
import { ValueError, described } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { codecOf } from '../../codecs/codecs.js';
import { littleEndianBytes } from '../../io/byte_order.js';
import { bytesAt, openBytes, type ByteInput } from '../../io/byte_source.js';
import { extendCrc32c } from '../../io/checksums/crc32c.js';
import { readArray } from '../../io/weights/array_values.js';
import { readSafetensorsStart, safetensorsStart, type ArrayForm } from '../../io/weights/safetensors.js';
import { toTarget, type FileTarget } from '../../io/weights/write_arrays.js';
import type { Rows } from '../ranked_table.js';
import { RowLists } from './row_lists.js';

/** How rows and queries are compared: by their products, or by the cosines of the angles between them. */
export type AnnMetric = 'dot' | 'cosine';
/** What is scanned: codes of 8 bits, or the rows themselves. */
export type AnnCodes = 'int8' | 'none';

/** What an index is, as the config of a layer has it. */
export interface AnnSettings {
  readonly metric: AnnMetric;
  readonly codes: AnnCodes;
  readonly lists: number;
}
/** What an index is, beside its rows. */
export interface AnnForm {
  readonly metric: AnnMetric;
  readonly codes: AnnCodes;
  readonly keepRows: boolean;
  readonly centroids: Rows;
}

const KEY = 'tfjs_embeddings_ann';
const CRC = `${KEY}_crc32c`;
const VERSION = 1;

type Numbers = Float32Array | Int32Array;

/** An array of the file: its form, and its values a few rows at a time. */
interface Written {
  readonly form: ArrayForm;
  values(): Iterable<Numbers>;
}

function arraysOf({ centroids }: AnnForm, rows: RowLists): Written[] {
  const { dim, codec, lists } = rows.form;
  const { size } = rows;
  const array = (name: string, dtype: string, shape: number[], values: () => Iterable<Numbers>): Written => {
    return { form: { name, dtype, shape, bytes: 4 * shape.reduce((all, each) => all * each, 1) }, values };
  };
  const ofRows = (numbers: () => Numbers, width: number): (() => Iterable<Numbers>) => {
    return function* () {
      for (const { first, end } of rows.blocks()) yield numbers().subarray(first * width, end * width);
    };
  };
  const counts = Int32Array.from(rows.ends, (end, list) => end - rows.starts[list]!);
  const words = codec.words(dim);
  return [
    array('centroids', 'F32', [lists, dim], () => [centroids.numbers]),
    array('counts', 'I32', [lists], () => [counts]),
    array(
      'ids',
      'I32',
      [size],
      ofRows(() => rows.ids, 1),
    ),
    ...(codec.isPlain
      ? []
      : [
          array(
            'codes',
            'I32',
            [size, words],
            ofRows(() => rows.codes, words),
          ),
        ]),
    ...(rows.rows === null
      ? []
      : [
          array(
            'rows',
            'F32',
            [size, dim],
            ofRows(() => rows.rows!, dim),
          ),
        ]),
  ];
}

/** Writes an index, all of it or nothing. */
export async function writeIndex(file: FileTarget, form: AnnForm, rows: RowLists): Promise<void> {
  const arrays = arraysOf(form, rows);
  const { metric, codes, keepRows } = form;
  const text = JSON.stringify({ version: VERSION, metric, codes, keepRows });
  let crc = extendCrc32c(0, new TextEncoder().encode(text));
  for (const { values } of arrays) {
    for (const each of values()) crc = extendCrc32c(crc, littleEndianBytes(each));
  }
  const start = safetensorsStart(
    arrays.map((array) => array.form),
    { [KEY]: text, [CRC]: String(crc) },
  );
  await toTarget(file, async (write) => {
    await write(start);
    for (const { values } of arrays) {
      for (const each of values()) await write(littleEndianBytes(each));
    }
  });
}

/** Bytes that are read at once for the checksum. */
const BLOCK_BYTES = 2 ** 22;

/** Reads what `writeIndex` wrote. Throws ValueError for another file, and for one that is damaged. */
export async function readIndex(given: ByteInput): Promise<{ form: AnnForm; rows: RowLists }> {
  const source = await openBytes(given);
  try {
    const refuse = (received: string): never => {
      const expected = 'a file that save of an index wrote';
      throw new ValueError('source', expected, described(`${source.name}, ${received}`));
    };
    const { arrays, metadata } = readSafetensorsStart(source);
    const { [KEY]: text, [CRC]: crc } = isRecord(metadata) ? metadata : {};
    if (typeof text !== 'string') return refuse(`whose header has no ${KEY}`);
    let sum = extendCrc32c(0, new TextEncoder().encode(text));
    const start = Math.min(source.size, ...[...arrays.values()].map(({ at }) => at));
    for (let at = start; at < source.size; at += BLOCK_BYTES) {
      sum = extendCrc32c(sum, bytesAt(source, at, Math.min(BLOCK_BYTES, source.size - at)));
    }
    if (String(sum) !== crc) return refuse(`which is damaged: its checksum is ${sum}, not ${String(crc)}`);
    const { version, metric, codes, keepRows } = JSON.parse(text) as Record<string, unknown>;
    if (version !== VERSION) return refuse(`of version ${String(version)}`);
    if ((metric !== 'dot' && metric !== 'cosine') || (codes !== 'int8' && codes !== 'none')) {
      return refuse('whose settings are not known');
    }
    // A header whose array has another name must not pass for one without rows.
    if (typeof keepRows !== 'boolean') return refuse('whose settings are not known');
    const read = (name: string, dtype: string, ...shape: (number | null)[]): { values: Numbers; shape: number[] } => {
      const array = arrays.get(name);
      if (array === undefined) return refuse(`which has no ${name}`);
      const isRight =
        array.shape.length === shape.length && shape.every((size, i) => array.shape[i] === (size ?? array.shape[i]));
      if (array.type.dtype !== dtype || array.type.bytes !== 4 || !isRight)
        return refuse(`whose ${name} has another form`);
      const size = array.shape.reduce((all, each) => all * each, 1);
      return { values: readArray(source, source.name, array.at, size, array.type) as Numbers, shape: [...array.shape] };
    };
    const { values: numbers, shape } = read('centroids', 'float32', null, null);
    const [lists, dim] = shape as [number, number];
    if (lists < 1 || dim < 1) return refuse('which has no lists');
    const centroids = { numbers: numbers as Float32Array, count: lists, dim };
    const counts = read('counts', 'int32', lists).values as Int32Array;
    const ids = read('ids', 'int32', null).values as Int32Array;
    if (counts.some((count) => count < 0) || counts.reduce((all, count) => all + count, 0) !== ids.length) {
      return refuse('whose counts are not those of its ids');
    }
    const codec = codecOf(codes === 'none' ? undefined : codes);
    const rows = new RowLists({ dim, lists, codec, keepRows });
    const kept = keepRows ? (read('rows', 'float32', ids.length, dim).values as Float32Array) : null;
    const packed = codec.isPlain && kept !== null ? kept : read('codes', 'int32', ids.length, codec.words(dim)).values;
    rows.fill({ counts, ids, codes: packed, rows: kept });
    if (rows.size !== ids.length || ids.some((id) => id < 0)) return refuse('whose ids are not each there once');
    return { form: { metric, codes, keepRows, centroids }, rows };
  } finally {
    source.close();
  }
}
