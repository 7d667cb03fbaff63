/** Values of every type, in bytes that are made by hand. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { expectError } from '../../helpers/errors.js';
import { npyBytes } from '../npy_bytes.js';

type Setter = (view: DataView, at: number, value: number, little: boolean) => void;

interface Type {
  readonly safe: string;
  /** null: NumPy has no such type. */
  readonly npy: string | null;
  readonly bytes: number;
  readonly dtype: tf.DataType;
  readonly values: readonly number[];
  readonly set: Setter;
}

const LARGEST = 2 ** 31 - 1;

// prettier-ignore
const TYPES: readonly Type[] = [
  { safe: 'F64', npy: 'f8', bytes: 8, dtype: 'float32', values: [1.5, -(2 ** 40), 0], set: (v, at, x, l) => v.setFloat64(at, x, l) },
  { safe: 'F32', npy: 'f4', bytes: 4, dtype: 'float32', values: [1.5, -0.25, Infinity], set: (v, at, x, l) => v.setFloat32(at, x, l) },
  { safe: 'I64', npy: 'i8', bytes: 8, dtype: 'int32', values: [-(2 ** 31), LARGEST, 7], set: (v, at, x, l) => v.setBigInt64(at, BigInt(x), l) },
  { safe: 'I32', npy: 'i4', bytes: 4, dtype: 'int32', values: [-(2 ** 31), LARGEST, 7], set: (v, at, x, l) => v.setInt32(at, x, l) },
  { safe: 'I16', npy: 'i2', bytes: 2, dtype: 'int32', values: [-(2 ** 15), 2 ** 15 - 1, 258], set: (v, at, x, l) => v.setInt16(at, x, l) },
  { safe: 'I8', npy: 'i1', bytes: 1, dtype: 'int32', values: [-128, 127, 5], set: (v, at, x) => v.setInt8(at, x) },
  { safe: 'U64', npy: 'u8', bytes: 8, dtype: 'int32', values: [0, LARGEST, 258], set: (v, at, x, l) => v.setBigUint64(at, BigInt(x), l) },
  { safe: 'U32', npy: 'u4', bytes: 4, dtype: 'int32', values: [0, LARGEST, 258], set: (v, at, x, l) => v.setUint32(at, x, l) },
  { safe: 'U16', npy: 'u2', bytes: 2, dtype: 'int32', values: [0, 2 ** 16 - 1, 258], set: (v, at, x, l) => v.setUint16(at, x, l) },
  { safe: 'U8', npy: 'u1', bytes: 1, dtype: 'int32', values: [0, 255, 5], set: (v, at, x) => v.setUint8(at, x) },
  { safe: 'BOOL', npy: 'b1', bytes: 1, dtype: 'bool', values: [0, 1, 1], set: (v, at, x) => v.setUint8(at, x) },
  // Half of the bits of a float32.
  { safe: 'BF16', npy: null, bytes: 2, dtype: 'float32', values: [1.5, -2, 0], set: (v, at, x, l) => v.setUint16(at, new Uint32Array(Float32Array.of(x).buffer)[0]! >>> 16, l) },
];

function bytesOf({ values, bytes, set }: Type, little: boolean, given = values): Uint8Array {
  const view = new DataView(new ArrayBuffer(given.length * bytes));
  given.forEach((value, i) => set(view, i * bytes, value, little));
  return new Uint8Array(view.buffer);
}

function safetensors(type: Type, values = type.values): Uint8Array {
  const data = bytesOf(type, true, values);
  const header = JSON.stringify({ a: { dtype: type.safe, shape: [values.length], data_offsets: [0, data.length] } });
  const file = new Uint8Array(8 + header.length + data.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(new TextEncoder().encode(header), 8);
  file.set(data, 8 + header.length);
  return file;
}

function npy(type: Type, order: string, values = type.values): Uint8Array {
  const header = `{'descr': '${order}${type.npy}', 'fortran_order': False, 'shape': (${values.length},)}`;
  return npyBytes({ header, values: bytesOf(type, order !== '>', values) });
}

function expectValues(tensor: tf.Tensor, { dtype, values }: Type): void {
  expect(tensor.dtype).toBe(dtype as 'int32');
  expect(Array.from(tensor.dataSync<'float32'>(), Number)).toEqual([...values]);
  tensor.dispose();
}

describe('values in files of arrays', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  for (const type of TYPES) {
    it(`of safetensors' ${type.safe} are those that were written`, async () => {
      expectValues((await emb.weights.readSafetensors(safetensors(type)))['a']!, type);
    });
    if (type.npy === null) continue;
    it(`of NumPy's ${type.npy} are those that were written, in both orders of bytes`, async () => {
      for (const order of type.bytes === 1 ? ['|'] : ['<', '>']) {
        expectValues(await emb.weights.readNpy(npy(type, order)), type);
      }
    });
  }

  it('beyond int32 are refused', async () => {
    for (const [safe, value] of [
      ['I64', 2 ** 31],
      ['I64', -(2 ** 31) - 1],
      ['U64', 2 ** 31],
      ['U32', 2 ** 31],
    ] as const) {
      // prettier-ignore
      const type = TYPES.find((each) => each.safe === safe)!;
      const error = await emb.weights.readSafetensors(safetensors(type, [1, value])).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expectError(() => { throw error; }, 'ValueError', 'source', String(value)); // prettier-ignore
    }
  });

  it('that are Python objects or of no known type are told', async () => {
    for (const [descr, told] of [
      ["'|O'", 'pickled objects'],
      ["'<c8'", '<c8'],
      ["'<M8[s]'", '<M8[s]'],
    ] as const) {
      // prettier-ignore
      const bytes = npyBytes({ header: `{'descr': ${descr}, 'fortran_order': False, 'shape': (1,)}`, values: new Uint8Array(8) }); // prettier-ignore
      const error = await emb.weights.readNpy(new Blob([bytes as BlobPart])).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expectError(() => { throw error; }, 'ValueError', 'source', told); // prettier-ignore
      expect((error as Error).message).toContain('the blob');
    }
  });
});
