/** The `.npy` format of NumPy: its header, and its floats as float32. */
import { ValueError, described } from '../base/errors.js';
import type { PositionedFile } from '../base/platform.js';
import { fromHalf } from './half_floats.js';
import { HOST_IS_LITTLE_ENDIAN, reverseEach } from './byte_order.js';
import { NpyHeaderError, readNpyFields, type NpyFields } from './npy_fields.js';

export interface NpyHeader {
  readonly shape: readonly number[];
  readonly floats: FloatFormat;
  /** Position of the first value. */
  readonly start: number;
}

/** Bytes of a value, and their order. */
export interface FloatFormat {
  readonly bytes: 2 | 4 | 8;
  readonly littleEndian: boolean;
}

const MAGIC = '\x93NUMPY';
/** In bytes, as in NumPy. Headers of arrays are some hundred bytes long. */
const LONGEST_HEADER = 10_000;
const LONGEST_SHOWN = 80;
const KINDS = 'an .npy file of float16, float32 or float64 values';

/** An array of any type: what its header says. */
export interface NpyLayout {
  readonly shape: readonly number[];
  /** As NumPy writes it, quotes and all: `'<f4'`. */
  readonly descr: string;
  readonly isColumnMajor: boolean;
  /** Position of the first value. */
  readonly start: number;
}

/** Reads the header. Throws ValueError, which names the file, for anything but floats in row-major order, all there. */
export function readNpyHeader(file: PositionedFile, path: string, argument: string): NpyHeader {
  const { shape, descr, isColumnMajor, start } = readNpyLayout(file, path, argument);
  const refuse: Refuse = (expected, received, note) =>
    new ValueError(argument, expected, described(`${path}, ${received}`), note);
  const floats = readFormat(descr);
  if (floats === null) throw refuse(KINDS, `which holds ${descr.includes('O') ? 'pickled objects' : shown(descr)}`);
  if (isColumnMajor) throw refuse('an array in row-major order (fortran_order False)', 'which is column-major');
  const needed = shape.reduce((product, size) => product * size, floats.bytes);
  if (!(needed <= file.size - start) || !shape.every(Number.isSafeInteger)) {
    throw refuse(`${needed} bytes of values for shape [${shape.join(', ')}]`, `which holds ${file.size - start}`);
  }
  return { shape, floats, start };
}

/** Reads the header of an array of any type. Throws ValueError, which names the file, for anything but an `.npy` file. */
export function readNpyLayout(file: PositionedFile, path: string, argument: string): NpyLayout {
  const refuse: Refuse = (expected, received, note) =>
    new ValueError(argument, expected, described(`${path}, ${received}`), note);
  const preamble = new Uint8Array(12);
  const length = file.read(0, preamble);
  const magic = latin1(preamble.subarray(0, 6));
  if (length < 10 || magic !== MAGIC) throw refuse(KINDS, kindOf(preamble.subarray(0, length)));
  const version = `${preamble[6]}.${preamble[7]}`;
  if (!['1.0', '2.0', '3.0'].includes(version)) {
    throw refuse('version 1.0, 2.0 or 3.0 of the .npy format', `of version ${version}`);
  }
  const view = new DataView(preamble.buffer);
  const isShort = version === '1.0';
  const textAt = isShort ? 10 : 12;
  const textLength = isShort ? view.getUint16(8, true) : view.getUint32(8, true);
  const start = textAt + textLength;
  if (textLength > LONGEST_HEADER) {
    throw refuse(`a header of at most ${LONGEST_HEADER} bytes`, `whose header takes ${textLength}`);
  }
  if (start > file.size) throw refuse(`a header of ${textLength} bytes`, `which holds ${file.size} bytes in all`);
  const bytes = new Uint8Array(textLength);
  file.read(textAt, bytes);
  // Names of fields may be UTF-8 in version 3.0; nothing else is beyond ASCII, and no field is taken.
  const { descr, isColumnMajor, shape } = fieldsOf(latin1(bytes), refuse);
  return { descr, isColumnMajor, shape, start };
}

function latin1(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function shown(text: string): string {
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}…`;
}

type Refuse = (expected: string, received: string, note?: string) => ValueError;

function fieldsOf(text: string, refuse: Refuse): NpyFields {
  try {
    return readNpyFields(text);
  } catch (error) {
    if (!(error instanceof NpyHeaderError)) throw error;
    const received = `whose header is ${JSON.stringify(shown(text.trim()))}`;
    throw refuse('a header with descr, fortran_order and shape', received, error.message);
  }
}

/** What a file that is no `.npy` file seems to be. */
function kindOf(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'an empty file';
  const text = latin1(bytes);
  if (text.startsWith('PK')) return 'a zip archive (.npz?)';
  if (bytes[0] === 0x80) return 'a pickle';
  if (MAGIC.startsWith(text.slice(0, 6))) return `cut off after ${bytes.length} bytes`;
  return `which begins with the bytes ${Array.from(bytes.subarray(0, 6), (byte) => byte.toString(16).padStart(2, '0')).join(' ')}`;
}

function readFormat(descr: string): FloatFormat | null {
  const [, order, bytes] = /^['"]([<>])f([248])['"]$/.exec(descr) ?? [];
  return order === undefined ? null : { bytes: Number(bytes) as 2 | 4 | 8, littleEndian: order === '<' };
}

/**
 * The values of a file as float32: exact for float16 and float32, rounded to nearest for float64 (beyond the range to
 * infinity), as NumPy's `astype` does. `bytes` begins a buffer, is the file's, and may be changed or kept.
 */
export function toFloat32Values(bytes: Uint8Array, format: FloatFormat): Float32Array {
  if (format.littleEndian !== HOST_IS_LITTLE_ENDIAN) reverseEach(bytes, format.bytes);
  const { buffer } = bytes;
  if (format.bytes === 4) return new Float32Array(buffer);
  if (format.bytes === 8) return new Float32Array(new Float64Array(buffer));
  return Float32Array.from(new Uint16Array(buffer), fromHalf);
}
