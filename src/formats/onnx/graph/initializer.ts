/** Values of a graph that are in its file. */
import type { OnnxTypeName } from '../../../base/protobuf/onnx_messages.js';

export interface Initializer {
  readonly name: string;
  readonly dtype: OnnxTypeName;
  readonly dims: readonly number[];
  /** Bytes in all. */
  readonly size: number;
  /** The bytes, in pieces; a piece is of use until the next is asked for. */
  readonly pieces: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Bytes of an element. */
export const BYTES = {
  float32: 4,
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  int32: 4,
  int64: 8,
  bool: 1,
  float16: 2,
  float64: 8,
  uint32: 4,
  uint64: 8,
  bfloat16: 2,
} as const satisfies Partial<Record<OnnxTypeName, number>>;

export function sizeIn(dtype: keyof typeof BYTES, dims: readonly number[]): number {
  return dims.reduce((product, each) => product * each, BYTES[dtype]);
}
