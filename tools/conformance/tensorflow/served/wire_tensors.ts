/** Tensors as frames carry them. */
import * as tf from '@tensorflow/tfjs';

/** A tensor in a header: numbers lie in a buffer, texts in the header. */
export interface WireTensor {
  readonly dtype: tf.DataType;
  readonly shape: number[];
  readonly buffer?: number;
  /** In base64. */
  readonly texts?: readonly string[];
}

/** A copy: buffers of a frame lie at any address. */
function bytesOf(buffers: readonly Uint8Array[], { buffer }: WireTensor): ArrayBuffer {
  const { buffer: memory, byteOffset, byteLength } = buffers[buffer!]!;
  return memory.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}

/** The numbers of a tensor, without a tensor. */
export function numbersOf(wire: WireTensor, buffers: readonly Uint8Array[]): Float32Array | Int32Array | Uint8Array {
  const bytes = bytesOf(buffers, wire);
  if (wire.dtype === 'int32') return new Int32Array(bytes);
  if (wire.dtype === 'bool') return new Uint8Array(bytes);
  return new Float32Array(bytes);
}

export function readTensor(wire: WireTensor, buffers: readonly Uint8Array[]): tf.Tensor {
  const { dtype, shape, texts } = wire;
  if (texts !== undefined) {
    const values = texts.map((text) => new Uint8Array(Buffer.from(text, 'base64')));
    return tf.engine().makeTensor(values as unknown as tf.DataValues, shape, 'string') as tf.Tensor;
  }
  const numbers = numbersOf(wire, buffers);
  if (dtype !== 'complex64') return tf.tensor(numbers, shape, dtype);
  return tf.tidy(() => {
    const pairs = tf.tensor(numbers, [...shape, 2], 'float32');
    const [real, imaginary] = tf.unstack(pairs, shape.length);
    return tf.complex(real!, imaginary!);
  });
}

export function writeTensor(tensor: tf.Tensor, buffers: Uint8Array[]): WireTensor {
  const { dtype, shape } = tensor;
  if (dtype === 'string') {
    const values = tf.backend().readSync(tensor.dataId) as unknown as Uint8Array[];
    return { dtype, shape, texts: values.map((bytes) => Buffer.from(bytes).toString('base64')) };
  }
  const held = tensor.dataSync() as Float32Array | Int32Array;
  // A cast of tfjs on `cpu` may leave whole numbers under the name of floats.
  const values = dtype === 'float32' && !(held instanceof Float32Array) ? Float32Array.from(held) : held;
  buffers.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  return { dtype, shape, buffer: buffers.length - 1 };
}
