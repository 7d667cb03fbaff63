/** Values of arrays as NumPy and PyTorch store them, as those of tensors. */
import { ValueError, described } from '../../base/errors.js';
import { HOST_IS_LITTLE_ENDIAN } from '../byte_order.js';
import { fromBfloat, fromHalf } from '../half_floats.js';
import type { PositionedFile } from '../../base/platform.js';

/** How values are stored, and what they become. */
export interface ArrayType {
  readonly kind: 'float' | 'bfloat' | 'int' | 'uint' | 'bool';
  readonly bytes: 1 | 2 | 4 | 8;
  readonly littleEndian: boolean;
  readonly dtype: 'float32' | 'int32' | 'bool';
}

const littleEndian = (kind: ArrayType['kind'], bytes: ArrayType['bytes'], dtype: ArrayType['dtype']): ArrayType => {
  return { kind, bytes, littleEndian: true, dtype };
};

/** Types of values in files whose numbers are little-endian, by the names that safetensors has for them. */
export const ARRAY_TYPES = {
  F64: littleEndian('float', 8, 'float32'),
  F32: littleEndian('float', 4, 'float32'),
  F16: littleEndian('float', 2, 'float32'),
  BF16: littleEndian('bfloat', 2, 'float32'),
  I64: littleEndian('int', 8, 'int32'),
  I32: littleEndian('int', 4, 'int32'),
  I16: littleEndian('int', 2, 'int32'),
  I8: littleEndian('int', 1, 'int32'),
  U64: littleEndian('uint', 8, 'int32'),
  U32: littleEndian('uint', 4, 'int32'),
  U16: littleEndian('uint', 2, 'int32'),
  U8: littleEndian('uint', 1, 'int32'),
  BOOL: littleEndian('bool', 1, 'bool'),
} as const satisfies Record<string, ArrayType>;

/** Values are read in pieces of so many, so that no second copy of a table is made. */
const PIECE = 2 ** 22;

type Values = Float32Array | Int32Array | Uint8Array;

function wholeNumber(value: bigint, name: string): number {
  if (BigInt.asIntN(32, value) === value) return Number(value);
  throw new ValueError('source', 'whole numbers that fit into int32', described(`${name}, which holds ${value}`));
}

type ReadOne = (view: DataView, at: number) => number;

function reader({ kind, bytes, littleEndian: little }: ArrayType, name: string): ReadOne {
  switch (`${kind}${bytes}`) {
    case 'float2':
      return (view, at) => fromHalf(view.getUint16(at, little));
    case 'float4':
      return (view, at) => view.getFloat32(at, little);
    case 'float8':
      return (view, at) => view.getFloat64(at, little);
    case 'bfloat2':
      return (view, at) => fromBfloat(view.getUint16(at, little));
    case 'int1':
      return (view, at) => view.getInt8(at);
    case 'int2':
      return (view, at) => view.getInt16(at, little);
    case 'int4':
      return (view, at) => view.getInt32(at, little);
    case 'int8':
      return (view, at) => wholeNumber(view.getBigInt64(at, little), name);
    case 'uint2':
      return (view, at) => view.getUint16(at, little);
    case 'uint4':
      return (view, at) => wholeNumber(BigInt(view.getUint32(at, little)), name);
    case 'uint8':
      return (view, at) => wholeNumber(view.getBigUint64(at, little), name);
    case 'bool1':
      return (view, at) => (view.getUint8(at) === 0 ? 0 : 1);
    default:
      return (view, at) => view.getUint8(at);
  }
}

/** Whether the bytes of a file are those of the tensor. */
function isPlain({ kind, bytes, littleEndian }: ArrayType): boolean {
  return bytes === 4 && (kind === 'float' || kind === 'int') && littleEndian === HOST_IS_LITTLE_ENDIAN;
}

function readBytes(file: PositionedFile, name: string, at: number, into: Uint8Array): void {
  const count = file.read(at, into);
  if (count === into.length) return;
  throw new ValueError('source', `${into.length} bytes at ${at}`, described(`${name}, which ends before`));
}

/**
 * The values from a position on: float64 rounded to float32, whole numbers as int32.
 *
 * @throws ValueError where the file ends before, and for whole numbers beyond int32.
 */
export function readArray(file: PositionedFile, name: string, at: number, size: number, type: ArrayType): Values {
  if (!(size * type.bytes <= file.size - at)) {
    throw new ValueError(
      'source',
      `${size * type.bytes} bytes of values`,
      described(`${name}, which holds ${file.size - at}`),
    );
  }
  const values =
    type.dtype === 'float32'
      ? new Float32Array(size)
      : type.dtype === 'int32'
        ? new Int32Array(size)
        : new Uint8Array(size);
  if (isPlain(type)) {
    readBytes(file, name, at, new Uint8Array(values.buffer));
    return values;
  }
  const read = reader(type, name);
  const bytes = new Uint8Array(Math.min(size, PIECE) * type.bytes);
  for (let done = 0; done < size; done += PIECE) {
    const count = Math.min(PIECE, size - done);
    const piece = bytes.subarray(0, count * type.bytes);
    readBytes(file, name, at + done * type.bytes, piece);
    const view = new DataView(piece.buffer, piece.byteOffset, piece.length);
    for (let i = 0; i < count; i++) values[done + i] = read(view, i * type.bytes);
  }
  return values;
}
