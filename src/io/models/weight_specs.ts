/** Specs of weights in `model.json`: what each says of the bytes of its weight. */
import { describe } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';

/** Bytes of a value; strings have bytes of their own. */
const BYTES: Readonly<Record<string, number | null>> = { float32: 4, int32: 4, bool: 1, complex64: 8, string: null };
/** Bytes of a quantized value, and what can be restored from it. */
const QUANTIZED: Readonly<Record<string, { readonly bytes: number; readonly dtypes: readonly string[] }>> = {
  uint8: { bytes: 1, dtypes: ['float32', 'int32'] },
  uint16: { bytes: 2, dtypes: ['float32', 'int32'] },
  float16: { bytes: 2, dtypes: ['float32'] },
};
/** The length before each string. */
const LENGTH_BYTES = 4;

export interface WeightSpec {
  readonly name: string;
  /** Number of values. */
  readonly size: number;
  /** Bytes of a value; null for strings, which have bytes of their own. */
  readonly valueBytes: number | null;
}

/** The least number of bytes that a weight takes; the very number where it holds no strings. */
export function leastBytes({ size, valueBytes }: WeightSpec): number {
  return size * (valueBytes ?? LENGTH_BYTES);
}

/** What is wrong with a spec, in words. */
export class SpecFault extends Error {}

/** Reads one spec. Throws SpecFault. */
export function readSpec(spec: unknown): WeightSpec {
  if (!isRecord(spec)) throw new SpecFault('a weight that is no object');
  const { name, shape, dtype, quantization } = spec;
  // Objects that tfjs collects by name have no entry of this name.
  if (typeof name !== 'string' || name === '' || name === '__proto__') throw new SpecFault('a weight without a name');
  const quoted = `the weight ${describe(name)}`;
  if (!Array.isArray(shape) || !shape.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    throw new SpecFault(`${quoted}, whose shape is ${describe(shape)}`);
  }
  const size = (shape as number[]).reduce((product, each) => product * each, 1);
  if (!Number.isSafeInteger(size * 8)) throw new SpecFault(`${quoted}, whose shape is ${describe(shape)}`);
  if (typeof dtype !== 'string' || !Object.hasOwn(BYTES, dtype)) {
    throw new SpecFault(`${quoted}, whose dtype is ${describe(dtype)}`);
  }
  const whole = BYTES[dtype] as number | null;
  const valueBytes = quantization === undefined ? whole : quantizedBytes(quantization, dtype, quoted);
  return { name, size, valueBytes };
}

function quantizedBytes(quantization: unknown, dtype: string, quoted: string): number {
  const { dtype: stored, min, scale } = isRecord(quantization) ? quantization : {};
  const known = typeof stored === 'string' && Object.hasOwn(QUANTIZED, stored) ? QUANTIZED[stored]! : null;
  const isScaled = stored === 'float16' || (typeof min === 'number' && typeof scale === 'number');
  if (known !== null && known.dtypes.includes(dtype) && isScaled) return known.bytes;
  throw new SpecFault(`${quoted}, of ${dtype}, whose quantization is ${describe(quantization)}`);
}

/** The number of bytes that weights take, where they lie one after the other in `bytes`; Infinity where they do not fit. */
export function bytesTaken(specs: readonly WeightSpec[], bytes: DataView): number {
  let end = 0;
  for (const spec of specs) {
    if (spec.valueBytes !== null) {
      end += leastBytes(spec);
      continue;
    }
    for (let i = 0; i < spec.size; i++) {
      if (end + LENGTH_BYTES > bytes.byteLength) return Infinity;
      end += LENGTH_BYTES + bytes.getUint32(end, true);
    }
  }
  return end;
}
