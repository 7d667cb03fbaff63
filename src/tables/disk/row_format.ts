/** How rows lie in a file: their bytes, and the float32 that they stand for. */
import { nearestHalf } from '../../codecs/half.js';
import { INT8 } from '../../codecs/int8.js';
import { fromHalf } from '../../io/half_floats.js';

/** As users name them. */
export type RowDtype = 'float32' | 'float16' | 'bfloat16' | 'int8';

export interface RowFormat {
  readonly dtype: RowDtype;
  /** As safetensors calls the values, and how many of them a row of so many columns has. */
  readonly safetensors: 'F32' | 'F16' | 'BF16' | 'I32';
  values(dim: number): number;
  bytes(dim: number): number;
  /** The numbers of whole rows, whose bytes begin at a multiple of 4. */
  widen(bytes: Uint8Array, dim: number, into: Float32Array): void;
  /** The bytes of whole rows. */
  narrow(values: Float32Array, dim: number): Uint8Array;
}

const halves = (bytes: Uint8Array): Uint16Array => new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array => {
  return new Uint8Array(buffer, byteOffset, byteLength);
};

/** The numbers of all halves, made when the first is read. */
let halfNumbers: Float32Array | null = null;

/** The upper half of a float32, to the nearest, ties to even; NaN stays one. */
function nearestBfloat(bits: number): number {
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40;
  return ((bits >>> 0) + 0x7fff + ((bits >>> 16) & 1)) / 65536;
}

/** Numbers as 16 bits each: `Uint16Array.from` takes a hundred times as long. */
function inHalves(numbers: Float32Array | Int32Array, halfOf: (number: number) => number): Uint16Array {
  const found = new Uint16Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) found[i] = halfOf(numbers[i]!);
  return found;
}

export const ROW_FORMATS: readonly RowFormat[] = [
  {
    dtype: 'float32',
    safetensors: 'F32',
    values: (dim) => dim,
    bytes: (dim) => 4 * dim,
    widen: (bytes, _dim, into) => into.set(new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)),
    narrow: (values) => bytesOf(values),
  },
  {
    dtype: 'float16',
    safetensors: 'F16',
    values: (dim) => dim,
    bytes: (dim) => 2 * dim,
    widen(bytes, _dim, into) {
      const numbers = (halfNumbers ??= Float32Array.from({ length: 65536 }, (_, bits) => fromHalf(bits)));
      halves(bytes).forEach((bits, i) => (into[i] = numbers[bits]!));
    },
    narrow: (values) => bytesOf(inHalves(values, nearestHalf)),
  },
  {
    dtype: 'bfloat16',
    safetensors: 'BF16',
    values: (dim) => dim,
    bytes: (dim) => 2 * dim,
    widen(bytes, _dim, into) {
      const words = new Uint32Array(into.buffer, into.byteOffset, into.length);
      halves(bytes).forEach((bits, i) => (words[i] = bits << 16));
    },
    narrow(values) {
      const words = new Int32Array(values.buffer, values.byteOffset, values.length);
      return bytesOf(inHalves(words, nearestBfloat));
    },
  },
  {
    dtype: 'int8',
    safetensors: 'I32',
    values: (dim) => INT8.words(dim),
    bytes: (dim) => 4 * INT8.words(dim),
    widen: (bytes, dim, into) =>
      into.set(INT8.unpack(new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), dim)),
    narrow(values, dim) {
      const words = new Int32Array((values.length / dim) * INT8.words(dim));
      INT8.pack(values, dim, words);
      return bytesOf(words);
    },
  },
];

export function formatOf(dtype: string): RowFormat | undefined {
  return ROW_FORMATS.find((format) => format.dtype === dtype);
}
