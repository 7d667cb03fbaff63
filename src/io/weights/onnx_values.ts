/** Values of tensors of ONNX: bytes one after the other, or fields of numbers. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { Places } from '../../base/protobuf/onnx_messages.js';
import { bytesAt, positioned, type ByteSource } from '../byte_source.js';
import { sizeOf, tensorAt } from './array_file.js';
import type { ArrayType } from './array_values.js';
import { FieldReader, type FieldPlace } from './onnx_fields.js';

export type TypedPart = FieldPlace;
type Typed = ReadonlyMap<number, readonly TypedPart[]>;

/** Bytes of numbers of a fixed size; of others, whose size differs, 0. */
const FIXED: Readonly<Record<number, number>> = { [Places.tensor.floatData]: 4, [Places.tensor.doubleData]: 8 };

export function rawTensor(
  source: ByteSource,
  name: string,
  at: number,
  dims: readonly number[],
  type: ArrayType,
): tf.Tensor {
  return tensorAt(source, name, at, dims, type);
}

function refuse(name: string, expected: string, found: string): never {
  throw new ValueError('source', expected, described(`${name}, ${found}`));
}

/** In which field numbers of a type stand. */
function fieldOf({ kind, bytes }: ArrayType): number {
  const { floatData, doubleData, int32Data, int64Data, uint64Data } = Places.tensor;
  if (kind === 'float' && bytes === 4) return floatData;
  if (kind === 'float' && bytes === 8) return doubleData;
  if (kind === 'int' && bytes === 8) return int64Data;
  return kind === 'uint' && bytes >= 4 ? uint64Data : int32Data;
}

/** Numbers of these fields as the bytes that raw values have. */
function bytesOfParts(
  source: ByteSource,
  name: string,
  parts: readonly TypedPart[],
  size: number,
  { bytes }: ArrayType,
  fixed: number | undefined,
): Uint8Array {
  const room = parts.reduce((sum, { length }) => sum + length, 0);
  // Each number takes a byte at least: nothing is made for numbers that are not there.
  if (size > room) refuse(name, `${size} values`, `which has ${room} bytes for them`);
  const made = new Uint8Array(size * bytes);
  const view = new DataView(made.buffer);
  let count = 0;
  const add = (value: bigint): void => {
    if (count === size) refuse(name, `${size} values`, 'which has more');
    const at = count++ * bytes;
    if (bytes === 8) view.setBigUint64(at, BigInt.asUintN(64, value), true);
    else if (bytes === 4) view.setUint32(at, Number(BigInt.asUintN(32, value)), true);
    else if (bytes === 2) view.setUint16(at, Number(BigInt.asUintN(16, value)), true);
    else view.setUint8(at, Number(BigInt.asUintN(8, value)));
  };
  for (const { at, length, isBytes, value } of parts) {
    if (fixed !== undefined) {
      if (length % fixed !== 0 || count * fixed + length > made.length)
        refuse(name, `${size} values`, 'which has others');
      made.set(bytesAt(source, at, length), count * fixed);
      count += length / fixed;
    } else if (!isBytes) add(value);
    else {
      const reader = new FieldReader(source, { at, length });
      while (reader.at < reader.end) add(reader.varint());
    }
  }
  if (count !== size) refuse(name, `${size} values`, `which has ${count}`);
  return made;
}

export function typedTensor(
  source: ByteSource,
  name: string,
  dims: readonly number[],
  type: ArrayType,
  typed: Typed,
): tf.Tensor {
  const size = sizeOf(dims, { name });
  const field = fieldOf(type);
  const parts = typed.get(field) ?? [];
  const [only] = parts;
  const bytes = size * type.bytes;
  if (parts.length === 1 && only!.isBytes && FIXED[field] !== undefined && only!.length === bytes) {
    return tensorAt(source, name, only!.at, dims, type);
  }
  const made = bytesOfParts(source, name, parts, size, type, FIXED[field]);
  return tensorAt(positioned(made), name, 0, dims, type);
}

export function textTensor(source: ByteSource, name: string, dims: readonly number[], typed: Typed): tf.Tensor {
  const size = sizeOf(dims, { name });
  const parts = typed.get(Places.tensor.stringData) ?? [];
  if (parts.length !== size) refuse(name, `${size} texts`, `which has ${parts.length}`);
  const texts = parts.map((part) => {
    if (!part.isBytes) refuse(name, 'texts', 'which has numbers');
    return new TextDecoder().decode(bytesAt(source, part.at, part.length));
  });
  return tf.tensor(texts, [...dims], 'string');
}
